// Hosts around a circle, and the curves of edges between them. The curves bend towards the middle: edges in the same
// direction lie together, and none crosses the names outside of the circle. Edges within a host whose many parts lie on a
// ring bend likewise. tests/graph_circle.test.ts compares both with their definitions.

import type { GraphEdge, GraphLayout, GraphNode } from './graph';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Circle {
  readonly radius: number;
  /** For each part, clockwise from the top: its angle, from the middle of the circle outwards. */
  readonly angles: readonly number[];
}

/** A circle of its own, around this point. */
export interface Ring extends Point {
  readonly radius: number;
}

const kLeastRadius = 110;

/** A circle with at least this room along it for each part. */
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

/** Where a curve bends: at this share of the way from source to target, and this far to the side of it. */
export interface Route {
  readonly weight: number;
  readonly distance: number;
}

/** How far the longest edges bend: 1 would be through the middle. */
const kPull = 0.8;
/** Distance between edges of the same two nodes. */
const kApart = 14;

/** The point towards which the edge bends: `inwards` nearer to the middle than for a single edge. */
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

/** Routes of edges that pass through the circle, or through the ring of a host, by id; not of other edges within a host. */
export function routesOf(edges: readonly Ends[], layout: Pick<GraphLayout, 'nodes' | 'circle' | 'rings'>): Map<string, Route> {
  const { nodes } = layout;
  const routes = new Map<string, Route>();
  const placed = new Map(nodes.map((node) => [node.id, node]));
  const bundles = new Map<string, Ends[]>();
  for (const edge of edges) {
    const [a, b] = [placed.get(edge.source), placed.get(edge.target)];
    if (!a || !b || a === b || !aroundBoth(a, b, layout)) continue;
    const key = [edge.source, edge.target].sort().join('\n');
    const bundle = bundles.get(key);
    if (bundle) bundle.push(edge);
    else bundles.set(key, [edge]);
  }
  for (const bundle of bundles.values()) {
    bundle.sort((a, b) => (a.id < b.id ? -1 : 1));
    const [first, second] = [bundle[0]!.source, bundle[0]!.target].sort().map((id) => placed.get(id)!) as [GraphNode, GraphNode];
    const around = aroundBoth(first, second, layout)!;
    bundle.forEach(({ id, source, target }, i) => {
      const bend = bendIn(around, first, second, i * kApart);
      routes.set(id, routeBy(placed.get(source)!, placed.get(target)!, bend));
    });
  }
  return routes;
}

/** The circle or ring that both nodes lie on; nothing for other pairs in one host, and for hosts in rows. */
function aroundBoth(a: GraphNode, b: GraphNode, { circle, rings }: Pick<GraphLayout, 'circle' | 'rings'>): Ring | undefined {
  if (a.host !== null && a.host === b.host) return rings.get(a.host);
  return circle ? { x: 0, y: 0, radius: circle.radius } : undefined;
}

function bendIn({ x, y, radius }: Ring, a: Point, b: Point, inwards: number): Point {
  const bend = bendOf({ x: a.x - x, y: a.y - y }, { x: b.x - x, y: b.y - y }, radius, inwards);
  return { x: bend.x + x, y: bend.y + y };
}

const kMostCharacters = 22;

/** Names of hosts differ at their ends: the part left out is before the last part. */
export function shortened(name: string): string {
  const characters = [...name];
  if (characters.length <= kMostCharacters) return name;
  const end = Math.ceil(kMostCharacters * 0.6);
  return `${characters.slice(0, kMostCharacters - end - 1).join('')}…${characters.slice(-end).join('')}`;
}
