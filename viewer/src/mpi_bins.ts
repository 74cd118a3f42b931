// MPI calls over time by function, for lanes that show bins: a few functions have a colour of their own, the others
// share one. MPI_Init and MPI_Finalize are separate, because they exchange no data.

import type { PageData } from './data';
import { slotsOf } from './name_colours';
import { tableOf, type Numbers, type Table, type Tables } from './packed';
import { counts, lowerBound, type ActivityChoice } from './slabs';

/** At most this many functions can be distinguished by colour. */
export const kColouredFunctions = 7;
export const kOtherFunctions = 'other functions';
export const kSetUpFunctions = 'MPI_Init, MPI_Finalize';

const kSetUp = new Set(['MPI_Init', 'MPI_Init_thread', 'MPI_Finalize', 'MPI_Session_init', 'MPI_Session_finalize']);

/** Groups of call kinds: first the functions with most time, then the others, then set-up. */
export interface FunctionGroups {
  readonly names: readonly string[];
  /** Slots of categoryColour, for functions with a colour of their own. */
  readonly slots: readonly number[];
  /** By index into `time.call_kinds`. */
  readonly ofKind: Uint8Array;
  readonly others: number;
  readonly setUp: number;
}

export function groupFunctions(data: PageData, tables: Tables): FunctionGroups {
  const table = tableOf(tables, 'mpi_activity');
  const [key, busy, length] = ['key', 'busy_ns', 'length'].map((name) => table.column(name)) as [
    Numbers,
    Numbers,
    Numbers,
  ];
  const time = new Map<string, number>();
  for (let row = 0; row < table.rows; ++row) {
    const name = data.time.call_kinds[key[row]!]?.mpi ?? '';
    time.set(name, (time.get(name) ?? 0) + busy[row]! * length[row]!);
  }
  const names = [...time]
    .filter(([name]) => name !== '' && !kSetUp.has(name))
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, kColouredFunctions)
    .map(([name]) => name);
  const slots = slotsOf('function', names);
  const others = names.length;
  const setUp = others + 1;
  const groupOf = (mpi: string | null) => {
    if (mpi !== null && kSetUp.has(mpi)) return setUp;
    const found = mpi === null ? -1 : names.indexOf(mpi);
    return found < 0 ? others : found;
  };
  return {
    names: [...names, kOtherFunctions, kSetUpFunctions],
    slots: names.map((name) => slots.get(name)!),
    ofKind: Uint8Array.from(data.time.call_kinds, ({ mpi }) => groupOf(mpi)),
    others,
    setUp,
  };
}

/** Bins, each of 2^level slabs: [begin, end). */
export interface Bins {
  readonly level: number;
  readonly begin: number;
  readonly end: number;
}

/**
 * Nanoseconds in calls of each group, by bin, then by group, added to `sums`. Costs the rows of the process and the
 * bins that they span: `mpi_activity` is sorted by process.
 */
export function functionBins(
  table: Table,
  groups: FunctionGroups,
  choice: ActivityChoice,
  process: number,
  { level, begin, end }: Bins,
  sums = new Float64Array(Math.max(0, end - begin) * groups.names.length),
): Float64Array {
  const width = groups.names.length;
  const processes = table.column('process');
  const [key, slab, length, busy] = ['key', 'slab', 'length', 'busy_ns'].map((name) =>
    table.column(name),
  ) as [Numbers, Numbers, Numbers, Numbers];
  const size = 2 ** level;
  const last = lowerBound(processes, process + 1);
  for (let row = lowerBound(processes, process); row < last; ++row) {
    if (!counts(choice, 'mpi', process, key[row]!)) continue;
    const group = groups.ofKind[key[row]!] ?? groups.others;
    let at = Math.max(slab[row]!, begin * size);
    const stop = Math.min(slab[row]! + length[row]!, end * size);
    while (at < stop) {
      const bin = Math.floor(at / size);
      const until = Math.min(stop, (bin + 1) * size);
      sums[(bin - begin) * width + group]! += busy[row]! * (until - at);
      at = until;
    }
  }
  return sums;
}
