// Traffic and activity over time, in slabs of equal length: sums over any span of whole slabs are exact.
// tests/slabs.test.ts compares each function with its definition.

import type { Columns } from './columns';
import type { PageData, TimeData } from './data';
import { filtersMessages, filtersPath, isOfMessages, type Filter, type Measure, type Selection } from './filter';
import { tableOf, type Numbers, type Table, type Tables } from './packed';

/** Slab i is [from + i * slab, from + (i + 1) * slab), in nanoseconds of the run. */
export interface TimeAxis {
  readonly from: number;
  readonly slab: number;
  readonly slabs: number;
}

export function makeTimeAxis({ from_ns, slab_ns, slabs }: TimeData): TimeAxis {
  return { from: from_ns, slab: slab_ns, slabs };
}

export function endOf(axis: TimeAxis): number {
  return axis.from + axis.slab * axis.slabs;
}

export function slabOf(axis: TimeAxis, time: number): number {
  return Math.min(axis.slabs, Math.max(0, Math.floor((time - axis.from) / axis.slab)));
}

/** The span widened to slabs; nothing if it is the whole time, or if it is empty. */
export function wholeSlabs(
  axis: TimeAxis,
  from: number,
  to: number,
): { from: number; to: number } | undefined {
  const first = slabOf(axis, from);
  const last = Math.min(axis.slabs, Math.max(0, Math.ceil((to - axis.from) / axis.slab)));
  if (first >= last || (first === 0 && last === axis.slabs)) return undefined;
  return { from: axis.from + first * axis.slab, to: axis.from + last * axis.slab };
}

/** The rows of a table, sorted by `slab`, that lie in the slabs [first, last). */
function rowsBetween(slab: Numbers, first: number, last: number): [number, number] {
  return [lowerBound(slab, first), lowerBound(slab, last)];
}

