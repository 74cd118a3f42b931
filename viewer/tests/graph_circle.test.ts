// Hosts around a circle and the curves between them, compared with plain geometry.

import { describe, expect, it } from 'vitest';

import { makeColumns } from '../src/columns';
import type { PageData } from '../src/data';
import { cellValues, select } from '../src/filter';
import { arrange, choiceAtFirst, hostNode, kEdgesBy, kMostProcesses, makeEdges, makeLayout, type GraphLayout, type Member } from '../src/graph';
import { bendOf, circleOf, pointAt, routesOf, shortened, type Point } from '../src/graph_circle';
import { readWritten } from './read_written';
import { makeRandom, makeRun, written } from './make_run.mjs';

const apart = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);
const length = (p: Point) => Math.hypot(p.x, p.y);

/** `sizes`: the number of processes on each host. */
function layoutOf(sizes: readonly number[], opened: readonly number[], hasUnknown = false): GraphLayout {
  let next = 0;
  const groups = new Map(
    sizes.map((size, host) => [
      `n${host}`,
      Array.from({ length: size }, (): Member => ({ id: `process ${next}`, label: String(next), kind: 'process', index: next++ })),
    ]),
  );
  const processes = new Map(sizes.map((size, host) => [`n${host}`, size]));
  return arrange(groups, processes, hasUnknown, { collapsed: true, opened: new Set(opened.map((host) => `n${host}`)) });
}

describe('the circle', () => {
  it('has the room that each part asks for, clockwise from the top', () => {
    const random = makeRandom(9);
    for (let round = 0; round < 100; ++round) {
      const rooms = Array.from({ length: 1 + Math.floor(random() * 90) }, () => 20 + 200 * random() ** 4);
      const { radius, angles } = circleOf(rooms);
      angles.forEach((angle, i) => {
        const before = i === 0 ? -Math.PI / 2 : angles[i - 1]!;
        const needed = i === 0 ? rooms[0]! / 2 : (rooms[i - 1]! + rooms[i]!) / 2;
        expect((angle - before) * radius).toBeGreaterThanOrEqual(needed - 1e-6);
      });
      expect(angles[angles.length - 1]! + rooms[rooms.length - 1]! / 2 / radius).toBeLessThanOrEqual(1.5 * Math.PI + 1e-9);
    }
  });

  it('keeps hosts apart, open or closed, in their order, and none is lost', () => {
    const random = makeRandom(21);
    const any = (below: number) => Math.floor(random() * below);
    for (let round = 0; round < 60; ++round) {
      const sizes = Array.from({ length: 2 + any(78) }, () => 1 + any(20));
      const opened = sizes.map((_, host) => host).filter(() => random() < (round % 3) * 0.1);
      const layout = layoutOf(sizes, opened, round % 2 === 0);
      const closedNodes = layout.nodes.filter(({ kind }) => kind === 'closed');
      expect(closedNodes.map(({ id }) => id)).toEqual(sizes.flatMap((_, host) => (opened.includes(host) ? [] : [hostNode(`n${host}`)])));
      expect(layout.nodes.filter(({ kind }) => kind === 'process')).toHaveLength(opened.reduce((sum, host) => sum + sizes[host]!, 0));
      for (const node of closedNodes) {
        expect(length(node)).toBeCloseTo(layout.circle!.radius);
        expect(apart(node, pointAt(node.outwards!, layout.circle!.radius))).toBeLessThan(1e-6);
      }
      const { nodes } = layout;
      let least = Infinity;
      nodes.forEach((a, i) => {
        for (const b of nodes.slice(0, i)) least = Math.min(least, apart(a, b));
      });
      // At least as wide as a node of a host on the circle.
      expect(least).toBeGreaterThan(20);
      // Boxes of open hosts, with their border, hold nothing else.
      for (const host of opened) {
        const own = nodes.filter((node) => node.host === `n${host}`);
        const [x, y] = [own, own].map((some, axis) => some.reduce((sum, p) => sum + (axis === 0 ? p.x : p.y), 0) / some.length) as [number, number];
        const reach = Math.max(0, ...own.map((p) => apart(p, { x, y }))) + 15 + 18;
        for (const node of nodes) if (node.host !== `n${host}`) expect(apart(node, { x, y })).toBeGreaterThan(reach);
      }
    }
  });
});

