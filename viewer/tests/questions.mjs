// Answers questions on pages as a reader does: by a few clicks, and from what is then visible. docs/questions.md has the
// questions and the clicks; tests/integration/test_questions.py has the correct answers.
//
//   node questions.mjs --plan FILE.json --answers FILE.json
//
// The plan: [{ number, page, clicks: [{ action, name?, value? }] }]. The answers, in the same order: [{ clicks, answer }].
// Exit status: 0 all were answered, 1 one was not, or took too many clicks, 77 no browser.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { withBrowser } from './browser.mjs';
import { kAnswers } from './answers.mjs';

export const kMostClicks = 3;

const { values: options } = parseArgs({ options: { plan: { type: 'string' }, answers: { type: 'string' } } });

/** All actions of a reader go through here, and are counted. */
class Hand {
  #page;
  #section;
  clicks = 0;

  constructor(page) {
    this.#page = page;
  }

  async do({ action, name, value }) {
    ++this.clicks;
    if (action === 'click') await this.#click(name);
    else if (action === 'press') await this.#page.keyboard.press(value);
    else if (action === 'type') {
      const focused = await this.#page.evaluate(() => document.activeElement instanceof HTMLInputElement);
      assert.ok(focused, 'nobody can type where no field has the focus');
      await this.#page.keyboard.insertText(value);
    } else assert.fail(`there is no action ${action}`);
  }

  /** A button or link by its text: in the part of the page where the reader is, else anywhere. */
  async #click(name) {
    const places = this.#section ? [this.#page.locator(`#${this.#section}`), this.#page] : [this.#page];
    for (const place of places) {
      const all = place.locator('button, a');
      const [chosen, ...others] = await all.evaluateAll(
        (parts, words) => parts.flatMap((part, at) => (part.checkVisibility() && part.textContent.trim() === words ? [at] : [])),
        name,
      );
      if (chosen === undefined) continue;
      assert.equal(others.length, 0, `${name} is to be seen more than once`);
      await all.nth(chosen).click();
      // The part of the page that a link led to has the focus.
      const section = await this.#page.evaluate(() => document.activeElement.closest('main > *')?.id);
      if (section) this.#section = section;
      return;
    }
    assert.fail(`there is nothing with the words ${name}`);
  }
}

/** The view of a reader: text that is visible and within the window. */
class Eye {
  #page;

  constructor(page) {
    this.#page = page;
  }

  /** The first part that matches, which must be within the window. */
  async see(selector) {
    const part = this.#page.locator(selector).first();
    await part.waitFor({ state: 'visible' });
    const box = await part.boundingBox();
    const { width, height } = this.#page.viewportSize();
    const isSeen = box.y < height - 20 && box.y + box.height > 20 && box.x < width && box.x + box.width > 0;
    assert.ok(isSeen, `${selector} is not within the window: ${JSON.stringify(box)}`);
    return part;
  }

  async text(selector) {
    return (await this.see(selector)).innerText();
  }

  /** The visible rows, as objects by the texts of the column heads; the first row is within the window. */
  async table(testId) {
    const table = `[data-testid="${testId}"]`;
    await this.see(`${table} thead`);
    await this.see(`${table} tbody tr`);
    return this.#page.locator(table).evaluate((made) => {
      const isVisible = (cell) => cell.checkVisibility({ visibilityProperty: true });
      const heads = [...made.tHead.rows[0].cells].map((cell) => cell.innerText.trim());
      return [...made.tBodies[0].rows].filter(isVisible).map((row) =>
        Object.fromEntries(
          [...row.cells].flatMap((cell, at) => (isVisible(cell) ? [[heads[at], cell.innerText.trim()]] : [])),
        ),
      );
    });
  }

  /** Whether there is such a part; it may be out of view. */
  async has(selector) {
    return (await this.#page.locator(selector).count()) > 0;
  }
}

async function answerOne(context, { number, page: file, clicks }) {
  const page = await context.newPage();
  try {
    page.setDefaultTimeout(10_000);
    const problems = [];
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(pathToFileURL(resolve(file)).href);
    await page.locator('html[data-ready]').waitFor();
    const hand = new Hand(page);
    for (const click of clicks) await hand.do(click);
    const answer = await kAnswers[number](new Eye(page));
    assert.ok(hand.clicks <= kMostClicks, `question ${number} took ${hand.clicks} clicks`);
    assert.deepEqual(problems, [], 'no errors in the page');
    return { clicks: hand.clicks, answer };
  } catch (error) {
    error.message = `question ${number} on ${file}: ${error.message}`;
    throw error;
  } finally {
    await page.close();
  }
}

await withBrowser({ viewport: { width: 1320, height: 900 }, offline: true }, async (context) => {
  const answers = [];
  for (const task of JSON.parse(readFileSync(options.plan, 'utf8'))) answers.push(await answerOne(context, task));
  writeFileSync(options.answers, JSON.stringify(answers));
});
