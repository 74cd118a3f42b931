// The table of messages as a reader uses it: sorted, extended, filtered, saved, and the link to a message. Used by
// page.mjs.

import assert from 'node:assert/strict';

import { addressHas, savedBy } from './browser.mjs';
import { unpackTables } from './pack.mjs';

const kRows = 50;
/** The columns to compare, as they are in the table. */
const kIds = 0;
const kStart = 1;
const kBytes = 4;
const kTook = 9;
const kWaited = 10;

const table = (report) => report.control('messages-table');

async function rowsOf(report) {
  return table(report)
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.dataset.value ?? cell.textContent)));
}

/**
 * The messages that the page lists one by one, by number, in the form of `uctrace messages`; without those that begin
 * before the page's span.
 */
function messagesIn({ packed }) {
  const { messages } = unpackTables(packed, ['messages']);
  return new Map(
    messages.id.flatMap((id, row) => {
      if (messages.cell[row] < 0) return [];
      const length = messages.duration_ns[row];
      const t_start_ns = messages.sent[row] ? messages.start_ns[row] : null;
      const t_end_ns = length === -1 ? null : messages.start_ns[row] + (length >= 0 ? length : length + 2);
      const { bytes, wait_ns, src } = Object.fromEntries(['bytes', 'wait_ns', 'src'].map((name) => [name, messages[name][row]]));
      return [[id, { id, bytes, t_start_ns, t_end_ns, wait_ns, src }]];
    }),
  );
}

const tookOf = ({ t_start_ns, t_end_ns }) => (t_start_ns === null || t_end_ns === null ? null : Math.max(0, t_end_ns - t_start_ns));

function compare(rows, messages) {
  for (const row of rows) {
    const message = messages.get(Number(row[kIds]));
    assert.ok(message, `there is no message ${row[kIds]}`);
    const shown = [row[kBytes], row[kTook], row[kWaited]];
    assert.deepEqual(shown, [String(message.bytes), String(tookOf(message) ?? '–'), String(message.wait_ns)], `message ${row[kIds]}`);
  }
}

const untilRows = (report, count) =>
  report.page.waitForFunction(
    (count) => document.querySelectorAll('[data-testid="messages-table"] tbody tr').length === count,
    count,
  );

/** The table is drawn only while it is in view, so it may still show an earlier selection. */
async function untilShown(report, count) {
  await report.control('messages-said').scrollIntoViewIfNeeded();
  await report.page.waitForFunction(
    (more) => document.querySelector('[data-testid="messages-more"]').textContent.endsWith(more),
    ` of ${String(count).replace(/\B(?=(\d{3})+$)/g, ',')}`,
  );
}

/** A click leads to the timeline, where the receipt is kept and the address has it. */
async function checkWay(report) {
  const { page } = report;
  const link = table(report).locator('tbody button').first();
  const number = await link.textContent();
  await link.click();
  const dock = report.control('details');
  assert.match(await dock.innerText(), new RegExp(`Message ${number}\\b[\\s\\S]*Path`), 'the receipt is kept');
  await addressHas(page, /operation=ucp\./, 'and in the address');
  const { top, bottom } = await report.control('timeline-canvas').evaluate((canvas) => canvas.getBoundingClientRect().toJSON());
  assert.ok(bottom > 0 && top < page.viewportSize().height, 'the timeline is in view');
  await report.control('details-close').click();
  await report.control('timeline-canvas').press('0');
}

/** `listed`: the output of `uctrace messages`, if available. */
export async function checkMessageTable(report, listed) {
  const { page, data } = report;
  const messages = listed ? new Map(listed.map((message) => [message.id, message])) : messagesIn(data);
  const singly = messagesIn(data).size;
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
  await report.control('section-bar').getByText('Messages', { exact: true }).click();
  await untilRows(report, Math.min(kRows, singly));
  const rows = await rowsOf(report);
  compare(rows, messages);
  const slowest = [...messagesIn(data).values()].map((message) => tookOf(message) ?? -1).sort((a, b) => b - a);
  assert.deepEqual(rows.map((row) => (row[kTook] === '–' ? -1 : Number(row[kTook]))), slowest.slice(0, rows.length), 'the slowest first');
  const said = await report.control('messages-said').innerText();
  const all = data.cells.reduce((sum, cell) => sum + cell.messages, 0);
  const wanted = singly === all ? /are chosen\./ : new RegExp(`of the [\\d,]+ that are chosen: .*uctrace messages`);
  assert.match(said, wanted);
  await checkOrders(report, singly);
  const { bytes } = await savedBy(page, () => page.locator('#messages button.csv').click());
  assert.equal(bytes.toString('utf8').trimEnd().split('\r\n').length, 1 + singly, 'all are saved');
  if (data.processes.length > 1) {
    await checkFiltered(report, singly);
    await checkWay(report);
  }
  console.log(`ok   a table of ${singly} messages${listed ? ', as uctrace messages has them' : ''}`);
}

async function checkOrders(report, singly) {
  const more = report.control('messages-more');
  assert.equal(await more.isVisible(), singly > kRows);
  if (singly > kRows) {
    await more.click();
    await untilRows(report, Math.min(2 * kRows, singly));
  }
  const sort = table(report).locator('thead button').filter({ hasText: /^bytes/ });
  await sort.click();
  const bytesOf = async () => (await rowsOf(report)).map((row) => Number(row[kBytes]));
  const falling = await bytesOf();
  assert.deepEqual(falling, [...falling].sort((a, b) => b - a), 'the largest first');
  await sort.click();
  const rising = await bytesOf();
  assert.deepEqual(rising, [...rising].sort((a, b) => a - b), 'the smallest first');
  await sort.click();
  const starts = (await rowsOf(report)).map((row) => Number(row[kStart]));
  assert.deepEqual(starts, [...starts].sort((a, b) => a - b), 'by start');
  await table(report).locator('thead button').filter({ hasText: /^took/ }).click();
}

async function checkFiltered(report, singly) {
  const { data } = report;
  await report.control('filter-src').selectOption('1');
  const own = [...messagesIn(data).values()].filter(({ src }) => src === 1);
  await untilShown(report, own.length);
  for (const row of await rowsOf(report)) assert.equal(row[2], data.processes[1].label, 'from rank 1');
  await report.reset();
  await untilShown(report, singly);
}
