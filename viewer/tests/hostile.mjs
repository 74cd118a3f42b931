// Names that would be markup, scripts, escapes or formulas elsewhere stay text on the page and in the files that it saves.
// Used by page.mjs.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { kBrowser, savedBy } from './browser.mjs';
import { makeHostileRun } from './make_hostile.mjs';

/** Characters that no text may have: as in plain_text.hpp, except for the line breaks of the page's own texts. */
const kControls = '[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]';

/** The marks in everything that a reader, a screen reader or a resting pointer finds; fails if one of them is not text. */
async function look(page, roots = 'html') {
  const found = await page.evaluate(([controls, roots]) => {
    const pattern = new RegExp(controls);
    const texts = [document.title];
    const wrong = [];
    const kOfPage = /^(src|href|content)$/;
    for (const each of document.querySelectorAll(`:is(${roots}) *`)) {
      if (each.matches('script, style, head *')) continue;
      if (each.matches('img, svg, b, iframe, object, embed, form[action], base, meta')) wrong.push(`<${each.localName}> is there`);
      for (const { name, value } of each.attributes) {
        if (name.startsWith('on') || name === 'srcdoc') wrong.push(`${each.localName} has ${name}`);
        if (kOfPage.test(name) && !/^(\.\/|data:|blob:|#)/.test(value)) wrong.push(`${each.localName} leads to ${value}`);
        texts.push(value);
      }
      if ('value' in each) texts.push(String(each.value));
      for (const node of each.childNodes) if (node.nodeType === Node.TEXT_NODE) texts.push(node.data);
    }
    for (const text of texts) {
      const at = text.search(pattern);
      if (at >= 0) wrong.push(`U+${text.charCodeAt(at).toString(16)} in ${text.slice(Math.max(0, at - 40), at + 40)}`);
    }
    return { marks: texts.join('\n').match(/\[[\w.]+ \d+\]/g) ?? [], wrong, executed: window.hostile };
  }, [kControls, roots]);
  assert.equal(found.executed, 0, 'a name was executed');
  assert.deepEqual(found.wrong.slice(0, 5), [], 'a name is no text');
  return found.marks;
}

const marksIn = (text) => text.match(/\[[\w.]+ \d+\]/g) ?? [];

class Visit {
  /** Marks of names. */
  seen = new Set();

  constructor(page) {
    this.page = page;
  }

  control(name) {
    return this.page.getByTestId(name);
  }

  saw(marks) {
    for (const mark of marks) this.seen.add(mark);
  }

  async reset() {
    const reset = this.control('filter-reset');
    if (await reset.isEnabled()) await reset.click();
    await this.page.mouse.move(0, 0);
  }

  async look(roots) {
    this.saw(await look(this.page, roots));
  }

  /** Presses each key in the element, checks what it explains, and finally checks the whole page. */
  async keys(testId, keys) {
    await this.control(testId).focus();
    for (const key of keys) {
      await this.page.keyboard.press(key);
      await this.look('[data-testid=details], [aria-live]');
    }
    await this.look();
  }
}

const openAll = (page) => page.locator('details').evaluateAll((all) => all.forEach((each) => (each.open = true)));

async function untilReady(page) {
  await page.locator('html[data-ready]').waitFor();
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
}

/** The explanations of each panel, by keys. */
async function visitPanels(visit) {
  const { page } = visit;
  await page.mouse.move(0, 0);
  await openAll(page);
  await visit.look();
  const arrows = ['Home', 'ArrowRight', 'ArrowDown', 'ArrowRight', 'Enter', 'Escape'];
  await visit.keys('matrix-canvas', arrows);
  await visit.reset();
  await visit.control('matrix-of-waits').click();
  await visit.keys('matrix-canvas', arrows);
  await visit.control('wait-pairs').locator('tbody button').first().click();
  await visit.look();
  await visit.control('details-close').click();
  await visit.control('matrix-of-traffic').click();
  await visit.reset();
  await visit.control('matrix-pairs').locator('tbody button').first().click();
  await visit.look();
  await visit.control('all-pairs').click();
  await visit.keys('graph-canvas', ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'Escape']);
  await visit.control('devices-by').selectOption('pair');
  await visit.keys('devices-canvas', [...Array(12).fill('ArrowRight'), 'ArrowDown', 'ArrowDown', 'Escape']);
}

/** Lanes, single operations of all layers with their details, and the search results. */
async function visitTimeline(visit) {
  const { page } = visit;
  await visit.keys('timeline-canvas', ['h', 'ArrowDown', 'o', 'ArrowDown', 'h', '0', '+', '+', '+', 'Home']);
  for (let lane = 0; lane < 4; ++lane) {
    await visit.keys('timeline-canvas', ['ArrowDown', ...Array(16).fill('ArrowRight'), 'Enter']);
  }
  await visit.control('details-close').click();
  await visit.control('lanes-only').fill('<img src=x onerror="hostile++">');
  await page.keyboard.press('Enter');
  await visit.look();
  await visit.control('lanes-only').fill('');
  await page.keyboard.press('Enter');
  await visit.control('timeline-find').fill('</script><img src=x onerror="hostile++">');
  await visit.look();
  // For transfers that serve no message.
  await visit.control('filter-without-message').check();
  await visit.control('timeline-find').fill('classes.reason');
  await page.keyboard.press('Enter');
  assert.match(await visit.control('timeline-found').textContent(), /^1 of/);
  await visit.look();
  await visit.control('timeline-find').fill('');
  await visit.keys('timeline-canvas', ['0', 'Escape']);
}

/** The table of messages, which has rows only while it is in view, and the receipt of one. */
async function visitMessages(visit) {
  const link = visit.control('messages-table').locator('tbody button').first();
  await visit.control('messages-said').scrollIntoViewIfNeeded();
  await link.waitFor();
  await visit.look();
  await link.click();
  await visit.look();
  await visit.control('details-close').click();
}

/** Each value of each filter, with the sentence and the command that it makes. */
async function visitFilters(visit) {
  const { page } = visit;
  const ids = await page.locator('[data-testid^="filter-"]:is(select)').evaluateAll((all) => all.map(({ dataset }) => dataset.testid));
  assert.ok(ids.length > 10, `${ids}`);
  for (const id of ids) {
    const values = await visit.control(id).locator('option').count();
    for (const index of new Set([1, values - 1])) {
      await visit.control(id).selectOption({ index });
      await visit.look();
    }
    await visit.reset();
  }
}

/** The fields of a text, row by row, as a spreadsheet reads it. */
function fieldsOf(text) {
  const fields = [];
  const pattern = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/y;
  let row = [];
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    assert.ok(match, `no field of CSV: ${text.slice(at, at + 80)}`);
    row.push(match[1].startsWith('"') ? match[1].slice(1, -1).replaceAll('""', '"') : match[1]);
    if (match[2] === ',') continue;
    fields.push(row);
    row = [];
  }
  return fields;
}

