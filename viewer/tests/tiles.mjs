// Checks of a page with tiles, opened from disk: single operations come when the reader zooms in, and the page reports
// tiles that are missing, cut or of another run. Used by page.mjs.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { addressOf, dataIn } from './browser.mjs';
import { makeRun, resolved, written } from './make_run.mjs';
import { unpackTables } from './pack.mjs';
import { makeTiles, tablesWithin, tileScript } from './make_tiles.mjs';

/** The place of the few operations of the invented run. */
const kFirstSlabs = [0, 53, 54, 56, 58, 59, 64];

/** As `uctrace view --tiles` writes it. */
function writeFolder(folder, made, template, fill) {
  mkdirSync(join(folder, 'tiles'), { recursive: true });
  const allowed = template.replace("script-src 'unsafe-inline'", "script-src 'unsafe-inline' 'self'");
  writeFileSync(join(folder, 'index.html'), fill(allowed, written(made.page)));
  made.tiles.forEach((tile, number) => writeFileSync(join(folder, 'tiles', `${number}.js`), tileScript(tile)));
}

const addressOfFolder = (folder) => pathToFileURL(join(folder, 'index.html')).href;

class TiledPage {
  constructor(page, address) {
    this.page = page;
    this.address = address;
  }

  text(name) {
    return this.page.getByTestId(name).textContent();
  }

  /** Opens the page anew, at a part of the run; waits for its tiles, or for the message in their place. */
  async open(hash = '') {
    await this.page.goto('about:blank');
    await this.page.goto(this.address + hash);
    await this.page.locator('html[data-ready]').waitFor();
    await this.page.waitForFunction(() => {
      const textOf = (name) => document.querySelector(`[data-testid="${name}"]`).textContent;
      return textOf('timeline-level') !== '' && !textOf('timeline-tiles').includes('Loading');
    });
  }
  async at({ from, to }) {
    await this.open(`#zoom=${from + 1}-${to - 1}`);
  }

  /** How many operations the search finds. */
  async find(query) {
    await this.page.getByTestId('timeline-find').fill(query);
    await this.page.waitForFunction(() => document.querySelector('[data-testid="timeline-found"]').textContent !== '');
    const said = await this.text('timeline-found');
    const count = /^([\d,]+) found/.exec(said)?.[1] ?? '0';
    return { said, count: Number(count.replaceAll(',', '')) };
  }
}

async function checkLoading(tiled, made) {
  await tiled.open();
  assert.match(await tiled.text('timeline-level'), /Zoom in for single operations/);
  assert.match((await tiled.find('mpi_')).said, /not found among no operations, as none are loaded/);
  const [first, last] = [made.spans[2], made.spans[3]];
  await tiled.at({ from: first.from, to: last.to });
  assert.match(await tiled.text('timeline-level'), /Single operations/);
  const calls = tablesWithin(made.tables, { from: first.from, to: last.to }).mpi_calls;
  const of = (id) => made.page.texts[id].toLowerCase();
  const name = of(calls.function[0]);
  const { said, count } = await tiled.find(`function:${name} rank:0`);
  const expected = calls.function.filter((id, row) => of(id).includes(name) && calls.process[row] === 0).length;
  assert.ok(count >= expected && expected > 0, `${count} of ${expected} calls are found in two tiles`);
  assert.match(said, /among the operations from \d+\.\d+ s to \d+\.\d+ s, which are loaded/);
  console.log(`ok   tiles: two are loaded, and ${count} operations found in them`);
}

/** The address of an operation leads to it, whatever is loaded when it is opened. */
async function checkAddress(tiled, made) {
  const { page } = tiled;
  await tiled.at(made.spans[3]);
  await page.getByTestId('timeline-find').fill('rank:0');
  await page.keyboard.press('Enter');
  const details = page.getByTestId('details-content');
  const shown = await details.innerText();
  await page.waitForURL((url) => url.hash.includes('operation='));
  const fields = new URLSearchParams(new URL(await addressOf(page)).hash.slice(1));
  await tiled.open(new URL(await addressOf(page)).hash);
  assert.equal(await details.innerText(), shown, 'the same operation');
  // Also if the address shows so much that nothing would be loaded.
  fields.delete('zoom');
  await tiled.open(`#${fields}`);
  await details.waitFor();
  assert.equal(await details.innerText(), shown, 'the same operation, of all of the run');
  await page.getByTestId('details-close').click();
  console.log('ok   tiles: the address of an operation');
}

