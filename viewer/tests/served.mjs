// Opens a page that `uctrace view --serve` serves, goes into a span of its timeline, and back.
//
//   node served.mjs URL
//
// Exit status: 0 passed, 1 failed, 77 no browser (set CHROMIUM to name one).

import assert from 'node:assert/strict';

import { dataIn, withBrowser } from './browser.mjs';

const [url] = process.argv.slice(2);
const origin = new URL(url).origin;

async function dataOf(page) {
  await page.locator('html[data-ready]').waitFor();
  return dataIn(page);
}

async function check(context) {
  const problems = [];
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin && !request.url().startsWith('data:')) {
      problems.push(`asks for ${request.url()}`);
    }
  });

  await page.goto(url);
  const whole = await dataOf(page);
  assert.ok(whole.served && !whole.time.is_part);
  assert.ok(whole.time.embedded < whole.time.events, 'the whole run is too much for one page');
  assert.equal(await page.getByTestId('whole-run').count(), 0, 'it is all there is');

  // The end of the run, for which the page has only sums.
  await page.getByTestId('timeline-canvas').focus();
  for (let i = 0; i < 6; ++i) await page.keyboard.press('+');
  await page.keyboard.press('End');
  const link = page.getByTestId('timeline-span');
  const [, from, to] = /(\d+)-(\d+)$/.exec(await link.getAttribute('href'));
  await link.click();
  await page.waitForURL(`${url}${from}-${to}`);
  const part = await dataOf(page);
  assert.ok(part.time.is_part);
  assert.equal(part.time.from_ns, Number(from));
  assert.ok(part.time.to_ns <= Number(to));
  assert.equal(part.run.id, whole.run.id);
  assert.ok(part.time.details_to_ns > whole.time.details_to_ns, 'operations that the first page lacked');
  assert.ok(part.time.events > 0 && part.time.events < whole.time.events);

  await page.getByTestId('whole-run').click();
  await page.waitForURL(url);
  assert.deepEqual((await dataOf(page)).time, whole.time, 'back to the whole run');

  await page.goto(`${url}9-3`);
  assert.match(await page.locator('body').innerText(), /a span is FROM-TO/);
  assert.deepEqual(
    problems.filter((problem) => !problem.includes('404')),
    [],
    'no errors in the page, and nothing asked of others',
  );
  console.log(`ok   ${part.time.events} of ${whole.time.events} operations and messages in a span`);
}

await withBrowser({ viewport: { width: 1320, height: 900 } }, check);
