// Checks the layout of the page: nothing is cut, the details of a square cover none, and the list beside the matrix
// agrees with the data. Used by page.mjs.

import assert from 'node:assert/strict';
import { addressOf } from './browser.mjs';
import { assertNothingPointed, assertUncovered } from './details_dock.mjs';

const kWindows = [
  { width: 1280, height: 800 },
  { width: 1920, height: 950 },
];

/** From a telephone to a desktop screen. */
const kWidths = Array.from({ length: 39 }, (_, step) => 390 + 40 * step);

/** The details of a pair: part and name -> its numbers; no messages and times for a transport. */
function expectedDetails(data, src, dst) {
  const lines = new Map();
  const add = (part, name, numbers) => {
    const key = `${part}/${name}`;
    const sums = lines.get(key) ?? numbers.map(() => 0);
    lines.set(key, sums.map((sum, index) => sum + numbers[index]));
  };
  for (const cell of data.cells) {
    const { reason, mpi, path } = data.classes[cell.class];
    if (reason !== null || cell.src !== src || cell.dst !== dst) continue;
    const count = cell.transfers.reduce((sum, t) => sum + t.count, 0);
    const wireBytes = cell.transfers.reduce((sum, t) => sum + t.wire_bytes, 0);
    const numbers = [cell.messages, cell.bytes, count, wireBytes, cell.ns, cell.timed];
    add('all', 'all', numbers);
    add('mpi', mpi ?? 'not known', numbers);
    cell.transfers.forEach((t, hop) => {
      if (t.count > 0)
        add('transport', path[hop].transport, [t.bytes, t.count, t.wire_bytes]);
    });
  }
  return new Map([...lines].map(([key, numbers]) => [key, key.startsWith('transport/') ? numbers : withMeanTime(numbers)]));
}

/** The last number counts the messages with a time. */
function withMeanTime(numbers) {
  const [time, timed] = numbers.slice(-2);
  return [...numbers.slice(0, -2), ...(timed > 0 ? [time, time / timed] : [null, null])];
}

async function shownDetails(root) {
  const rows = await root
    .locator('tr[data-part]')
    .evaluateAll((all) =>
      all.map((row) => [
        `${row.dataset.part}/${row.dataset.name}`,
        [...row.querySelectorAll('td')].map(({ dataset: { value } }) =>
          value === undefined ? null : Number(value),
        ),
      ]),
    );
  return new Map(rows);
}

/** All lines are shown, and correct. */
function compareDetails(shown, expected, what) {
  for (const part of ['all', 'mpi', 'transport']) {
    const of = (lines) => [...lines].filter(([key]) => key.startsWith(`${part}/`));
    for (const [key, numbers] of of(shown)) {
      assert.deepEqual(numbers, expected.get(key), `${key} of ${what}`);
    }
    assert.equal(of(shown).length, of(expected).length, `lines by ${part} of ${what}`);
  }
}

/** Moves the mouse to a square; the marker shows where the first square is. */
async function makeAim(report) {
  const { page } = report;
  const canvas = report.control('matrix-canvas');
  await page.mouse.move(0, 0);
  await canvas.focus();
  await page.keyboard.press('ArrowRight');
  const origin = await canvas.boundingBox();
  const { x, y, width: size } = await report.control('matrix-marker').boundingBox();
  await page.keyboard.press('Escape');
  const middle = (first, index) => first + (index + 0.5) * size;
  return async (row, column) => {
    const offset = { x: middle(x - origin.x, column), y: middle(y - origin.y, row) };
    // Mouse events have whole pixels, and a square may be just one pixel.
    const pixel = await canvas.evaluate((element, { x, y }) => {
      window.scrollBy(0, element.getBoundingClientRect().top + y - window.innerHeight / 2);
      const { left, top } = element.getBoundingClientRect();
      return { x: Math.ceil(left + x - 0.5), y: Math.ceil(top + y - 0.5) };
    }, offset);
    await page.mouse.move(pixel.x, pixel.y);
  };
}

