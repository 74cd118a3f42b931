// What a filter selects, and what a measure adds up. Each function states the naive definition that it equals;
// tests/kernels.test.ts compares them.

import { choicesOf } from './choices';
import type { Columns } from './columns';
import type { MemoryKind, PageData, Role, TrafficClass } from './data';

/** A missing property filters nothing; null selects unknown values. */
export interface Filter {
  kind?: string | null;
  mpi?: string | null;
  comm?: string | null;
  protocol?: string | null;
  transport?: string;
  op?: string;
  role?: Role;
  /** Sizes as in TrafficClass, both included. */
  min_size?: number;
  max_size?: number;
  /** Messages with at least one end on this host. */
  host?: string;
  /** Messages whose source, or destination, is on this host. */
  src_host?: string;
  dst_host?: string;
  /** Messages whose data lay, or went, in memory of this kind. */
  src_memory?: MemoryKind;
  dst_memory?: MemoryKind;
  /** Messages with at least one end on the GPU of this label. */
  gpu?: string;
  /** Messages with at least one end in this process. */
  rank?: number;
  /** Index into the processes, or kUnknownProcess. */
  src?: number;
  dst?: number;
  /** Nanoseconds of the run, [from, to), at edges of slabs: chosen by the columns, not here. */
  from?: number;
  to?: number;
  /** Also select the transfers that serve no message. */
  withoutMessage?: boolean;
}

export const kMeasures = ['bytes', 'messages', 'transfers', 'wire_bytes', 'time'] as const;
export type Measure = (typeof kMeasures)[number];
/** These measures count each message once; the others add up the transfers of its path. */
export type MessageMeasure = 'bytes' | 'messages' | 'time';

export function isOfMessages(measure: Measure): measure is MessageMeasure {
  return measure !== 'transfers' && measure !== 'wire_bytes';
}

/** One flag per cell: its messages count; one per transfer total: it counts. */
export interface Selection {
  readonly cells: Uint8Array;
  readonly transfers: Uint8Array;
}

function accepts<T>(wanted: T | undefined, value: T): boolean {
  return wanted === undefined || wanted === value;
}

function fitsSize({ min_size, max_size }: Filter, size: number | null): boolean {
  if (min_size === undefined && max_size === undefined) return true;
  return size !== null && size >= (min_size ?? 0) && size <= (max_size ?? Infinity);
}

function fitsMemory({ src_memory, dst_memory }: TrafficClass, filter: Filter, gpu?: number): boolean {
  return (
    accepts(filter.src_memory, src_memory?.kind) &&
    accepts(filter.dst_memory, dst_memory?.kind) &&
    (gpu === undefined || src_memory?.gpu === gpu || dst_memory?.gpu === gpu)
  );
}

export function filtersTime(filter: Filter): boolean {
  return filter.from !== undefined || filter.to !== undefined;
}

/** Whether the filter requires a property that a transfer without a message cannot have, not even as unknown. */
export function filtersMessages(filter: Filter): boolean {
  return choicesOf('message').some((choice) => filter[choice] !== undefined);
}

export function filtersPath(filter: Filter): boolean {
  return choicesOf('path').some((choice) => filter[choice] !== undefined);
}

/**
 * Flags of each process, those of process p at p + 1: it may be the source; it may be the destination; it is the wanted
 * rank, or on the wanted host. One of the two ends must have the last flag.
 */
function wantedEnds({ processes }: PageData, filter: Filter) {
  const { src, dst, rank, host, src_host, dst_host } = filter;
  const flags = (wanted: (process: number, host: string | undefined) => boolean) =>
    Uint8Array.from({ length: processes.length + 1 }, (_, at) => Number(wanted(at - 1, processes[at - 1]?.host)));
  return {
    src: flags((process, itsHost) => accepts(src, process) && (src_host === undefined || itsHost === src_host)),
    dst: flags((process, itsHost) => accepts(dst, process) && (dst_host === undefined || itsHost === dst_host)),
    either: flags((process) => accepts(rank, process)),
    host: flags((_, itsHost) => host === undefined || itsHost === host),
  };
}

/**
 * With
 *   asked(c)  = class of c has the wanted kind, mpi, comm, protocol, size and memories, and an end
 *               on the wanted GPU, c has the wanted src, dst, rank and hosts, and its reason is null,
 *               or withoutMessage and the filter asks for nothing that only messages have: kind, mpi,
 *               comm, protocol, size, memories, GPU
 *   wanted(t) = step of t has the wanted transport, op and role
 * a transfer total t of cell c is selected when asked(c) and wanted(t), and the messages of c are
 * selected when asked(c), its reason is null, and (the filter asks nothing of the path or some
 * selected t of c has a count above 0).
 * One pass over cells and transfers.
 */