/** The first index whose value is at or above `wanted`, in a sorted part of a column. */
export function lowerBound(
  values: ArrayLike<number>,
  wanted: number,
  first = 0,
  last = values.length,
): number {
  let [low, high] = [first, last];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The columns with the sums of the span instead of those of the run: each cell counts the messages that start in it,
 * with their whole paths. Costs the rows of the span.
 */
export function columnsWithin(
  columns: Columns,
  tables: Tables,
  axis: TimeAxis,
  { from, to }: Filter,
): Columns {
  const first = slabOf(axis, from ?? axis.from);
  const last = slabOf(axis, to ?? endOf(axis));
  const sums = {
    messages: new Float64Array(columns.messages.length),
    bytes: new Float64Array(columns.bytes.length),
    timed: new Float64Array(columns.timed.length),
    time: new Float64Array(columns.time.length),
    transferCount: new Float64Array(columns.transferCount.length),
    transferBytes: new Float64Array(columns.transferBytes.length),
    transferWireBytes: new Float64Array(columns.transferWireBytes.length),
  };
  const add = (table: Table, key: string, targets: [string, Float64Array][]) => {
    const [begin, end] = rowsBetween(table.column('slab'), first, last);
    const keys = table.column(key);
    for (const [name, target] of targets) {
      const values = table.column(name);
      for (let row = begin; row < end; ++row) target[keys[row]!]! += values[row]!;
    }
  };
  add(tableOf(tables, 'slab_cells'), 'cell', [
    ['messages', sums.messages],
    ['bytes', sums.bytes],
    ['timed', sums.timed],
    ['ns', sums.time],
  ]);
  add(tableOf(tables, 'slab_transfers'), 'total', [
    ['count', sums.transferCount],
    ['bytes', sums.transferBytes],
    ['wire_bytes', sums.transferWireBytes],
  ]);
  return { ...columns, ...sums };
}

const kColumnOf: Record<Measure, string> = {
  bytes: 'bytes',
  messages: 'messages',
  transfers: 'count',
  wire_bytes: 'wire_bytes',
  time: 'ns',
};

/** Calls `add` for each selected value of the measure; `key`: of its cell or transfer total. One scan of the rows. */
export function slabValues(
  tables: Tables,
  selection: Selection,
  measure: Measure,
  add: (slab: number, key: number, value: number) => void,
): void {
  const ofMessages = isOfMessages(measure);
  const table = tableOf(tables, ofMessages ? 'slab_cells' : 'slab_transfers');
  const keys = table.column(ofMessages ? 'cell' : 'total');
  const values = table.column(kColumnOf[measure]);
  const slab = table.column('slab');
  const flags = ofMessages ? selection.cells : selection.transfers;
  for (let row = 0; row < table.rows; ++row) {
    if (flags[keys[row]!]) add(slab[row]!, keys[row]!, values[row]!);
  }
}

/** Per slab: the selected sum of the measure. */
export function density(tables: Tables, axis: TimeAxis, selection: Selection, measure: Measure): Float64Array {
  const sums = new Float64Array(axis.slabs);
  slabValues(tables, selection, measure, (slab, _, value) => (sums[slab]! += value));
  return sums;
}

export const kLayers = ['mpi', 'ucp', 'uct'] as const;
export type Layer = (typeof kLayers)[number];

/** Which operations of a layer count: by the `key` of their rows, and by process. */
export interface ActivityChoice {
  readonly processes: Uint8Array;
  readonly keys: Record<Layer, Uint8Array>;
  /** Operations that serve no message. */
  readonly without: boolean;
}

/**
 * The filter's function and communicator select MPI calls, its messages select UCP operations, its transfers select UCT
 * transfers as everywhere. Rank and host of the process apply to all, and so do source and destination if those name
 * it. Operations of UCP and UCT that serve no message count as long as the filter requires nothing that only messages
 * have.
 */
export function chooseActivity(
  data: PageData,
  filter: Filter,
  selection: Selection,
): ActivityChoice {
  const { src, dst, src_host, dst_host, rank, host, mpi, comm } = filter;
  const ends = [
    { process: src, host: src_host },
    { process: dst, host: dst_host },
  ].filter((end) => end.process !== undefined || end.host !== undefined);
  const asksEnds = ends.length > 0;
  const isEnd = (index: number, on: string) =>
    ends.some((end) => (end.process ?? index) === index && (end.host ?? on) === on);
  const without = !asksEnds && !filtersMessages(filter) && !filtersPath(filter);
  return {
    processes: Uint8Array.from(data.processes, (process, index) =>
      Number(
        (!asksEnds || isEnd(index, process.host)) &&
          (rank === undefined || rank === index || asksEnds) &&
          (host === undefined || process.host === host || asksEnds),
      ),
    ),
    keys: {
      mpi: Uint8Array.from(data.time.call_kinds, (kind) =>
        Number((mpi === undefined || kind.mpi === mpi) && (comm === undefined || kind.comm === comm)),
      ),
      ucp: selection.cells,
      uct: selection.transfers,
    },
    without,
  };
}

/** Whether an operation counts; the messages of a pair are shown at both of its ends. */
export function counts(
  choice: ActivityChoice,
  layer: Layer,
  process: number,
  key: number,
): boolean {
  if (key < 0) return choice.without && choice.processes[process] === 1;
  if (choice.keys[layer][key] !== 1) return false;
  return layer !== 'mpi' || choice.processes[process] === 1;
}

/** Level 0 has the slabs of each lane; each further level sums pairs of the one below. */
export interface Pyramid {
  readonly lanes: number;
  readonly levels: readonly { readonly bins: number; readonly values: Float64Array }[];
}

export interface Activity {
  /** Nanoseconds that operations were in progress; concurrent operations add up. */
  readonly busy: Pyramid;
  /** How many operations began. */
  readonly starts: Pyramid;
}

export function laneOf(process: number, layer: number): number {
  return process * kLayers.length + layer;
}

export function makePyramid(base: Float64Array, lanes: number): Pyramid {
  const levels = [{ bins: lanes === 0 ? 0 : base.length / lanes, values: base }];
  for (let below = levels[0]!; below.bins > 1; below = levels[levels.length - 1]!) {
    const bins = Math.ceil(below.bins / 2);
    const values = new Float64Array(bins * lanes);
    for (let lane = 0; lane < lanes; ++lane) {
      for (let bin = 0; bin < below.bins; ++bin) {
        values[lane * bins + (bin >> 1)]! += below.values[lane * below.bins + bin]!;
      }
    }
    levels.push({ bins, values });
  }
  return { lanes, levels };
}

export function makeActivity(
  data: PageData,
  tables: Tables,
  axis: TimeAxis,
  choice: ActivityChoice,
): Activity {
  const lanes = data.processes.length * kLayers.length;
  const busy = new Float64Array(lanes * axis.slabs);
  const starts = new Float64Array(lanes * axis.slabs);
  kLayers.forEach((layer, index) => {
    const table = tableOf(tables, `${layer}_activity`);
    const [process, key, slab, length, busyNs, began] = [
      'process',
      'key',
      'slab',
      'length',
      'busy_ns',
      'starts',
    ].map((name) => table.column(name)) as [Numbers, Numbers, Numbers, Numbers, Numbers, Numbers];
    for (let row = 0; row < table.rows; ++row) {
      if (!counts(choice, layer, process[row]!, key[row]!)) continue;
      const first = laneOf(process[row]!, index) * axis.slabs + slab[row]!;
      starts[first]! += began[row]!;
      const value = busyNs[row]!;
      for (let at = first; at < first + length[row]!; ++at) busy[at]! += value;
    }
  });
  return { busy: makePyramid(busy, lanes), starts: makePyramid(starts, lanes) };
}

/** The level whose bins are at least `least` slabs long. */
export function levelFor(pyramid: Pyramid, least: number): number {
  const level = Math.max(0, Math.ceil(Math.log2(Math.max(1, least))));
  return Math.min(level, pyramid.levels.length - 1);
}