/** No field of any table is a formula, and all rows are as long as the first. */
async function checkSavedTables(visit) {
  const { page } = visit;
  const buttons = page.locator('button.csv:visible');
  const count = await buttons.count();
  let guarded = 0;
  for (let at = 0; at < count; ++at) {
    // Chromium lets a page save ten files, and then asks the reader.
    if (at % 8 === 7) {
      await page.reload();
      await untilReady(page);
      await openAll(page);
    }
    const { name, bytes } = await savedBy(page, () => buttons.nth(at).click());
    assert.match(name, /^[\w-]+\.csv$/);
    const text = bytes.toString('utf8').replace('\ufeff', '');
    const rows = fieldsOf(text);
    for (const row of rows) {
      assert.equal(row.length, rows[0].length, `${name}: ${row}`);
      for (const field of row) {
        assert.ok(!/^[=+\-@\t\r\n]/.test(field) || /^-?[\d.]+$/.test(field), `${name}: a formula: ${field.slice(0, 60)}`);
        assert.doesNotMatch(field, new RegExp(kControls), name);
        guarded += Number(/^'[=+\-@]/.test(field));
      }
    }
    visit.saw(marksIn(text));
  }
  assert.ok(count > 8 && guarded > 0, `${guarded} guarded fields in ${count} tables`);
  console.log(`ok   hostile names: ${guarded} fields of ${count} saved tables are no formulas`);
}

/** Saved pictures are well-formed, have only shapes and text, and run nothing if a browser opens them. */
async function checkSavedPictures(visit, folder) {
  const { page } = visit;
  await page.reload();
  await untilReady(page);
  for (const picture of ['matrix', 'timeline', 'graph', 'devices']) {
    const { bytes } = await savedBy(page, () => visit.control(`${picture}-svg`).click());
    const file = join(folder, `${picture}.svg`);
    writeFileSync(file, bytes);
    const text = readFileSync(file, 'utf8');
    assert.doesNotMatch(text, new RegExp(kControls), picture);
    const opened = await page.context().newPage();
    await opened.goto(pathToFileURL(file).href);
    const found = await opened.evaluate(() => ({
      executed: window.hostile,
      names: [...new Set([...document.querySelectorAll('*')].map(({ localName }) => localName))],
      wrong: [...document.querySelectorAll('*')].flatMap(({ attributes }) =>
        [...attributes].filter(({ name, value }) => name.startsWith('on') || (name === 'href' && !value.startsWith('data:image/png'))).map(({ name }) => name),
      ),
      texts: [...document.querySelectorAll('text')].map(({ textContent }) => textContent).join('\n'),
    }));
    await opened.close();
    assert.equal(found.executed, 0, `${picture} runs something`);
    const kShapes = ['svg', 'rect', 'path', 'pattern', 'clipPath', 'text', 'tspan', 'g', 'ellipse', 'polygon', 'image'];
    assert.deepEqual(found.names.filter((name) => !kShapes.includes(name)), [], picture);
    assert.deepEqual(found.wrong, [], picture);
    visit.saw(marksIn(found.texts));
  }
  console.log('ok   hostile names: saved pictures are shapes and text');
}

/** Each kind of text occurred somewhere; otherwise it was not checked. */
function checkAllSeen(seen, names) {
  const kinds = new Map();
  for (const { kind, mark } of names.values()) {
    const marks = kinds.get(kind) ?? [];
    kinds.set(kind, [...marks, seen.has(mark)]);
  }
  const unseen = [...kinds].filter(([kind, found]) => !found.includes(true)).map(([kind]) => kind);
  assert.deepEqual(unseen, [], 'kinds of texts that were nowhere on the page');
  console.log(`ok   hostile names: ${kinds.size} kinds of texts, all text`);
}

/** Nothing is wider than the window, even with long names. */
async function checkWidths(page) {
  const before = page.viewportSize();
  for (const width of [390, 1320]) {
    await page.setViewportSize({ width, height: 900 });
    await page
      .waitForFunction(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth)
      .catch(async () => assert.fail(`${width} px: wider are ${await page.evaluate(widest)}`));
  }
  await page.setViewportSize(before);
}

function widest() {
  return [...document.querySelectorAll('body *')]
    .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth && !each.closest('.scroll'))
    .slice(0, 5)
    .map((each) => `${each.localName}.${each.className} ${each.dataset.testid ?? ''}`);
}

