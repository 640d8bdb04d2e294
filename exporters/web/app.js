// Asks the daemon, shows the view that the address names, keeps the focus where it is.
import { ago, el, stamp } from './format.js';
import { nodeView } from './node_view.js';
import { collect, past } from './past.js';
import { portView } from './port_view.js';

const EVERY_MS = 5000;
const main = document.getElementById('main');
const fresh = document.getElementById('fresh');
const state = { report: undefined, events: [], past: { remembered: false, points: [], events: [], repairs: [] }, route: '', ticketOpen: false, redraw: () => draw() };

const portName = () => (location.hash.startsWith('#/port/') ? decodeURIComponent(location.hash.slice(7)) : '');
const chartWidth = () => Math.max(260, Math.min(520, main.clientWidth - 70));

function view() {
  const name = portName();
  if (!name) return nodeView(state.report, state.sight);
  const port = state.report.ports.find((one) => one.port === name);
  if (port) return portView(state.report, port, state.events, state.past, chartWidth(), state);
  return [el('section.card', {}, el('h1', { tabindex: '-1' }, `No port ${name}`), el('p', {}, el('a', { href: '#/', id: 'back' }, 'All ports')))];
}

function draw() {
  if (!state.report) return;
  const focused = document.activeElement?.id;
  const scrolled = window.scrollY;
  const here = location.hash || '#/';
  const moved = state.route !== here;
  main.replaceChildren(...view().flat(3).filter((node) => node !== ''));
  document.title = `${portName() || state.report.node} · linkhealth`;
  if (moved && state.route !== '') {
    main.querySelector('h1')?.focus();
    window.scrollTo(0, 0);
  } else {
    if (focused && focused !== 'main') document.getElementById(focused)?.focus({ preventScroll: true });
    window.scrollTo(0, scrolled);
  }
  state.route = here;
}

function say(text, stale) {
  if (fresh.textContent !== text) fresh.textContent = text;
  fresh.classList.toggle('stale', Boolean(stale));
}

async function json(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(answer.status === 401 ? 'the password is not taken' : `the daemon answered ${answer.status}`);
  return answer.json();
}

let asking = false;
async function ask() {
  if (asking) return;
  asking = true;
  try {
    const [status, events] = await Promise.all([json('api/v1/status'), json('api/v1/events?limit=1000')]);
    const report = status.report;
    const changed = state.report?.at !== report.at;
    state.report = report;
    state.sight = status.daemon.sight;
    state.events = events.events;
    collect(report);
    if (portName() && changed) state.past = await past(portName());
    if (changed) draw();
    say(`${report.node}, as of ${stamp(report.at)}`);
  } catch (error) {
    say(state.report ? `No answer (${error.message}). What is shown is from ${ago(state.report.at, new Date().toISOString())}` : `No answer: ${error.message}`, true);
  } finally {
    asking = false;
  }
}

function listen() {
  const stream = new EventSource('api/v1/events/stream');
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
  state.ticketOpen = false;
  if (portName()) state.past = await past(portName());
  draw();
});
window.addEventListener('resize', () => draw());
theme(false);
ask();
listen();
// A hidden page makes no requests.
setInterval(() => { if (!document.hidden) ask(); }, EVERY_MS);
document.addEventListener('visibilitychange', () => { if (!document.hidden) ask(); });
