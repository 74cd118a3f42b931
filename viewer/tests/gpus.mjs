// GPUs on the page as a reader sees them: the device graph, the tables of memories and cards, and
// the filters, against sums made here. Used by page.mjs.

import assert from 'node:assert/strict';
import { addressHas, addressLacks } from './browser.mjs';

function add(sums, key, value) {
  if (value > 0) sums.set(key, (sums.get(key) ?? 0) + value);
}

const sorted = (sums) => [...sums].sort(([a], [b]) => (a < b ? -1 : 1));

/** Messages of the page: one object stands for many. Memory as { kind, gpu: index }. */
function messagesOfPage(data) {
  return data.cells
    .filter((cell) => data.classes[cell.class].reason === null)
    .map((cell) => {
      const { src_memory, dst_memory, path } = data.classes[cell.class];
      const steps = path.map((step, hop) => ({ ...step, ...cell.transfers[hop] }));
      return { ...cell, src_memory, dst_memory, path: steps };
    });
}

/** The same of `uctrace messages --format json`. */
function messagesOfCommand(data, messages) {
  const labels = data.devices.gpus.map(({ label }) => label);
  const place = (memory) =>
    memory === null
      ? { kind: 'unknown', gpu: -1 }
      : { kind: memory.kind, gpu: memory.gpu === null ? -1 : labels.indexOf(memory.gpu) };
  const process = (rank) => data.processes.findIndex((each) => each.rank === rank);
  const cards = new Set(data.devices.nics.map(({ device }) => device));
  return messages.map((message) => ({
    ...message,
    messages: 1,
    src: process(message.src),
    dst: process(message.dst),
    src_memory: place(message.src_memory),
    dst_memory: place(message.dst_memory),
    path: message.path.map((step) => ({
      ...step,
      network: cards.has(step.device),
      from: place(step.from),
      to: place(step.to),
    })),
  }));
}

function makeNames({ devices, processes }) {
  const hostOf = (process) => processes[process]?.host ?? null;
  return {
    hostOf,
    memory: ({ kind, gpu }, process) => `${kind} ${gpu} ${devices.gpus[gpu]?.host ?? hostOf(process)}`,
    node({ kind, gpu }, process) {
      if (gpu >= 0) return `gpu ${gpu}`;
      if (process < 0) return 'unknown';
      if (kind === 'host') return `process ${process}`;
      return `${kind === 'unknown' ? 'unknown memory' : 'a GPU'} of ${hostOf(process)}`;
    },
    card: (device, process) => (process < 0 ? 'unknown' : `card ${device} of ${hostOf(process)}`),
  };
}

/** "from > to" -> sum over the legs of all steps. */
function expectedEdges(data, messages, field) {
  const names = makeNames(data);
  const sums = new Map();
  for (const { src, dst, path } of messages) {
    for (const step of path) {
      const { role, from, to, issued_by } = step;
      if (role === 'control' && from.kind === 'unknown' && to.kind === 'unknown') continue;
      const bySource = issued_by === 'src';
      const own = bySource ? src : dst;
      const sides = role === 'staging' ? [own, own] : [src, dst];
      const nodes = [names.node(from, sides[0]), names.node(to, sides[1])];
      if (step.network && role !== 'staging') {
        const [left, entered] = bySource
          ? [step.device, step.remote_device]
          : [step.remote_device, step.device];
        nodes.splice(1, 0, names.card(left, src), names.card(entered, dst));
      }
      nodes.slice(1).forEach((node, i) => {
        const value = field === 'bytes' && role === 'staging' ? step.wire_bytes : step[field];
        if (node !== 'unknown' || nodes[i] !== 'unknown') add(sums, `${nodes[i]} > ${node}`, value);
      });
    }
  }
  return sums;
}

function expectedMemories(data, messages, field) {
  const names = makeNames(data);
  const sums = new Map();
  for (const message of messages) {
    const { src, dst, src_memory, dst_memory } = message;
    add(sums, `${names.memory(src_memory, src)} > ${names.memory(dst_memory, dst)}`, message[field]);
  }
  return sums;
}

function expectedCards(data, messages, field) {
  const names = makeNames(data);
  const sums = new Map();
  for (const { src, dst, src_memory, dst_memory, path } of messages) {
    const copied = new Set(path.flatMap((step) => (step.role === 'staging' ? [step.issued_by] : [])));
    for (const step of path) {
      if (!step.network) continue;
      if (step.from.kind === 'unknown' && step.role === 'control') continue;
      const [left, entered] =
        step.issued_by === 'src' ? [step.device, step.remote_device] : [step.remote_device, step.device];
      add(sums, `${names.memory(step.from, src)} out ${left}`, step[field]);
      add(sums, `${names.memory(step.to, dst)} in ${entered}`, step[field]);
      if (step.role !== 'data') continue;
      if (src_memory.gpu >= 0 && step.from.kind === 'host' && copied.has('src')) {
        add(sums, `${names.memory(src_memory, src)} staged out ${left}`, step[field]);
      }
      if (dst_memory.gpu >= 0 && step.to.kind === 'host' && copied.has('dst')) {
        add(sums, `${names.memory(dst_memory, dst)} staged in ${entered}`, step[field]);
      }
    }
  }
  return sums;
}

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

/** `listed`: what `uctrace messages --format json` says of the same run, if it is there. */
export async function checkGpus(report, listed) {
  const { page, data } = report;
  if (data.devices.gpus.length === 0) {
    for (const part of ['#devices', '#memory', '[data-testid="filter-gpu"]', '[data-testid="filter-src_memory"]']) {
      assert.equal(await page.locator(part).count(), 0, `${part} in a run without GPUs`);
    }
    console.log('ok   no GPUs: nothing is said of them');
    return;
  }
  await report.reset();
  await report.control('devices-by').selectOption('pair');
  await page.locator('#devices summary').click();
  const messages = messagesOfPage(data);
  await checkSums(report, messages, 'the data of the page');
  if (listed !== undefined) {
    await checkSums(report, messagesOfCommand(data, listed), 'uctrace messages');
  }
  await checkFilters(report, messages);
  await checkKeys(report);
  await page.locator('#devices summary').click();
  await report.control('devices-by').selectOption('transport');
}
