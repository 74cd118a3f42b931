// Traffic from memory to memory, and between memory and the network cards of its host: sums over the cells. Each
// function states the naive definition that it equals.

import type { Columns } from './columns';
import type { GpuNic, PageData, Place, Step } from './data';
import type { Selection } from './filter';
import { stopsOf, type Stop } from './legs';
import { isDeviceMemory, placeText, shortBus } from './memory';

/** With more memories, those with the least traffic share a row. */
export const kMostMemories = 64;

/** Memory of one host, or of no message. */
export interface Memory {
  readonly key: string;
  readonly label: string;
  /** The name in a column: without the host. */
  readonly short: string;
  /** null if not known. */
  readonly host: string | null;
  /** Index of a GPU, else -1. */
  readonly gpu: number;
}

const kNowhere = { host: null, gpu: -1 };
const kNoMessage: Memory = { key: 'none', label: 'no message', short: 'no message', ...kNowhere };
const kOthers: Memory = { key: 'others', label: 'others', short: 'others', ...kNowhere };

/** Memory of a GPU is on the GPU's host; other memory on the host of its process. */
function memoryAt(data: PageData, place: Place | null, process: number): Memory {
  if (!place) return kNoMessage;
  const gpu = data.devices.gpus[place.gpu];
  const host = gpu?.host ?? data.processes[process]?.host ?? null;
  const of = ` of ${host ?? 'an unknown host'}`;
  return {
    key: `${place.kind} ${place.gpu} ${host}`,
    label: `${placeText(data.devices, place)}${of}`,
    short: `${place.kind === 'gpu' ? 'GPU' : place.kind}${gpu ? ` ${shortBus(gpu)}` : ''}`,
    host,
    gpu: place.gpu,
  };
}

const kOrder = ['gpu', 'managed', 'host', 'unknown', 'none'];

/** By host in the order of the processes; within a host, GPUs first. */
function inOrder(data: PageData, memories: Iterable<Memory>): Memory[] {
  const hosts = placeOfHosts(data);
  const rank = ({ key, host, gpu }: Memory): number[] => [
    hosts(host),
    kOrder.indexOf(key.split(' ')[0]!),
    gpu,
  ];
  return [...memories].sort((a, b) => byRank(rank(a), rank(b)));
}

/** In the order of the processes; entries without a host come last. */
export function placeOfHosts({ processes }: PageData): (host: string | null) => number {
  const places = new Map<string | null, number>();
  for (const { host } of processes) if (!places.has(host)) places.set(host, places.size);
  return (host) => places.get(host) ?? places.size;
}

/** By the first number in which they differ. */
export function byRank(left: readonly number[], right: readonly number[]): number {
  return left.map((value, i) => value - right[i]!).find((difference) => difference !== 0) ?? 0;
}

/** Those with most weight, in order; the others are combined at the end. All, if they are few. */
export function heaviest<T extends { readonly key: string }>(
  known: ReadonlyMap<string, T>,
  weights: ReadonlyMap<string, number>,
  most: number,
  inOrder: (some: Iterable<T>) => T[],
  others: T,
): T[] {
  if (known.size <= most) return inOrder(known.values());
  const falling = [...known.values()].sort((a, b) => (weights.get(b.key) ?? 0) - (weights.get(a.key) ?? 0));
  return [...inOrder(falling.slice(0, most - 1)), others];
}

/** Adds to the sum of the key. */
export function adder(sums: Map<string, number>): (key: string, value: number) => void {
  return (key, value) => sums.set(key, (sums.get(key) ?? 0) + value);
}

export interface MemoryMatrix {
  readonly memories: readonly Memory[];
  /** Row-major: from the memory of the row to that of the column. */
  readonly values: Float64Array;
  /** For each cell: the index of its value in them. */
  readonly squares: Int32Array;
}

/**
 * The memories of the run, and for each pair of them the sum of `cellValues` over the cells whose class has them. All
 * GPUs are among them. With more than `most`, those with the least are combined.
 */
export function makeMemoryMatrix(
  columns: Columns,
  cellValues: Float64Array,
  most = kMostMemories,
): MemoryMatrix {
  const { data, src, dst, cellClass } = columns;
  const known = new Map<string, Memory>();
  const note = (place: Place | null, process: number) => {
    const memory = memoryAt(data, place, process);
    known.set(memory.key, memory);
    return memory.key;
  };
  data.devices.gpus.forEach((_, gpu) => note({ kind: 'gpu', gpu }, -1));
  const ends = Array.from(src, (process, cell) => {
    const { src_memory, dst_memory } = data.classes[cellClass[cell]!]!;
    return [note(src_memory, process), note(dst_memory, dst[cell]!)] as const;
  });
  const weights = new Map<string, number>();
  const weigh = adder(weights);
  ends.forEach(([from, to], cell) => {
    weigh(from, cellValues[cell]!);
    weigh(to, cellValues[cell]!);
  });
  // Traffic that serves no message has a row only if it is counted.
  if (!weights.get(kNoMessage.key)) known.delete(kNoMessage.key);
  const memories = heaviest(known, weights, most, (some) => inOrder(data, some), kOthers);
  const index = new Map(memories.map(({ key }, i) => [key, i]));
  const at = (key: string) => index.get(key) ?? memories.length - 1;
  const values = new Float64Array(memories.length ** 2);
  const squares = Int32Array.from(ends, ([from, to]) => at(from) * memories.length + at(to));
  squares.forEach((square, cell) => (values[square]! += cellValues[cell]!));
  return { memories, values, squares };
}

