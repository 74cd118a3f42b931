// Opens the page in Chromium as a reader would (from file://, without a network), works its
// controls, and compares what it shows with sums made here from the data.
//
//   node page.mjs [--template FILE.html]       the empty page, filled with an invented run (default)
//   node page.mjs --page FILE.html [--messages FILE.json]
//                                              a real report, also against `uctrace messages`
//   --tiles DIR                                a folder of `uctrace view --tiles`, and nothing else
//   --served URL                               with it: the same run, as `uctrace view --tiles --serve` serves it
//   --selections FILE.json [--filters NAME,...]
//                                              what the page sums up under many filters, or these,
//                                              and the command that it shows for each
//   --part gpus|tiles|hostile|ranks|colours|overview|hosts|details   only what is shown of GPUs; only a page with tiles; only
//                                              hostile names; only 1,024 ranks; only one of the checks that make runs of their own
//   --screenshot FILE.png  --dark              a picture; dark
//   --ranks N  --gpus N                        an invented run of N ranks, N GPUs on each host
//
// Exit status: 0 passed, 1 failed, 77 no browser (set CHROMIUM to name one).

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { addressHas, addressLacks, addressOf, dataIn, withBrowser } from './browser.mjs';
import { checkDetailsDock } from './details_dock.mjs';
import { fillTemplate as fill, kDataTags } from './fill.mjs';
import { checkLayout, checkLongCommand } from './layout.mjs';
import { checkGpus } from './gpus.mjs';
import { checkHostile } from './hostile.mjs';
import { checkHosts } from './hosts.mjs';
import { emptyRun, makeRun, resolved, written } from './make_run.mjs';
import { checkManyRanks } from './many_ranks.mjs';
import { checkMessageTable } from './message_table.mjs';
import { checkNameColours } from './name_colours.mjs';
import { checkOverview } from './overview.mjs';
import { checkContenders, checkSums, messagesOfPage, Report } from './report.mjs';
import {
  checkCallSites, checkCommunicators, checkComparison, checkFindingLinks, checkFindings, checkSectionBar, checkSettings,
} from './sections.mjs';
import { checkRefusal, writeSelections } from './selections.mjs';
import { checkFolder, checkTiles } from './tiles.mjs';
import { checkSmall, checkViews } from './views.mjs';
import { checkManyCells } from './waiting_panels.mjs';

const kViewer = new URL('..', import.meta.url);
const { values: options } = parseArgs({
  options: {
    template: { type: 'string', default: new URL('dist/page.html', kViewer).pathname },
    page: { type: 'string' },
    messages: { type: 'string' },
    selections: { type: 'string' },
    filters: { type: 'string' },
    part: { type: 'string' },
    tiles: { type: 'string' },
    served: { type: 'string' },
    screenshot: { type: 'string' },
    dark: { type: 'boolean', default: false },
    ranks: { type: 'string', default: '6' },
    gpus: { type: 'string', default: '0' },
  },
});

/** Checks that make the runs that they need, by the name of their part. */
const kOwnRuns = { colours: checkNameColours, overview: checkOverview, hosts: checkHosts, details: checkDetailsDock };

async function checkControls(report) {
  const { page, data } = report;
  const before = await report.total('transfers');
  await report.control('filter-without-message').check();
  const idle = data.cells.filter((cell) => data.classes[cell.class].reason !== null);
  const extra = idle.flatMap((cell) => cell.transfers).reduce((sum, t) => sum + t.count, 0);
  assert.equal(await report.total('transfers'), before + extra, 'transfers that serve no message');

  await report.control('scale-linear').click();
  assert.equal(await report.control('scale-linear').getAttribute('aria-pressed'), 'true');
  await report.measure('messages');
  const shared = await addressOf(page);
  const shown = await report.total('messages');
  await page.goto('about:blank');
  await page.goto(shared);
  await page.locator('html[data-ready]').waitFor();
  assert.ok(await report.control('filter-without-message').isChecked(), 'state from the address');
  assert.equal(await report.total('messages'), shown);
  await checkChangedWhileOpening(page, shared);
  await report.reset();
  if (data.processes.length <= 1024) await checkKeyboard(report);
  await report.measure('bytes');
  await report.control('scale-log').click();
  console.log('ok   check box, scale, shared address, keyboard');
}

