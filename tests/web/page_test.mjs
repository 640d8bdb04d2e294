// page_test.mjs BASE PORT [PICTURES]: the page of a daemon at BASE in headless Chromium: no console error, nothing loaded from
// elsewhere, axe-core without violations in both themes and at phone width, no horizontal scroll, everything by keyboard.
// PICTURES: a directory for screenshots. Prints a line a check; exit code 1 with what failed.
import path from 'node:path';
import { SIZES, axe, checker, failures, focus, launch, newPage, open as openAt, press, type } from './browser.mjs';

const [base, port, pictures] = process.argv.slice(2);
const check = checker();
const VIEWS = { node: '#/', port: `#/port/${encodeURIComponent(port)}` };
const browser = await launch();
const open = (size, theme, view) => openAt(browser, base, VIEWS[view], size, theme);

async function looks() {
  for (const size of Object.keys(SIZES))
    for (const theme of ['light', 'dark'])
      for (const view of Object.keys(VIEWS)) {
        const name = `${view}-${theme}${size === 'phone' ? '-phone' : ''}`;
        const { page, problems } = await open(size, theme, view);
        if (view === 'port') {
          await press(page, '#ticket');
          await page.waitForSelector('#ticket-text');
        }
        const violations = await axe(page);
        check(violations.length === 0, `${name}: axe-core finds nothing ${violations.join('; ')}`);
        const wide = await page.evaluate(() => document.scrollingElement.scrollWidth);
        check(wide <= SIZES[size].width, `${name}: no horizontal scroll (${wide} of ${SIZES[size].width})`);
        if (view === 'port') await press(page, '#ticket');
        check(problems.length === 0, `${name}: no console error, nothing from elsewhere ${problems.join('; ')}`);
        await page.close();
      }
}

/** What has the focus after a redraw, as every new sample causes one. */
const redrawn = (page) => page.evaluate(() => {
  window.dispatchEvent(new Event('resize'));
  const at = document.activeElement;
  return [at.tagName, at.getAttribute('aria-label')].filter(Boolean).join(' ');
});

async function keyboard() {
  const { page, problems } = await open('desktop', 'light', 'node');
  const wanted = await page.evaluate(() => document.querySelectorAll('a[href], button, [tabindex="0"]').length);
  const reached = new Set();
  for (let i = 0; i < wanted + 3 && reached.size < wanted; ++i) { // never round the end: the browser's own focus comes late
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const at = document.activeElement;
      const all = [...document.querySelectorAll('a[href], button, [tabindex="0"]')];
      const style = getComputedStyle(at);
      return all.includes(at) ? `${all.indexOf(at)}${style.outlineStyle === 'none' ? ' without an outline' : ''}` : '';
    });
    if (at) reached.add(at);
  }
  check(reached.size === wanted, `node: the Tab key reaches all ${wanted} links and buttons, with an outline (${[...reached].join(' ')})`);
  await focus(page, `[id="tile-${port}"]`);
  await page.keyboard.press('Enter');
  await page.waitForFunction((name) => document.querySelector('h1').textContent.startsWith(name), {}, port);
  check(await page.evaluate(() => document.activeElement.tagName) === 'H1', 'port: the focus goes to its heading');
  check(await redrawn(page) === 'H1', 'port: the focus stays there when the page is redrawn');
  await focus(page, '.scroll[aria-label="Evidence"]');
  check(await redrawn(page) === 'DIV Evidence', 'port: the focus stays on what has no id when the page is redrawn');
  check((await page.title()).startsWith(port), 'port: the title names it');
  await focus(page, '#ticket');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#ticket-text');
  const text = await page.$eval('#ticket-text', (area) => area.value);
  check(text.startsWith('# ') && text.includes('## Steps, cheapest first') && text.includes('linkhealth verify'), 'port: the ticket by keyboard');
  check(await page.evaluate(() => document.activeElement.id) === 'ticket', 'port: the focus stays on the button');
  await focus(page, '#back');
  await page.keyboard.press('Enter');
  await page.waitForSelector('table.ports');
  check(problems.length === 0, `keyboard: no console error ${problems.join('; ')}`);
  await page.close();
}

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));

