// The process graph by hosts: chosen automatically for many processes and changed by hand, single hosts opened and closed,
// names above edges. Used by page.mjs.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { addressHas, addressLacks, addressOf, kBrowser, savedBy } from './browser.mjs';
import { makeRun, written } from './make_run.mjs';

const stage = (page) => page.getByTestId('graph-canvas');
const graphTotal = (page) => stage(page).evaluate(({ dataset }) => Number(dataset.total));
const toggle = (page) => page.getByTestId('graph-hosts');

/** Names of nodes and boxes, as in the saved picture. */
async function namesIn(page) {
  const { bytes } = await savedBy(page, () => page.getByTestId('graph-svg').click());
  return page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
    return [...parsed.querySelectorAll('parsererror, text')].map(({ textContent }) => textContent);
  }, bytes.toString('utf8'));
}

/** The drawing of Cytoscape.js: the order, and how edges bend. */
const drawnIn = (page) =>
  stage(page).evaluate((container) => {
    const graph = container._cyreg.cy;
    const order = graph.renderer().getCachedZSortedEles();
    const kinds = [...order].map((part) => (part.isNode() ? 'node' : 'edge'));
    const length = ({ x, y }) => Math.hypot(x, y);
    const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
    return {
      nodes: graph.nodes().length,
      edges: graph.edges().length,
      lastEdge: kinds.lastIndexOf('edge'),
      firstNode: kinds.indexOf('node'),
      bends: graph.edges('.routed').map((edge) => [
        length(edge.controlPoints()[0]),
        length(middle(edge.source().position(), edge.target().position())),
      ]),
      turns: graph.nodes('.closed').map((node) => node.data('turn')),
    };
  });

async function untilDrawn(page) {
  await page.locator('html[data-ready]').waitFor();
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
  await page.locator('#graph').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => {
    const { drawn, edges } = document.querySelector('[data-testid="graph-canvas"]').dataset;
    return drawn === edges;
  });
}

async function open(page, folder, fill, ranks, change = () => {}) {
  const data = makeRun({ ranks, steps: 10, limit: 50, slabs: 16 });
  change(data);
  const file = join(folder, `graph-of-${ranks}.html`);
  writeFileSync(file, fill(written(data)));
  await page.goto(pathToFileURL(file).href);
  await untilDrawn(page);
  return [...new Set(data.processes.map(({ host }) => host))];
}

/** Few processes are shown as processes, and as hosts only if the reader asks for it. */
async function checkFew(page, folder, fill) {
  const kOdd = '<img src=x onerror=alert(1)>';
  const hosts = await open(page, folder, fill, 6, ({ processes }) => {
    for (const each of processes) if (each.host === 'node2') each.host = kOdd;
  });
  assert.equal(await toggle(page).textContent(), 'Collapse to hosts');
  const before = await graphTotal(page);
  const { firstNode, lastEdge, bends } = await drawnIn(page);
  assert.ok(lastEdge >= 0 && firstNode > lastEdge, 'all edges lie under all nodes and their names');
  assert.equal(bends.length, 0);
  await toggle(page).focus();
  await page.keyboard.press('Enter');
  assert.equal(await toggle(page).textContent(), 'Show processes');
  const names = await namesIn(page);
  for (const [host, count] of [[hosts[0], 4], [kOdd, 2]]) {
    const shown = names.find((name) => name.endsWith(` (${count})`));
    assert.ok(shown && host.startsWith(shown.slice(0, 5)), `${names} has ${host}, as text`);
  }
  assert.equal(await graphTotal(page), before, 'the sum is the same');
  await toggle(page).click();
  const ranks = await namesIn(page);
  for (let rank = 0; rank < 6; ++rank) assert.ok(ranks.includes(String(rank)), `rank ${rank} is back`);
}

/** One host opened and closed by keys, and all of them by the button. */
async function checkKeys(page, hosts) {
  const before = await graphTotal(page);
  await stage(page).focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
  let names = await namesIn(page);
  assert.ok(names.includes(hosts[1]) && names.includes('4') && names.includes('7'), 'Enter opens a host');
  assert.ok(!names.includes('8') && names.includes(`${hosts[2]} (4)`), 'and no other');
  assert.equal(await graphTotal(page), before, 'the sum is the same');
  await stage(page).focus();
  for (const key of ['ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  assert.match(await page.getByTestId('details-content').innerText(), /^Rank 4/, 'processes are reached in it');
  await page.keyboard.press('o');
  assert.match(await page.getByTestId('details-content').innerText(), new RegExp(`^${hosts[1]} `), 'the cursor stays in the host');
  names = await namesIn(page);
  assert.ok(names.includes(`${hosts[1]} (4)`) && !names.includes('4'), 'o closes it');
  await stage(page).focus();
  for (const key of ['ArrowRight', 'o', 'Escape']) await page.keyboard.press(key);
  const close = page.getByTestId('graph-close-hosts');
  assert.equal(await close.textContent(), 'Close 1 opened host');
  await close.press('Enter');
  assert.ok(await close.isHidden());
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), 'graph-hosts', 'the focus stays near');
}

