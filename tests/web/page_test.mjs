// page_test.mjs BASE PORT [PICTURES]: the page of a daemon at BASE in headless Chromium: no console error, nothing loaded from
// elsewhere, axe-core without violations in both themes and at phone width, no horizontal scroll, everything by keyboard.
// PICTURES: a directory for screenshots. Prints a line a check; exit code 1 with what failed.
import path from 'node:path';
import { SIZES, axe, checker, failures, launch, open as openAt } from './browser.mjs';

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
        if (view === 'port') await page.click('#ticket');
        const violations = await axe(page);
        check(violations.length === 0, `${name}: axe-core finds nothing ${violations.join('; ')}`);
        const wide = await page.evaluate(() => document.scrollingElement.scrollWidth);
        check(wide <= SIZES[size].width, `${name}: no horizontal scroll (${wide} of ${SIZES[size].width})`);
        if (view === 'port') await page.click('#ticket');
        check(problems.length === 0, `${name}: no console error, nothing from elsewhere ${problems.join('; ')}`);
        await page.close();
      }
}

async function keyboard() {
  const { page, problems } = await open('desktop', 'light', 'node');
  const wanted = await page.evaluate(() => document.querySelectorAll('a[href], button').length);
  const reached = new Set();
  for (let i = 0; i < wanted + 3; ++i) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => {
      const at = document.activeElement;
      const all = [...document.querySelectorAll('a[href], button')];
      const style = getComputedStyle(at);
      return all.includes(at) ? `${all.indexOf(at)}${style.outlineStyle === 'none' ? ' without an outline' : ''}` : 'body';
    }));
  }
  reached.delete('body');
  check(reached.size === wanted, `node: the Tab key reaches all ${wanted} links and buttons, with an outline (${[...reached].join(' ')})`);
  await page.focus(`[id="tile-${port}"]`);
  await page.keyboard.press('Enter');
  await page.waitForFunction((name) => document.querySelector('h1').textContent.startsWith(name), {}, port);
  check(await page.evaluate(() => document.activeElement.tagName) === 'H1', 'port: the focus goes to its heading');
  check((await page.title()).startsWith(port), 'port: the title names it');
  await page.focus('#ticket');
  await page.keyboard.press('Enter');
  const text = await page.$eval('#ticket-text', (area) => area.value);
  check(text.startsWith('# ') && text.includes('## Do this') && text.includes('linkhealth verify'), 'port: the ticket by keyboard');
  check(await page.evaluate(() => document.activeElement.id) === 'ticket', 'port: the focus stays on the button');
  await page.focus('#back');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.machine');
  check(problems.length === 0, `keyboard: no console error ${problems.join('; ')}`);
  await page.close();
}

async function words() {
  const { page } = await open('desktop', 'light', 'node');
  const work = await page.$$eval('.tile.work', (tiles) => tiles.map((tile) => tile.textContent));
  check(work.length === 1 && work[0].includes(port) && /dirty connector/i.test(work[0]) && work[0].includes('▲'), `node: the faulty port, and only it, stands out: ${work}`);
  await page.goto(`${base}/${VIEWS.port}`);
  await page.waitForSelector('.verdict');
  const verdict = await page.$eval('.verdict', (card) => card.textContent);
  check(/Dirty connector: \d\d% sure/.test(verdict) && verdict.includes('clean both ends'), 'port: the verdict and the first step');
  const ways = await page.$$eval('.way', (all) => all.map((way) => way.getAttribute('aria-label')));
  check(ways.length === 2 && /lost here/.test(ways[0]) && !/lost here/.test(ways[1]), `port: light is lost towards this node only: ${ways.join(' | ')}`);
  const weak = await page.$$eval('.lanes li.degraded, .lanes li.down', (all) => all.map((lane) => lane.textContent));
  check(weak.length === 1 && weak[0].includes('lane 4'), `port: the weak lane is marked: ${weak}`);
  const limit = await page.evaluate(() => [...document.querySelectorAll('h3')].map((head) => head.textContent).find((text) => text.includes('pre-FEC')));
  check(/now \d\.\de-\d\d, limit \d\.\de-\d\d/.test(limit || ''), `port: BER against its limit: ${limit}`);
  const told = await page.$$eval('.timeline li', (lines) => lines.map((line) => line.textContent));
  check(told.filter((line) => line.includes('Dirty connector opened: lane 4')).length === 1, `port: the timeline has the opening once: ${told.join(' | ')}`);
  check(told.every((line) => !line.includes('undefined')), 'port: nothing in the timeline is undefined');
  const imported = await page.evaluate(async (name) => {
    const [report, { portView }] = [await (await fetch('api/v1/report')).json(), await import('./web/port_view.js')];
    const shown = report.ports.find((one) => one.port === name);
    const text = () => portView(report, shown, [], { remembered: false, points: [], events: [], repairs: [] }, 600, {}).map((card) => card.textContent).join(' ');
    const before = text();
    shown.now.module.imported_at = new Date(Date.parse(report.at) - 40000).toISOString();
    return [before.includes('Module read'), text().match(/Module readby another program \(imported\) 40 s ago/)?.[0]];
  }, port);
  check(!imported[0] && imported[1], `port: that somebody else read the module is said, and only then: ${imported}`);
  await page.goto(`${base}/#/port/none`);
  await page.waitForFunction(() => document.querySelector('h1').textContent.includes('No port none'));
  check(true, 'a port that is not there is said');
  await page.close();
}

/** One page that is open while the recording plays, so that its lines have a past; then it is looked at in all its clothes. */
async function portraits() {
  const { page } = await open('desktop', 'light', 'port');
  await page.waitForFunction(() => document.querySelectorAll('.chart .line').length === 3 && document.querySelector('.verdict ol'), { timeout: 120000 });
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
        await page.waitForSelector(view === 'node' ? '.machine' : '.verdict');
        await page.evaluate(() => document.activeElement.blur());
        await page.screenshot({ path: path.join(pictures, `${view}-${theme}${size === 'phone' ? '-phone' : ''}.png`), fullPage: true });
      }
  await page.close();
}

try {
  if (pictures) await portraits();
  await words();
  await keyboard();
  await looks();
} catch (error) {
  check(false, `the test itself: ${error.stack}`);
} finally {
  await browser.close();
}
process.exit(failures.length ? 1 : 0);