export function select(columns: Columns, filter: Filter): Selection {
  const { data, steps, src, dst, cellClass, firstTransfer, transferStep, transferCount } = columns;
  const gpus = data.devices.gpus;
  const gpu = filter.gpu === undefined ? undefined : gpus.findIndex((g) => g.label === filter.gpu);
  const withoutMessage = filter.withoutMessage === true && !filtersMessages(filter);
  const classAsked = Uint8Array.from(data.classes, (c) =>
    Number(
      accepts(filter.kind, c.kind) &&
        accepts(filter.mpi, c.mpi) &&
        accepts(filter.comm, c.comm) &&
        accepts(filter.protocol, c.protocol) &&
        fitsSize(filter, c.size) &&
        fitsMemory(c, filter, gpu) &&
        (c.reason === null || withoutMessage),
    ),
  );
  const classIsMessage = Uint8Array.from(data.classes, (c) => Number(c.reason === null));
  const stepWanted = Uint8Array.from(steps, (s) =>
    Number(
      accepts(filter.transport, s.transport) &&
        accepts(filter.op, s.op) &&
        accepts(filter.role, s.role),
    ),
  );
  const ends = wantedEnds(data, filter);
  const anyPath = !filtersPath(filter);

  const cells = new Uint8Array(src.length);
  const transfers = new Uint8Array(transferStep.length);
  for (let c = 0; c < src.length; ++c) {
    const kind = cellClass[c]!;
    if (!classAsked[kind]) continue;
    const from = src[c]! + 1;
    const to = dst[c]! + 1;
    if (!ends.src[from] || !ends.dst[to] || !(ends.either[from] || ends.either[to]) || !(ends.host[from] || ends.host[to])) continue;
    let usesWanted = anyPath;
    for (let t = firstTransfer[c]!; t < firstTransfer[c + 1]!; ++t) {
      if (!stepWanted[transferStep[t]!]) continue;
      transfers[t] = 1;
      if (transferCount[t]! > 0) usesWanted = true;
    }
    if (usesWanted) cells[c] = classIsMessage[kind]!;
  }
  return { cells, transfers };
}

/**
 * Per cell: for measures of messages the cell's own number if its messages are selected, else 0; for `transfers` and
 * `wire_bytes` the sum over its selected transfer totals.
 */
export function cellValues(columns: Columns, selection: Selection, measure: Measure): Float64Array {
  if (isOfMessages(measure)) return ofSelected(columns[measure], selection);
  const { firstTransfer, transferCount, transferWireBytes } = columns;
  const values = measure === 'transfers' ? transferCount : transferWireBytes;
  const sums = new Float64Array(columns.src.length);
  for (let c = 0; c < sums.length; ++c) {
    for (let t = firstTransfer[c]!; t < firstTransfer[c + 1]!; ++t) {
      if (selection.transfers[t]) sums[c]! += values[t]!;
    }
  }
  return sums;
}

function ofSelected(values: Float64Array, { cells }: Selection): Float64Array {
  const chosen = new Float64Array(values.length);
  for (let c = 0; c < chosen.length; ++c) if (cells[c]) chosen[c] = values[c]!;
  return chosen;
}

/** Per cell: the selected messages whose start and end are known; only these have a time. */
export function timedMessages(columns: Columns, selection: Selection): Float64Array {
  return ofSelected(columns.timed, selection);
}

/** Sums of every measure. */
export interface CellLoad extends Record<Measure, number> {
  /** Messages whose duration is known. */
  timed: number;
}

export const noLoad = (): CellLoad => ({ bytes: 0, messages: 0, transfers: 0, wire_bytes: 0, time: 0, timed: 0 });

/** Adds the values that cellValues() of each measure, and timedMessages(), have for cell `c`. */
export function addCell(load: CellLoad, columns: Columns, selection: Selection, c: number): void {
  if (selection.cells[c]) {
    load.bytes += columns.bytes[c]!;
    load.messages += columns.messages[c]!;
    load.time += columns.time[c]!;
    load.timed += columns.timed[c]!;
  }
  const end = columns.firstTransfer[c + 1]!;
  for (let t = columns.firstTransfer[c]!; t < end; ++t) {
    if (!selection.transfers[t]) continue;
    load.transfers += columns.transferCount[t]!;
    load.wire_bytes += columns.transferWireBytes[t]!;
  }
}

/** The selected total of every measure: the sums of cellValues(). One pass over cells and transfers. */
export function totals(columns: Columns, selection: Selection): Record<Measure, number> {
  const { messages, bytes, time, transferCount, transferWireBytes } = columns;
  const sums = { bytes: 0, messages: 0, transfers: 0, wire_bytes: 0, time: 0 };
  for (let c = 0; c < messages.length; ++c) {
    if (!selection.cells[c]) continue;
    sums.bytes += bytes[c]!;
    sums.messages += messages[c]!;
    sums.time += time[c]!;
  }
  for (let t = 0; t < transferCount.length; ++t) {
    if (!selection.transfers[t]) continue;
    sums.transfers += transferCount[t]!;
    sums.wire_bytes += transferWireBytes[t]!;
  }
  return sums;
}
