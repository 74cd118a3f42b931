// GPUs on the page as a reader sees them: the device graph, the tables of memories and cards, the matrices of memories and
// devices, and the filters, compared with sums made here. Used by page.mjs.

import assert from 'node:assert/strict';
import { addressHas, addressLacks } from './browser.mjs';
import { checkDeviceMatrices } from './device_matrices.mjs';
import {
  add, expectedCards, expectedEdges, expectedMemories, messagesOfCommand, messagesOfPage, sorted,
} from './gpu_sums.mjs';

async function shownEdges(report) {
  const rows = await report.control('devices-table').locator('tbody tr').evaluateAll((all) =>
    all.map((row) => [
      `${row.dataset.source} > ${row.dataset.target}`,
      Number(row.querySelector('td.number').dataset.value),
    ]),
  );
  return new Map(rows);
}

async function shownMemories(report) {
  const sums = new Map();
  const cells = await report.control('memory-table').locator('td').evaluateAll((all) =>
    all.map(({ dataset }) => ({ ...dataset })),
  );
  for (const { from, to, value } of cells) add(sums, `${from} > ${to}`, Number(value));
  return sums;
}

async function shownCards(report) {
  const sums = new Map();
  const cells = await report.control('cards-table').locator('td[data-card]').evaluateAll((all) =>
    all.map(({ dataset }) => ({ ...dataset })),
  );
  for (const { memory, card, out, in: into, stagedOut, stagedIn } of cells) {
    add(sums, `${memory} out ${card}`, Number(out));
    add(sums, `${memory} in ${card}`, Number(into));
    add(sums, `${memory} staged out ${card}`, Number(stagedOut));
    add(sums, `${memory} staged in ${card}`, Number(stagedIn));
  }
  return sums;
}

async function checkSums(report, messages, source) {
  const { data } = report;
  const overNetwork = messages.some(({ path }) => path.some(({ network }) => network));
  for (const [measure, ofStep] of [
    ['bytes', 'bytes'],
    ['wire_bytes', 'wire_bytes'],
    ['messages', 'count'],
  ]) {
    await report.measure(measure);
    const edges = sorted(expectedEdges(data, messages, ofStep));
    assert.deepEqual(sorted(await shownEdges(report)), edges, `arrows: ${measure} of ${source}`);
    if (measure !== 'wire_bytes') {
      const expected = sorted(expectedMemories(data, messages, measure));
      assert.deepEqual(sorted(await shownMemories(report)), expected, `memories: ${measure} of ${source}`);
    }
    if (overNetwork) {
      const cards = sorted(expectedCards(data, messages, ofStep));
      assert.deepEqual(sorted(await shownCards(report)), cards, `cards: ${measure} of ${source}`);
    }
    console.log(`ok   GPUs: ${edges.length} arrows and the tables of memories and cards, ${measure}, against ${source}`);
  }
  await report.measure('bytes');
}

async function checkFilters(report, messages) {
  const { data } = report;
  const sum = (chosen) => messages.filter(chosen).reduce((all, { bytes }) => all + bytes, 0);
  const [{ label }] = data.devices.gpus;
  const isOnGpu = ({ gpu }) => gpu >= 0;
  const [from, to] = ['src_memory', 'dst_memory'].map(
    (end) => messages.map((message) => message[end]).find(isOnGpu).kind,
  );
  for (const [filter, chosen] of [
    [{ gpu: label }, ({ src_memory, dst_memory }) => src_memory.gpu === 0 || dst_memory.gpu === 0],
    [{ src_memory: from }, ({ src_memory }) => src_memory.kind === from],
    [
      { gpu: label, dst_memory: to },
      ({ src_memory, dst_memory }) =>
        dst_memory.kind === to && (src_memory.gpu === 0 || dst_memory.gpu === 0),
    ],
  ]) {
    await report.choose(filter);
    assert.equal(await report.total('bytes'), sum(chosen), `bytes with ${JSON.stringify(filter)}`);
  }
  assert.match(await report.control('selection-command').textContent(), /--dst-memory \w+ --gpu \S+\/GPU-/);
  await report.reset();
  console.log('ok   GPUs: filters by memory and GPU');
}

/** Nodes are explained and chosen by keys, like those of the process graph. */
async function checkKeys(report) {
  const { page } = report;
  await page.keyboard.press('d');
  const focused = await page.evaluate(() => document.activeElement.dataset.testid);
  assert.equal(focused, 'devices-canvas', 'd goes to the device graph');
  const seen = [];
  for (let i = 0; i < 60 && !/^GPU/.test(seen.at(-1) ?? ''); ++i) {
    await page.keyboard.press('ArrowRight');
    seen.push(await report.control('details-content').innerText());
  }
  assert.match(seen.at(-1), /^GPU \S+[\s\S]*UUID[\s\S]*payload bytes out/, seen.at(-1));
  await page.keyboard.press('Enter');
  await addressHas(page, /gpu=\S+\/GPU-/, 'Enter chooses the GPU');
  await page.keyboard.press('Enter');
  await addressLacks(page, /gpu=/, 'and gives it back');
  await page.keyboard.press('Escape');
  console.log('ok   GPUs: the device graph by keys');
}

/** `listed`: the output of `uctrace messages --format json` for the same run, if available. */
export async function checkGpus(report, listed) {
  const { page, data } = report;
  if (data.devices.gpus.length === 0) {
    for (const part of ['#devices', '#memory', '[data-testid="filter-gpu"]', '[data-testid="filter-src_memory"]']) {
      assert.equal(await page.locator(part).count(), 0, `${part} in a run without GPUs`);
    }
    console.log('ok   no GPUs: nothing is said of them');
    await checkDeviceMatrices(report, messagesOfPage(data), 'the data of the page');
    return;
  }
  await report.reset();
  await report.control('devices-by').selectOption('pair');
  await page.locator('#devices summary').click();
  const messages = messagesOfPage(data);
  const sources = [[messages, 'the data of the page']];
  if (listed !== undefined) sources.push([messagesOfCommand(data, listed), 'uctrace messages']);
  for (const [ofSource, source] of sources) {
    await checkSums(report, ofSource, source);
    await checkDeviceMatrices(report, ofSource, source);
  }
  await checkFilters(report, messages);
  await checkKeys(report);
  await page.locator('#devices summary').click();
  await report.control('devices-by').selectOption('transport');
}