/** Panels appear one after the other; until all are there, nothing can be chosen. A new address is followed. */
async function checkChangedWhileOpening(opened, shared) {
  const page = await opened.context().newPage();
  const [address, hash] = shared.split('#');
  await page.addInitScript((hash) => {
    new MutationObserver((_, self) => {
      const filters = document.querySelector('main .filters');
      window.headerFirst ??= document.querySelector('header') ? filters === null : undefined;
      if (!filters?.inert) return;
      self.disconnect();
      window.wasInert = document.documentElement.dataset.ready === undefined;
      location.hash = hash;
    }).observe(document, { attributes: true, childList: true, subtree: true });
  }, hash);
  await page.goto(address);
  await page.locator('html[data-ready]').waitFor();
  assert.ok(await page.evaluate(() => window.wasInert), 'nothing can be chosen while the page opens');
  await page.locator('[inert]').first().waitFor({ state: 'detached' });
  assert.ok(await page.evaluate(() => window.headerFirst), 'the header is there before the tables are read');
  assert.ok(await page.getByTestId('filter-without-message').isChecked(), 'an address that came while it opened');
  await page.close();
}

/** Only if a square is one pair. */
async function checkKeyboard(report) {
  const { page } = report;
  await page.mouse.move(0, 0);
  await report.control('matrix-canvas').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await addressHas(page, /src=0&dst=/, 'the keyboard chooses a pair');
  await page.keyboard.press('Enter');
  await addressLacks(page, /src=/, 'and gives it back');
}

async function checkSpeed(report) {
  const started = Date.now();
  await report.measure('messages');
  await report.page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  const elapsed_ms = Date.now() - started;
  assert.ok(elapsed_ms < 2000, `a choice takes ${elapsed_ms} ms`);
  console.log(`ok   ${report.data.processes.length} ranks: a choice takes ${elapsed_ms} ms`);
  await report.measure('bytes');
}

// ---- files and browser ----