/**
 * Keeps the first operation that is found in a tile; the view is then at least as wide as the tile, and less than twice
 * as wide.
 */
async function keepFirst({ page }, { from, to }) {
  await page.getByTestId('timeline-find').fill('rank:0');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.hash.includes('operation='));
  const fields = new URLSearchParams(new URL(await addressOf(page)).hash.slice(1));
  const [first, end] = fields.get('zoom').split('-').map(Number);
  for (let width = end - first; width < to - from; width *= 2) await page.getByTestId('timeline-out').click();
  return fields.get('operation');
}

async function checkMoving(tiled, made) {
  const { page } = tiled;
  await tiled.at(made.spans[2]);
  await keepFirst(tiled, made.spans[2]);
  const details = page.getByTestId('details-content');
  const shown = await details.innerText();
  // Another tile joins the one that is there, and the search covers more: the kept operation is still the same.
  await page.waitForFunction(() => {
    const textOf = (name) => document.querySelector(`[data-testid="${name}"]`).textContent;
    return textOf('timeline-found').includes('which are loaded') && !textOf('timeline-tiles').includes('Loading');
  });
  assert.equal(await details.innerText(), shown);
  await page.getByTestId('timeline-canvas').focus();
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await details.innerText(), shown, 'the next operation by key');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await details.innerText(), shown, 'and back');
  console.log('ok   tiles: moving from one to the next');
}

/** The details stay open when other tiles replace the operation's tile, and so it stays in the address. */
async function checkLeaving(tiled, made) {
  const { page } = tiled;
  await tiled.at(made.spans[2]);
  const before = await keepFirst(tiled, made.spans[2]);
  const marker = page.getByTestId('timeline-marker');
  await marker.waitFor();
  const move = async (way) => {
    for (let turns = 0; turns < 6; ++turns) await page.getByRole('button', { name: way, exact: true }).click();
    await page.waitForFunction(() => !document.querySelector('[data-testid="timeline-tiles"]').textContent.includes('Loading'));
  };
  await move('Later');
  await marker.waitFor({ state: 'hidden' });
  await page.getByTestId('timeline-canvas').press('Enter');
  await move('Earlier');
  await marker.waitFor();
  await page.getByTestId('timeline-whole').click();
  await page.waitForURL((url) => !url.hash.includes('zoom='));
  assert.equal(new URLSearchParams(new URL(await addressOf(page)).hash.slice(1)).get('operation'), before, 'it is still in the address');
  console.log('ok   tiles: details that are kept stay in the address');
}

/** With few slabs and many tiles, an address leads to its operation, and the reader can leave it. */
async function checkFewSlabs(context, folder, template, fill) {
  const made = makeTiles(makeRun({ ranks: 6, slabs: 16, limit: 400 }), Array.from({ length: 77 }, (_, tile) => (16 * tile) / 77));
  const own = join(folder, 'few slabs');
  writeFolder(own, made, template, fill);
  const page = await context.newPage();
  const tiled = new TiledPage(page, addressOfFolder(own));
  const { process, start_ns, duration_ns } = made.tables.mpi_calls;
  const last = process.length - 1;
  const name = `mpi.${process[last]}.${start_ns[last]}.${duration_ns[last]}.0.${made.page.run.id}`;
  await tiled.open(`#operation=${name}`);
  await page.getByTestId('details-content').waitFor();
  await page.getByTestId('timeline-whole').click();
  assert.match(await tiled.text('timeline-level'), /Zoom in for single operations/, 'the reader is not pulled back');
  console.log('ok   tiles: an operation of an address with few slabs and many tiles');
  await page.close();
}

