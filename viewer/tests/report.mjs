// The page as a reader sees it, and its sums compared with sums made here on purpose without the code of the page. Used
// by page.mjs.

import assert from 'node:assert/strict';

function addTo(sums, key, value) {
  if (value > 0) sums.set(key, (sums.get(key) ?? 0) + value);
}

/** Messages as plain objects, from the cells of the page: one object represents `count` of them. */
export function messagesOfPage(data) {
  const rank = (index) => (index < 0 ? null : data.processes[index].rank);
  return data.cells
    .filter((cell) => data.classes[cell.class].reason === null)
    .map((cell) => ({
      src: rank(cell.src),
      dst: rank(cell.dst),
      messages: cell.messages,
      bytes: cell.bytes,
      time: cell.ns,
      mpi: data.classes[cell.class].mpi,
      path: data.classes[cell.class].path
        .map((step, hop) => ({ ...step, ...cell.transfers[hop] }))
        .filter(({ count }) => count > 0),
    }));
}

const kFieldOf = { transfers: 'count', wire_bytes: 'wire_bytes' };

/** For a message that the page or `uctrace messages` lists. */
function ofMessage(message, measure) {
  if (measure === 'bytes') return message.bytes;
  if (measure === 'messages') return message.messages ?? 1;
  if (message.time !== undefined) return message.time;
  const [start, end] = [message.t_start_ns, message.t_end_ns];
  return start === null || end === null ? 0 : Math.max(0, end - start);
}

/** "source>destination" -> sum, for pairs with traffic. */
function expectedPairs(messages, { mpi, transport }, measure) {
  const sums = new Map();
  for (const message of messages) {
    if (mpi !== undefined && message.mpi !== mpi) continue;
    const steps = message.path.filter((s) => transport === undefined || s.transport === transport);
    const pair = `${message.src}>${message.dst}`;
    if (measure in kFieldOf) {
      for (const step of steps) addTo(sums, pair, step[kFieldOf[measure]]);
    } else if (transport === undefined || steps.length > 0) {
      addTo(sums, pair, ofMessage(message, measure));
    }
  }
  return sums;
}

// ---- the page as a reader sees it ----

export class Report {
  constructor(page, data) {
    this.page = page;
    this.data = data;
  }

  control(name) {
    return this.page.getByTestId(name);
  }

  async choose(filter) {
    await this.reset();
    for (const [name, value] of Object.entries(filter)) {
      if (value !== undefined) await this.control(`filter-${name}`).selectOption(value ?? '');
    }
  }

  async reset() {
    const reset = this.control('filter-reset');
    if (await reset.isEnabled()) await reset.click();
  }

  async measure(name) {
    await this.page.locator('label', { has: this.control(`measure-${name}`) }).click();
  }

  total(measure) {
    return this.control(`total-${measure}`).getAttribute('data-value').then(Number);
  }

  /** "source>destination" -> number shown in the table of the matrix. */
  async pairs() {
    const cells = await this.control('matrix-table')
      .locator('td')
      .evaluateAll((all) => all.map(({ dataset }) => ({ ...dataset })));
    const rank = (index) => (index < 0 ? null : this.data.processes[index].rank);
    const sums = new Map();
    for (const { src, dst, value } of cells) {
      addTo(sums, `${rank(Number(src))}>${rank(Number(dst))}`, Number(value));
    }
    return sums;
  }
}

const sorted = (sums) => [...sums].sort(([a], [b]) => a.localeCompare(b));
const totalOf = (sums) => [...sums.values()].reduce((sum, value) => sum + value, 0);

async function checkMeasures(report, messages, filter, source) {
  await report.choose(filter);
  for (const measure of ['bytes', 'messages', 'transfers', 'wire_bytes', 'time']) {
    await report.measure(measure);
    const expected = expectedPairs(messages, filter, measure);
    const what = `${measure} with ${JSON.stringify(filter)} against ${source}`;
    assert.deepEqual(sorted(await report.pairs()), sorted(expected), what);
    assert.equal(await report.total(measure), totalOf(expected), `total of ${what}`);
    console.log(`ok   ${what}: ${totalOf(expected)} in ${expected.size} pairs`);
  }
}

/** The name that most (or fewest) of the messages have. */
function choose(messages, namesOf, direction) {
  const counts = new Map();
  for (const message of messages) {
    for (const name of new Set(namesOf(message))) addTo(counts, name, 1);
  }
  return [...counts].sort(([, a], [, b]) => direction * (a - b))[0]?.[0];
}

export async function checkSums(report, messages, source) {
  const mpi = choose(messages, (message) => (message.mpi ? [message.mpi] : []), -1);
  const transport = choose(messages, (message) => message.path.map((s) => s.transport), 1);
  await checkMeasures(report, messages, {}, source);
  if (mpi !== undefined) await checkMeasures(report, messages, { mpi }, source);
  if (transport !== undefined) await checkMeasures(report, messages, { transport }, source);
  if (mpi !== undefined && transport !== undefined) {
    await checkMeasures(report, messages, { mpi, transport }, source);
  }
  await report.reset();
  await report.measure('bytes');
}

export async function checkContenders(report) {
  const { data } = report;
  const sums = new Map();
  for (const cell of data.cells) {
    const { reason, path } = data.classes[cell.class];
    if (reason !== null) continue;
    cell.transfers.forEach(({ count }, hop) => {
      for (const op of [path[hop].op, '']) {
        for (const transport of [path[hop].transport, '']) addTo(sums, `${op}/${transport}`, count);
      }
    });
  }
  await report.reset();
  const table = report.control('contenders-table');
  if (sums.size === 0) return;
  const shown = await table
    .locator('td[data-count]')
    .evaluateAll((all) => all.map(({ dataset: d }) => [`${d.op}/${d.transport}`, Number(d.count)]));
  assert.deepEqual(sorted(shown), sorted(sums), 'transfers in the table of contenders');
  console.log(`ok   contenders: ${shown.length} shares`);
}
