// Hosts around a circle, and the curves of edges between them, which bend towards the middle: so edges that go the same
// way lie together, and none crosses the names outside of the circle. tests/graph_circle.test.ts holds both to their definitions.

import type { GraphEdge, GraphLayout, GraphNode } from './graph';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Circle {
  readonly radius: number;
  /** Of each part, clockwise from the top: from the middle of the circle outwards. */
  readonly angles: readonly number[];
}

const kLeastRadius = 110;

/** A circle with at least so much room along it for each part. */
export function circleOf(rooms: readonly number[]): Circle {
  const all = rooms.reduce((sum, room) => sum + room, 0);
  let before = 0;
  const angles = rooms.map((room) => {
    const middle = (before + room / 2) / all;
    before += room;
    return 2 * Math.PI * middle - Math.PI / 2;
  });
  return { radius: Math.max(kLeastRadius, all / (2 * Math.PI)), angles };
}

export function pointAt(angle: number, radius: number): Point {
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
}

/** Where a curve bends: at this share of the way from source to target, and so far to the side of it. */
export interface Route {
  readonly weight: number;
  readonly distance: number;
}

/** How far the longest edges bend: 1 would be through the middle. */
const kPull = 0.8;
/** Between edges of the same two nodes. */
const kApart = 14;

/** The point that the edge bends towards, which is `inwards` nearer to the middle than that of a single edge. */
export function bendOf(a: Point, b: Point, radius: number, inwards: number): Point {
  const long = Math.hypot(b.x - a.x, b.y - a.y);
  const keep = (1 - kPull * Math.min(1, long / (2 * radius))) / 2;
  const side = { x: (a.y - b.y) / long, y: (b.x - a.x) / long };
  const isOutwards = side.x * (a.x + b.x) + side.y * (a.y + b.y) > 0;
  const by = Math.min(inwards, kPull * radius) * (isOutwards ? -1 : 1);
  return { x: (a.x + b.x) * keep + side.x * by, y: (a.y + b.y) * keep + side.y * by };
}

function routeBy(a: Point, b: Point, bend: Point): Route {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const [px, py] = [bend.x - a.x, bend.y - a.y];
  return { weight: (px * dx + py * dy) / (dx * dx + dy * dy), distance: (py * dx - px * dy) / Math.hypot(dx, dy) };
}

type Ends = Pick<GraphEdge, 'id' | 'source' | 'target'>;

/** Of edges that pass through the circle, by id: not of those within a host. */
export function routesOf(edges: readonly Ends[], { nodes, circle }: Pick<GraphLayout, 'nodes' | 'circle'>): Map<string, Route> {
  const routes = new Map<string, Route>();
  if (!circle) return routes;
  const placed = new Map(nodes.map((node) => [node.id, node]));
  const bundles = new Map<string, Ends[]>();
  for (const edge of edges) {
    const [a, b] = [placed.get(edge.source), placed.get(edge.target)];
    if (!a || !b || a === b || isWithinHost(a, b)) continue;
    const key = [edge.source, edge.target].sort().join('\n');
    const bundle = bundles.get(key);
    if (bundle) bundle.push(edge);
    else bundles.set(key, [edge]);
  }
  for (const bundle of bundles.values()) {
    bundle.sort((a, b) => (a.id < b.id ? -1 : 1));
    const [first, second] = [bundle[0]!.source, bundle[0]!.target].sort().map((id) => placed.get(id)!) as [GraphNode, GraphNode];
    bundle.forEach(({ id, source, target }, i) => {
      const bend = bendOf(first, second, circle.radius, i * kApart);
      routes.set(id, routeBy(placed.get(source)!, placed.get(target)!, bend));
    });
  }
  return routes;
}

function isWithinHost(a: GraphNode, b: GraphNode): boolean {
  return a.host !== null && a.host === b.host;
}

const kMostCharacters = 22;

/** Names of hosts differ at their ends: what is left out lies before the last part. */
export function shortened(name: string): string {
  const characters = [...name];
  if (characters.length <= kMostCharacters) return name;
  const end = Math.ceil(kMostCharacters * 0.6);
  return `${characters.slice(0, kMostCharacters - end - 1).join('')}…${characters.slice(-end).join('')}`;
}