export interface CardLoad {
  /** From the memory to the card, and back. */
  out: number;
  in: number;
  /** The part for data at this end that was copied through host memory; the sums above include it. */
  stagedOut: number;
  stagedIn: number;
}

export const kNoLoad: CardLoad = { out: 0, in: 0, stagedOut: 0, stagedIn: 0 };
const kWays = ['out', 'in', 'stagedOut', 'stagedIn'] as const;

/** By memory, then card. */
type Loads = Map<string, Map<string, CardLoad>>;

function loadOf(loads: Loads, memory: string, card: string): CardLoad {
  const ofCards = loads.get(memory) ?? new Map<string, CardLoad>();
  const load = ofCards.get(card) ?? { ...kNoLoad };
  loads.set(memory, ofCards.set(card, load));
  return load;
}

/** Moves the loads of memories that are not listed to the row of the others. */
function putOthersTogether(loads: Loads, memories: readonly Memory[]): void {
  const kept = new Set(memories.map(({ key }) => key));
  for (const [memory, ofCards] of [...loads]) {
    if (kept.has(memory)) continue;
    loads.delete(memory);
    for (const [card, load] of ofCards) {
      const sum = loadOf(loads, kOthers.key, card);
      for (const way of kWays) sum[way] += load[way];
    }
  }
}

export interface CardTable {
  readonly memories: readonly Memory[];
  /** Names of cards, of any host. */
  readonly cards: readonly string[];
  at(memory: Memory, card: string): CardLoad | undefined;
  /** Both ways, for the pair with the greatest sum. */
  readonly most: number;
}

/**
 * For the selected transfer totals that go over a network: `out` is the sum of `values` from the memory to the card of
 * the source, `in` the sum from the card of the destination to the memory. `stagedOut` is the sum over totals that
 * carry data from host memory, for messages whose data lay in this memory, a GPU's, and was copied at the source;
 * `stagedIn` likewise. All GPUs and all cards of the run are listed. With more memories than `most`, those with the
 * least are combined.
 */
export function makeCardTable(
  columns: Columns,
  selection: Selection,
  values: Float64Array,
  most = kMostMemories,
): CardTable {
  const { data, src, dst, cellClass, firstTransfer, transferStep, steps } = columns;
  const known = new Map<string, Memory>();
  const loads: Loads = new Map();
  const weights = new Map<string, number>();
  const weigh = adder(weights);
  const names = new Set(data.devices.nics.map(({ device }) => device));
  const add = (place: Place | null, card: Stop, way: keyof CardLoad, value: number) => {
    const memory = memoryAt(data, place, card.process);
    const name = card.card ?? 'unknown';
    known.set(memory.key, memory);
    names.add(name);
    weigh(memory.key, value);
    loadOf(loads, memory.key, name)[way] += value;
  };
  const hostsWithCards = new Set(data.devices.nics.map(({ host }) => host));
  data.devices.gpus.forEach(({ host }, gpu) => {
    const memory = memoryAt(data, { kind: 'gpu', gpu }, -1);
    if (hostsWithCards.has(host)) known.set(memory.key, memory);
  });
  for (let cell = 0; cell < src.length; ++cell) {
    for (let t = firstTransfer[cell]!; t < firstTransfer[cell + 1]!; ++t) {
      const step = steps[transferStep[t]!]!;
      const value = selection.transfers[t] ? values[t]! : 0;
      if (!step.network || value === 0) continue;
      const [from, leaves, enters, to] = stopsOf(step, src[cell]!, dst[cell]!);
      if (!from || !leaves || !enters || !to) continue;
      add(from.place, leaves, 'out', value);
      add(to.place, enters, 'in', value);
      const { src_memory, dst_memory, path } = data.classes[cellClass[cell]!]!;
      const isStaged = (end: Place | null, there: Place, side: Step['issued_by']) =>
        step.role === 'data' &&
        end !== null &&
        isDeviceMemory(end) &&
        there.kind === 'host' &&
        path.some(({ role, issued_by }) => role === 'staging' && issued_by === side);
      if (isStaged(src_memory, step.from, 'src')) add(src_memory, leaves, 'stagedOut', value);
      if (isStaged(dst_memory, step.to, 'dst')) add(dst_memory, enters, 'stagedIn', value);
    }
  }
  const memories = heaviest(known, weights, most, (some) => inOrder(data, some), kOthers);
  putOthersTogether(loads, memories);
  const shown = [...loads.values()].flatMap((ofCards) => [...ofCards.values()]);
  return {
    memories,
    cards: [...names].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })),
    at: (memory, card) => loads.get(memory.key)?.get(card),
    most: shown.reduce((sofar, load) => Math.max(sofar, load.out + load.in), 0),
  };
}

/** The cards of a host, and how far they are from its GPUs. */
export interface CardFacts {
  /** What is known about the way between a GPU and a card of its host. */
  distanceOf(memory: Memory, card: string): GpuNic | undefined;
  /** Whether the host of the memory has no card with that name; false if the memory is not of one host. */
  lacks(memory: Memory, card: string): boolean;
}

/** They do not depend on the selection. */
export function makeCardFacts({ devices: { nics, gpu_nic } }: PageData): CardFacts {
  const nameOf = (host: string | null, card: string) => `${host}\n${card}`;
  const names = nics.map(({ host, device }) => nameOf(host, device));
  const known = new Set(names);
  const pairs = new Map(gpu_nic.map((pair) => [`${pair.gpu}\n${names[pair.nic]}`, pair]));
  return {
    distanceOf: ({ gpu, host }, card) => pairs.get(`${gpu}\n${nameOf(host, card)}`),
    lacks: ({ host }, card) => host !== null && !known.has(nameOf(host, card)),
  };
}
