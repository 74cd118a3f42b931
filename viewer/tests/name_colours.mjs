// Colours of transports and MPI functions: legends match the drawing, and the same name has the same colour in every
// page. Used by page.mjs.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { savedBy } from './browser.mjs';
import { makeRun, written } from './make_run.mjs';

const kOddName = '<img src=x onerror=alert(1)>';

/** name -> colour, as a legend shows them. */
async function legendOf(page, testId) {
  const keys = await page.getByTestId(testId).locator('.key:visible').evaluateAll((all) =>
    all.map((key) => [key.textContent, getComputedStyle(key.querySelector('.swatch')).backgroundColor]),
  );
  return new Map(keys.filter(([, colour]) => colour !== 'rgba(0, 0, 0, 0)'));
}

async function svgOf(page, view) {
  const { bytes } = await savedBy(page, () => page.getByTestId(`${view}-svg`).click());
  // Cytoscape.js removes the spaces in a colour.
  return bytes.toString('utf8').replace(/rgb\((\d+), ?(\d+), ?(\d+)\)/g, 'rgb($1, $2, $3)');
}

/** Everything that the page colours by name. */
async function coloursOf(page, data) {
  const transports = [...new Set(data.classes.flatMap(({ path }) => path.map(({ transport }) => transport)))];
  const colours = { graph: await legendOf(page, 'graph-legend'), timeline: await legendOf(page, 'timeline-transports') };
  colours.functions = await legendOf(page, 'timeline-functions');
  for (const name of transports) assert.ok(colours.timeline.has(name), `the timeline's legend names ${name}`);
  assert.ok(colours.graph.size > 1, 'the graph has a legend');
  for (const [name, colour] of colours.graph) assert.equal(colour, colours.timeline.get(name), `${name} in both legends`);
  assert.equal(new Set(colours.timeline.values()).size, colours.timeline.size, 'no two have one colour');
  const graph = await svgOf(page, 'graph');
  for (const [name, colour] of colours.graph) assert.ok(graph.includes(`stroke="${colour}"`), `an edge of ${name} is ${colour}`);
  return colours;
}

/** The start of the run has single operations in every page. It is drawn in the colours of the legend. */
async function checkBars(page, { timeline }) {
  await page.getByTestId('timeline-canvas').focus();
  for (const key of ['0', '+', '+', '+', 'Home']) await page.keyboard.press(key);
  const svg = await svgOf(page, 'timeline');
  for (const name of ['sysv', 'tcp']) assert.ok(svg.includes(`fill="${timeline.get(name)}"`), `bars of ${name}`);
  await page.getByTestId('lanes-compact').click();
  assert.ok(await page.getByTestId('timeline-transports').isHidden(), 'low lanes have no transfers, and no legend of them');
  await page.getByTestId('lanes-compact').click();
  assert.ok(await page.getByTestId('timeline-transports').isVisible());
}

async function openRun(page, folder, fill, name, data) {
  const file = join(folder, name);
  writeFileSync(file, fill(written(data)));
  await page.goto(pathToFileURL(file).href);
  await page.locator('html[data-ready]').waitFor();
}

/** `fill(data)`: the page of some data. */
export async function checkNameColours(page, folder, fill) {
  const plain = makeRun({ ranks: 6, steps: 20 });
  await openRun(page, folder, fill, 'plain.html', plain);
  const before = await coloursOf(page, plain);
  await checkBars(page, before);
  // More transports: some come first by name, and one has a name that is markup elsewhere.
  const other = makeRun({ ranks: 6, steps: 20, gpus: 2 });
  for (const { path } of other.classes) for (const step of path) if (step.transport === 'cuda_copy') step.transport = kOddName;
  await openRun(page, folder, fill, 'other.html', other);
  const after = await coloursOf(page, other);
  assert.ok(after.timeline.has(kOddName), 'a name is text');
  assert.ok(after.timeline.size > before.timeline.size, 'a run with more transports');
  let compared = 0;
  for (const view of ['graph', 'timeline', 'functions']) {
    for (const [name, colour] of before[view]) {
      if (!after[view].has(name)) continue;
      assert.equal(after[view].get(name), colour, `${name} has one colour in both pages`);
      ++compared;
    }
  }
  assert.ok(compared > 8, `${compared} names are in both pages`);
  console.log(`ok   colours of ${compared} names are the same in two pages, and those of their legends`);
}