async function words() {
  const { page } = await open('desktop', 'light', 'node');
  const work = await texts(page, 'tr.work');
  check(work.length === 1 && work[0].includes(port) && work[0].includes('▲'), `node: the faulty port, and only it, stands out: ${work}`);
  const first = await page.$eval('.ports tbody', (body) => body.textContent);
  check(first.startsWith(port) && /Dirty connector \d\d%: .*First: inspect and clean/.test(first), 'node: the worst port comes first, with its fault and first step');
  await page.goto(`${base}/${VIEWS.port}`);
  await page.waitForSelector('.verdict');
  const story = await page.$eval('.story', (card) => card.textContent);
  check(/Dirty connector, lane 4, \d\.\d dB lost/.test(story) && /First: inspect and clean both ends/.test(story) && story.includes('Carrying traffic'), `port: the story has fault, lane, loss, first step: ${story}`);
  const verdict = await page.$eval('.verdict', (card) => card.textContent);
  check(/Dirty connector \d\d%/.test(verdict) && verdict.includes('Fixed when'), 'port: the verdict and when it is fixed');
  const suspect = await texts(page, '.path .suspect');
  check(suspect.length === 2 && suspect.every((piece) => /Connector.*dirty connector \d\d%/.test(piece)), `port: both connectors are suspected, with the probability: ${suspect.join(' | ')}`);
  const [lost, said] = [await page.$eval('.path .loss', (one) => one.textContent), story.match(/(\d\.\d) dB lost/)?.[1]];
  check(lost === `→ ${said} dB lost`, `port: one loss, one number, and its direction: ${lost} and ${said}`);
  const weak = await texts(page, '.lanes li.degraded, .lanes li.down');
  check(weak.length === 1 && weak[0].includes('lane 4'), `port: the weak lane is marked: ${weak}`);
  const limit = (await texts(page, '.chart h3')).find((text) => text.includes('pre-FEC'));
  check(/\d\.\de-\d\d (now|\d+ (s|min|h) ago), FEC limit \d\.\de-\d\d/.test(limit || ''), `port: BER against its limit: ${limit}`);
  const events = await texts(page, '.timeline li');
  check(events.filter((line) => line.includes('Dirty connector opened: lane 4')).length === 1, `port: the timeline has the opening once: ${events.join(' | ')}`);
  check((await page.$eval('main', (all) => all.textContent)).includes('undefined') === false, 'port: nothing is undefined');
  await page.goto(`${base}/#/port/none`);
  await page.waitForFunction(() => document.querySelector('h1').textContent.includes('No port none'));
  check(true, 'an unknown port is named');
  await page.close();
}

/** The view of a report that the recording does not have; `change` runs in the page on the report and the port. */
async function drawn(page, change) {
  return page.evaluate(async (name, source) => {
    const report = await (await fetch('api/v1/report')).json();
    const [{ portView }, { nodeView }] = [await import('./web/port_view.js'), await import('./web/node_view.js')];
    new Function('report', 'port', source)(report, report.ports.find((one) => one.port === name)); // eslint-disable-line no-new-func
    const text = (nodes) => nodes.flat(4).filter(Boolean).map((node) => node.textContent).join('\n');
    const port = report.ports.find((one) => one.port === name);
    const view = portView(report, port, [], { remembered: false, points: [], events: [], repairs: [] }, 600, { form: {} });
    const holder = document.createElement('div');
    holder.append(...view.flat(4).filter(Boolean));
    return { port: text(view), node: text(nodeView(report, undefined, new Map())), grey: [...holder.querySelectorAll('.grey')].map((one) => one.textContent) };
  }, port, change);
}

