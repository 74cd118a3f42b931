// Timeline, graph, details and keys as a reader uses them. Used by page.mjs.

import assert from 'node:assert/strict';

import { addressHas, addressLacks, addressOf, kBrowser, savedBy } from './browser.mjs';
import { assertNothingPointed, isKept, isPointed } from './details_dock.mjs';
import { checkLanes, checkLook, checkSearch, checkWaits } from './waits_and_lanes.mjs';

export const total = (report) =>
  report.page
    .locator('dl.totals .chosen dd')
    .evaluate(({ dataset }) => Number(dataset.value));
export const graphTotal = (report) =>
  report.control('graph-canvas').evaluate(({ dataset }) => Number(dataset.total));

async function press(report, testId, ...keys) {
  await report.control(testId).focus();
  for (const key of keys) await report.page.keyboard.press(key);
}

/** A span of time chosen in the strip filters every view; the address keeps it. */
async function checkSpan(report) {
  const { page } = report;
  await report.measure('messages');
  await report.control('graph-by').selectOption('pair');
  const all = await total(report);
  const strip = report.control('timeline-overview');
  await strip.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await strip.boundingBox();
  await page.mouse.move(x + width * 0.3, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.6, y + height / 2, { steps: 3 });
  await page.mouse.up();
  await addressHas(page, /from_ns=\d+&to_ns=\d+/, 'the strip chooses a span');
  assert.match(await report.control('selection-command').textContent(), /--from [\d.]+s --to/);
  const part = await total(report);
  assert.ok(part <= all, 'a part of the run');
  assert.equal(await graphTotal(report), part, 'the graph shows the span');
  const functions = report.page.locator('#functions tbody td:nth-of-type(1)');
  const listed = await functions.evaluateAll((cells) =>
    cells.reduce((sum, { dataset }) => sum + Number(dataset.value), 0),
  );
  assert.equal(listed, part, 'so does the table of functions');
  const pairs = await report.pairs();
  assert.equal([...pairs.values()].reduce((sum, n) => sum + n, 0), part, 'and the matrix');
  const shared = await addressOf(page);
  await page.goto('about:blank');
  await page.goto(shared);
  await report.page.locator('html[data-ready]').waitFor();
  assert.equal(await total(report), part, 'the address gives the same span');
  await report.control('filter-time-reset').click();
  assert.equal(await total(report), all);
  await report.control('graph-by').selectOption('pair');
  console.log(`ok   a span of time: ${part} of ${all} messages in every view`);
}

/** From the whole run to one operation, kept in the panel of details, copied and closed, by keys alone. */
async function checkTimeline(report) {
  const { page } = report;
  const dock = report.control('details-content');
  await page.keyboard.press('t');
  const focused = await page.evaluate(() => document.activeElement.dataset.testid);
  assert.equal(focused, 'timeline-canvas', 't goes to the timeline');
  await press(report, 'timeline-canvas', 'Home', 'ArrowDown');
  assert.ok(await isPointed(page), 'arrows explain');
  const before = await report.control('timeline-level').textContent();
  for (let i = 0; i < 12; ++i) await page.keyboard.press('+');
  assert.notEqual(await report.control('timeline-level').textContent(), before, '+ zooms');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  const text = await dock.innerText();
  assert.match(text, /process\s+rank|of rank/, text);
  await page.keyboard.press('Enter');
  assert.ok(await isKept(page), 'Enter keeps the details');
  assert.equal(await dock.innerText(), text, 'the same ones');
  await report.page.mouse.move(3, 3);
  assert.ok(await isKept(page), 'what is kept stays');
  const kept = await dock.innerText();
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await dock.innerText(), kept, 'and keys go on');
  const covered = await page.evaluate(() => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    const foot = document.querySelector('footer').getBoundingClientRect().bottom;
    return foot - document.querySelector('[data-testid="details"]').getBoundingClientRect().top;
  });
  // The page scrolls by whole pixels.
  assert.ok(covered < 1, `the panel covers ${covered} px of the end of the page`);
  await report.control('details').getByTestId('copy').click();
  await page.locator('[data-testid="details"] [data-copied]').waitFor();
  await page.keyboard.press('Escape');
  assert.ok(!(await isKept(page)), 'Escape closes');
  const back = await page.evaluate(() => document.activeElement.dataset.testid);
  assert.equal(back, 'timeline-canvas', 'and gives the focus back');
  await page.keyboard.press('b');
  await addressHas(page, /from_ns|to_ns/, 'b chooses the visible time');
  await page.keyboard.press('b');
  await addressLacks(page, /from_ns|to_ns/);
  await page.keyboard.press('0');
  await page.keyboard.press('Escape');
  console.log('ok   timeline: zoom, arrows, details kept, copy, choose, by keys');
}

