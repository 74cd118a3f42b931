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

export interface GraphNode {
  readonly id: string;
  readonly label: string;
  readonly host: string | null;
  /** Index of the process; null for a host or what is not known. */
  readonly process: number | null;
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
  readonly total: number;
}

export interface GraphLayout {
  readonly nodes: readonly GraphNode[];
  readonly hosts: readonly string[];
  /** Hosts that stand as one node. */
  readonly closed: ReadonlySet<string>;
  nodeOf(process: number): string;
  /** Of a node that stands for a host. */
  hostOf(node: string): string;
}

const kNodeRoom = 46;
const kHostRoom = 70;
const kUnknownNode = 'unknown';
const hostNode = (host: string) => `host ${host}`;

/** The places of `count` nodes on as few rings as hold them at a distance. */
export function ringPlaces(count: number): { x: number; y: number }[] {
  if (count === 1) return [{ x: 0, y: 0 }];
  const places: { x: number; y: number }[] = [];
  // One ring as long as chords between its nodes can be told apart.
  for (let left = count, radius = 0; left > 0; radius += kNodeRoom) {
    if (radius === 0) {
      const rings = count <= 64 ? 1 : Math.ceil(Math.sqrt(count / 64) * 2);
      const inner = (count * kNodeRoom) / (2 * Math.PI * rings);
      radius = Math.max(kNodeRoom * 0.8, inner - ((rings - 1) * kNodeRoom) / 2);
    }
    const room = Math.max(1, Math.floor((2 * Math.PI * radius) / kNodeRoom + 1e-6));
    const here = count <= 64 ? left : Math.min(left, room);
    for (let i = 0; i < here; ++i) {
      const angle = (2 * Math.PI * i) / here - Math.PI / 2;
      places.push({ x: radius * Math.cos(angle), y: radius * Math.sin(angle) });
    }
    left -= here;
  }
  return places;
}

export function makeLayout(
  data: PageData,
  hasUnknown: boolean,
  opened: ReadonlySet<string>,
  mostProcesses = kMostProcesses,
): GraphLayout {
  const hosts = [...new Set(data.processes.map(({ host }) => host))];
  const groups = new Map<string, number[]>(hosts.map((host) => [host, []]));
  data.processes.forEach(({ host }, index) => groups.get(host)!.push(index));
  const aggregates = data.processes.length > mostProcesses;
  const closed = new Set(aggregates ? hosts.filter((host) => !opened.has(host)) : []);

  const boxes = hosts.map((host) => ringPlaces(closed.has(host) ? 1 : groups.get(host)!.length));
  const extents = boxes.map((places) => 2 * Math.max(...places.map(({ x, y }) => Math.hypot(x, y))));
  const pitch = Math.max(...extents, 0) + kNodeRoom + kHostRoom;
  const across = Math.max(1, Math.ceil(Math.sqrt(hosts.length * 1.6)));
  const nodes: GraphNode[] = [];
  hosts.forEach((host, index) => {
    const origin = { x: (index % across) * pitch, y: Math.floor(index / across) * pitch };
    const at = (place: { x: number; y: number }) => ({
      x: origin.x + place.x,
      y: origin.y + place.y,
    });
    if (closed.has(host)) {
      const label = `${host} (${groups.get(host)!.length})`;
      nodes.push({ id: hostNode(host), label, host: null, process: null, ...at(boxes[index]![0]!) });
      return;
    }
    groups.get(host)!.forEach((process, i) => {
      const { label } = data.processes[process]!;
      nodes.push({ id: `process ${process}`, label, host, process, ...at(boxes[index]![i]!) });
    });
  });
  if (hasUnknown) {
    const rows = Math.ceil(hosts.length / across);
    const y = (rows - 0.5) * pitch;
    nodes.push({ id: kUnknownNode, label: 'unknown', host: null, process: kUnknownProcess, x: 0, y });
  }
  const nodeOf = (process: number) => {
    if (process === kUnknownProcess) return kUnknownNode;
    const { host } = data.processes[process]!;
    return closed.has(host) ? hostNode(host) : `process ${process}`;
  };
  const hostOf = (node: string) => node.slice(hostNode('').length);
  return { nodes, hosts, closed, nodeOf, hostOf };
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
  const edges = new Map<string, { -readonly [K in keyof GraphEdge]: GraphEdge[K] }>();
  const add = (cell: number, name: string | null, value: number) => {
    if (value === 0) return;
    const source = layout.nodeOf(src[cell]!);
    const target = layout.nodeOf(dst[cell]!);
    const id = `${source} > ${target}${name === null ? '' : ` over ${name}`}`;
    const edge = edges.get(id);
    if (edge) edge.value += value;
    else edges.set(id, { id, source, target, name, value });
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
  const sorted = [...edges.values()].sort((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1));
  const sum = (some: readonly GraphEdge[]) => some.reduce((all, { value }) => all + value, 0);
  return {
    edges: sorted.slice(0, limit),
    hidden: Math.max(0, sorted.length - limit),
    hiddenValue: sum(sorted.slice(limit)),
    total: sum(sorted),
  };
}