async function otherReports() {
  const { page } = await open('desktop', 'light', 'port');
  await page.setBypassCSP(true);
  await page.reload({ waitUntil: 'domcontentloaded' });
  await page.waitForSelector('.verdict');
  const plain = await drawn(page, '');
  const imported = await drawn(page, 'port.now.module.imported_at = new Date(Date.parse(report.at) - 40000).toISOString();');
  check(!plain.port.includes('imported') && /imported 40 s ago/.test(imported.port), 'port: a module that another program read is said so, and only then');
  check(plain.grey.length === 0, `port: no side is grey where both were read: ${plain.grey}`);
  const blind = await drawn(page, 'delete port.now.peer.module;');
  check(blind.grey.length === 1 && /Far module.*not readable from here/.test(blind.grey[0]), `port: a far module that is not read is grey: ${blind.grey}`);
  const old = await drawn(page, 'port.now.peer.module_age_s = 4860;');
  check(/as read 81 min ago/.test(old.grey[0]), `port: old telemetry of the far end is grey and says its age: ${old.grey}`);
  const down = await drawn(page, "port.now.link.carrier = false; port.health = 'down'; port.figures.carrier_since_t = report.t - 12; port.faults = [];");
  check(/Link down for 12 s, since/.test(down.port) && /cause not determined yet/.test(down.port), 'port: a link that just went down says since when, and that the cause is open');
  const lanes = await drawn(page, 'port.faults[0].lanes = [4, 1, 2];');
  check(/Dirty connector, lanes 1, 2 and 4,/.test(lanes.port), `port: all lanes that have the fault: ${lanes.port.slice(0, 120)}`);
  const undecided = await drawn(page, "port.faults[0].undecided = {fault: 'unplugged', end: 'path', confidence: .3, names: [{fault: 'far_port_down', end: 'far', confidence: .55}, {fault: 'unplugged', end: 'path', confidence: .3}]};");
  check(undecided.port.includes('Far port down 55% or unplugged 30%') && undecided.node.includes('Far port down 55% or Unplugged 30%'), 'names that cannot be told apart stand together');
  const shared = await drawn(page, "for (const one of report.ports) { one.health = 'down'; one.faults = [{...port.faults[0], id: 'x', fault: 'nic_fault', end: 'node', ports: report.ports.map((each) => each.port)}]; }");
  check(shared.node.split('NIC fault').length === 2 && /one fault of 2 ports/.test(shared.node), 'node: a shared fault is one row');
  const partial = await drawn(page, "for (const one of report.ports) { one.health = 'healthy'; one.faults = []; one.partial = ['optics', 'fec']; }");
  check(/2 ports healthy. Each is judged only in part: no optics, no FEC/.test(partial.node) && !/healthy(?! \(partial\)|\. Each)/.test(partial.node), `node: healthy is not said alone of what was read only in part: ${partial.node.slice(0, 200)}`);
  const notes = await drawn(page, "for (const one of report.ports) { one.health = 'healthy'; one.faults = []; one.note = '3 modules of this node are hotter than usual'; }");
  check(notes.node.split('3 modules of this node are hotter').length === 2, 'node: a note on the node as a whole is said once');
  const acked = await drawn(page, "port.faults[0].acknowledged = {by: 'ann', reason: 'ticket 4711', at: report.at};");
  check(/Acknowledged by ann \(ticket 4711\)/.test(acked.node), 'node: who acknowledged a fault');
  const share = await drawn(page, 'report.impact = {share: 1};');
  check(share.node.includes("100% of this node's bandwidth"), 'node: 100 % is 100 %');
  await page.close();
}

async function acting() {
  const { page } = await open('desktop', 'light', 'port');
  await press(page, '#ack');
  await type(page, '#form-by', 'ann');
  await type(page, '#form-reason', 'INC-7');
  await page.evaluate(() => window.dispatchEvent(new Event('resize')));
  check(await page.$eval('#form-reason', (input) => input.value) === 'INC-7', 'acknowledge: what was typed survives a redraw');
  check(await page.evaluate(() => document.activeElement.id) === 'form-reason', 'acknowledge: so does the focus');
  await press(page, '#ack-send');
  await page.waitForSelector('.said');
  const said = await page.$eval('#panel-ack', (panel) => panel.textContent);
  check(/Unix socket, or with a password/.test(said) && said.includes(`linkhealth ack ${port}`), `acknowledge: without the right to act the reason and the command are shown: ${said}`);
  await press(page, '#maintenance');
  check(/Begin maintenance/.test(await page.$eval('#panel-maintenance', (panel) => panel.textContent)), 'maintenance: its form opens');
  await press(page, '#verify');
  check((await page.$eval('#panel-verify', (panel) => panel.textContent)).includes(`linkhealth verify ${port}`), 'verify: the command is shown');
  if (await page.$('#range-3600')) {
    await press(page, '#range-3600');
    await page.waitForFunction(() => document.getElementById('range-3600').getAttribute('aria-pressed') === 'true');
    check(true, 'the time range changes');
  }
  await focus(page, '#charts');
  await page.keyboard.press('ArrowLeft');
  check(/UTC|Z\)/.test(await page.$eval('.readout', (line) => line.textContent)), 'the arrow keys move the crosshair');
  await page.close();
}

