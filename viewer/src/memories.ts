// From which memory to which, and between memory and the network cards of its host: sums over the
// cells. Each function states the naive definition that it equals.

import type { Columns } from './columns';
import type { GpuNic, PageData, Place } from './data';
import type { Selection } from './filter';
import { stopsOf, type Stop } from './legs';
import { isDeviceMemory, placeText, shortBus } from './memory';

/** With more, the smallest share a row. */
export const kMostMemories = 64;

/** Memory of one host, or of no message. */
export interface Memory {
  readonly key: string;
  readonly label: string;
  /** For a column: without the host. */
  readonly short: string;
  /** null where it is not known. */
  readonly host: string | null;
  /** Of a GPU, else -1. */
  readonly gpu: number;
}

const kNowhere = { host: null, gpu: -1 };
const kNoMessage: Memory = { key: 'none', label: 'no message', short: 'no message', ...kNowhere };
const kOthers: Memory = { key: 'others', label: 'others', short: 'others', ...kNowhere };

/** That of a GPU is where the GPU is; other memory where its process is. */
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

/** By host in the order of the processes, and there GPUs first. */
function inOrder(data: PageData, memories: Iterable<Memory>): Memory[] {
  const hosts = new Map<string | null, number>();
  for (const { host } of data.processes) if (!hosts.has(host)) hosts.set(host, hosts.size);
  const rank = ({ key, host, gpu }: Memory): number[] => [
    hosts.get(host) ?? hosts.size,
    kOrder.indexOf(key.split(' ')[0]!),
    gpu,
  ];
  return [...memories].sort((a, b) => {
    const [left, right] = [rank(a), rank(b)];
    return left.map((value, i) => value - right[i]!).find((difference) => difference !== 0) ?? 0;
  });
}

export interface MemoryMatrix {
  readonly memories: readonly Memory[];
  /** Row-major: from the memory of the row to that of the column. */
  readonly values: Float64Array;
}

/**
 * The memories of the run, and of each two of them the sum of `cellValues` over the cells whose
 * class has them. All GPUs are among them. Of more than `most`, those with the least stand together.
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
  const weigh = (key: string, value: number) => weights.set(key, (weights.get(key) ?? 0) + value);
  ends.forEach(([from, to], cell) => {
    weigh(from, cellValues[cell]!);
    weigh(to, cellValues[cell]!);
  });
  // What serves no message is a row only where it is counted.
  if (!weights.get(kNoMessage.key)) known.delete(kNoMessage.key);
  const falling = [...known.keys()].sort((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0));
  const kept = new Set(falling.length > most ? falling.slice(0, most - 1) : falling);
  const memories = inOrder(data, [...known.values()].filter(({ key }) => kept.has(key)));
  if (kept.size < known.size) memories.push(kOthers);
  const index = new Map(memories.map(({ key }, i) => [key, i]));
  const at = (key: string) => index.get(key) ?? memories.length - 1;
  const values = new Float64Array(memories.length ** 2);
  ends.forEach(([from, to], cell) => {
    const value = cellValues[cell]!;
    if (value > 0) values[at(from) * memories.length + at(to)]! += value;
  });
  return { memories, values };
}

export interface CardLoad {
  /** From the memory to the card, and back. */
  out: number;
  in: number;
  /** Of data that lay, or went, there, and took the way by the host's memory: among its sums, too. */
  stagedOut: number;
  stagedIn: number;
}

export interface CardTable {
  readonly memories: readonly Memory[];
  /** Names of cards, of any host. */
  readonly cards: readonly string[];
  at(memory: Memory, card: string): CardLoad | undefined;
  /** Both ways, of the pair with most. */
  readonly most: number;
}

/**
 * Of the selected transfer totals that go over a network: `out` is the sum of `values` over those
 * from the memory to the card of the source, `in` over those from the card of the destination to the
 * memory. `stagedOut` is the sum over those that carry data from memory of the host, of messages whose
 * data lay in the memory, which is a GPU's; `stagedIn` likewise. All GPUs and all cards of the run
 * are there.
 */
export function makeCardTable(
  columns: Columns,
  selection: Selection,
  values: Float64Array,
): CardTable {
  const { data, src, dst, cellClass, firstTransfer, transferStep, steps } = columns;
  const known = new Map<string, Memory>();
  const loads = new Map<string, CardLoad>();
  const names = new Set(data.devices.nics.map(({ device }) => device));
  const keyOf = (memory: Memory, card: string) => `${memory.key}\n${card}`;
  const add = (place: Place | null, card: Stop, way: keyof CardLoad, value: number) => {
    const memory = memoryAt(data, place, card.process);
    const name = card.card ?? 'unknown';
    known.set(memory.key, memory);
    names.add(name);
    const key = keyOf(memory, name);
    if (!loads.has(key)) loads.set(key, { out: 0, in: 0, stagedOut: 0, stagedIn: 0 });
    loads.get(key)![way] += value;
  };
  data.devices.gpus.forEach(({ host }, gpu) => {
    const memory = memoryAt(data, { kind: 'gpu', gpu }, -1);
    if (data.devices.nics.some((nic) => nic.host === host)) known.set(memory.key, memory);
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
      const { src_memory, dst_memory } = data.classes[cellClass[cell]!]!;
      const isStaged = (end: Place | null, there: Place) =>
        step.role === 'data' && end !== null && isDeviceMemory(end) && there.kind === 'host';
      if (isStaged(src_memory, step.from)) add(src_memory, leaves, 'stagedOut', value);
      if (isStaged(dst_memory, step.to)) add(dst_memory, enters, 'stagedIn', value);
    }
  }
  return {
    memories: inOrder(data, known.values()),
    cards: [...names].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })),
    at: (memory, card) => loads.get(keyOf(memory, card)),
    most: Math.max(0, ...[...loads.values()].map((load) => load.out + load.in)),
  };
}

/** What is known of the way between a GPU and a card of its host. */
export function distanceOf({ devices }: PageData, { gpu, host }: Memory, card: string): GpuNic | undefined {
  const nic = devices.nics.findIndex((each) => each.host === host && each.device === card);
  return devices.gpu_nic.find((pair) => pair.gpu === gpu && pair.nic === nic);
}

/** Whether the host of the memory has a card of that name. */
export function hasCard({ devices }: PageData, { host }: Memory, card: string): boolean {
  return devices.nics.some((nic) => nic.host === host && nic.device === card);
}
