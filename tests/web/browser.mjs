// Headless Chromium for the tests of the page: how a page is opened and what must hold of each. Checks print a line each.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import puppeteer from 'puppeteer-core';

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740, isMobile: true, hasTouch: true } };
export const failures = [];

/** `prefix`: what stands behind "ok   " and "FAIL ". */
export const checker = (prefix = '') => (good, what) => {
  console.log(`${good ? 'ok  ' : 'FAIL'} ${prefix}${what}`);
  if (!good) failures.push(what);
  return good;
};

export const launch = () => puppeteer.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true,
  timeout: 120000, // a cold start on a busy machine takes longer than the usual 30 s
  args: ['--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-dev-shm-usage', '--disable-background-networking'],
});

// In one step each, unlike page.click(), page.focus() and page.$eval(): an answer of the daemon may replace the element meanwhile.
export const press = (page, selector) => page.evaluate((one) => document.querySelector(one).click(), selector);
export const focus = (page, selector) => page.evaluate((one) => document.querySelector(one).focus(), selector);
export async function type(page, selector, text) {
  await focus(page, selector);
  await page.keyboard.type(text);
}

// The screen reader's and the checker's view of a page that says "default-src 'none'": axe comes in by the debugger, not by a tag.
export const axe = (page) => page.evaluate(`${axeSource}; axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map(
  (v) => v.id + ': ' + v.help + ' at ' + v.nodes.map((n) => n.target.join(' ')).join(', ')))`);

/** A new tab; tried twice: on a busy machine Chromium sometimes loses the session of a tab while it opens it. */
export const newPage = (browser) => browser.newPage().catch(() => browser.newPage());

/** A page at `base`/`hash`; `problems` fills with console errors and with what is loaded from elsewhere. */
export async function open(browser, base, hash, size = 'desktop', theme = 'light') {
  const page = await newPage(browser);
  page.setDefaultTimeout(60000); // with sanitizers on a busy machine
  const problems = [];
  page.on('console', (message) => { if (['error', 'warn'].includes(message.type())) problems.push(`${message.text()} ${message.location()?.url || ''}`); });
  page.on('pageerror', (error) => problems.push(`thrown: ${error.message}`));
  page.on('request', (request) => { if (!request.url().startsWith(base) && !request.url().startsWith('data:')) problems.push(`loaded from elsewhere: ${request.url()}`); });
  await page.setViewport(SIZES[size]);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.goto(`${base}/${hash}`, { waitUntil: 'domcontentloaded', timeout: 60000 });
  await page.waitForSelector('main h1', { timeout: 60000 });
  return { page, problems };
}
