// What the page sums up under its filters, and the command that it shows for each. Used by page.mjs.

import { writeFileSync } from 'node:fs';

const kMeasures = ['bytes', 'messages', 'transfers', 'wire_bytes', 'time'];

async function readSelection(report) {
  const sums = {};
  for (const measure of kMeasures) sums[measure] = await report.total(measure);
  return { command: await report.control('selection-command').textContent(), ...sums };
}

/**
 * Under the first and the last value of every filter, or of those in `only`, alone and with the
 * transfers of no message.
 */
export async function writeSelections(report, file, only) {
  const { page } = report;
  await report.reset();
  const names = await page
    .locator('select[data-testid^="filter-"]')
    .evaluateAll((all) => all.map(({ dataset }) => dataset.testid))
    .then((all) => all.filter((name) => !only || only.includes(name.slice('filter-'.length))));
  const selections = [await readSelection(report)];
  for (const name of names) {
    const select = report.control(name);
    const values = await select.evaluate(({ options }) => [...options].map(({ value }) => value));
    for (const value of new Set([values[1], values.at(-1)])) {
      if (value === undefined) continue;
      for (const internal of [false, true]) {
        await select.selectOption(value);
        if (internal) await report.control('filter-without-message').check();
        selections.push(await readSelection(report));
        await report.reset();
      }
    }
  }
  writeFileSync(file, JSON.stringify(selections));
  console.log(`ok   ${selections.length} selections for the command line`);
}
