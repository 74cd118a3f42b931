// The sums of the page under its filters, and the command that it shows for each. Used by page.mjs.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';

const kMeasures = ['bytes', 'messages', 'transfers', 'wire_bytes', 'time'];

async function readSelection(report) {
  const sums = {};
  for (const measure of kMeasures) sums[measure] = await report.total(measure);
  return { command: await report.control('selection-command').textContent(), ...sums };
}

/** Under the first and the last value of every filter, or of those in `only`, alone and with the transfers of no message. */
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

/**
 * For sizes that no message can have, the page says so beside the fields, and shows no command, because it would be
 * refused.
 */
export async function checkRefusal(report) {
  const [least, greatest] = [report.control('filter-min_size'), report.control('filter-max_size')];
  const sizes = await least.evaluate(({ options }) => [...options].slice(1).map(({ value }) => value));
  if (sizes.length < 2) return;
  const refusal = report.control('filter-refusal');
  const command = report.control('selection-command');
  await report.reset();
  assert.ok((await refusal.isHidden()) && (await command.isVisible()), 'nothing is refused without filters');
  await least.selectOption(sizes.at(-1));
  await greatest.selectOption(sizes[0]);
  assert.match(await refusal.textContent(), /^Size from .*, Size to .*: the least is greater than the greatest: no message has such a length; /);
  assert.ok((await refusal.isVisible()) && (await command.isHidden()), 'no command that is refused');
  const below = await refusal.evaluate((note) => note.getBoundingClientRect().top - note.previousElementSibling.getBoundingClientRect().bottom);
  assert.ok(below >= 0 && below < 30, 'it is said at the fields');
  await greatest.selectOption(sizes.at(-1));
  assert.ok((await refusal.isHidden()) && (await command.isVisible()), 'the same size twice is one size');
  await report.reset();
  console.log('ok   sizes that no message can have');
}
