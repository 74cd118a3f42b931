// How long a page takes to open and to respond, in Chromium from file://. This is not a test: on a shared machine, a
// time is neither a pass nor a failure.
//
//   node measure.mjs PAGE.html [--repetitions N] [--json] [--profile FILE.cpuprofile]
//
// An interaction is timed in the page, from the event to the frame that shows its effect: the handlers of the event,
// and the work that they leave for that frame. Later work of the compositor is not counted, nor that of panels out of
// view. Exit status 77: no browser.

import { statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { withBrowser } from './browser.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repetitions: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const kFile = resolve(positionals[0] ?? 'report.html');
const kRepetitions = Number(options.repetitions);

/** Delay after which edges of a graph out of view are drawn (src/views/graph_canvas.ts), with some margin. */
const kRest_ms = 2000;

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** Milliseconds of the main thread from an input event to the end of the frame after it. */
function startClock() {
  window.uctraceClock = { from: 0, spans: [] };
  const begin = () => {
    const clock = window.uctraceClock;
    if (clock.from) return;
    clock.from = performance.now();
    requestAnimationFrame(() => {
      // After the frame's callbacks, style and layout.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        clock.spans.push(performance.now() - clock.from);
        clock.from = 0;
      };
      port2.postMessage(0);
    });
  };
  for (const kind of ['keydown', 'pointerdown', 'pointermove', 'pointerup', 'wheel', 'change', 'mousemove', 'mousedown', 'mouseup']) {
    window.addEventListener(kind, begin, { capture: true });
  }
}

class Session {
  constructor(page) {
    this.page = page;
    this.rows = [];
  }

  control(name) {
    return this.page.getByTestId(name);
  }

  /** Times each event of `act`; `pick` selects those that count. */
  async time(name, act, pick = (spans) => Math.max(...spans)) {
    const values = [];
    for (let i = 0; i < kRepetitions; ++i) {
      await this.rest();
      await this.page.evaluate(() => (window.uctraceClock.spans = []));
      await act(i);
      await this.settle();
      const spans = await this.page.evaluate(() => window.uctraceClock.spans);
      if (spans.length > 0) values.push(pick(spans));
    }
    this.rows.push({ name, median_ms: median(values), max_ms: Math.max(...values) });
  }

  /** Waits until panels out of view have shown and drawn everything. */
  async rest() {
    await this.settle();
    const busy = await this.page.evaluate(() => document.querySelector('[aria-busy]') !== null);
    if (!busy) return;
    await this.page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    await this.page.waitForTimeout(kRest_ms);
    await this.settle();
  }

  settle() {
    return this.page.evaluate(
      () =>
        new Promise((done) =>
          requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))),
        ),
    );
  }
}

/** Records the end of the frame in which something first appears. */
function noteOpening() {
  const opened = (window.uctraceOpened = {});
  const asked = new Set();
  const note = (name) => {
    if (asked.has(name)) return;
    asked.add(name);
    requestAnimationFrame(() => setTimeout(() => (opened[name] = performance.now())));
  };
  new MutationObserver((_, self) => {
    if (document.querySelector('header')) note('header');
    if (document.documentElement.dataset.ready === undefined) return;
    note('ready');
    if (document.querySelector('[aria-busy]')) return;
    note('all');
    self.disconnect();
  }).observe(document, { attributes: true, childList: true, subtree: true });
}

async function measureOpening(page) {
  const url = pathToFileURL(kFile).href;
  const opened = [];
  await page.addInitScript(noteOpening);
  for (let i = 0; i < kRepetitions; ++i) {
    await page.goto('about:blank');
    await page.goto(url);
    await page.waitForFunction(() => window.uctraceOpened.all !== undefined);
    opened.push(await page.evaluate(() => window.uctraceOpened));
  }
  const names = { header: 'the header and findings are drawn', ready: 'it can be used', all: 'all panels are shown' };
  return Object.entries(names).map(([key, name]) => {
    const values = opened.map((times) => times[key]);
    return { name: `open, until ${name}`, median_ms: median(values), max_ms: Math.max(...values) };
  });
}

/** The second value that a filter offers, and all values again, in turns. */
async function measureFilters(session) {
  for (const name of ['mpi', 'protocol', 'transport', 'rank', 'min_size']) {
    const select = session.control(`filter-${name}`);
    const values = await select.locator('option').evaluateAll((all) => all.map((o) => o.value));
    if (values.length < 3) continue;
    await session.time(`filter: ${name}`, async (i) => {
      await select.selectOption(values[1 + (i % (values.length - 1))]);
    });
    await select.selectOption(values[0]);
  }
  for (const measure of ['messages', 'wire_bytes', 'bytes']) {
    const label = session.page.locator('label', { has: session.control(`measure-${measure}`) });
    await label.scrollIntoViewIfNeeded();
    await session.time(`measure: ${measure}`, async () => {
      await session.page.evaluate(() => document.querySelector('[data-testid="measure-transfers"]').click());
      await session.settle();
      await session.page.evaluate(() => (window.uctraceClock.spans = []));
      await label.click();
    });
  }
}

