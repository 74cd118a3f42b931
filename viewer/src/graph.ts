// The process graph: who is a node, what is an edge, and where the nodes lie. The places depend on
// the processes alone, so that the picture of a run stays the same under every filter.

import type { Columns } from './columns';
import { kUnknownProcess, type PageData } from './data';
import type { Selection } from './filter';

export const kEdgesBy = ['transport', 'operation', 'pair'] as const;
export type EdgesBy = (typeof kEdgesBy)[number];

/** With more processes, each host is one node until it is opened. */
export const kMostProcesses = 512;
/** The largest edges are drawn; the others are counted. */
export const kMostEdges = 1500;

export type NodeKind = 'process' | 'gpu' | 'card' | 'memory' | 'closed' | 'unknown';

/** What is to have a place in the box of its host. */
export interface Member {
  readonly id: string;
  readonly label: string;
  /** `memory`: it is not known whose; `closed`: a host; `unknown`: a process that is not known. */
  readonly kind: NodeKind;
  /** Index of the process or GPU; -1 for others. */
  readonly index: number;
}

export interface GraphNode extends Member {
  readonly host: string | null;
  readonly x: number;
  readonly y: number;
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
  /** What all edges add up to, those that are hidden, too. */
  readonly arrows: number;
  /** What passes; one part of it may pass several edges. */
  readonly total: number;
}

export interface GraphLayout {
  readonly nodes: readonly GraphNode[];
  readonly hosts: readonly string[];
  /** Hosts that stand as one node. */
  readonly closed: ReadonlySet<string>;
  /** The node that stands for a part of a host. */
  nodeOf(member: string, host: string | null): string;
  /** Of a node that stands for a host. */
  hostOf(node: string): string;
}

const kNodeRoom = 46;
const kHostRoom = 70;
const kUnknownNode = 'unknown';
const hostNode = (host: string) => `host ${host}`;
export const processNode = (process: number) =>
  process === kUnknownProcess ? kUnknownNode : `process ${process}`;

/** The places of `count` nodes on as few rings as hold them at a distance; `turn`: in nodes. */
export function ringPlaces(count: number, nodeRoom = kNodeRoom, turn = 0): { x: number; y: number }[] {
  if (count === 1) return [{ x: 0, y: 0 }];
  const places: { x: number; y: number }[] = [];
  // One ring as long as chords between its nodes can be told apart.
  for (let left = count, radius = 0; left > 0; radius += nodeRoom) {
    if (radius === 0) {
      const rings = count <= 64 ? 1 : Math.ceil(Math.sqrt(count / 64) * 2);
      const inner = (count * nodeRoom) / (2 * Math.PI * rings);
      radius = Math.max(nodeRoom * 0.8, inner - ((rings - 1) * nodeRoom) / 2);
    }
    const room = Math.max(1, Math.floor((2 * Math.PI * radius) / nodeRoom + 1e-6));
    const here = count <= 64 ? left : Math.min(left, room);
    for (let i = 0; i < here; ++i) {
      const angle = (2 * Math.PI * (i + turn)) / here - Math.PI / 2;
      places.push({ x: radius * Math.cos(angle), y: radius * Math.sin(angle) });
    }
    left -= here;
  }
  return places;
}