async function checkDetails(report) {
  const { page, data } = report;
  const details = report.control('details-content');
  await assertNothingPointed(page, 'no details before the reader points');
  const last = data.processes.length - 1;
  const aim = await makeAim(report);
  for (const [src, dst] of [
    [0, 0],
    [0, last],
    [last >> 1, (last >> 1) + 1],
    [last, 0],
    [last, last],
  ]) {
    if (dst > last) continue;
    await aim(src, dst);
    const what = `details of ${src} to ${dst} in ${page.viewportSize().width} px`;
    const label = (index) => data.processes[index].label;
    assert.match(
      await details.innerText(),
      new RegExp(`Source ${label(src)} .*→ destination ${label(dst)} `),
    );
    compareDetails(await shownDetails(details), expectedDetails(data, src, dst), what);
    await assertUncovered(page, 'matrix-canvas', 'matrix-marker', what);
  }
  await page.mouse.move(0, 0);
  await assertNothingPointed(page, 'no details when the pointer has left');
}

async function assertWhole(report, name, where = '') {
  const cut = await report.control(name).evaluate(({ parentElement: box }) => ({
    horizontally: box.scrollWidth - box.clientWidth,
    page: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));
  assert.deepEqual(cut, { horizontally: 0, page: 0 }, `${name} shows all its columns ${where}`);
}

/** The list beside the matrix, and the details of the pair chosen from it. */
async function checkPairs(report) {
  const { page, data } = report;
  const sums = new Map();
  for (const { src, dst, bytes } of data.cells) {
    if (bytes > 0) sums.set(`${src}>${dst}`, (sums.get(`${src}>${dst}`) ?? 0) + bytes);
  }
  if (sums.size === 0) return;
  const rows = report.control('matrix-pairs').locator('tbody tr');
  const falling = [...sums.values()].sort((a, b) => b - a);
  // Rows out of view come after the first ones.
  const allThere = () => rows.nth(Math.min(falling.length, 200) - 1).waitFor();
  await allThere();
  const values = await rows.evaluateAll((all) =>
    all.map((row) => Number(row.querySelector('td').dataset.value)),
  );
  assert.deepEqual(values, falling.slice(0, values.length), 'the largest pairs');
  assert.equal(values.length, Math.min(falling.length, 200));

  await rows.first().locator('button').click();
  const chosen = new URLSearchParams(new URL(await addressOf(page)).hash.slice(1));
  const [src, dst] = [chosen.get('src'), chosen.get('dst')].map(Number);
  assert.equal(sums.get(`${src}>${dst}`), falling[0], 'the list chooses a pair');
  const details = page.locator('.pairs table.details');
  compareDetails(await shownDetails(details), expectedDetails(data, src, dst), 'the chosen pair');
  await report.control('all-pairs').click();
  assert.doesNotMatch(await addressOf(page), /src=/, 'all pairs again');
  await allThere();
  assert.equal(await rows.count(), values.length);
}

/** The list beside the matrix leaves out measures before it would be cut. */
async function checkListWidths(report) {
  const { page } = report;
  for (const width of kWidths) {
    await page.setViewportSize({ width, height: 900 });
    await assertWhole(report, 'matrix-pairs', `at ${width} px`);
  }
  console.log(`ok   the list of pairs is whole from ${kWidths[0]} to ${kWidths.at(-1)} px`);
}

export async function checkLayout(report) {
  const { page } = report;
  const before = page.viewportSize();
  if ((await report.control('matrix-pairs').count()) > 0) await checkListWidths(report);
  for (const window of kWindows) {
    await page.setViewportSize(window);
    await assertWhole(report, 'functions-table');
    if ((await report.control('matrix-pairs').count()) > 0) {
      await assertWhole(report, 'matrix-pairs');
    }
    // If ranks share a square, it represents no single pair of them.
    if (report.data.processes.length <= 1024) {
      await checkDetails(report);
      await checkPairs(report);
    }
    console.log(`ok   ${window.width} px wide: tables whole, details cover nothing, pairs`);
  }
  await page.setViewportSize(before);
}

/** A page whose run has a launcher line of many words. */
export async function checkLongCommand(page, command) {
  const title = page.getByTestId('command');
  const more = page.getByTestId('command-more');
  const height = () => title.evaluate((box) => box.clientHeight);
  assert.equal(await title.textContent(), command);
  await more.waitFor();
  const folded = await height();
  const width = await title.evaluate((box) => box.scrollWidth - box.clientWidth);
  assert.ok(width <= 0, 'the command is not wider than the page');
  await more.click();
  assert.ok((await height()) > folded, 'the whole command is taller');
  assert.equal(await more.getAttribute('aria-expanded'), 'true');
  await more.click();
  assert.equal(await height(), folded);
  console.log('ok   a long command is elided and shown whole on demand');
}
