// The process graph: its nodes, its edges, and the places of the nodes. The places depend only on the processes, so
// that the picture of a run stays the same under every filter.

import type { Columns } from './columns';
import { kUnknownProcess, type PageData } from './data';
import type { Selection } from './filter';
import { circleOf, pointAt, type Circle, type Ring } from './graph_circle';

export const kEdgesBy = ['transport', 'operation', 'pair'] as const;
export type EdgesBy = (typeof kEdgesBy)[number];

/** With more processes, each host is one node at first. */
export const kMostProcesses = 32;
/** The largest edges are drawn; the others are counted. */
export const kMostEdges = 1500;

export type NodeKind = 'process' | 'gpu' | 'card' | 'memory' | 'closed' | 'unknown';

/** A node that needs a place in the box of its host. */
export interface Member {
  readonly id: string;
  readonly label: string;
  /** `memory`: not known whose; `closed`: a host; `unknown`: a process that is not known. */
  readonly kind: NodeKind;
  /** Index of the process or GPU; -1 for other nodes. */
  readonly index: number;
}

export interface GraphNode extends Member {
  readonly host: string | null;
  readonly x: number;
  readonly y: number;
  /** For a node on the circle: its angle, seen from the middle of the circle; its name is outside. */
  readonly outwards?: number;
}

/** Which hosts are drawn as one node. */
export interface HostChoice {
  readonly collapsed: boolean;
  /** Except these. */
  readonly opened: ReadonlySet<string>;
}

export const kAllProcesses: HostChoice = { collapsed: false, opened: new Set() };

export function choiceAtFirst({ processes }: PageData): HostChoice {
  const hosts = new Set(processes.map(({ host }) => host));
  return { collapsed: hosts.size > 1 && processes.length > kMostProcesses, opened: new Set() };
}

export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  /** Transport or operation, null for a pair. */
  readonly name: string | null;
  readonly value: number;
}

export interface GraphEdges {
  /** In order of falling value. */
  readonly edges: readonly GraphEdge[];
  readonly hidden: number;
  readonly hiddenValue: number;
  /** The sum of all edges, hidden ones included. */
  readonly arrows: number;
  /** The sum of the traffic; one part of it may pass several edges. */
  readonly total: number;
}

export interface GraphLayout {
  readonly nodes: readonly GraphNode[];
  readonly hosts: readonly string[];
  /** Hosts that are drawn as one node. */
  readonly closed: ReadonlySet<string>;
  /** The circle around 0, 0 on which hosts lie; null: hosts lie in rows. */
  readonly circle: Circle | null;
  /** The rings of hosts whose many parts lie on one ring. */
  readonly rings: ReadonlyMap<string, Ring>;
  /** The node that represents a part of a host. */
  nodeOf(member: string, host: string | null): string;
  /** The host that a node represents. */
  hostOf(node: string): string;
}

const kNodeRoom = 46;
const kHostRoom = 70;
/** More nodes take several concentric rings. */
const kMostOnRing = 64;
/** With fewer nodes, straight edges can be distinguished. */
const kFewOnRing = 16;
const kUnknownNode = 'unknown';
export const hostNode = (host: string) => `host ${host}`;
export const processNode = (process: number) =>
  process === kUnknownProcess ? kUnknownNode : `process ${process}`;

/** The places of `count` nodes, on as few rings as keep them apart; `turn`: rotation, in nodes. */
export function ringPlaces(count: number, nodeRoom = kNodeRoom, turn = 0): { x: number; y: number }[] {
  if (count === 1) return [{ x: 0, y: 0 }];
  const places: { x: number; y: number }[] = [];
  // One ring as long as the chords between its nodes can be distinguished.
  for (let left = count, radius = 0; left > 0; radius += nodeRoom) {
    if (radius === 0) {
      const rings = count <= kMostOnRing ? 1 : Math.ceil(Math.sqrt(count / kMostOnRing) * 2);
      const inner = (count * nodeRoom) / (2 * Math.PI * rings);
      radius = Math.max(nodeRoom * 0.8, inner - ((rings - 1) * nodeRoom) / 2);
    }
    const room = Math.max(1, Math.floor((2 * Math.PI * radius) / nodeRoom + 1e-6));
    const here = count <= kMostOnRing ? left : Math.min(left, room);
    for (let i = 0; i < here; ++i) {
      const angle = (2 * Math.PI * (i + turn)) / here - Math.PI / 2;
      places.push({ x: radius * Math.cos(angle), y: radius * Math.sin(angle) });
    }
    left -= here;
  }
  return places;
}

