// lab_page_test.mjs BASE PORT STAGES [PICTURES]: the page of the lab's daemon while a link has its bad day (tests/lab/day.py), in
// headless Chromium. For each stage: waits for STAGES/stage.NAME, looks, writes STAGES/seen.NAME. One page stays open all the time,
// over the daemon's SIGKILL too. PICTURES: a directory for screenshots. Exit code 1 with what failed.
import fs from 'node:fs';
import path from 'node:path';
import { SIZES, axe, checker, failures, launch, open as openAt } from './browser.mjs';

const [base, port, stages, pictures] = process.argv.slice(2);
const STAGE_MS = 600000; // the machine is an emulated one
const VIEWS = { node: '#/', port: `#/port/${encodeURIComponent(port)}` };
const browser = await launch();
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
let check = checker('page: ');
let living; // the page that nobody loads again

async function stage(name, look) {
  const end = Date.now() + STAGE_MS;
  while (!fs.existsSync(path.join(stages, `stage.${name}`))) {
    if (Date.now() > end) throw new Error(`the stage "${name}" does not come`);
    await sleep(200);
  }
  check = checker(`page, ${name}: `);
  try {
    await look();
    await looks(name);
  } finally {
    fs.writeFileSync(path.join(stages, `seen.${name}`), ''); // the machine goes on, whatever was seen
  }
}

/** In its clothes: both views, light and dark, on a desk and on a phone. */
async function looks(name) {
  for (const [size, theme] of [['desktop', 'light'], ['desktop', 'dark'], ['phone', 'light']])
    for (const view of Object.keys(VIEWS)) {
      const { page, problems } = await openAt(browser, base, VIEWS[view], size, theme);
      if (view === 'port') await page.waitForSelector('.timeline, .card p.soft', { timeout: 60000 });
      const violations = await axe(page);
      check(violations.length === 0, `${view} ${size} ${theme}: axe-core finds nothing ${violations.join('; ')}`);
      const wide = await page.evaluate(() => document.scrollingElement.scrollWidth);
      check(wide <= SIZES[size].width, `${view} ${size} ${theme}: no horizontal scroll (${wide} of ${SIZES[size].width})`);
      const torn = await page.$$eval('.card', (cards) => cards.filter((card) => card.scrollWidth > card.clientWidth).map((card) => card.querySelector('h1, h2').textContent));
      check(torn.length === 0, `${view} ${size} ${theme}: nothing stands out of its card: ${torn}`);
      if (pictures) {
        await sleep(1500);
        await page.screenshot({ path: path.join(pictures, `${name}-${view}-${theme}-${size}.png`), fullPage: true });
      }
      check(problems.length === 0, `${view} ${size} ${theme}: no console error, nothing from elsewhere ${problems.join('; ')}`);
      await page.close();
    }
}

/** What `read` makes of a fresh page. */
async function read(view, selector, what) {
  const { page } = await openAt(browser, base, VIEWS[view]);
  await page.waitForSelector(selector, { timeout: 60000 }).catch(() => check(false, `${view}: it has ${selector}`));
  const out = await what(page);
  await page.close();
  return out;
}
const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));
const work = (page) => texts(page, 'tr.work');
const timeline = (count) => read('port', `.timeline li:nth-child(${count})`, (page) => texts(page, '.timeline li'));
const becomes = (good, what) => living.page.waitForFunction(good, { timeout: 120000, polling: 500 }, port)
  .then(() => check(true, what), () => check(false, what));

async function healthy() {
  living = await openAt(browser, base, VIEWS.node);
  const found = await work(living.page);
  check(found.length === 0, `no port stands out: ${found}`);
  check((await texts(living.page, '.card')).some((card) => /All \d ports healthy/.test(card)), 'it says that all ports are healthy');
}

async function faulty() {
  await becomes((name) => [...document.querySelectorAll('tr.work')].some((tile) => tile.textContent.includes(name)),
    'the page that was open shows it by itself');
  const found = await read('node', '.ports', work);
  check(found.length === 1 && found[0].includes(port), `the faulty port, and only it, stands out: ${found}`);
  const [verdict, ways, weak, heads] = await read('port', '.verdict', async (page) => [
    (await texts(page, '.verdict')).join(' '), await texts(page, '.path .suspect, .path .loss'),
    await texts(page, '.lanes li.degraded, .lanes li.down'), await texts(page, 'h2, h3')]);
  check(/Dirty connector \d\d%/.test(verdict) && verdict.includes('clean both ends'), 'the diagnosis and the first step');
  check(ways.filter((way) => /Connector.*dirty connector/.test(way)).length === 2 && ways.some((way) => /^→ [56]\.\d dB lost/.test(way)), `the connectors are suspected, and light is lost towards this node: ${ways.join(' | ')}`);
  check(weak.length === 1 && weak[0].includes('lane 2'), `the weak lane is marked: ${weak}`);
  check(heads.some((head) => head.includes('pre-FEC')), `the error ratio is drawn: ${heads.join(' | ')}`);
  const told = await timeline(1);
  check(told.length === 1 && /Dirty connector opened: .*lane 2/i.test(told[0]), `the timeline has the opening, once: ${told.join(' | ')}`);
}

async function acknowledged() {
  const text = await read('port', '.verdict', (page) => page.$eval('main', (main) => main.textContent));
  check(/acknowledged by ann/i.test(text) && text.includes('ticket 4711'), 'who has it, and why');
  const told = await timeline(2);
  check(told.length === 2 && /acknowledged.*ann.*ticket 4711/i.test(told[0]), `the timeline has the acknowledgement, once: ${told.join(' | ')}`);
}

async function closed() {
  await becomes(() => document.querySelector('table.ports') && !document.querySelector('tr.work'),
    'the page that was open all the time, over the SIGKILL, shows it by itself');
  const found = await read('node', '.ports', work);
  check(found.length === 0, `no port stands out: ${found}`);
  const told = await timeline(5);
  const words = [/closed/, /Repair: fibre reseated.*held.*−8\.0 dBm → −2\.0 dBm/, /acknowledged/, /opened/];
  check(words.every((word) => told.filter((line) => word.test(line)).length === 1), `the timeline has all of it, each once: ${told.join(' | ')}`);
  check(told.every((line) => !line.includes('undefined')), 'nothing in the timeline is undefined');
  const [heads, ticks] = await read('port', '.chart', async (page) => [await texts(page, 'h3'), await texts(page, '.chart text')]);
  check(heads.some((head) => /pre-FEC BER\) (0|\d\.\de-1\d) now/.test(head)), `the error ratio is that of now: ${heads.join(' | ')}`);
  check(ticks.length > 0 && ticks.every((tick) => !/^-[34]\d\./.test(tick)), `the dark moment does not flatten the light: ${ticks.join(' ')}`);
  // What the browser itself says of the seconds without a daemon is no error of the page.
  const problems = living.problems.filter((line) => !/ERR_|Failed to load resource/.test(line));
  check(problems.length === 0, `no error in all that time: ${problems.join('; ')}`);
}

try {
  await stage('healthy', healthy);
  await stage('faulty', faulty);
  await stage('acknowledged', acknowledged);
  await stage('closed', closed);
} catch (error) {
  check(false, `the test itself: ${error.stack}`);
} finally {
  await browser.close();
}
process.exit(failures.length ? 1 : 0);
