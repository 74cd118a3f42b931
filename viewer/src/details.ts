// Single operations: which of them lie in a span of time, and on which track of their lane they are
// drawn. Operations that overlap in time lie above each other.

import type { PageData } from './data';
import { tableOf, type Numbers, type Table, type Tables } from './packed';
import { kLayers, lowerBound, type Layer } from './slabs';

export const kMaxTracks = 6;
export const kTableOf: Record<Layer, string> = {
  mpi: 'mpi_calls',
  ucp: 'ucp_operations',
  uct: 'transfers',
};

/** The operations of one layer; rows of the table are sorted by process, then by start. */
export interface LayerDetails {
  readonly layer: Layer;
  readonly table: Table;
  readonly start: Numbers;
  /** The end of an operation that never ended: the end of the recording. */
  readonly end: Float64Array;
  /** The cell, total or call kind that filters use for it; -1 for none. */
  readonly key: Numbers;
  readonly track: Uint8Array;
  /** For each process: its first row; the last entry is the end of all rows. */
  readonly first: Int32Array;
  readonly tracks: Uint8Array;
  /** Per row: the latest end among the rows of its process up to it. */
  readonly latest: Float64Array;
}

export interface Details {
  readonly layers: readonly LayerDetails[];
  readonly messages: Table;
  readonly messageStart: Numbers;
  readonly messageEnd: Float64Array;
  readonly latestMessage: Float64Array;
  readonly hops: Table;
  readonly firstHop: Int32Array;
  /** Row of a message by its number in the run. */
  readonly rowOfMessage: ReadonlyMap<number, number>;
}

/** Decodes an instant that is packed as the time since `start`: undefined if not known. */
export function instant(start: number, since: number): number | undefined {
  if (since === -1) return undefined;
  return since >= 0 ? start + since : start + since + 2;
}

function endsOf(start: Numbers, duration: Numbers, open: number): Float64Array {
  return Float64Array.from(start, (from, row) => instant(from, duration[row]!) ?? open);
}

function runningMaximum(values: Float64Array, first: ArrayLike<number>): Float64Array {
  const result = new Float64Array(values.length);
  for (let part = 0; part + 1 < first.length; ++part) {
    let latest = -Infinity;
    for (let row = first[part]!; row < first[part + 1]!; ++row) {
      latest = Math.max(latest, values[row]!);
      result[row] = latest;
    }
  }
  return result;
}

function callKinds(data: PageData, table: Table): Numbers {
  const known = new Map(data.time.call_kinds.map(({ mpi, comm }, i) => [`${mpi}\n${comm}`, i]));
  const name = (id: number) => data.texts[id] || null;
  const [functions, comms] = [table.column('function'), table.column('comm')];
  const found = new Map<number, number>();
  return Float64Array.from(functions, (id, row) => {
    const comm = comms[row]!;
    const pair = id * data.texts.length + comm;
    if (!found.has(pair)) found.set(pair, known.get(`${name(id)}\n${name(comm)}`) ?? -1);
    return found.get(pair)!;
  });
}

/** The lowest free track for each row; all rows that find none share the last one. */
function layTracks(first: Int32Array, start: Numbers, end: Float64Array) {
  const track = new Uint8Array(start.length);
  const tracks = new Uint8Array(first.length - 1).fill(1);
  for (let process = 0; process + 1 < first.length; ++process) {
    const until = new Float64Array(kMaxTracks).fill(-Infinity);
    for (let row = first[process]!; row < first[process + 1]!; ++row) {
      let free = 0;
      while (free < kMaxTracks - 1 && until[free]! > start[row]!) ++free;
      until[free] = Math.max(until[free]!, end[row]!);
      track[row] = free;
      tracks[process] = Math.max(tracks[process]!, free + 1);
    }
  }
  return { track, tracks };
}

function makeLayer(data: PageData, tables: Tables, layer: Layer, open: number): LayerDetails {
  const table = tableOf(tables, kTableOf[layer]);
  const process = table.column('process');
  const start = table.column('start_ns');
  const end = endsOf(start, table.column('duration_ns'), open);
  const first = Int32Array.from({ length: data.processes.length + 1 }, (_, index) =>
    lowerBound(process, index),
  );
  const key =
    layer === 'mpi' ? callKinds(data, table) : table.column(layer === 'ucp' ? 'cell' : 'total');
  const latest = runningMaximum(end, first);
  return { layer, table, start, end, key, first, latest, ...layTracks(first, start, end) };
}

export function makeDetails(data: PageData, tables: Tables, open: number): Details {
  const messages = tableOf(tables, 'messages');
  const start = messages.column('start_ns');
  const end = Float64Array.from(endsOf(start, messages.column('duration_ns'), NaN), (at, row) =>
    Number.isNaN(at) ? start[row]! : Math.max(at, start[row]!),
  );
  const firstHop = new Int32Array(messages.rows + 1);
  messages.column('hops').forEach((count, row) => (firstHop[row + 1] = firstHop[row]! + count));
  const ids = messages.column('id');
  return {
    layers: kLayers.map((layer) => makeLayer(data, tables, layer, open)),
    messages,
    messageStart: start,
    messageEnd: end,
    latestMessage: runningMaximum(end, [0, messages.rows]),
    hops: tableOf(tables, 'hops'),
    firstHop,
    rowOfMessage: new Map(Array.from(ids, (id, row) => [id, row])),
  };
}

/**
 * A range of rows that holds every operation of the process in progress within [from, to). Other
 * rows in the range have ended before: a caller checks each end.
 */
export function rowsWithin(
  { first, start, latest }: LayerDetails,
  process: number,
  from: number,
  to: number,
): [number, number] {
  const [begin, end] = [first[process]!, first[process + 1]!];
  return [lowerBound(latest, from, begin, end), lowerBound(start, to, begin, end)];
}

/** The same for messages. */
export function messagesWithin(details: Details, from: number, to: number): [number, number] {
  return [lowerBound(details.latestMessage, from), lowerBound(details.messageStart, to)];
}