/** Room along the circle for a host that is one node: if there are few hosts, and if there are many. */
const kWideRoom = 64;
const kNarrowRoom = 24;
const kFewHosts = 16;
/** A box is wider than the places in it. */
const kBoxRoom = 80;

interface Placed {
  /** The middle of each host. */
  readonly middles: readonly { x: number; y: number }[];
  readonly unknown: { x: number; y: number; outwards?: number };
  readonly circle: Circle | null;
}

/** In rows, as wide as the stage is. */
function inRows(extents: readonly number[], nodeRoom: number): Placed {
  const pitch = Math.max(...extents, 0) + nodeRoom + kHostRoom;
  const across = Math.max(1, Math.ceil(Math.sqrt(extents.length * 1.6)));
  const middles = extents.map((_, index) => ({ x: (index % across) * pitch, y: Math.floor(index / across) * pitch }));
  const rows = Math.ceil(extents.length / across);
  return { middles, unknown: { x: 0, y: (rows - 0.5) * pitch }, circle: null };
}

/** Around a circle; the boxes of open hosts lie outside of it. An extent of 0 is a host that is one node. */
function aroundCircle(extents: readonly number[], hasUnknown: boolean): Placed {
  const one = extents.length > kFewHosts ? kNarrowRoom : kWideRoom;
  const rooms = extents.map((extent) => (extent === 0 ? one : (extent + kBoxRoom) * 1.3));
  const circle = circleOf(hasUnknown ? [...rooms, kWideRoom] : rooms);
  const { radius, angles } = circle;
  const middles = extents.map((extent, i) => pointAt(angles[i]!, extent === 0 ? radius : radius + (extent + kBoxRoom) / 2));
  const outwards = angles[extents.length];
  const unknown = outwards === undefined ? { x: 0, y: 0 } : { ...pointAt(outwards, radius), outwards };
  return { middles, unknown, circle };
}

/** The members of each host in a box, or each host as one node. */
export function arrange(
  groups: ReadonlyMap<string, readonly Member[]>,
  processes: ReadonlyMap<string, number>,
  hasUnknown: boolean,
  { collapsed, opened }: HostChoice,
  nodeRoom = kNodeRoom,
  turnOf: (members: readonly Member[]) => number = () => 0,
): GraphLayout {
  const hosts = [...groups.keys()];
  const closed = new Set(collapsed ? hosts.filter((host) => !opened.has(host)) : []);
  const boxes = hosts.map((host) => (closed.has(host) ? [] : ringPlaces(groups.get(host)!.length, nodeRoom, turnOf(groups.get(host)!))));
  const extents = boxes.map((places) => 2 * Math.max(0, ...places.map(({ x, y }) => Math.hypot(x, y))));
  const openExtents = boxes.map((places, i) => (places.length === 0 ? 0 : Math.max(1, extents[i]!)));
  const { middles, unknown, circle } = collapsed ? aroundCircle(openExtents, hasUnknown) : inRows(extents, nodeRoom);
  const nodes: GraphNode[] = [];
  const rings = new Map<string, Ring>();
  hosts.forEach((host, index) => {
    const { x, y } = middles[index]!;
    const count = boxes[index]!.length;
    if (count > kFewOnRing && count <= kMostOnRing) rings.set(host, { x, y, radius: extents[index]! / 2 });
    if (closed.has(host)) {
      const label = `${host} (${processes.get(host) ?? 0})`;
      nodes.push({ id: hostNode(host), label, kind: 'closed', index: -1, host: null, x, y, outwards: circle!.angles[index]! });
      return;
    }
    groups.get(host)!.forEach((member, i) => {
      const place = boxes[index]![i]!;
      nodes.push({ ...member, host, x: x + place.x, y: y + place.y });
    });
  });
  if (hasUnknown) nodes.push({ id: kUnknownNode, label: 'unknown', kind: 'unknown', index: -1, host: null, ...unknown });
  const nodeOf = (member: string, host: string | null) =>
    host !== null && closed.has(host) ? hostNode(host) : member;
  const hostOf = (node: string) => node.slice(hostNode('').length);
  return { nodes, hosts, closed, circle, rings, nodeOf, hostOf };
}

export function processMembers(data: PageData): Map<string, Member[]> {
  const groups = new Map<string, Member[]>();
  data.processes.forEach(({ host, label }, index) => {
    if (!groups.has(host)) groups.set(host, []);
    groups.get(host)!.push({ id: processNode(index), label, kind: 'process', index });
  });
  return groups;
}

export function makeLayout(
  data: PageData,
  hasUnknown: boolean,
  choice: HostChoice = kAllProcesses,
): GraphLayout {
  const groups = processMembers(data);
  const processes = new Map([...groups].map(([host, members]) => [host, members.length]));
  return arrange(groups, processes, hasUnknown, choice);
}

