// The dock of details: it explains the thing under the pointer and keeps the explanation, covers no data, and nothing
// moves. Used by page.mjs, and by others to read the dock.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { addressHas, addressLacks, kBrowser } from './browser.mjs';
import { makeRun, written } from './make_run.mjs';

const kHint = /^What you point at/;
const kWindows = [
  { width: 1320, height: 900 },
  { width: 390, height: 844 },
];

/** Pixels from one position of the pointer to the next. */
const kStep = 7;
const kStride = 31;
const kZoom = 0.995;

const content = (page) => page.getByTestId('details-content');
const text = (page) => content(page).textContent();

export const isKept = (page) => page.getByTestId('details-close').isVisible();
export const isPointed = async (page) => !(await isKept(page)) && !kHint.test(await text(page));
export async function assertNothingPointed(page, message) {
  assert.match(await text(page), kHint, message);
}

/** Around the mark and in it, the canvas is not covered, between the bar of sections and the dock. */
export async function assertUncovered(page, canvas, marker, what) {
  const covered = await page.evaluate(
    ([canvasId, markerId]) => {
      const of = (id) => document.querySelector(`[data-testid="${id}"]`);
      const canvas = of(canvasId);
      const { left, right, top, bottom } = canvas.getBoundingClientRect();
      const mark = of(markerId).getBoundingClientRect();
      const lowest = of('details').getBoundingClientRect().top;
      const highest = of('section-bar').getBoundingClientRect().bottom;
      const steps = [-200, -100, -40, -10, 10, 40, 100, 200];
      const xs = [...steps.map((step) => (step < 0 ? mark.left : mark.right) + step), (mark.left + mark.right) / 2];
      const ys = [...steps.map((step) => (step < 0 ? mark.top : mark.bottom) + step), (mark.top + mark.bottom) / 2];
      const inside = xs
        .flatMap((x) => ys.map((y) => [x, y]))
        .filter(([x, y]) => x > left && x < Math.min(right, innerWidth) && y > Math.max(top, highest) && y < Math.min(bottom, lowest));
      if (inside.length === 0) return ['nothing of it is in view'];
      return inside
        .map(([x, y]) => [x, y, document.elementFromPoint(x, y)])
        .filter(([, , found]) => found !== canvas)
        .map(([x, y, found]) => `${found?.outerHTML.slice(0, 80)} at ${x}, ${y}`);
    },
    [canvas, marker],
  );
  assert.deepEqual(covered, [], `what covers the canvas around ${what}`);
}

/** Where everything is on the page, and the dock in the window. */
const places = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('header, nav, main > *, section, canvas, footer, aside')].map((part) => {
      const { x, y, width, height } = part.getBoundingClientRect();
      return `${part.tagName} ${part.id} ${[x, part.tagName === 'ASIDE' ? y : y + scrollY, width, height]}`;
    }),
  );

/** The page ends above the dock. */
async function assertEndInView(page, what) {
  const covered = await page.evaluate(() => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    const foot = document.querySelector('footer').getBoundingClientRect().bottom;
    return foot - document.querySelector('[data-testid="details"]').getBoundingClientRect().top;
  });
  assert.ok(covered < 1, `${what} covers ${covered} px of the end of the page`);
}

/** Moves the pointer over a part of the page until it is explained there. */
async function pointInto(page, testId, wanted = /./s) {
  const part = page.getByTestId(testId);
  await part.evaluate((element) => {
    const { top, height } = element.getBoundingClientRect();
    window.scrollBy(0, top - Math.max(80, (window.innerHeight - 120 - height) / 2));
  });
  const before = await places(page);
  const { x, y, width, height } = await part.boundingBox();
  const { y: lowest } = await page.getByTestId('details').boundingBox();
  const rows = Math.floor(height / kStep);
  const columns = Math.floor(width / kStep);
  for (let i = 0; i < rows * columns; ++i) {
    // Begins in the middle, and takes neighbouring rows last.
    const [right, down] = [(i % columns) * kStep + 3, (((Math.floor(i / columns) + 1) * kStride) % rows) * kStep + 3];
    if (y + down > lowest - 4) continue;
    await page.mouse.move(x + right, y + down);
    const said = await text(page);
    if (!kHint.test(said) && wanted.test(said)) {
      assert.deepEqual(await places(page), before, `nothing moves where the pointer is in ${testId}`);
      return { x: x + right, y: y + down };
    }
  }
  assert.fail(`nothing in ${testId} is explained`);
}

async function checkPointing(page) {
  await page.mouse.move(0, 0);
  await assertNothingPointed(page, 'what to do is said while nothing is pointed at');
  assert.equal(await content(page).getAttribute('role'), 'status', 'it is read out, after what is being read');
  await pointInto(page, 'matrix-canvas');
  await assertUncovered(page, 'matrix-canvas', 'matrix-marker', 'a square');
  await pointInto(page, 'timeline-canvas');
  await assertUncovered(page, 'timeline-canvas', 'timeline-marker', 'a bin');
  await pointInto(page, 'graph-canvas');
  await page.mouse.move(0, 0);
  await assertNothingPointed(page);
}

/** Zooms to the last single operations of the page. */
async function zoomIn(page, { details_to_ns: to }) {
  const level = () => page.getByTestId('timeline-level').textContent();
  const before = await level();
  await page.evaluate((zoom) => (location.hash = zoom), `zoom=${Math.round(to * kZoom)}-${to}`);
  await page.waitForFunction(
    (before) => document.querySelector('[data-testid="timeline-level"]').textContent !== before,
    before,
  );
}

