// Asks the daemon, shows the view that the address names, keeps the focus and what was typed.
import { duration, el, stamp } from './format.js';
import { nodeView } from './node_view.js';
import { collect, past } from './past.js';
import { portView } from './port_view.js';
import { load, runbookView } from './runbook.js';

const EVERY_MS = 5000;
const SPARKS_EVERY_MS = 60000;
const STILL_S = 30; // a daemon samples every few seconds
const SPARKS_AT_MOST = 32; // ports: each is one request
const main = document.getElementById('main');
const fresh = document.getElementById('fresh');
const noPast = { remembered: false, points: [], events: [], repairs: [], maintenance: [] };
const state = { report: undefined, events: [], past: noPast, sparks: new Map(), route: '', panel: '', form: {}, range: 86400,
  redraw: () => draw(), refresh: () => { draw(); ask(true); }, setRange: async (seconds) => { state.range = seconds; await remember(); draw(); } };

const portName = () => (location.hash.startsWith('#/port/') ? decodeURIComponent(location.hash.slice(7)) : '');
const runbookName = () => (location.hash.startsWith('#/runbook/') ? decodeURIComponent(location.hash.slice(10)) : '');
const chartWidth = () => Math.max(260, main.clientWidth - 66);
/** Reads the past of the port that is shown. An answer that comes after the reader has moved on is of no use. */
const remember = async () => {
  const [name, range] = [portName(), state.range];
  const found = name ? await past(name, range) : noPast;
  if (runbookName()) await load(runbookName());
  if (name === portName() && range === state.range) state.past = { ...found, of: name };
};

function view() {
  if (runbookName()) return runbookView(runbookName());
  const name = portName();
  if (!name) return nodeView(state.report, state.sight, state.sparks);
  const port = state.report.ports.find((one) => one.port === name);
  if (port) return portView(state.report, port, state.events, state.past, chartWidth(), state);
  return [el('section.card', {}, el('h1', { tabindex: '-1' }, `No port ${name}`), el('p', {}, el('a', { href: '#/', id: 'back' }, 'All ports')))];
}

/** What can have the focus, and how it is found again after a redraw. */
const focusable = () => [...main.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')];
const mark = (one) => one.id || [one.tagName, one.getAttribute('aria-label') ?? one.getAttribute('href')].join(' ');

let pressed = false; // a button that is replaced between press and release is not clicked
function draw() {
  if (!state.report || pressed || (portName() && state.past.of !== portName())) return;
  const focused = document.activeElement;
  const wanted = main.contains(focused) && focused !== main ? mark(focused) : '';
  const selected = [focused?.selectionStart, focused?.selectionEnd];
  const scrolled = window.scrollY;
  const here = location.hash || '#/';
  const moved = state.route !== here;
  main.replaceChildren(...view().flat(4).filter((node) => node !== ''));
  document.title = `${portName() || runbookName().replaceAll('_', ' ') || state.report.node} · linkhealth`;
  if (moved && state.route !== '') {
    main.querySelector('h1')?.focus();
    window.scrollTo(0, 0);
  } else {
    const again = wanted && focusable().find((one) => mark(one) === wanted);
    if (again) again.focus({ preventScroll: true });
    if (['INPUT', 'TEXTAREA'].includes(again?.tagName) && typeof selected[0] === 'number') again.setSelectionRange(...selected);
    window.scrollTo(0, scrolled);
  }
  state.route = here;
}

function say(text, tone, title) {
  if (fresh.textContent !== text) fresh.textContent = text;
  fresh.className = tone;
  fresh.title = title || '';
}

async function json(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(answer.status === 401 ? 'user name or password is wrong' : `the daemon answered ${answer.status}`);
  return answer.json();
}

let sparkedAt = 0;
async function sparks() {
  if (portName() || runbookName() || Date.now() - sparkedAt < SPARKS_EVERY_MS) return;
  sparkedAt = Date.now();
  for (const port of state.report.ports.filter((one) => one.health !== 'exempt').slice(0, SPARKS_AT_MOST)) {
    const known = await past(port.port, 3600, '&step=60&signals=pre_fec_ber');
    state.sparks.set(port.port, known.points.map((point) => ({ at: point.at, value: point.pre_fec_ber })));
  }
  draw();
}

let asking = false;
let again = false; // something was changed while an answer was under way, which may be older
let movedAt = 0;
async function ask(changed) {
  again ||= changed === true;
  if (asking) return;
  asking = true;
  const redraw = again;
  again = false;
  try {
    const [status, events] = await Promise.all([json('api/v1/status'), json('api/v1/events?limit=1000')]);
    const report = status.report;
    const fresher = state.report?.at !== report.at;
    state.report = report;
    state.sight = status.daemon.sight;
    state.events = events.events;
    collect(report);
    if (fresher) await remember();
    if (fresher || redraw) draw();
    if (fresher) movedAt = Date.now();
    const still = (Date.now() - movedAt) / 1000; // by this clock alone: the node's may differ
    const at = new Date(report.at).toLocaleTimeString('en-GB');
    if (still < STILL_S) say(`Live · ${at}`, 'live', stamp(report.at));
    else say(`No new sample since ${at} (for ${duration(still)})`, 'stale', stamp(report.at));
    sparks();
  } catch (error) {
    const age = state.report ? duration((Date.now() - Date.parse(state.report.at)) / 1000) : '';
    say(state.report ? `No answer (${error.message}): shown is the state of ${age} ago` : `No answer: ${error.message}`, 'stale');
  } finally {
    asking = false;
    if (again) ask();
  }
}

let stream;
function listen() {
  stream = new EventSource('api/v1/events/stream');
  stream.addEventListener('fault', ask);
}

const THEMES = [['', 'as the system'], ['light', 'light'], ['dark', 'dark']];
function theme(next) {
  let chosen = '';
  try {
    chosen = localStorage.getItem('theme') || '';
    if (next) {
      chosen = THEMES[(THEMES.findIndex(([name]) => name === chosen) + 1) % THEMES.length][0];
      localStorage.setItem('theme', chosen);
    }
  } catch { /* no storage here: the system's colours */ }
  document.documentElement.dataset.theme = chosen;
  document.getElementById('theme').setAttribute('aria-label', `Colours: ${(THEMES.find(([name]) => name === chosen) || THEMES[0])[1]}`);
}

document.getElementById('theme').addEventListener('click', () => theme(true));
document.getElementById('skip').addEventListener('click', (event) => { event.preventDefault(); main.focus(); });
window.addEventListener('hashchange', async () => {
  [state.panel, state.result, state.cross] = ['', undefined, undefined];
  await remember();
  draw();
  if (state.report) sparks();
});
window.addEventListener('resize', () => draw());
window.addEventListener('pointerdown', () => { pressed = true; });
for (const end of ['pointerup', 'pointercancel']) window.addEventListener(end, () => { pressed = false; });
theme(false);
ask();
listen();
// A hidden page makes no requests and keeps no connection: of those a browser has six for all its tabs of one daemon.
setInterval(() => { if (!document.hidden) ask(); }, EVERY_MS);
document.addEventListener('visibilitychange', () => {
  stream.close();
  if (document.hidden) return;
  listen();
  ask();
});