async function checkDamage(tiled, made, folder) {
  const file = (number) => join(folder, 'tiles', `${number}.js`);
  const whole = tileScript(made.tiles[3]);
  const other = (change) => tileScript({ ...made.tiles[3], ...change });
  const cases = [
    ['missing', () => rmSync(file(3)), /tiles\/3\.js cannot be shown: it is missing, or the browser may not read it/],
    ['cut', () => writeFileSync(file(3), whole.slice(0, whole.length / 2)), /tiles\/3\.js cannot be shown: it is cut, or was changed/],
    ['empty', () => writeFileSync(file(3), ''), /it is cut, or was changed/],
    ['of another run', () => writeFileSync(file(3), other({ run: '<b>other' })), /it is of run <b>other, and the page is of run/],
    ['another one', () => writeFileSync(file(3), tileScript(made.tiles[4])), /it is tile 4, under another name/],
    ['that could not be made', () => writeFileSync(file(3), 'uctraceTile({"failure":"cannot read the store /run.h5: <b>; merge again."});'),
      /tiles\/3\.js cannot be shown: cannot read the store \/run\.h5: <b>; merge again\./],
    ['of another folder', () => writeFileSync(file(3), other({ packed: made.tiles[2].packed })), /it was not written together with the page/],
  ];
  for (const [name, damage, said] of cases) {
    damage();
    await tiled.at(made.spans[3]);
    const text = await tiled.text('timeline-tiles');
    assert.match(text, said, `a tile that is ${name}`);
    assert.match(text, /Write the folder again with “uctrace view --tiles”/);
    await tiled.at(made.spans[2]);
    assert.match(await tiled.text('timeline-level'), /Single operations/, 'the others are shown');
    writeFileSync(file(3), whole);
  }
  console.log(`ok   tiles: ${cases.map(([name]) => name).join(', ')}`);
}

/** The tiles of a folder, as the page reads them: by the call of each. */
function readTiles(folder, count) {
  return Array.from({ length: count }, (_, number) => {
    const script = readFileSync(join(folder, 'tiles', `${number}.js`), 'utf8');
    return JSON.parse(script.slice('uctraceTile('.length, -');\n'.length));
  });
}

/** The result of a search for MPI functions at the first process in the operations of a tile. */
function expectedCount(data, tile) {
  const { mpi_calls: calls, ucp_operations: operations } = unpackTables(tile.packed, ['mpi_calls', 'ucp_operations']);
  const has = (id) => data.texts[id].toLowerCase().includes('mpi_');
  const isMessage = (cell) => cell < 0 || data.classes[data.cells[cell].class].reason === null;
  return (
    calls.function.filter((id, row) => calls.process[row] === 0 && has(id)).length +
    operations.asked_by.filter((id, row) => operations.process[row] === 0 && has(id) && isMessage(operations.cell[row])).length
  );
}

/**
 * A folder of a real recording: in each of some tiles, the page finds what their files have. So does a page of the same
 * run at an address that is served.
 */
export async function checkFolder(context, folder, address = addressOfFolder(folder)) {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  const tiled = new TiledPage(page, address);
  await tiled.open();
  const data = resolved(await dataIn(page));
  const { from_ns } = data.tiles;
  const tiles = readTiles(folder, from_ns.length);
  const end = data.time.from_ns + data.time.slabs * data.time.slab_ns;
  let found = 0;
  for (let number = 0; number < tiles.length; number += Math.ceil(tiles.length / 6)) {
    await tiled.at({ from: from_ns[number], to: from_ns[number + 1] ?? end });
    assert.match(await tiled.text('timeline-level'), /Single operations/);
    const { count } = await tiled.find(`function:mpi_ rank:${data.processes[0].label}`);
    assert.equal(count, expectedCount(data, tiles[number]), `found in tile ${number}`);
    found += count;
  }
  assert.ok(found > 0, 'some operations are found');
  assert.deepEqual(problems, [], 'no errors in the page and no requests');
  console.log(`ok   ${found} calls and operations in some of ${tiles.length} tiles of ${new URL(address).protocol}`);
  await page.close();
}

/** `fill(template, data)`: the page of some data. */
export async function checkTiles(context, folder, template, fill) {
  const made = makeTiles(makeRun({ ranks: 6, slabs: 1024, limit: 400 }), kFirstSlabs);
  const own = join(folder, 'tiled <b> run');
  writeFolder(own, made, template, fill);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  const tiled = new TiledPage(page, addressOfFolder(own));
  await checkLoading(tiled, made);
  await checkAddress(tiled, made);
  await checkMoving(tiled, made);
  await checkLeaving(tiled, made);
  assert.deepEqual(problems, [], 'no errors in the page and no requests');
  await checkDamage(tiled, made, own);
  await page.close();
  await checkFewSlabs(context, folder, template, fill);
}