/** The members of each host in a box of their own; with many processes, hosts are one node each. */
export function arrange(
  groups: ReadonlyMap<string, readonly Member[]>,
  processes: ReadonlyMap<string, number>,
  hasUnknown: boolean,
  opened: ReadonlySet<string>,
  mostProcesses: number,
  nodeRoom = kNodeRoom,
  turnOf: (members: readonly Member[]) => number = () => 0,
): GraphLayout {
  const hosts = [...groups.keys()];
  const count = [...processes.values()].reduce((sum, some) => sum + some, 0);
  const closed = new Set(count > mostProcesses ? hosts.filter((host) => !opened.has(host)) : []);
  const boxes = hosts.map((host) =>
    ringPlaces(closed.has(host) ? 1 : groups.get(host)!.length, nodeRoom, turnOf(groups.get(host)!)),
  );
  const extents = boxes.map((places) => 2 * Math.max(...places.map(({ x, y }) => Math.hypot(x, y))));
  const pitch = Math.max(...extents, 0) + nodeRoom + kHostRoom;
  const across = Math.max(1, Math.ceil(Math.sqrt(hosts.length * 1.6)));
  const nodes: GraphNode[] = [];
  hosts.forEach((host, index) => {
    const origin = { x: (index % across) * pitch, y: Math.floor(index / across) * pitch };
    const at = (place: { x: number; y: number }) => ({
      x: origin.x + place.x,
      y: origin.y + place.y,
    });
    if (closed.has(host)) {
      const label = `${host} (${processes.get(host) ?? 0})`;
      const node = { id: hostNode(host), label, kind: 'closed', index: -1 } as const;
      nodes.push({ ...node, host: null, ...at(boxes[index]![0]!) });
      return;
    }
    groups.get(host)!.forEach((member, i) => nodes.push({ ...member, host, ...at(boxes[index]![i]!) }));
  });
  if (hasUnknown) {
    const rows = Math.ceil(hosts.length / across);
    const y = (rows - 0.5) * pitch;
    nodes.push({ id: kUnknownNode, label: 'unknown', kind: 'unknown', index: -1, host: null, x: 0, y });
  }
  const nodeOf = (member: string, host: string | null) =>
    host !== null && closed.has(host) ? hostNode(host) : member;
  const hostOf = (node: string) => node.slice(hostNode('').length);
  return { nodes, hosts, closed, nodeOf, hostOf };
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
  opened: ReadonlySet<string>,
  mostProcesses = kMostProcesses,
): GraphLayout {
  const groups = processMembers(data);
  const processes = new Map([...groups].map(([host, members]) => [host, members.length]));
  return arrange(groups, processes, hasUnknown, opened, mostProcesses);
}

/** The node of a process, or of its host. */
export function nodeOfProcess(data: PageData, layout: GraphLayout, process: number): string {
  return layout.nodeOf(processNode(process), data.processes[process]?.host ?? null);
}

/** Sums by edge. */
export class EdgeSums {
  private readonly edges = new Map<string, { -readonly [K in keyof GraphEdge]: GraphEdge[K] }>();

  add(source: string, target: string, name: string | null, value: number): void {
    if (value === 0) return;
    const id = `${source} > ${target}${name === null ? '' : ` over ${name}`}`;
    const edge = this.edges.get(id);
    if (edge) edge.value += value;
    else this.edges.set(id, { id, source, target, name, value });
  }

  /** The largest. `total`: what passes, if not what all edges add up to. */
  largest(limit: number, total?: number): GraphEdges {
    const sorted = [...this.edges.values()].sort((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1));
    const sum = (some: readonly GraphEdge[]) => some.reduce((all, { value }) => all + value, 0);
    const arrows = sum(sorted);
    return {
      edges: sorted.slice(0, limit),
      hidden: Math.max(0, sorted.length - limit),
      hiddenValue: sum(sorted.slice(limit)),
      arrows,
      total: total ?? arrows,
    };
  }
}

/**
 * By pair: the sums of `cellValues` over the cells from one node to another. By transport or
 * operation: the sums of `transferValues` over the selected transfer totals whose step has it.
 */
export function makeEdges(
  columns: Columns,
  selection: Selection,
  layout: GraphLayout,
  by: EdgesBy,
  values: { cells: Float64Array; transfers: Float64Array },
  limit = kMostEdges,
): GraphEdges {
  const { src, dst, firstTransfer, transferStep, steps } = columns;
  const sums = new EdgeSums();
  const { data } = columns;
  const add = (cell: number, name: string | null, value: number) => {
    if (value === 0) return;
    const source = nodeOfProcess(data, layout, src[cell]!);
    sums.add(source, nodeOfProcess(data, layout, dst[cell]!), name, value);
  };
  for (let cell = 0; cell < src.length; ++cell) {
    if (by === 'pair') {
      add(cell, null, values.cells[cell]!);
      continue;
    }
    for (let t = firstTransfer[cell]!; t < firstTransfer[cell + 1]!; ++t) {
      const step = steps[transferStep[t]!]!;
      const value = selection.transfers[t] ? values.transfers[t]! : 0;
      add(cell, by === 'transport' ? step.transport : step.op, value);
    }
  }
  return sums.largest(limit);
}