async function boxOf(session, name) {
  const control = session.control(name);
  await control.scrollIntoViewIfNeeded();
  return control.boundingBox();
}

async function measureTimeline(session) {
  const { page } = session;
  const strip = await boxOf(session, 'timeline-overview');
  await session.time('timeline: choose a span in the strip', async () => {
    const y = strip.y + strip.height / 2;
    await page.mouse.move(strip.x + strip.width * 0.3, y);
    await page.mouse.down();
    await page.mouse.move(strip.x + strip.width * 0.6, y, { steps: 4 });
    await page.mouse.up();
  });
  await session.control('filter-time-reset').click();
  const canvas = await boxOf(session, 'timeline-canvas');
  const at = (x, y) => page.mouse.move(canvas.x + canvas.width * x, canvas.y + canvas.height * y);
  await session.control('timeline-canvas').focus();
  await session.time('timeline: zoom, one step of the wheel', async (i) => {
    await at(0.3, 0.3);
    await page.mouse.wheel(0, i % 2 ? 240 : -240);
  });
  const hover = async (i) => {
    for (let k = 1; k <= 8; ++k) await at(0.1 + 0.1 * k + 0.003 * i, 0.25 + 0.05 * k);
  };
  const move = (i) => page.keyboard.press(i % 2 ? 'a' : 'd');
  await page.keyboard.press('0');
  await session.time('timeline: hover, whole run', hover);
  for (let k = 0; k < 4; ++k) await page.keyboard.press('+');
  await page.keyboard.press('Home');
  await session.time('timeline: hover, many operations', hover);
  await session.time('timeline: move, many operations', move);
  await session.time('timeline: zoom by key, many operations', (i) => page.keyboard.press(i % 2 ? '-' : '+'));
  for (let k = 0; k < 5; ++k) await page.keyboard.press('+');
  await session.time('timeline: hover, single operations', hover);
  await session.time('timeline: move, single operations', move);
  await session.time('timeline: next operation by key', () => page.keyboard.press('ArrowRight'));
  await page.keyboard.press('0');
  await page.keyboard.press('Escape');
}

async function measureOthers(session) {
  const { page } = session;
  const matrix = await boxOf(session, 'matrix-canvas');
  await session.time('matrix: hover', async (i) => {
    for (let k = 1; k <= 6; ++k) {
      await page.mouse.move(matrix.x + matrix.width * (0.2 + 0.1 * k), matrix.y + 80 + 20 * k + i);
    }
  });
  const graph = await boxOf(session, 'graph-canvas');
  await session.time('graph: drag', async () => {
    await page.mouse.move(graph.x + 12, graph.y + 12);
    await page.mouse.down();
    for (let k = 1; k <= 8; ++k) await page.mouse.move(graph.x + 12 + 12 * k, graph.y + 12 + 5 * k);
    await page.mouse.up();
  });
  await session.time('graph: hover', async (i) => {
    for (let k = 1; k <= 8; ++k) {
      await page.mouse.move(graph.x + graph.width * 0.11 * k + i, graph.y + graph.height * 0.5);
    }
  });
  await session.time('graph: edges by operation, pair, transport', async (i) => {
    const by = ['operation', 'pair', 'transport'][i % 3];
    await session.control('graph-by').selectOption(by);
  });
}

await withBrowser({ viewport: { width: 1320, height: 900 } }, async (context) => {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const session = new Session(page);
  session.rows.push(...(await measureOpening(page)));
  await page.evaluate(startClock);
  const devtools = options.profile && (await context.newCDPSession(page));
  if (devtools) {
    await devtools.send('Profiler.enable');
    await devtools.send('Profiler.start');
  }
  await measureFilters(session);
  await measureTimeline(session);
  await measureOthers(session);
  if (devtools) {
    const { profile } = await devtools.send('Profiler.stop');
    writeFileSync(options.profile, JSON.stringify(profile));
  }
  const bytes = statSync(kFile).size;
  if (options.json) {
    console.log(JSON.stringify({ bytes, rows: session.rows }));
    return;
  }
  console.log(`${kFile}: ${(bytes / 2 ** 20).toFixed(2)} MiB`);
  for (const { name, median_ms, max_ms } of session.rows) {
    console.log(`${name.padEnd(48)} ${median_ms.toFixed(0).padStart(6)} ms  max ${max_ms.toFixed(0)} ms`);
  }
});
