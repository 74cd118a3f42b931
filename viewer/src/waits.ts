// Which process waited for which (docs/waits.md): sums by pair of processes, when each process waited, and the waits of
// the MPI calls that the page lists one by one.

import type { PageData } from './data';
import type { LayerDetails } from './details';
import { tableOf, type Numbers, type Table, type Tables } from './packed';
import type { Filter } from './filter';
import { lowerBound, makePyramid, type ActivityChoice, type Pyramid, type TimeAxis } from './slabs';

export interface Waits {
  readonly kinds: readonly string[];
  /** Reasons why it is not known whether it was waiting; the first one is "none". */
  readonly unknown: readonly string[];
  /** `wait_sums`: by the process that waited, the one that it waited for, and kind. */
  readonly sums: Table;
  /** Nanoseconds that each process waited, over time. */
  readonly busy: Pyramid;
  /** For each process: how long it waited, and how long others waited for it. */
  readonly waited: Float64Array;
  readonly caused: Float64Array;
}

/** The waits of the calls that the page lists one by one. */
export interface SingleWaits {
  /** `waits`, and for each row of `mpi_calls` the row of its first wait; the last entry is the end of all. */
  readonly table: Table;
  readonly firstOfCall: Uint32Array;
  /** Columns of the table, because it is read for each call that is drawn. */
  readonly parts: Record<'since' | 'ns' | 'cause' | 'kind' | 'unknown', Numbers>;
}

export function makeSingleWaits(tables: Tables): SingleWaits {
  const table = tableOf(tables, 'waits');
  const call = table.column('call');
  const calls = tableOf(tables, 'mpi_calls').rows;
  return {
    table,
    firstOfCall: Uint32Array.from({ length: calls + 1 }, (_, row) => lowerBound(call, row)),
    parts: {
      since: table.column('since_start_ns'),
      ns: table.column('ns'),
      cause: table.column('cause'),
      kind: table.column('kind'),
      unknown: table.column('unknown'),
    },
  };
}

export function makeWaits(data: PageData, tables: Tables, axis: TimeAxis): Waits {
  const sums = tableOf(tables, 'wait_sums');
  const processes = data.processes.length;
  const [waited, caused] = [new Float64Array(processes), new Float64Array(processes)];
  const [process, cause, ns] = columnsOf(sums, 'process', 'cause', 'ns');
  for (let row = 0; row < sums.rows; ++row) {
    waited[process![row]!]! += ns![row]!;
    if (cause![row]! >= 0) caused[cause![row]!]! += ns![row]!;
  }
  return {
    kinds: data.waits.kinds,
    unknown: data.waits.unknown,
    sums,
    busy: makePyramid(waitedInSlabs(tableOf(tables, 'wait_activity'), processes, axis), processes),
    waited,
    caused,
  };
}

function columnsOf(table: Table, ...names: string[]): Numbers[] {
  return names.map((name) => table.column(name));
}

function waitedInSlabs(table: Table, processes: number, { slabs }: TimeAxis): Float64Array {
  const values = new Float64Array(processes * slabs);
  const [process, slab, length, busy] = columnsOf(table, 'process', 'slab', 'length', 'busy_ns');
  for (let row = 0; row < table.rows; ++row) {
    const first = process![row]! * slabs + slab![row]!;
    for (let at = first; at < first + length![row]!; ++at) values[at]! += busy![row]!;
  }
  return values;
}

/**
 * Those of these processes whose `busy` matches the filter: it is known per process, but not by function or
 * communicator of the wait.
 */
export function processesToldBy(
  { mpi, comm }: Filter,
  choice: ActivityChoice,
  processes: readonly number[],
): readonly number[] {
  if (mpi !== undefined || comm !== undefined) return [];
  return processes.filter((process) => choice.processes[process] === 1);
}

/** One wait of a call, in nanoseconds of the run. */
export interface Wait {
  readonly from: number;
  readonly to: number;
  /** -1: not known. */
  readonly cause: number;
  readonly kind: number;
  /** Index into Waits.unknown; 0: it was waiting. */
  readonly unknown: number;
}

/** The waits of a row of `mpi_calls`, in the order of their start. */
export function waitsOfCall({ parts, firstOfCall }: SingleWaits, calls: LayerDetails, row: number): Wait[] {
  const { since, ns, cause, kind, unknown } = parts;
  return Array.from({ length: firstOfCall[row + 1]! - firstOfCall[row]! }, (_, index) => {
    const at = firstOfCall[row]! + index;
    const from = calls.start[row]! + since[at]!;
    return { from, to: from + ns[at]!, cause: cause[at]!, kind: kind[at]!, unknown: unknown[at]! };
  });
}

/** The call of the other process that ended the wait: it begins at that instant. */
export function callThatEnded(calls: LayerDetails, { cause, to, unknown }: Wait): number | undefined {
  if (cause < 0 || unknown !== 0) return undefined;
  const [begin, end] = [calls.first[cause]!, calls.first[cause + 1]!];
  const row = lowerBound(calls.start, to, begin, end);
  return row < end && calls.start[row] === to ? row : undefined;
}
