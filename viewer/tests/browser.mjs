// The browser of the tests, without a network: Debian's Chromium or, if UCTRACE_BROWSER is firefox, Debian's Firefox.
// CHROMIUM and FIREFOX name other binaries.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium, firefox } from 'playwright-core';

const kArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const kBrowsers = {
  chromium: { type: chromium, path: process.env.CHROMIUM ?? '/usr/bin/chromium', variable: 'CHROMIUM', options: { args: kArguments } },
  // The stock browser, driven by WebDriver BiDi: that needs none of Playwright's own builds.
  firefox: { type: firefox, path: process.env.FIREFOX ?? '/usr/bin/firefox-esr', variable: 'FIREFOX', options: { channel: 'moz-firefox' } },
};

/** chromium or firefox. */
export const kBrowser = process.env.UCTRACE_BROWSER ?? 'chromium';

/** Runs `use` with a context and a folder that is removed afterwards; exits with 77 if there is no browser. */
export async function withBrowser(settings, use) {
  if (!(kBrowser in kBrowsers)) throw new Error(`UCTRACE_BROWSER is ${kBrowser}; there are ${Object.keys(kBrowsers).join(' and ')}`);
  const { type, path: executablePath, variable, options } = kBrowsers[kBrowser];
  if (!existsSync(executablePath)) {
    console.log(`skipped: there is no ${executablePath}; set ${variable} to the path of a browser`);
    process.exit(77);
  }
  const folder = mkdtempSync(join(tmpdir(), 'uctrace-page-'));
  const launched = { executablePath, headless: true, ...options };
  // Over BiDi, Firefox has no context for a profile; it makes a profile of its own and removes it. It leaves traces in a
  // home folder, and as root it refuses one that belongs to another user.
  const browser = kBrowser === 'firefox' ? await type.launch({ ...launched, env: { ...process.env, HOME: folder } }) : undefined;
  const context = browser
    ? await browser.newContext(settings)
    : await type.launchPersistentContext(join(folder, 'profile'), { ...launched, ...settings });
  try {
    await use(context, folder);
  } finally {
    await context.close();
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until the address matches: a browser may report a new address only after a key or a click is done. */
export async function addressHas(page, pattern, message) {
  const has = (url) => pattern.test(decodeURIComponent(url.href));
  await page.waitForURL(has).catch(() => assert.match(decodeURIComponent(page.url()), pattern, message));
}

/** Waits until nothing in the address matches. */
export async function addressLacks(page, pattern, message) {
  const lacks = (url) => !pattern.test(decodeURIComponent(url.href));
  await page.waitForURL(lacks).catch(() => assert.doesNotMatch(decodeURIComponent(page.url()), pattern, message));
}

/** The address as the page itself has it now. */
export const addressOf = (page) => page.evaluate(() => location.href);

/** The data that `uctrace view` put into the page, as one object. */
export async function dataIn(page) {
  const [run, packed] = await Promise.all(
    ['#uctrace-data', '#uctrace-packed'].map(async (id) => JSON.parse(await page.locator(id).textContent())),
  );
  return { ...run, packed };
}

/** The name and bytes of the file that the reader saves by `act`. */
export async function savedBy(page, act) {
  if (kBrowser !== 'firefox') {
    const [download] = await Promise.all([page.waitForEvent('download'), act()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  }
  // With a stock Firefox, Playwright does not notice downloads that a link starts: reads what the link would save
  // instead.
  await page.evaluate(() => {
    const { createObjectURL } = URL;
    const { click } = HTMLAnchorElement.prototype;
    window.savedFile = new Promise((resolve) => {
      URL.createObjectURL = (blob) => {
        HTMLAnchorElement.prototype.click = function () {
          URL.createObjectURL = createObjectURL;
          HTMLAnchorElement.prototype.click = click;
          const reader = new FileReader();
          reader.onload = () => resolve({ name: this.download, address: reader.result });
          reader.readAsDataURL(blob);
        };
        return createObjectURL.call(URL, blob);
      };
    });
  });
  await act();
  const { name, address } = await page.evaluate(() => window.savedFile);
  return { name, bytes: Buffer.from(address.slice(address.indexOf(',') + 1), 'base64') };
}