/** A drag zooms, one with Shift chooses, a double click and w zoom, a and d move. */
async function checkPointer(report) {
  const { page } = report;
  const canvas = report.control('timeline-canvas');
  const level = () => report.control('timeline-level').textContent();
  await press(report, 'timeline-canvas', '0');
  await canvas.scrollIntoViewIfNeeded();
  const whole = await level();
  const { x, y, width } = await canvas.boundingBox();
  const drag = async (from, to) => {
    await page.mouse.move(x + width * from, y + 40);
    await page.mouse.down();
    await page.mouse.move(x + width * ((from + to) / 2), y + 42);
    await page.mouse.move(x + width * to, y + 42);
    assert.ok(await report.control('timeline-band').isVisible(), 'the span that is drawn is shown');
    await page.mouse.up();
    assert.ok(await report.control('timeline-band').isHidden());
  };
  await drag(0.4, 0.6);
  const zoomed = await level();
  assert.notEqual(zoomed, whole, 'a drag zooms');
  assert.doesNotMatch(await addressOf(page), /from_ns/, 'and filters nothing');
  const middle = { clientX: x + width * 0.5, clientY: y + 60 };
  // Over BiDi, two clicks on a busy machine may be too far apart for a double click.
  if (kBrowser === 'firefox') await canvas.dispatchEvent('dblclick', middle);
  else await page.mouse.dblclick(middle.clientX, middle.clientY);
  const closer = await level();
  assert.notEqual(closer, zoomed, 'a double click zooms');
  await assertNothingPointed(page, 'and explains nothing');
  assert.ok(!(await isKept(page)), 'and keeps nothing');
  await page.keyboard.press('s');
  assert.notEqual(await level(), closer, 'and keys go on working');
  await press(report, 'timeline-canvas', 's', 's');
  const out = await level();
  await press(report, 'timeline-canvas', 'd');
  assert.notEqual(await level(), out, 'd moves');
  await press(report, 'timeline-canvas', 'a');
  assert.equal(await level(), out, 'a moves back');
  await press(report, 'timeline-canvas', 'Escape', '0');
  await page.keyboard.down('Shift');
  await drag(0.3, 0.7);
  await page.keyboard.up('Shift');
  await addressHas(page, /from_ns=\d+&to_ns=\d+/, 'a drag with Shift chooses');
  await report.control('filter-time-reset').click();
  console.log('ok   timeline: drag, Shift and drag, double click, w, a, s, d');
}

/** The legend names the functions with most time, each with its own colour. */
async function checkFunctionLegend(report) {
  const { call_kinds: kinds } = report.data.time;
  const keys = report.control('timeline-functions').locator('.key:visible:not(:has(.waits))');
  const names = await keys.allTextContents();
  const known = new Set(kinds.map(({ mpi }) => mpi));
  const named = names.filter((name) => known.has(name));
  assert.ok(named.length === Math.min(7, [...known].filter((mpi) => mpi && !/Init|Finalize/.test(mpi)).length), `${names}`);
  const colours = await keys.locator('.swatch').evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor));
  assert.equal(new Set(colours).size, colours.length, `a colour for each: ${colours}`);
  console.log(`ok   colours of ${named.length} MPI functions`);
}

/** A click on a head sorts, the next one reverses, the third restores the first order; CSV has the rows as shown. */
async function checkTables(report) {
  const { page } = report;
  const table = report.control('functions-table');
  if ((await table.count()) === 0) return;
  const column = (number) =>
    table.locator('tbody tr').evaluateAll(
      (rows, at) => rows.map((row) => row.children[at].dataset.value ?? row.children[at].textContent),
      number,
    );
  const own = await column(1);
  const head = table.locator('th button.sort').nth(1);
  await head.click();
  const falling = await column(1);
  assert.deepEqual(falling, [...own].sort((a, b) => b - a));
  await head.click();
  assert.deepEqual((await column(1)).map(Number), [...own].map(Number).sort((a, b) => a - b));
  await head.click();
  assert.deepEqual(await column(1), own, 'the order of the table itself');
  const file = await savedBy(page, () => table.locator('xpath=../..').locator('button.csv').click());
  assert.equal(file.name, 'functions-table.csv');
  const lines = file.bytes.toString('utf8').replace('\ufeff', '').trimEnd().split('\r\n');
  assert.equal(lines.length, own.length + 1);
  assert.deepEqual(lines.slice(1).map((line) => line.split(',')[1]), own);
  for (const picture of ['matrix', 'timeline', 'graph']) {
    const { bytes } = await savedBy(page, () => report.control(`${picture}-png`).click());
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG', picture);
    assert.ok(bytes.length > 1000, `${picture}: ${bytes.length} bytes`);
  }
  for (const picture of ['matrix', 'timeline', 'graph']) await checkSvg(report, picture);
  console.log('ok   tables sorted and saved as CSV, pictures as PNG and SVG');
}