async function open(context, folder, html) {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const problems = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  page.on('dialog', (dialog) => problems.push(dialog.message()));
  await context.addInitScript(() => (window.hostile ??= 0));
  const file = join(folder, 'hostile.html');
  writeFileSync(file, html);
  await page.goto(pathToFileURL(file).href);
  return { page, problems };
}

/** Texts of errors quote the text that was found. */
async function checkErrors(context, folder, fill, data) {
  const name = '\u202e<img src=x onerror="hostile++">\x1b[31m';
  const inTables = { ...data, packed: { ...data.packed, bytes: name } };
  const notJson = fill({ ...data, packed: null }).replace('>null</script>', () => `>{"a":\u202e${name}</script>`);
  for (const html of [fill({ schema: name }), fill({ ...data, run: { ...data.run, complete: name } }), fill(inTables), notJson]) {
    const { page, problems } = await open(context, folder, html);
    await page.getByTestId('message').waitFor();
    await look(page);
    assert.match(await page.getByTestId('message').textContent(), /<img src=x|not JSON/, 'the error quotes what it found');
    assert.deepEqual(problems, []);
    await page.close();
  }
  console.log('ok   hostile names: errors quote them as text');
}

export async function checkHostile(context, folder, fill) {
  const { data, names } = makeHostileRun();
  const { page, problems } = await open(context, folder, fill(data));
  await untilReady(page).catch(() => assert.fail(`the page does not open: ${problems}`));
  const visit = new Visit(page);
  await visitPanels(visit);
  await visitTimeline(visit);
  await visitMessages(visit);
  await visitFilters(visit);
  await checkSavedTables(visit);
  if (kBrowser !== 'firefox') await checkSavedPictures(visit, folder);
  checkAllSeen(visit.seen, names);
  await checkWidths(page);
  assert.deepEqual(problems, [], 'no errors in the page');
  await page.close();
  await checkErrors(context, folder, fill, data);
}
