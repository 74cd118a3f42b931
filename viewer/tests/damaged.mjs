// Opens a page that `uctrace view --tiles --serve` serves from a store that was damaged later. The page itself was made
// before and is shown; parts that can no longer be read are an error on it.
//
//   node damaged.mjs URL
//
// Exit status: 0 passed, 1 failed, 77 no browser (set CHROMIUM to name one).

import assert from 'node:assert/strict';

import { withBrowser } from './browser.mjs';

const [url] = process.argv.slice(2);

await withBrowser({ viewport: { width: 1320, height: 900 } }, async (context) => {
  const problems = [];
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(url);
  await page.locator('html[data-ready]').waitFor();
  assert.ok(Number(await page.getByTestId('total-bytes').getAttribute('data-value')) > 0, 'sums were read before');
  await page.getByTestId('timeline-canvas').focus();
  const note = page.getByTestId('timeline-tiles');
  for (let i = 0; i < 12 && !/cannot be shown/.test(await note.textContent()); ++i) {
    await page.keyboard.press('+');
    await page.waitForFunction(() => !/Loading/.test(document.querySelector('[data-testid="timeline-tiles"]').textContent));
  }
  assert.match(
    await note.textContent(),
    /tiles\/\d+\.js cannot be shown: cannot read the store .*run\.h5: .+; merge the logs again with `uctrace merge`, and start `uctrace view --serve` again\. All is in the sums and bins\./,
  );
  assert.deepEqual(problems, [], 'no errors in the page');
  console.log('ok   the page says that the store is damaged');
});