/** The names of the lanes that the reader sees without scrolling in the timeline, where all have one height. */
async function lanesInView(page) {
  return page.getByTestId('timeline-canvas').evaluate((canvas) => {
    const kRuler = 20;
    const whole = canvas.closest('.timeline-scroll').querySelector('.spacer').offsetHeight;
    const count = parseInt(document.querySelector('[data-testid="lanes-said"]').textContent.replaceAll(',', ''), 10);
    const seen = Math.ceil((canvas.offsetHeight - kRuler) / ((whole - kRuler) / count));
    return Array.from({ length: Math.min(count, seen) }, (_, rank) => `rank ${rank}`);
  });
}

/** It can be opened, draws as much as the screen shows, names ranks, and nothing in it runs or is fetched. */
async function checkSvg(report, picture) {
  const { page } = report;
  const saved = await savedBy(page, () => report.control(`${picture}-svg`).click());
  assert.equal(saved.name, `${picture}.svg`);
  const svg = saved.bytes.toString('utf8');
  const found = await page.evaluate(async (text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
    const all = [...parsed.querySelectorAll('*')];
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const colours = new Set(new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer));
    return {
      broken: parsed.querySelector('parsererror')?.textContent,
      names: [...new Set(all.map(({ localName }) => localName))],
      texts: [...parsed.querySelectorAll('text')].map(({ textContent }) => textContent),
      runs: all.some((part) => [...part.attributes].some(({ name }) => name.startsWith('on'))),
      addresses: all.flatMap((part) => part.getAttribute('href') ?? []),
      bars: [...parsed.querySelectorAll('path[shape-rendering]')].flatMap((bar) => bar.getAttribute('d').match(/M/g)).length,
      nodes: parsed.querySelectorAll('ellipse').length,
      arrows: parsed.querySelectorAll('g').length,
      colours: colours.size,
    };
  }, svg);
  assert.equal(found.broken, undefined, picture);
  const kKnown = ['svg', 'rect', 'path', 'pattern', 'clipPath', 'text', 'tspan', 'g', 'ellipse', 'polygon', 'image'];
  assert.deepEqual(found.names.filter((name) => !kKnown.includes(name)), [], picture);
  assert.ok(!found.runs && found.addresses.every((address) => address.startsWith('data:image/png')), picture);
  const ranks = report.data.processes.length;
  const lanes = await lanesInView(page);
  const names = picture === 'timeline' ? lanes : [...Array(ranks).keys()].map(String);
  assert.deepEqual(names.filter((name) => !found.texts.includes(name)), [], `${picture} names its ranks`);
  if (picture === 'timeline') assert.deepEqual(found.texts.filter((text) => /^rank \d+$/.test(text)), lanes, 'and no others');
  const { bars, nodes, arrows } = found;
  if (picture === 'matrix') assert.ok(bars >= ranks * ranks, `${bars} squares`);
  if (picture === 'timeline') assert.ok(bars > 100 * lanes.length, `${bars} bars`);
  if (picture === 'graph') assert.ok(nodes === ranks && arrows > 0, `${nodes} nodes, ${arrows} arrows`);
  assert.ok(found.colours > 4, `${picture} has ${found.colours} colours`);
}

/** A message is an arrow, and its receipt has the fields of `uctrace messages`. */
async function checkReceipt(report) {
  const { page, data } = report;
  // If the page scrolls under the pointer, the pointer replaces what the keys reached.
  await page.mouse.move(0, 0);
  // To the start of the run: every page has its single operations.
  const { from_ns: from, to_ns: to, details_to_ns: end } = data.time;
  const steps = Math.max(3, Math.ceil(Math.log2((to - from) / (end - from))));
  await press(report, 'timeline-canvas', '0', ...Array(steps).fill('+'), 'Home', 'ArrowDown', 'ArrowDown');
  for (let i = 0; i < 40; ++i) {
    const text = await report.control('details-content').innerText();
    if (/Message #\d+/.test(text)) {
      for (const name of ['from', 'to', 'payload', 'protocol', 'match', 'start', 'Path']) {
        assert.match(text, new RegExp(`(^|\\n)${name}`), `the receipt tells ${name}`);
      }
      await page.keyboard.press('Escape');
      console.log('ok   the receipt of a message');
      return;
    }
    await page.keyboard.press(i % 8 === 7 ? 'ArrowDown' : 'ArrowRight');
  }
  assert.fail('no UCP operation with a message was found');
}

