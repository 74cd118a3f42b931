// The device graph: memory of processes on their hosts, GPUs and network cards, and the traffic between them. Traffic
// over a network is three arrows: to the card of the source, from there to the card of the destination, and out of
// that.

import type { Columns } from './columns';
import { kUnknownProcess, type PageData } from './data';
import type { Selection } from './filter';
import {
  arrange,
  EdgeSums,
  kAllProcesses,
  kMostEdges,
  largestEdges,
  processMembers,
  processNode,
  type EdgesBy,
  type GraphEdges,
  type GraphLayout,
  type HostChoice,
  type Member,
} from './graph';
import { hostOf, stopsOf, type Stop } from './legs';
import { shortBus } from './memory';

/** Labels are above GPUs and below cards. */
const kDeviceRoom = 100;

export interface DeviceEdges extends GraphEdges {
  /** Value of the transfers without an arrow: those that serve no message, or move nothing. */
  readonly still: number;
}

/** Bytes that each transfer total moved: payload that was carried, and bytes that copies on one side moved. */
export function movedBytes(columns: Columns): Float64Array {
  const { steps, transferStep, transferBytes, transferWireBytes } = columns;
  // A copy has no headers.
  return transferBytes.map((bytes, t) =>
    steps[transferStep[t]!]!.role === 'staging' ? transferWireBytes[t]! : bytes,
  );
}

const isUnknownNode = (node: string) => node === processNode(kUnknownProcess);
export const gpuNode = (gpu: number) => `gpu ${gpu}`;

/** A node, and the host whose box it is in; null: in no box. */
export interface Placed {
  readonly member: Member;
  readonly host: string | null;
}

/** Managed memory is drawn at the GPU on which it was allocated. */
function placed(data: PageData, stop: Stop): Placed {
  const { place, card, process } = stop;
  const gpu = place && data.devices.gpus[place.gpu];
  if (gpu) {
    const label = `GPU ${shortBus(gpu)}`;
    const member = { id: gpuNode(place.gpu), label, kind: 'gpu', index: place.gpu } as const;
    return { member, host: gpu.host };
  }
  const host = hostOf(data, stop);
  const part = (kind: Member['kind'], id: string, label: string, index = -1): Placed => ({
    member: { id, label, kind, index },
    host,
  });
  if (host === null) return part('unknown', processNode(kUnknownProcess), 'unknown');
  if (!place) return part('card', `card ${card} of ${host}`, card ?? 'a card');
  if (place.kind === 'host') {
    return part('process', processNode(process), data.processes[process]!.label, process);
  }
  const label = place.kind === 'unknown' ? 'unknown memory' : 'a GPU';
  return part('memory', `${label} of ${host}`, label);
}

/** The nodes that a transfer total passes. For transfers that serve no message, the other end is not known. */
export function wayOf(columns: Columns, cell: number, t: number): Placed[] {
  const { data, src, dst, cellClass, transferStep, steps } = columns;
  if (data.classes[cellClass[cell]!]!.reason !== null) return [];
  const stops = stopsOf(steps[transferStep[t]!]!, src[cell]!, dst[cell]!);
  return stops.map((stop) => placed(data, stop));
}

/** Each pair of successive nodes on a way. For a side that is not known, neither memory nor card is known. */
export function legsOf<T>(way: readonly T[], isUnknown: (part: T) => boolean): (readonly [T, T])[] {
  return way.slice(1).flatMap((to, index) => {
    const from = way[index]!;
    return isUnknown(from) && isUnknown(to) ? [] : [[from, to] as const];
  });
}

/** All GPUs of the run. */
export function allGpus(data: PageData): Placed[] {
  return data.devices.gpus.map((_, gpu) => placed(data, { card: null, process: kUnknownProcess, place: { kind: 'gpu', gpu } }));
}

/** The nodes on the paths of the run, each once. */
function passedBy(columns: Columns): Placed[] {
  const { src, firstTransfer } = columns;
  const passed = new Map<string, Placed>();
  for (let cell = 0; cell < src.length; ++cell) {
    for (let t = firstTransfer[cell]!; t < firstTransfer[cell + 1]!; ++t) {
      for (const part of wayOf(columns, cell, t)) passed.set(part.member.id, part);
    }
  }
  return [...passed.values()];
}

/** Clockwise from the top: GPUs, processes, cards, processes. */
function aroundRing(members: readonly Member[]): Member[] {
  const of = (...kinds: Member['kind'][]) => members.filter(({ kind }) => kinds.includes(kind));
  const [gpus, processes, cards] = [of('gpu'), of('process', 'memory'), of('card')];
  const [half, rest] = [gpus.length >> 1, (processes.length + 1) >> 1];
  return [
    ...gpus.slice(half),
    ...processes.slice(rest),
    ...cards.reverse(),
    ...processes.slice(0, rest).reverse(),
    ...gpus.slice(0, half),
  ];
}

/** The middle of the GPUs, which may lie between two of them. */
function gpusOnTop(members: readonly Member[]): number {
  const gpus = members.filter(({ kind }) => kind === 'gpu').length;
  return gpus > 0 && gpus % 2 === 0 ? 0.5 : 0;
}

export function makeDeviceLayout(
  columns: Columns,
  choice: HostChoice = kAllProcesses,
): GraphLayout {
  const { data } = columns;
  const groups = processMembers(data);
  const processes = new Map([...groups].map(([host, members]) => [host, members.length]));
  const known = new Set([...groups.values()].flat().map(({ id }) => id));
  let hasUnknown = false;
  const add = ({ member, host }: Placed) => {
    if (known.has(member.id)) return;
    known.add(member.id);
    if (host === null) hasUnknown = true;
    else groups.set(host, [...(groups.get(host) ?? []), member]);
  };
  allGpus(data).forEach(add);
  passedBy(columns).forEach(add);
  const around = new Map([...groups].map(([host, members]) => [host, aroundRing(members)]));
  return arrange(around, processes, hasUnknown, choice, kDeviceRoom, gpusOnTop);
}

/**
 * The sums of `values` over the selected transfer totals, on each leg of the way of their step; by pair, for all
 * transports together. `total` counts each transfer once.
 */
export function makeDeviceEdges(
  columns: Columns,
  selection: Selection,
  layout: GraphLayout,
  by: EdgesBy,
  values: Float64Array,
  limit = kMostEdges,
): DeviceEdges {
  const { src, firstTransfer, transferStep, steps } = columns;
  const sums = new EdgeSums();
  let total = 0;
  let still = 0;
  for (let cell = 0; cell < src.length; ++cell) {
    for (let t = firstTransfer[cell]!; t < firstTransfer[cell + 1]!; ++t) {
      const value = selection.transfers[t] ? values[t]! : 0;
      if (value === 0) continue;
      const step = steps[transferStep[t]!]!;
      const name = by === 'pair' ? null : by === 'transport' ? step.transport : step.op;
      const nodes = wayOf(columns, cell, t).map(({ member, host }) => layout.nodeOf(member.id, host));
      total += value;
      if (nodes.length === 0) still += value;
      for (const [from, to] of legsOf(nodes, isUnknownNode)) sums.add(from, to, name, value);
    }
  }
  return { ...largestEdges(sums.all(), limit, total), still };
}