describe('the curves of edges', () => {
  const layout = layoutOf(Array(64).fill(8), [5]);
  const placed = new Map(layout.nodes.map((node) => [node.id, node]));
  const { radius } = layout.circle!;
  const ids = [...placed.keys()];
  const edges = ids.flatMap((source) =>
    ids.flatMap((target) => ['tcp', 'self'].map((name) => ({ id: `${source} > ${target} over ${name}`, source, target }))),
  );
  const routes = routesOf(edges, layout);

  /** Where a route leads, as Cytoscape.js defines its properties. */
  const bendAt = ({ id, source, target }: (typeof edges)[number]): Point => {
    const [a, b] = [placed.get(source)!, placed.get(target)!];
    const { weight, distance } = routes.get(id)!;
    const long = apart(a, b);
    return {
      x: a.x + weight * (b.x - a.x) - (distance * (b.y - a.y)) / long,
      y: a.y + weight * (b.y - a.y) + (distance * (b.x - a.x)) / long,
    };
  };

  it('are there for all edges but those within a host', () => {
    for (const { id, source, target } of edges) {
      const within = source === target || (placed.get(source)!.host !== null && placed.get(source)!.host === placed.get(target)!.host);
      expect(routes.has(id)).toBe(!within);
    }
    expect(routesOf(edges, { ...layout, circle: null }).size).toBe(0);
  });

  it('stay inside of the circle, where no names are, and bend the more the longer they are', () => {
    for (const edge of edges) {
      const [a, b] = [placed.get(edge.source)!, placed.get(edge.target)!];
      if (!routes.has(edge.id) || a.kind !== 'closed' || b.kind !== 'closed') continue;
      const bend = bendAt(edge);
      // A curve lies in the triangle of its ends and this point.
      expect(length(bend)).toBeLessThanOrEqual(radius + 1e-6);
    }
    const bends = [1, 8, 16, 24, 32].map((step) => {
      const [a, b] = [pointAt(0, radius), pointAt((2 * Math.PI * step) / 64, radius)];
      const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
      return length(bendOf(a, b, radius, 0)) / Math.max(1e-9, length(middle));
    });
    bends.slice(1, -1).forEach((share, i) => expect(share).toBeLessThan(bends[i]!));
    expect(bends[0]).toBeGreaterThan(0.9);
  });

  it('bend within the ring of a host of many processes, as on a circle around its middle', () => {
    const one = layoutOf([64, 16, 65], [0, 1, 2]);
    expect([...one.rings.keys()]).toEqual(['n0']);
    const { x, y, radius: around } = one.rings.get('n0')!;
    const at = new Map(one.nodes.map((node) => [node.id, node]));
    const within = (host: string) => one.nodes.filter((node) => node.host === host).map(({ id }) => id);
    for (const host of ['n0', 'n1', 'n2']) {
      const [first, ...others] = within(host) as [string, ...string[]];
      const own = others.map((target) => ({ id: `${first} > ${target}`, source: first, target }));
      const bent = routesOf(own, one);
      expect(bent.size).toBe(host === 'n0' ? own.length : 0);
      for (const { id, source, target } of own) {
        const route = bent.get(id);
        if (!route) continue;
        const [a, b] = [source, target].map((end) => ({ x: at.get(end)!.x - x, y: at.get(end)!.y - y })) as [Point, Point];
        expect(length(a)).toBeCloseTo(around, 6);
        const long = apart(a, b);
        const bend = {
          x: a.x + route.weight * (b.x - a.x) - (route.distance * (b.y - a.y)) / long,
          y: a.y + route.weight * (b.y - a.y) + (route.distance * (b.x - a.x)) / long,
        };
        expect(apart(bend, bendOf(a, b, around, 0))).toBeLessThan(1e-6);
        expect(length(bend)).toBeLessThanOrEqual(around);
      }
    }
  });

  it('lie apart where several join the same two nodes, in both directions', () => {
    const [a, b] = [hostNode('n3'), hostNode('n20')];
    const between = edges.filter(({ source, target }) => [source, target].sort().join() === [a, b].sort().join());
    expect(between).toHaveLength(4);
    const bends = between.map(bendAt);
    bends.forEach((p, i) => bends.slice(0, i).forEach((q) => expect(apart(p, q)).toBeGreaterThan(10)));
    // A single edge bends as the definition says, in either direction.
    for (const [source, target] of [[a, b], [b, a]] as const) {
      const id = `${source} > ${target}`;
      const alone = routesOf([{ id, source, target }], layout).get(id)!;
      routes.set(id, alone);
      const expected = bendOf(placed.get(source)!, placed.get(target)!, radius, 0);
      expect(apart(bendAt({ id, source, target }), expected)).toBeLessThan(1e-6);
    }
  });
});