function makePageFile(folder) {
  if (options.page !== undefined) return resolve(options.page);
  const template = readFileSync(options.template, 'utf8');
  for (const tag of kDataTags) assert.equal(template.split(tag).length, 2, `the template has one ${tag}`);
  assert.doesNotMatch(template, /<[^<>]*\s(src|href)="(?!data:)/, 'the template refers to no other file');
  assert.match(template, /http-equiv="Content-Security-Policy"/);
  const data = makeRun({ ranks: Number(options.ranks), gpus: Number(options.gpus) });
  const file = join(folder, 'report.html');
  writeFileSync(file, fill(template, written(data)));
  return file;
}

/** Names of all columns, by table. */
function columnsOf({ packed: { tables } }) {
  return Object.fromEntries(tables.map(({ name, columns }) => [name, columns.map((c) => c.name).sort()]));
}

async function checkMessage(page, folder, name, html, text) {
  const file = join(folder, name);
  writeFileSync(file, html);
  await page.goto(pathToFileURL(file).href);
  await page.getByTestId('message').getByText(text).first().waitFor();
  console.log(`ok   message: ${text.source}`);
}

async function checkMessages(page, folder) {
  const template = readFileSync(options.template, 'utf8');
  await checkMessage(page, folder, 'empty.html', template, /holds no run/);
  const bad = fill(template, { schema: 1 });
  await checkMessage(page, folder, 'bad.html', bad, /data\.schema: expected 7, found 1/);
  // The page that a full disk leaves.
  const whole = fill(template, written(makeRun({ ranks: 2, steps: 2, limit: 5 })));
  const cutIn = (id) => whole.slice(0, whole.indexOf(`id="${id}"`) + 200);
  await checkMessage(page, folder, 'cut.html', cutIn('uctrace-data'), /The data is not JSON/);
  await checkMessage(page, folder, 'cut_tables.html', cutIn('uctrace-packed'), /The tables are not JSON/);
}

async function checkCommand(page, folder, data) {
  const words = Array.from({ length: 40 }, (_, index) => `--option-${index} path/${index}/of-it`);
  const command = `mpirun -np 4 ${words.join(' ')} ./${'very-'.repeat(60)}long`;
  const file = join(folder, 'command.html');
  const template = readFileSync(options.template, 'utf8');
  writeFileSync(file, fill(template, written({ ...data, run: { ...data.run, command } })));
  await page.goto(pathToFileURL(file).href);
  await checkLongCommand(page, command);
}

async function checkSmallRuns(page, folder) {
  const template = readFileSync(options.template, 'utf8');
  const odd = makeRun({ ranks: 1 });
  odd.processes[0].host = '</script><img src=x onerror=alert(1)>';
  for (const data of [emptyRun(), odd]) {
    const file = join(folder, 'small.html');
    writeFileSync(file, fill(template, written(data)));
    await page.goto(pathToFileURL(file).href);
    await checkSmall(page, data.processes);
  }
  console.log('ok   a run of nothing, and one rank on a host with an odd name');
}

/** An invented run with GPUs, after one that has none. */
async function checkGpuRun(page, folder) {
  const data = makeRun({ ranks: 10, gpus: 2 });
  const file = join(folder, 'gpus.html');
  writeFileSync(file, fill(readFileSync(options.template, 'utf8'), written(data)));
  await page.goto(pathToFileURL(file).href);
  await page.locator('html[data-ready]').waitFor();
  await checkSectionBar({ page });
  await checkGpus(new Report(page, data));
}

async function openPage(context, file, problems) {
  await context.setOffline(true);
  await context.route(/^(?!file:)/, (route) => {
    problems.push(`asks for ${route.request().url()}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on('pageerror', (error) => {
    console.log(`error in the page: ${error.stack}`);
    problems.push(error.message);
  });
  page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  await page.goto(pathToFileURL(file).href);
  return page;
}

/** All that a page has, with GPUs or without. */
async function checkPage(report, listed) {
  const { data } = report;
  assert.equal(await report.control('command').textContent(), data.run.command);
  await checkSettings(report);
  await checkFindings(report);
  await checkFindingLinks(report);
  await checkCallSites(report);
  await checkCommunicators(report);
  await checkMessageTable(report, listed);
  await checkComparison(report);
  await checkSectionBar(report);
  if ((await report.control('matrix-table').count()) > 0) {
    await checkSums(report, messagesOfPage(data), 'the data of the page');
    if (listed) await checkSums(report, listed, options.messages);
  } else {
    assert.equal(listed, undefined, 'too many ranks to compare with --messages');
  }
  await checkContenders(report);
  if (data.processes.length > 1) await checkControls(report);
  await checkRefusal(report);
  await checkLayout(report);
  if (data.processes.length > 1 && data.processes.length <= 64) await checkViews(report);
  await checkSpeed(report);
}

async function check(context, folder) {
  if (options.tiles !== undefined) return checkFolder(context, resolve(options.tiles), options.served);
  const fillTemplate = (data) => fill(readFileSync(options.template, 'utf8'), data);
  if (options.part === 'tiles') return checkTiles(context, folder, readFileSync(options.template, 'utf8'), fill);
  if (options.part === 'hostile') return checkHostile(context, folder, fillTemplate);
  if (options.part === 'ranks') return checkManyRanks(context, folder, fillTemplate);
  const problems = [];
  const page = await openPage(context, makePageFile(folder), problems);
  if (options.part in kOwnRuns) {
    await kOwnRuns[options.part](page, folder, fillTemplate);
    assert.deepEqual(problems, [], 'no errors in the page and no requests');
    return;
  }
  const data = resolved(await dataIn(page));
  const report = new Report(page, data);
  assert.deepEqual(columnsOf(makeRun({ ranks: 2 })), columnsOf(data), 'invented runs are as real ones');
  await page.locator('html[data-ready]').waitFor();
  // In a page of many cells, panels are shown later.
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
  const listed = options.messages && JSON.parse(readFileSync(options.messages, 'utf8'));
  if (options.part !== 'gpus') await checkPage(report, listed);
  await checkGpus(report, listed);
  if (options.selections !== undefined) {
    await writeSelections(report, options.selections, options.filters?.split(','));
  }
  if (options.screenshot !== undefined) await picture(page);
  if (options.page === undefined) {
    await checkCommand(page, folder, data);
    await checkSmallRuns(page, folder);
    await checkGpuRun(page, folder);
    await checkMessages(page, folder);
    for (const check of Object.values(kOwnRuns)) await check(page, folder, fillTemplate);
    await checkManyCells(context, folder, fillTemplate, (page, data) => new Report(page, data));
    await checkHostile(context, folder, fillTemplate);
    await checkManyRanks(context, folder, fillTemplate);
    await checkTiles(context, folder, readFileSync(options.template, 'utf8'), fill);
  }
  assert.deepEqual(problems, [], 'no errors in the page and no requests');
}

async function picture(page) {
  // In a window as tall as the page, the dock at its foot covers nothing.
  await page.setViewportSize({ width: 1320, height: await page.evaluate(() => document.documentElement.scrollHeight) });
  await page.getByTestId('matrix-canvas').hover({ position: { x: 240, y: 150 } });
  await page.screenshot({ path: options.screenshot, fullPage: true });
}

await withBrowser(
  {
    viewport: { width: 1320, height: 900 },
    colorScheme: options.dark ? 'dark' : 'light',
  },
  check,
);