async function checkGraph(report) {
  const { page } = report;
  // Edges by transport count a message once for each transport.
  await report.control('graph-by').selectOption('pair');
  for (const measure of ['bytes', 'messages', 'transfers', 'wire_bytes']) {
    await report.measure(measure);
    assert.equal(await graphTotal(report), await total(report), `the graph sums up ${measure}`);
  }
  await report.measure('bytes');
  await page.keyboard.press('g');
  await page.keyboard.press('ArrowRight');
  assert.match(await report.control('details-content').innerText(), /Rank/, 'a process is explained');
  await page.keyboard.press('ArrowDown');
  assert.match(await report.control('details-content').innerText(), /Edge/, 'so is an edge');
  await page.keyboard.press('Enter');
  await addressHas(page, /src=\d+&dst=/, 'Enter chooses the edge');
  assert.equal(await graphTotal(report), await total(report));
  await page.keyboard.press('Enter');
  await addressLacks(page, /src=/, 'and gives it back');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await addressHas(page, /rank=\d/, 'a process is chosen by either end');
  await report.reset();
  await page.keyboard.press('Escape');
  console.log('ok   graph: sums, processes and edges by keys');
}

async function checkHelp(report) {
  const { page } = report;
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('?');
  assert.ok(await report.control('help').isVisible(), '? shows the keys');
  await page.keyboard.press('Escape');
  assert.ok(await report.control('help').isHidden());
  await page.keyboard.press('/');
  const focused = await page.evaluate(() => document.activeElement.tagName);
  assert.equal(focused, 'SELECT', '/ goes to the filters');
  await page.evaluate(() => document.activeElement.blur());
  console.log('ok   keys of the page');
}

async function checkNarrow(report) {
  const { page } = report;
  const before = page.viewportSize();
  for (const width of [400, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.reload();
    await page.locator('html[data-ready]').waitFor();
    // The drawing follows the size of the window one frame later.
    await page.waitForFunction(
      () => document.documentElement.scrollWidth === document.documentElement.clientWidth,
    );
  }
  await page.setViewportSize(before);
  console.log('ok   400 px: nothing is wider than the window');
}

/** Text on its background, WCAG AA: 4.5 to 1. */
async function checkContrast(report) {
  const { page } = report;
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    const weak = await page.evaluate(() => {
      const channels = (text) => text.match(/[\d.]+/g).map(Number);
      const light = ([r, g, b]) =>
        [r, g, b]
          .map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
          .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
      const behind = (node) => {
        for (let at = node; at; at = at.parentElement) {
          const colour = channels(getComputedStyle(at).backgroundColor);
          if (colour.length < 4 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
      };
      return [...document.querySelectorAll('p, dt, dd, th, td, label, button, h1, h2, li, code')]
        .filter((node) => node.offsetParent && node.textContent.trim() && !node.disabled)
        .map((node) => {
          const [a, b] = [light(channels(getComputedStyle(node).color)), light(behind(node))];
          const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          return `${ratio.toFixed(2)} ${node.tagName} ${node.textContent.slice(0, 30)}`;
        })
        .filter((text) => parseFloat(text) < 4.5);
    });
    assert.deepEqual(weak, [], `contrast in ${colorScheme}`);
  }
  console.log('ok   contrast in light and dark');
}

/** `data` must have messages with single operations. */
export async function checkViews(report) {
  await checkNarrow(report);
  await checkContrast(report);
  await checkHelp(report);
  await checkSpan(report);
  await checkTimeline(report);
  await checkLook(report);
  await checkPointer(report);
  await checkFunctionLegend(report);
  await checkTables(report);
  await checkReceipt(report);
  await checkWaits(report);
  await checkLanes(report);
  await checkSearch(report);
  await checkGraph(report);
}

/** A run without processes, and one of a single rank, open and have all their parts. */
export async function checkSmall(page, processes) {
  await page.locator('html[data-ready]').waitFor();
  for (const part of ['matrix', 'timeline', 'graph', 'functions', 'contenders']) {
    assert.ok(await page.locator(`#${part}`).isVisible(), part);
  }
  const { bytes } = await savedBy(page, () => page.getByTestId('graph-svg').click());
  const labels = await page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
    return [...parsed.querySelectorAll('parsererror, text')].map(({ textContent }) => textContent);
  }, bytes.toString('utf8'));
  assert.ok(processes.every(({ host }) => labels.includes(host)), `hosts in the saved graph: ${labels}`);
}
