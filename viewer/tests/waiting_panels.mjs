// A page of many cells: panels out of view wait, and say so, until the reader comes to them or pauses.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { makeRun, written } from './make_run.mjs';
import { graphTotal, total } from './views.mjs';

const kPause_ms = 500;

/** Pauses of the reader last for ever while `window.neverPauses`, and what waits when the page is ready is noted. */
function prepare(pause_ms) {
  const { setTimeout } = window;
  window.neverPauses = true;
  window.setTimeout = (act, ms, ...args) => (window.neverPauses && ms === pause_ms ? 0 : setTimeout(act, ms, ...args));
  window.busy = () => [...document.querySelectorAll('main [aria-busy]')].map(({ id }) => id);
  new MutationObserver((_, self) => {
    if (document.documentElement.dataset.ready === undefined) return;
    self.disconnect();
    window.busyWhenReady = window.busy();
  }).observe(document, { attributes: true, childList: true, subtree: true });
}

/** `makeReport(page, data)`: what the other checks take; `fill(data)`: the page of some data. */
export async function checkManyCells(context, folder, fill, makeReport) {
  const data = makeRun({ ranks: 6, steps: 2, limit: 20, copies: 200 });
  assert.ok(data.cells.length > 20_000, `${data.cells.length} cells`);
  const file = join(folder, 'many.html');
  writeFileSync(file, fill(written(data)));
  const page = await context.newPage();
  await page.addInitScript(prepare, kPause_ms);
  await page.goto(pathToFileURL(file).href);
  await page.locator('html[data-ready]').waitFor();
  const report = makeReport(page, data);
  const shows = (id) => page.waitForFunction((id) => !window.busy().includes(id), id);
  assert.ok(await page.evaluate(() => window.busyWhenReady.includes('graph')), 'the graph has waited');

  await page.locator('#graph').scrollIntoViewIfNeeded();
  await shows('graph');
  await report.control('graph-by').selectOption('pair');
  assert.equal(await graphTotal(report), await total(report), 'shown when the reader comes to it');
  assert.equal(await page.locator('#graph').evaluate(({ inert }) => inert), false);

  await page.evaluate(() => scrollTo(0, 0));
  const values = await report.control('filter-mpi').locator('option').evaluateAll((all) => all.map(({ value }) => value));
  const choose = (value) => report.control('filter-mpi').selectOption(value);
  const before = await graphTotal(report);
  await choose(values[2]);
  assert.notEqual(await total(report), before, 'the filter changes the total');
  assert.equal(await graphTotal(report), before, 'a graph out of view waits');
  assert.ok(await page.evaluate(() => window.busy().includes('graph')), 'and says that it does');
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.deepEqual(await page.evaluate(() => window.busy()), [], 'a print has all');
  assert.equal(await graphTotal(report), await total(report), 'as chosen');

  await page.evaluate(() => (window.neverPauses = false));
  await choose(values[1]);
  await page.waitForFunction(() => window.busy().length === 0);
  assert.equal(await graphTotal(report), await total(report), 'shown in a pause');
  await page.close();
  console.log(`ok   ${data.cells.length} cells: panels out of view wait for the reader`);
}