async function checkKeeping(page, time) {
  const focused = () => page.evaluate(() => document.activeElement.dataset.testid);
  await zoomIn(page, time);
  await pointInto(page, 'timeline-canvas', /^Message #/);
  assert.ok(await page.getByTestId('timeline-marker').isVisible(), 'an arrow is marked');
  await assertUncovered(page, 'timeline-canvas', 'timeline-marker', 'an arrow');
  const { x, y } = await pointInto(page, 'timeline-canvas', /call site/);
  const pointed = await text(page);
  const strip = await page.getByTestId('details').boundingBox();
  await page.mouse.click(x, y);
  assert.ok(await isKept(page), 'a click keeps');
  assert.equal(await text(page), pointed);
  const panel = await page.getByTestId('details').boundingBox();
  assert.ok(panel.height > strip.height, 'and shows more');
  const hidden = await content(page).evaluate((box) => [box.scrollWidth - box.clientWidth, getComputedStyle(box).overflowY]);
  assert.deepEqual(hidden, [0, 'auto'], 'all of it, down to where it scrolls');
  await page.mouse.move(x + 30, y);
  await page.mouse.move(0, 0);
  assert.equal(await text(page), pointed, 'it stays while the pointer moves');
  await assertEndInView(page, 'what is kept');
  await page.getByTestId('details-close').click();
  assert.ok(!(await isKept(page)));
  assert.equal(await focused(), 'timeline-canvas', 'the focus goes back');
  assert.equal((await page.getByTestId('details').boundingBox()).height, strip.height, 'the strip is as it was');
  await pointInto(page, 'timeline-canvas');
  await page.mouse.move(0, 0);
  // By keys: p in any view, Escape within the panel.
  await page.getByTestId('matrix-canvas').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('p');
  assert.ok(await isKept(page), 'p keeps');
  assert.equal(await focused(), 'details-content', 'and goes there');
  await page.keyboard.press('Escape');
  assert.ok(!(await isKept(page)));
  assert.equal(await focused(), 'matrix-canvas');
  await page.keyboard.press('Escape');
}

/** Things that keys reach are not beneath the dock, wherever the page is scrolled to. */
async function checkReaching(page) {
  for (const [testId, marker, key] of [
    ['timeline-canvas', 'timeline-marker', 'ArrowDown'],
    ['matrix-canvas', 'matrix-marker', 'ArrowDown'],
  ]) {
    await page.getByTestId(testId).evaluate((canvas) => {
      canvas.focus({ preventScroll: true });
      window.scrollBy(0, canvas.getBoundingClientRect().bottom - window.innerHeight);
    });
    for (let i = 0; i < 14; ++i) {
      await page.keyboard.press(key);
      const under = await page.evaluate((marker) => {
        const of = (id) => document.querySelector(`[data-testid="${id}"]`).getBoundingClientRect();
        return of(marker).bottom - of('details').top;
      }, marker);
      assert.ok(under <= 0, `${testId}: ${under} px of what ${key} reached are beneath the dock`);
    }
    await page.keyboard.press('Escape');
  }
}

async function checkFolding(page) {
  const fold = page.getByTestId('details-fold');
  const { height: open } = await page.getByTestId('details').boundingBox();
  await assertEndInView(page, 'the strip');
  await fold.click();
  await addressHas(page, /dock=folded/, 'the address says that it is folded');
  await page.reload();
  await page.locator('html[data-ready]').waitFor();
  const { height } = await page.getByTestId('details').boundingBox();
  assert.ok(height < open / 2, `folded ${height} px, open ${open} px`);
  await assertEndInView(page, 'the folded strip');
  const { x, y } = await pointInto(page, 'timeline-canvas', /process/);
  await page.mouse.click(x, y);
  assert.ok(await isKept(page), 'a click keeps there, too');
  await page.keyboard.press('Escape');
  assert.equal((await page.getByTestId('details').boundingBox()).height, height, 'and is folded after it');
  assert.equal(await fold.getAttribute('aria-expanded'), 'false');
  await fold.click();
  await addressLacks(page, /dock=/);
  assert.equal((await page.getByTestId('details').boundingBox()).height, open);
  // Over BiDi, a page cannot be shown as printed.
  if (kBrowser === 'firefox') return;
  await page.emulateMedia({ media: 'print' });
  assert.ok(await page.getByTestId('details').isHidden(), 'it is not printed');
  await page.emulateMedia({ media: null });
}

/** `fill(data)`: the page for some data. */
export async function checkDetailsDock(page, folder, fill) {
  const before = page.viewportSize();
  const file = join(folder, 'details.html');
  const data = makeRun({ ranks: 6, slabs: 256, limit: 3000, seed: 7 });
  writeFileSync(file, fill(written(data)));
  for (const window of kWindows) {
    await page.setViewportSize(window);
    await page.goto('about:blank');
    await page.goto(pathToFileURL(file).href);
    await page.locator('html[data-ready]').waitFor();
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    await checkPointing(page);
    await checkKeeping(page, data.time);
    await checkReaching(page);
    await checkFolding(page);
    console.log(`ok   ${window.width} px wide: details cover nothing, are kept, closed and folded`);
  }
  await page.setViewportSize(before);
}
