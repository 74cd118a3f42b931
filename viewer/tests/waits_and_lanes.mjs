// Waits in the matrix and the timeline, the lanes of the timeline and the search in it, as a reader uses them. Used by
// views.mjs.

import assert from 'node:assert/strict';

import { addressHas, addressLacks, addressOf } from './browser.mjs';
import { isKept } from './details_dock.mjs';
import { unpackTables } from './pack.mjs';

const total = (values) => values.reduce((sum, value) => sum + value, 0);

/** The number of lanes, as the page says. */
async function laneCount(report) {
  return parseInt((await report.control('lanes-said').textContent()).replaceAll(',', ''), 10);
}

async function press(report, ...keys) {
  await report.control('timeline-canvas').focus();
  for (const key of keys) await report.page.keyboard.press(key);
}

/** The matrix of waits has the sums of the data; the text of a square names their kinds. */
export async function checkWaits(report) {
  const { page, data } = report;
  const { wait_sums: sums } = unpackTables(data.packed, ['wait_sums']);
  await report.control('matrix-of-waits').click();
  await addressHas(page, /matrix=waits/, 'the address says so');
  const shown = await report.control('matrix-table').locator('td').evaluateAll((all) => all.map(({ dataset }) => Number(dataset.value)));
  assert.equal(total(shown), total(sums.ns), 'time waited in the matrix');
  assert.match(await report.control('waits-said').textContent(), sums.ns.length === 0 ? /No rank/ : new RegExp(`^${total(sums.waits)} wait`));
  if (sums.ns.length > 0) {
    const first = report.control('wait-pairs').locator('tbody tr').first();
    const longest = Number(await first.locator('td').first().getAttribute('data-value'));
    assert.equal(longest, Math.max(...shown), 'the longest one first');
    await first.locator('button').click();
    const dock = report.control('details-content');
    const kinds = await dock.locator('tr[data-part="kind"]').evaluateAll((all) =>
      all.map((row) => [row.dataset.name, Number(row.children[2].dataset.value)]),
    );
    assert.equal(total(kinds.map(([, ns]) => ns)), longest, 'by kind');
    for (const [name] of kinds) assert.ok(data.waits.kinds.includes(name), `${name} is shown as it is called`);
    await report.control('details-close').click();
    const focused = () => page.evaluate(() => document.activeElement.dataset.testid ?? document.activeElement.textContent);
    assert.equal(await focused(), await first.locator('button').textContent(), 'the focus goes back into the list');
    await first.locator('button').click();
    // A key in another view keeps another explanation instead, and that view gets the focus at the end.
    for (const view of ['timeline-canvas', 'graph-canvas', 'matrix-canvas']) {
      const before = await dock.innerText();
      await report.control(view).focus();
      for (const key of ['ArrowLeft', 'ArrowRight']) await page.keyboard.press(key);
      assert.notEqual(await dock.innerText(), before, `${view} takes the panel over`);
    }
    await report.control('details-close').click();
    assert.equal(await focused(), 'matrix-canvas');
    await page.keyboard.press('Escape');
  }
  await report.control('matrix-of-traffic').click();
  await addressLacks(page, /matrix=/);
  console.log(`ok   waits of ${sums.ns.length} pairs and kinds in the matrix`);
}

/** Sorted, filtered, pinned, by host, low; the address keeps all of it. */
export async function checkLanes(report) {
  const { page, data } = report;
  const ranks = data.processes.length;
  const hosts = [...new Set(data.processes.map(({ host }) => host))];
  assert.equal(await laneCount(report), ranks, 'a lane for each rank');
  const picture = () => report.control('timeline-canvas').evaluate((canvas) => canvas.toDataURL());
  await press(report, '0', 'Escape');
  const before = await picture();
  await report.control('lanes-only').fill('1');
  assert.equal(await laneCount(report), 1, 'one rank');
  await report.control('lanes-only').fill(hosts[0]);
  const own = data.processes.filter(({ host }) => host.toLowerCase().includes(hosts[0].toLowerCase())).length;
  assert.equal(await laneCount(report), own, 'ranks of a host');
  await report.control('lanes-only').fill('');
  await press(report, 'h');
  assert.equal(await laneCount(report), hosts.length, 'h: a lane for each host');
  assert.doesNotMatch(await report.control('timeline-level').textContent(), /single operations/i, 'a host shows none');
  await press(report, 'Home', 'ArrowDown', 'o');
  const opened = data.processes.filter(({ host }) => host === hosts[0]).length;
  assert.equal(await laneCount(report), hosts.length - 1 + opened, 'o opens a host');
  await press(report, 'h', 'ArrowDown', 'i', 'l');
  await addressHas(page, /low=1/);
  await addressHas(page, /pinned=\d/, 'i pins the lane');
  await report.control('lanes-sort').selectOption('waited');
  const shared = await addressOf(page);
  assert.match(shared, /lanes=waited/);
  assert.ok((await picture()) !== before, 'other lanes are drawn');
  const { height } = await report.control('timeline-canvas').boundingBox();
  await page.goto('about:blank');
  await page.goto(shared);
  await page.locator('html[data-ready]').waitFor();
  assert.equal((await report.control('timeline-canvas').boundingBox()).height, height, 'the address gives the same lanes');
  assert.equal(await report.control('lanes-sort').inputValue(), 'waited');
  await report.control('lanes-unpin').click();
  await report.control('lanes-sort').selectOption('rank');
  await press(report, 'l');
  assert.ok((await picture()) === before, 'all as it was');
  // A click on its name pins a lane.
  const { x, y } = await report.control('timeline-canvas').boundingBox();
  await page.mouse.click(x + 20, y + 40);
  await addressHas(page, /pinned=0/);
  await report.control('lanes-unpin').click();
  console.log('ok   lanes: sorted, filtered, pinned, by host, low');
}

