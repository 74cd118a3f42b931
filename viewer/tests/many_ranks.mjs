// The page of a run of 1,024 ranks: it is painted early, fits narrow and wide windows, and every rank can be reached. Used
// by page.mjs.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { kBrowser } from './browser.mjs';
import { makeRun, written } from './make_run.mjs';

const kRanks = 1024;
const kWidths = [390, 1320];

/** Records the texts that the timeline draws, and when the page is ready. */
function prepare() {
  window.drawn = new Set();
  new MutationObserver(() => {
    if (document.documentElement.dataset.ready !== undefined) window.readyAt ??= performance.now();
  }).observe(document, { attributes: true, childList: true, subtree: true });
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...others) {
    if (this.canvas.dataset.testid === 'timeline-canvas') window.drawn.add(text);
    return fillText.call(this, text, ...others);
  };
}

/** Pairs of texts in an element that overlap. */
function overlapping(root) {
  const boxes = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    // Collapsed parts also have a place.
    if (!node.parentElement.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) if (box.width > 0) boxes.push({ text: node.data, box });
  }
  // Lines of text may touch.
  const common = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return {
    texts: boxes.length,
    covered: boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) => common(a.box, b.box)).map((b) => `${a.text} / ${b.text}`)),
    outside: boxes.filter(({ box }) => box.left < 0 || box.right > document.documentElement.clientWidth).map(({ text }) => text),
  };
}

/** Scrolls through all lanes, and returns the names that were drawn. */
async function namesOfLanes(page) {
  return page.locator('.timeline-scroll').evaluate(async (scroll) => {
    const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    window.drawn.clear();
    for (let top = 0; ; top += Math.floor(scroll.clientHeight / 2)) {
      scroll.scrollTop = top;
      scroll.dispatchEvent(new Event('scroll'));
      await painted();
      if (scroll.scrollTop < top) break;
    }
    return [...window.drawn].filter((text) => /^rank \d+$/.test(text));
  });
}

async function checkLanes(page) {
  const names = await namesOfLanes(page);
  const missing = Array.from({ length: kRanks }, (_, rank) => `rank ${rank}`).filter((name) => !names.includes(name));
  assert.deepEqual(missing, [], `lanes that are out of reach at ${page.viewportSize().width} px`);
  // The keys reach the first and the last rank, and the page says so.
  for (const rank of [0, kRanks - 1]) {
    await page.getByTestId('lanes-only').fill(String(rank));
    await page.getByTestId('timeline-canvas').focus();
    for (const key of ['Home', 'ArrowDown']) await page.keyboard.press(key);
    assert.match(await page.getByTestId('details-content').innerText(), new RegExp(`rank\\s+${rank}\\b`));
    await page.keyboard.press('Escape');
  }
  await page.getByTestId('lanes-only').fill('');
}

/** Rows of the list of pairs that are out of view come later, unless something needs them: a file, or a print. */
async function checkPairList(page) {
  const counts = await page.evaluate(() => {
    const rows = () => document.querySelectorAll('[data-testid="matrix-pairs"] tbody tr').length;
    // Within one task, so that no frame comes in between.
    const countAfter = (measure, act) => {
      document.querySelector(`[data-testid="measure-${measure}"]`).click();
      const atOnce = rows();
      act();
      return [atOnce, rows()];
    };
    return [
      countAfter('messages', () => document.querySelector('.pairs button.csv').click()),
      countAfter('bytes', () => window.dispatchEvent(new Event('beforeprint'))),
      countAfter('messages', () => {}),
    ];
  });
  for (const [atOnce] of counts) assert.ok(atOnce > 0 && atOnce < 200, `${atOnce} rows at once`);
  assert.deepEqual(counts.map(([, after]) => after), [200, 200, counts[2][0]], 'a file and a print have all rows');
  await page.waitForFunction(() => document.querySelectorAll('[data-testid="matrix-pairs"] tbody tr').length === 200);
  await page.getByTestId('measure-bytes').click();
}

export async function checkManyRanks(context, folder, fill) {
  const data = makeRun({ ranks: kRanks, seed: 7, slabs: 64 });
  const file = join(folder, 'many_ranks.html');
  writeFileSync(file, fill(written(data)));
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const problems = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  await page.addInitScript(prepare);
  for (const width of kWidths) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('about:blank');
    await page.goto(pathToFileURL(file).href);
    await page.locator('html[data-ready]').waitFor();
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wider, 0, `${width} px: the page is wider than its window`);
    assert.match(await page.locator('header').innerText(), /1,024 on 256 hosts/);
    const { texts, covered, outside } = await page.locator('header').evaluate(overlapping);
    assert.ok(texts > 12, `${texts} texts in the header`);
    assert.deepEqual(covered, [], `${width} px: texts of the header that cover each other`);
    assert.deepEqual(outside, [], `${width} px: texts of the header that are cut`);
    if (kBrowser === 'chromium') {
      const [painted, ready] = await page.evaluate(() => [
        performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
        window.readyAt,
      ]);
      assert.ok(painted < ready, `first painted after ${painted} ms, and ready after ${ready} ms`);
    }
    await checkLanes(page);
    await checkPairList(page);
    console.log(`ok   1,024 ranks in ${width} px: painted, fits, all ranks within reach`);
  }
  assert.deepEqual(problems, [], 'no errors in a page of 1,024 ranks');
  await page.close();
}
