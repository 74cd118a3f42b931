// The matrices of memories and of devices as a reader sees them, compared with sums made here. Used by gpus.mjs.

import assert from 'node:assert/strict';
import { addressHas, addressLacks } from './browser.mjs';
import { add, expectedEdges, expectedMemories, sorted } from './gpu_sums.mjs';

/** The graph has the memory of each rank, the matrix that of each host. */
function ofHosts({ processes }, edges) {
  const merged = new Map();
  const device = (node) => node.replace(/^process (\d+)$/, (_, at) => `host memory of ${processes[at].host}`);
  for (const [edge, value] of edges) add(merged, edge.split(' > ').map(device).join(' > '), value);
  return merged;
}

async function shownSquares(report) {
  const sums = new Map();
  const cells = await report.control('matrix-table').locator('td').evaluateAll((all) =>
    all.map(({ dataset }) => ({ ...dataset })),
  );
  for (const { from, to, value } of cells) add(sums, `${from} > ${to}`, Number(value));
  return sums;
}

function timeOf({ ns, t_start_ns: start, t_end_ns: end }) {
  if (ns !== undefined) return ns;
  return start === null || end === null ? 0 : Math.max(0, end - start);
}

async function checkSquares(report, messages, source) {
  const { data } = report;
  const timed = messages.map((message) => ({ ...message, time: timeOf(message) }));
  for (const measure of ['bytes', 'messages', 'time']) {
    await report.measure(measure);
    await report.control('matrix-of-memories').click();
    const expected = sorted(expectedMemories(data, timed, measure));
    assert.deepEqual(sorted(await shownSquares(report)), expected, `squares of memories: ${measure} of ${source}`);
  }
  await report.control('matrix-of-devices').click();
  for (const [measure, ofStep] of [['bytes', 'bytes'], ['wire_bytes', 'wire_bytes'], ['transfers', 'count']]) {
    await report.measure(measure);
    const expected = sorted(ofHosts(data, expectedEdges(data, messages, ofStep)));
    assert.deepEqual(sorted(await shownSquares(report)), expected, `squares of devices: ${measure} of ${source}`);
  }
  await report.measure('bytes');
  console.log(`ok   the matrices of memories and devices against ${source}`);
}

/** By keys: a square is explained, kept, chosen and released. */
async function checkSquareKeys(report) {
  const { page } = report;
  await report.control('matrix-canvas').focus();
  await page.keyboard.press('ArrowRight');
  const label = await report.control('details-content').locator('strong').textContent();
  assert.match(label, / → /, label);
  await page.keyboard.press('Escape');
  const first = report.control('device-pairs').locator('tbody button').first();
  const before = await report.total('bytes');
  await first.click();
  await addressHas(page, /(gpu|host)=/, 'a pair chooses its GPU or hosts');
  assert.ok((await report.total('bytes')) <= before);
  await report.control('device-pairs').locator('tbody button').first().click();
  await addressLacks(page, /&(gpu|\w*host)=/, 'and gives them back');
  await addressHas(page, /matrix=devices/, 'the choice of the matrix is in the address');
}

/** A row that exists only with some filters disappears with them, and its explanation, too. */
async function checkRowThatLeaves(report) {
  const { page } = report;
  await report.control('matrix-of-memories').click();
  await report.control('filter-without-message').check();
  await report.measure('transfers');
  const rows = () => report.control('matrix-table').locator('tbody tr').count();
  const before = await rows();
  const canvas = report.control('matrix-canvas');
  await canvas.focus();
  for (let i = 0; i < before; ++i) await page.keyboard.press('ArrowDown');
  assert.equal(await page.locator('#matrix .marker').isVisible(), true);
  await page.keyboard.press('r');
  await report.measure('bytes');
  const left = (await rows()) < before;
  if (left) assert.equal(await page.locator('#matrix .marker').isVisible(), false, 'the marker of a row that left');
  console.log(`ok   a row of the matrix of memories ${left ? 'leaves with its filter' : 'is there with any filter'}`);
}

/** Squares whose ends filters cannot distinguish: choosing the second one does not undo the choice of the first. */
async function checkLikeSquares(report) {
  const { page } = report;
  await report.control('matrix-of-devices').click();
  const buttons = report.control('device-pairs').locator('tbody button');
  await buttons.first().click();
  await addressHas(page, /(gpu|host)=/, 'a pair chooses its GPU or hosts');
  for (let i = 1; i < (await buttons.count()); ++i) {
    await buttons.nth(i).click();
    await addressHas(page, /(gpu|host)=/, `pair ${i} of those that are left drops no choice`);
  }
}

export async function checkDeviceMatrices(report, messages, source) {
  const { page, data } = report;
  const hosts = new Set(data.processes.map(({ host }) => host)).size;
  const hasGpus = data.devices.gpus.length > 0;
  assert.equal(await report.control('matrix-of-memories').count(), Number(hasGpus || hosts > 1));
  if ((await report.control('matrix-of-devices').count()) === 0) return;
  if (!hasGpus && hosts < 2) return;
  await report.reset();
  await checkSquares(report, messages, source);
  await checkSquareKeys(report);
  await checkLikeSquares(report);
  await report.reset();
  await checkRowThatLeaves(report);
  await report.reset();
  // All explanations of the other matrix are gone.
  await report.control('matrix-of-traffic').click();
  assert.equal(await page.locator('#matrix .marker').isVisible(), false);
  assert.equal(await report.control('matrix-note').isVisible(), false);
}
