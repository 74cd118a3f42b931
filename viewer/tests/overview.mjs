// The strip above the timeline by rank: all ranks are there, its sums match the data, and a drag chooses the same time
// as in the strip of all ranks together. Used by page.mjs.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { addressHas, addressLacks, addressOf } from './browser.mjs';
import { assertNothingPointed } from './details_dock.mjs';
import { makeRun, written } from './make_run.mjs';
import { unpackTables } from './pack.mjs';

async function isReady(page) {
  await page.locator('html[data-ready]').waitFor();
  // In a page of many cells, panels are shown later, and move the parts below them.
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
}

const strip = (page) => page.getByTestId('timeline-overview');
const facts = (page) => strip(page).evaluate(({ dataset, clientHeight }) => ({ ...dataset, height: clientHeight }));
const total = (page, measure) => page.getByTestId(`total-${measure}`).getAttribute('data-value').then(Number);

async function drag(page) {
  await strip(page).scrollIntoViewIfNeeded();
  const { x, y, width, height } = await strip(page).boundingBox();
  await page.mouse.move(x + width * 0.35, y + height / 3);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.6, y + height / 2, { steps: 3 });
  await page.mouse.up();
  await addressHas(page, /from_ns=\d+&to_ns=\d+/, 'a drag chooses a time');
  const { hash } = new URL(await addressOf(page));
  await page.getByTestId('filter-time-reset').click();
  await addressLacks(page, /from_ns/);
  return /from_ns=\d+&to_ns=\d+/.exec(hash)[0];
}

/** Payload by row and column, from the rows of the data. */
function expectedBins(data, rows, columns, group) {
  const { slab_cells: table } = unpackTables(data.packed, ['slab_cells']);
  const bins = new Map();
  table.slab.forEach((slab, at) => {
    const { src, class: of } = data.cells[table.cell[at]];
    if (data.classes[of].reason !== null || table.bytes[at] === 0) return;
    const row = src < 0 ? rows - 1 : Math.floor(src / group);
    const place = row * columns + Math.floor((slab * columns) / data.time.slabs);
    bins.set(place, (bins.get(place) ?? 0) + table.bytes[at]);
  });
  return bins;
}

async function checkSums(page, data, rows, group) {
  const { columns, total: drawn } = await facts(page);
  const bins = expectedBins(data, rows, Number(columns), group);
  assert.equal(Number(drawn), [...bins.values()].reduce((sum, value) => sum + value, 0), 'what is drawn adds up to the data');
  for (const measure of ['messages', 'wire_bytes', 'bytes']) {
    await page.locator('label', { has: page.getByTestId(`measure-${measure}`) }).click();
    await isReady(page);
    assert.equal(Number((await facts(page)).total), await total(page, measure), `the sum of ${measure}`);
  }
  return { bins, columns: Number(columns) };
}

/** Squares with traffic have a colour of their own, in the lowest row as in the highest. */
async function checkColours(page, { bins, columns }, rows) {
  const { left, top, height } = await facts(page);
  const squares = [...bins.keys()];
  const wanted = [Math.min(...squares), Math.max(...squares)];
  const [empty, ...filled] = await strip(page).evaluate((canvas, { squares, columns, left, top, rows, height }) => {
    const ratio = canvas.width / canvas.clientWidth;
    const pen = canvas.getContext('2d');
    const place = (square) => {
      const x = left + (((square % columns) + 0.5) * (canvas.clientWidth - left)) / columns;
      return [x * ratio, (top + ((Math.floor(square / columns) + 0.5) * (height - 2 * top)) / rows) * ratio];
    };
    return squares.map((square) => [...pen.getImageData(...place(square), 1, 1).data].join());
  }, { squares: [squareWithout(bins, rows, columns), ...wanted], columns, left: Number(left), top: Number(top), rows, height });
  for (const colour of filled) assert.notEqual(colour, empty, 'traffic has a colour');
}