describe('edges of hosts', () => {
  it('are one for each direction of two hosts, unless a transport or operation splits them', async () => {
    const { data } = await readWritten(written(makeRun({ ranks: 40, steps: 4, slabs: 16, limit: 10 })));
    const columns = makeColumns(data);
    const selection = select(columns, {});
    const layout = makeLayout(data, true, { collapsed: true, opened: new Set() });
    const hostOf = (process: number) => data.processes[process]?.host ?? 'unknown';
    for (const by of kEdgesBy) {
      const { edges, hidden } = makeEdges(columns, selection, layout, by, {
        cells: cellValues(columns, selection, 'bytes'),
        transfers: columns.transferBytes,
      });
      expect(hidden).toBe(0);
      const keys = edges.map(({ source, target, name }) => JSON.stringify([source, target, name]));
      expect(new Set(keys).size).toBe(keys.length);
      if (by !== 'pair') continue;
      const naive = new Map<string, number>();
      columns.src.forEach((src, cell) => {
        const [a, b] = [hostOf(src), hostOf(columns.dst[cell]!)];
        if (columns.bytes[cell]! > 0) naive.set(`${a} ${b}`, (naive.get(`${a} ${b}`) ?? 0) + columns.bytes[cell]!);
      });
      const shown = edges.map(({ source, target, value }) => [`${source.replace('host ', '')} ${target.replace('host ', '')}`, value]);
      expect(new Map(shown as [string, number][])).toEqual(naive);
    }
  });
});

describe('hosts at first', () => {
  const dataOf = (hosts: number, processes: number) =>
    ({ processes: Array.from({ length: processes }, (_, i) => ({ host: `n${i % hosts}` })) }) as unknown as PageData;

  it('are one node each where there are many processes on several of them', () => {
    expect(choiceAtFirst(dataOf(2, kMostProcesses)).collapsed).toBe(false);
    expect(choiceAtFirst(dataOf(2, kMostProcesses + 1)).collapsed).toBe(true);
    expect(choiceAtFirst(dataOf(1, 500)).collapsed).toBe(false);
    expect(choiceAtFirst(dataOf(64, 512)).collapsed).toBe(true);
  });
});

describe('names beside the circle', () => {
  it.each([
    ['node1 (4)', 'node1 (4)'],
    ['gpu-node-0123456789012', 'gpu-node-0123456789012'],
    ['gpu-compute-rack17-node0123 (128)', 'gpu-com…node0123 (128)'],
    ['\u{1f600}'.repeat(30), `${'\u{1f600}'.repeat(7)}…${'\u{1f600}'.repeat(14)}`],
  ])('%s', (name, expected) => {
    expect(shortened(name)).toBe(expected);
    expect([...shortened(name)].length).toBeLessThanOrEqual(22);
  });
});
