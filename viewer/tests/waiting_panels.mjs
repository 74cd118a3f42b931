// A page of many cells: panels out of view wait, and say so, until the reader comes to them or pauses.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { makeRun, written } from './make_run.mjs';
import { graphTotal, total } from './views.mjs';

const kPause_ms = 500;

/**
 * The reader's pauses never end while `window.neverPauses` is set. Also records which panels wait when the page is
 * ready.
 */
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

/** `makeReport(page, data)`: the input of the other checks; `fill(data)`: the page for some data. */
export async function checkManyCells(context, folder, fill, makeReport) {
  const data = makeRun({ ranks: 6, steps: 2, limit: 20, copies: 200 });
  assert.ok(data.cells.length > 20_000, `${data.cells.length} cells`);
  const file = join(folder, 'many.html');
  writeFileSync(file, fill(written(data)));
  const page = await context.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.addInitScript(prepare, kPause_ms);
  await page.goto(pathToFileURL(file).href);
  await page.locator('html[data-ready]').waitFor();
  const report = makeReport(page, data);
  const busy = () => page.evaluate(() => window.busy());
  const drawn = () => report.control('graph-canvas').evaluate(({ dataset }) => [dataset.drawn, dataset.edges]);
  const values = await report.control('filter-mpi').locator('option').evaluateAll((all) => all.map(({ value }) => value));
  const chooseFarAway = async (value) => {
    await page.evaluate(() => scrollTo(0, 0));
    const before = await graphTotal(report);
    await report.control('filter-mpi').selectOption(value);
    assert.notEqual(await total(report), before, 'the filter changes the total');
    assert.equal(await graphTotal(report), before, 'a graph out of view waits');
    assert.ok((await busy()).includes('graph'), 'and says that it does');
  };

  assert.ok(await page.evaluate(() => window.busyWhenReady.includes('graph')), 'the graph has waited');
  await page.keyboard.press('g');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'graph-canvas', 'a key goes there');
  await report.control('graph-by').selectOption('pair');
  assert.equal(await graphTotal(report), await total(report), 'where it is shown');

  await chooseFarAway(values[2]);
  await page.locator('#graph').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => !window.busy().includes('graph'));
  assert.equal(await graphTotal(report), await total(report), 'shown when the reader comes to it');

  await chooseFarAway(values[1]);
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.deepEqual(await busy(), [], 'a print has all');
  assert.equal(await graphTotal(report), await total(report), 'as chosen');
  const [edges, expected] = await drawn();
  assert.equal(edges, expected, 'also what a panel out of view draws later');

  await page.evaluate(() => (window.neverPauses = false));
  await chooseFarAway('');
  await page.waitForFunction(() => window.busy().length === 0);
  assert.equal(await graphTotal(report), await total(report), 'shown in a pause');
  assert.deepEqual(problems, []);
  await page.close();
  console.log(`ok   ${data.cells.length} cells: panels out of view wait for the reader`);
}