/** A copied address shows the same hosts; a new address is followed. */
async function checkAddress(page, hosts) {
  await stage(page).focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
  await addressHas(page, new RegExp(`graph_hosts=1&graph_open=${hosts[1]}`), 'the address has the opened host');
  const shared = await addressOf(page);
  const { nodes } = await drawnIn(page);
  await page.goto('about:blank');
  await page.goto(shared);
  await untilDrawn(page);
  assert.equal((await drawnIn(page)).nodes, nodes, 'as many nodes');
  const names = await namesIn(page);
  assert.ok(names.includes(hosts[1]) && names.includes('4') && !names.includes('8'), 'the address opens the host');
  await page.evaluate(() => (location.hash = '#graph_hosts=0'));
  await page.getByText('Collapse to hosts').waitFor();
  assert.equal((await drawnIn(page)).edges, Number(await stage(page).getAttribute('data-edges')), 'all edges are there');
  await toggle(page).click();
  await addressLacks(page, /graph_/, 'what is as at first is not in the address');
}

/** A click chooses a host, a double click opens it, another one on its process closes it. */
async function checkPointer(page, hosts) {
  const placeOf = (id) =>
    stage(page).evaluate((container, id) => {
      const { left, top } = container.getBoundingClientRect();
      const { x, y } = container._cyreg.cy.getElementById(id).renderedPosition();
      return [left + x, top + y];
    }, id);
  await stage(page).scrollIntoViewIfNeeded();
  await page.mouse.click(...(await placeOf(`host ${hosts[9]}`)));
  await addressHas(page, new RegExp(`host=${hosts[9]}(&|$)`), 'a click chooses the host');
  await page.mouse.click(...(await placeOf(`host ${hosts[9]}`)));
  await addressLacks(page, /host=/, 'and gives it back');
  // Content above the graph may push it away, without a scroll event.
  await page.evaluate(() => {
    document.documentElement.style.overflowAnchor = 'none';
    document.querySelector('main').style.paddingTop = '73px';
  });
  await page.mouse.click(...(await placeOf(`host ${hosts[3]}`)));
  await addressHas(page, new RegExp(`host=${hosts[3]}(&|$)`), 'the pointer points where the graph now is');
  await page.mouse.click(...(await placeOf(`host ${hosts[3]}`)));
  await addressLacks(page, /host=/);
  // Over BiDi, two clicks on a busy machine may be too far apart for a double click.
  if (kBrowser === 'firefox') return;
  const nodes = async () => (await drawnIn(page)).nodes;
  const closed = await nodes();
  await page.mouse.dblclick(...(await placeOf(`host ${hosts[9]}`)));
  assert.equal(await nodes(), closed + 4, 'four processes and their box in the place of one');
  await page.mouse.dblclick(...(await placeOf('process 37')));
  assert.equal(await nodes(), closed, 'closed again');
  assert.doesNotMatch(page.url(), /rank=|host=/, 'a double click chooses nothing');
}

async function checkMany(page, folder, fill, ranks) {
  const hosts = await open(page, folder, fill, ranks);
  assert.equal(await toggle(page).textContent(), 'Show processes', 'hosts are chosen by themselves');
  assert.match(await page.getByTestId('graph-said').textContent(), /as there are more than 32 processes/);
  const { nodes, edges, firstNode, lastEdge, bends, turns } = await drawnIn(page);
  assert.equal(nodes, hosts.length + 1, 'each host, and the unknown process');
  assert.ok(edges > hosts.length, `${edges} edges`);
  assert.ok(firstNode > lastEdge, 'all edges lie under all names');
  assert.ok(bends.length > hosts.length, `${bends.length} edges are curves`);
  for (const [bend, middle] of bends) assert.ok(bend <= Math.max(middle, 60) + 1, `bends outwards: ${bend}, ${middle}`);
  assert.equal(turns.some((turn) => turn !== 0), hosts.length > 16, 'names of many hosts are turned');
  const names = await namesIn(page);
  for (const host of hosts) assert.ok(names.includes(`${host} (4)`), `${host} has its name`);
  await checkKeys(page, hosts);
  await checkAddress(page, hosts);
  await checkPointer(page, hosts);
  console.log(`ok   the graph of ${hosts.length} hosts: ${edges} edges under the names, hosts opened and closed`);
}

/** `fill(data)`: the page for some data. */
export async function checkHosts(page, folder, fill) {
  await checkFew(page, folder, fill);
  console.log('ok   the graph of few processes collapses to hosts, and back');
  for (const ranks of [64, 256]) await checkMany(page, folder, fill, ranks);
}