async function withoutHistory() {
  const page = await newPage(browser);
  page.setDefaultTimeout(60000);
  await page.evaluateOnNewDocument(() => {
    const real = window.fetch;
    window.broken = true;
    window.fetch = (path, ...more) => (window.broken && /openapi|history/.test(path) ? Promise.reject(new TypeError('Failed to fetch')) : real(path, ...more));
  });
  await page.goto(`${base}/${VIEWS.port}`);
  await page.waitForSelector('.verdict');
  const text = await page.$eval('main', (all) => all.textContent);
  check(text.includes('The history could not be read (Failed to fetch): the charts begin when') && !text.includes('keeps no history'), 'port: a history that could not be read is not said to be none');
  await page.evaluate(() => { window.broken = false; location.hash = '#/'; });
  await page.waitForSelector('table.ports');
  await page.evaluate((hash) => { location.hash = hash; }, VIEWS.port);
  await page.waitForSelector('#range-3600');
  check(true, 'port: it is asked for again');
  await page.close();
}

async function runbooks() {
  const { page, problems } = await open('desktop', 'light', 'port');
  await press(page, '[id^="runbook-dirty_connector"]');
  await page.waitForFunction(() => document.querySelector('.runbook h1')?.textContent === 'Dirty connector');
  const text = await page.$eval('.runbook', (card) => card.textContent);
  check(/inspect and clean both ends/.test(text) && !/\*\*|<!--/.test(text), 'runbook: the steps, without marks of Markdown');
  check((await axe(page)).length === 0, 'runbook: axe-core finds nothing');
  await press(page, '.runbook a[href="#/runbook/damaged_fiber"]');
  await page.waitForFunction(() => document.querySelector('.runbook h1')?.textContent === 'Damaged fibre');
  check(true, 'runbook: its neighbours are a click away');
  await page.goto(`${base}/#/runbook/none`);
  await page.waitForFunction(() => document.querySelector('h1').textContent.includes('No runbook'));
  check(problems.every((line) => /404/.test(line)), `runbook: an unknown one is named ${problems.join('; ')}`);
  await page.close();
}

/** One page that is open while the recording plays, so that its lines have a past; then it is looked at in all its clothes. */
async function portraits() {
  const { page } = await open('desktop', 'light', 'port');
  await page.waitForFunction(() => document.querySelectorAll('.chart .line').length >= 6 && document.querySelector('.verdict ol'), { timeout: 120000 });
  const at = () => page.$eval('#fresh', (line) => line.textContent);
  for (let before = ''; before !== await at();) { // until the recording has ended
    before = await at();
    await new Promise((resolve) => { setTimeout(resolve, 11000); });
  }
  for (const size of Object.keys(SIZES))
    for (const theme of ['light', 'dark'])
      for (const view of Object.keys(VIEWS)) {
        await page.setViewport({ ...SIZES[size], isMobile: false, hasTouch: false });
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
        await page.evaluate((hash) => { location.hash = hash; }, VIEWS[view]);
        await page.waitForSelector(view === 'node' ? 'table.ports' : '.verdict');
        await page.evaluate(() => document.activeElement.blur());
        await page.screenshot({ path: path.join(pictures, `${view}-${theme}${size === 'phone' ? '-phone' : ''}.png`), fullPage: true });
      }
  await page.close();
}

try {
  if (pictures) await portraits();
  await words();
  await otherReports();
  await acting();
  await withoutHistory();
  await runbooks();
  await keyboard();
  await looks();
} catch (error) {
  check(false, `the test itself: ${error.stack}`);
} finally {
  await browser.close();
}
process.exit(failures.length ? 1 : 0);