/** The node of a process, or of its host. */
export function nodeOfProcess(data: PageData, layout: GraphLayout, process: number): string {
  return layout.nodeOf(processNode(process), data.processes[process]?.host ?? null);
}

type Sum = Omit<GraphEdge, 'id'>;

function named({ source, target, name, value }: Sum): GraphEdge {
  return { id: `${source} > ${target}${name === null ? '' : ` over ${name}`}`, source, target, name, value };
}

/**
 * The largest of `sums`, which differ in their nodes or names. `total`: the traffic, if it is not the sum of all of
 * them. Only edges that may be shown get an id and are compared by it: a large run has 10^5 edges.
 */
export function largestEdges(sums: readonly Sum[], limit: number, total?: number): GraphEdges {
  const values = Float64Array.from(sums, ({ value }) => value).sort();
  const least = values[Math.max(0, values.length - limit)] ?? 0;
  const edges = sums
    .filter(({ value }) => value >= least)
    .map(named)
    .sort((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
  const sum = (some: readonly { value: number }[]) => some.reduce((all, { value }) => all + value, 0);
  const arrows = sum(sums);
  return {
    edges,
    hidden: sums.length - edges.length,
    hiddenValue: arrows - sum(edges),
    arrows,
    total: total ?? arrows,
  };
}

/** Sums by edge. */
export class EdgeSums {
  private readonly sums = new Map<string, { -readonly [K in keyof Sum]: Sum[K] }>();

  add(source: string, target: string, name: string | null, value: number): void {
    if (value === 0) return;
    const key = `${source} > ${target} over ${name}`;
    const sum = this.sums.get(key);
    if (sum) sum.value += value;
    else this.sums.set(key, { source, target, name, value });
  }

  all(): Sum[] {
    return [...this.sums.values()];
  }
}

/** Sums by small whole numbers, each less than its bound. */
class NumberedSums {
  private readonly sums = new Map<number, number>();

  constructor(
    private readonly nodes: number,
    private readonly names: number,
  ) {}

  add(source: number, target: number, name: number, value: number): void {
    if (value === 0) return;
    const key = (source * this.nodes + target) * this.names + name;
    this.sums.set(key, (this.sums.get(key) ?? 0) + value);
  }

  map<T>(make: (source: number, target: number, name: number, value: number) => T): T[] {
    return Array.from(this.sums, ([key, value]) => {
      const pair = Math.floor(key / this.names);
      return make(Math.floor(pair / this.nodes), pair % this.nodes, key % this.names, value);
    });
  }
}

/** Numbers the distinct values in `names`. */
function numbered<T>(names: readonly T[]): { distinct: T[]; numbers: Int32Array } {
  const distinct = [...new Set(names)];
  const numberOf = new Map(distinct.map((name, number) => [name, number]));
  return { distinct, numbers: Int32Array.from(names, (name) => numberOf.get(name)!) };
}

/**
 * By pair: the sums of `cellValues` over the cells from one node to another. By transport or operation: the sums of
 * `transferValues` over the selected transfer totals whose step has it. One pass over cells and transfers, by numbers:
 * a string for each of a million would take a second.
 */
export function makeEdges(
  columns: Columns,
  selection: Selection,
  layout: GraphLayout,
  by: EdgesBy,
  values: { cells: Float64Array; transfers: Float64Array },
  limit = kMostEdges,
): GraphEdges {
  const { data, src, dst, firstTransfer, transferStep, steps } = columns;
  // The node of process p at p + 1.
  const nodes = numbered(Array.from({ length: data.processes.length + 1 }, (_, at) => nodeOfProcess(data, layout, at - 1)));
  const names = numbered(by === 'pair' ? [null] : steps.map((step) => (by === 'transport' ? step.transport : step.op)));
  const sums = new NumberedSums(nodes.distinct.length, Math.max(1, names.distinct.length));
  for (let cell = 0; cell < src.length; ++cell) {
    const source = nodes.numbers[src[cell]! + 1]!;
    const target = nodes.numbers[dst[cell]! + 1]!;
    if (by === 'pair') {
      sums.add(source, target, 0, values.cells[cell]!);
      continue;
    }
    for (let t = firstTransfer[cell]!; t < firstTransfer[cell + 1]!; ++t) {
      if (selection.transfers[t]) sums.add(source, target, names.numbers[transferStep[t]!]!, values.transfers[t]!);
    }
  }
  const edges = sums.map((source, target, name, value) => ({
    source: nodes.distinct[source]!,
    target: nodes.distinct[target]!,
    name: names.distinct[name]!,
    value,
  }));
  return largestEdges(edges, limit);
}