/** In the middle, away from frames. */
function squareWithout(bins, rows, columns) {
  for (let square = columns * (rows >> 1) + (columns >> 1); ; square = (square + columns + 1) % (rows * columns)) {
    const column = square % columns;
    if (!bins.has(square) && column > 2 && column < columns - 3) return square;
  }
}

/** Arrow keys move the cursor and explain the square; Enter chooses its time, and releases it. */
async function checkKeys(page, { bins, columns }, group) {
  await strip(page).focus();
  await page.keyboard.press('ArrowDown');
  assert.match(await page.getByTestId('details-content').innerText(), group === 1 ? /^Rank 0 as source/ : /^Ranks 0–\d+ as source/);
  const first = [...bins.keys()].filter((square) => square < columns).sort((a, b) => a - b)[0];
  for (let i = 0; i < first; ++i) await page.keyboard.press('ArrowRight');
  const text = await page.getByTestId('details-content').innerText();
  assert.ok(text.replaceAll(',', '').includes(`${bins.get(first)} B`), `${text} has ${bins.get(first)}`);
  await page.keyboard.press('Enter');
  await addressHas(page, /from_ns=\d+&to_ns=\d+/, 'Enter chooses the time');
  await page.keyboard.press('Enter');
  await addressLacks(page, /from_ns/, 'and gives it back');
  await page.keyboard.press('Escape');
  await assertNothingPointed(page);
}

async function checkRun(page, folder, fill, ranks) {
  const data = makeRun({ ranks, steps: 8, limit: 50, slabs: 64 });
  const file = join(folder, `overview-${ranks}.html`);
  writeFileSync(file, fill(written(data)));
  await page.goto(pathToFileURL(file).href);
  await isReady(page);
  const together = await drag(page);
  await page.getByTestId('overview-ranks').focus();
  await page.keyboard.press('Enter');
  await addressHas(page, /overview=ranks/, 'the address says so');
  assert.equal(await page.getByTestId('overview-ranks').getAttribute('aria-pressed'), 'true');
  const group = Math.ceil(ranks / 256);
  const rows = Math.ceil(ranks / group) + 1;
  const shown = await facts(page);
  assert.equal(Number(shown.rows), rows, 'all ranks, and the unknown source');
  assert.ok(shown.height >= rows && shown.height <= 257 + 6, `${shown.height} px for ${rows} rows`);
  const legend = await page.getByTestId('overview-legend').innerText();
  assert.ok(legend.includes(group === 1 ? 'one rank a row' : `${group} ranks a row`), legend);
  const drawn = await checkSums(page, data, rows, group);
  await checkColours(page, drawn, rows);
  await checkKeys(page, drawn, group);
  assert.equal(await drag(page), together, 'a drag chooses the same time');
  await page.reload();
  await isReady(page);
  assert.equal(Number((await facts(page)).rows), rows, 'the address keeps it');
  await page.getByTestId('overview-all').click();
  await addressLacks(page, /overview=/);
  assert.equal((await facts(page)).rows, undefined);
  console.log(`ok   the strip by rank: ${ranks} ranks in ${rows} rows, sums, colours, keys, drag`);
}

async function checkNarrow(page) {
  const before = page.viewportSize();
  await page.getByTestId('overview-ranks').click();
  for (const width of [390, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    // The drawing follows the size of the window one frame later.
    await page.waitForFunction(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      const strip = document.querySelector('canvas.overview').getBoundingClientRect();
      const lanes = document.querySelector('[data-testid="timeline-canvas"]').getBoundingClientRect();
      return scrollWidth === clientWidth && Math.abs(strip.width - lanes.width) < 1;
    });
  }
  await page.getByTestId('overview-all').click();
  await page.setViewportSize(before);
  console.log('ok   the strip by rank fits 390 and 1920 px');
}

/** `fill(data)`: the page of some data. */
export async function checkOverview(page, folder, fill) {
  for (const ranks of [64, 1024]) await checkRun(page, folder, fill, ranks);
  await checkNarrow(page);
}