/** Enter goes from one match to the next, also into the lane of a host. */
export async function checkSearch(report) {
  const { page, data } = report;
  const { mpi_calls: calls, ucp_operations: operations } = unpackTables(data.packed, ['mpi_calls', 'ucp_operations']);
  const name = data.texts[calls.function.find((id) => id > 0)];
  if (name === undefined) return;
  const has = (id) => (data.texts[id] ?? '').toLowerCase().includes(name.toLowerCase());
  const isMessage = (cell) => cell < 0 || data.classes[data.cells[cell].class].reason === null;
  const expected =
    calls.function.filter((id, row) => calls.process[row] === 0 && has(id)).length +
    operations.cell.filter(
      (cell, row) =>
        operations.process[row] === 0 && isMessage(cell) && (has(operations.function[row]) || has(operations.asked_by[row])),
    ).length;
  await press(report, 'h', '0');
  await page.keyboard.press('f');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'timeline-find', 'f goes to the search');
  await page.keyboard.type(`function:${name} rank:${data.processes[0].label}`);
  await page.keyboard.press('Enter');
  const said = await report.control('timeline-found').textContent();
  const found = Number(/of ([\d,]+)/.exec(said)[1].replaceAll(',', ''));
  assert.equal(found, expected, 'calls, and operations that they asked for');
  const dock = report.control('details-content');
  const first = await dock.innerText();
  assert.ok(first.includes(name), `${first} tells of ${name}`);
  // The message stays, also if the jump changed the lanes.
  await page.waitForTimeout(400);
  assert.equal(await report.control('timeline-found').textContent(), said);
  for (let i = 0; i < 5 && i < found - 1; ++i) await page.keyboard.press('Enter');
  if (found > 1) assert.notEqual(await dock.innerText(), first, 'the next one');
  for (let i = 0; i < 5 && i < found - 1; ++i) await page.keyboard.press('Shift+Enter');
  assert.equal(await dock.innerText(), first, 'and back');
  await report.control('timeline-find').fill('no-such-operation');
  await page.keyboard.press('Enter');
  assert.match(await report.control('timeline-found').textContent(), /^not found/);
  await report.control('timeline-find').fill('');
  await page.keyboard.press('Escape');
  assert.ok(!(await isKept(page)));
  await press(report, 'h', 'h', '0', 'Escape');
  if (/by_host/.test(await addressOf(page))) await press(report, 'h');
  console.log(`ok   search: ${found} times ${name}`);
}

/** The address restores the same part of the run and the same details, also after they are changed or closed. */
export async function checkLook(report) {
  const { page } = report;
  const close = report.control('details-close');
  const level = () => report.control('timeline-level').textContent();
  const isIn = (field) => page.waitForURL((url) => new URLSearchParams(url.hash.slice(1)).has(field));
  const reopen = async () => {
    const address = await addressOf(page);
    await page.goto('about:blank');
    await page.goto(address);
    await page.locator('html[data-ready]').waitFor();
  };
  // The start of the run has single operations.
  await press(report, '0', ...Array(10).fill('+'), 'Home', 'ArrowDown', 'ArrowRight', 'Enter');
  await isIn('operation');
  const content = () => report.control('details-content').innerText();
  const [shown, said] = [await content(), await level()];
  await addressHas(page, /zoom=\d+-\d+/, 'the part in view is in the address');
  await reopen();
  assert.equal(await content(), shown, 'the address gives the same details');
  assert.equal(await level(), said, 'and the same part of the run');
  // A hand-edited address without it closes the details, even if the page was about to write its own: a move is
  // written a moment later, here while the script that edits holds the page.
  await press(report, 'Shift+ArrowRight', 'Shift+ArrowLeft');
  await page.evaluate(() => {
    for (const end = performance.now() + 400; performance.now() < end; );
    location.hash = location.hash.replace(/&?operation=[^&]*/, '');
  });
  await close.waitFor({ state: 'hidden' });
  await page.goBack();
  await close.waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => !url.hash.includes('operation='));
  await reopen();
  assert.ok(!(await isKept(page)), 'what was closed stays so');
  assert.equal(await level(), said);
  await press(report, '0');
  await page.waitForURL((url) => !url.hash.includes('zoom='));
  console.log('ok   timeline: its zoom and the details kept are in the address');
}
