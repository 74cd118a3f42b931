// The pairs of ranks that carry most: what stands beside the matrix.

import type { Columns } from './columns';
import { cellValues, type Measure, type Selection } from './filter';
import { rowsOf, type Matrix, type Square } from './matrix';
import type { View } from './page';

export interface PairLoad extends Square, Record<Measure, number> {
  /** Messages whose duration is known. */
  timed: number;
}

export interface LargestPairs {
  /** In order of falling value in the matrix; equal ones by source, then by destination. */
  readonly pairs: readonly PairLoad[];
  /** How many squares of the matrix have a value above 0. */
  readonly count: number;
}

/**
 * The `limit` squares with the largest values above 0. Each measure of a pair is the sum of the
 * selected cells that fall into its square.
 */
export function largestPairs(
  columns: Columns,
  selection: Selection,
  { axis, values }: Matrix,
  limit: number,
): LargestPairs {
  const { positive, count } = greatest(values, limit);
  const loads = positive.map((index): PairLoad => {
    const [row, column] = [Math.floor(index / axis.side), index % axis.side];
    return { row, column, bytes: 0, messages: 0, transfers: 0, wire_bytes: 0, time: 0, timed: 0 };
  });
  const loadOf = new Int32Array(values.length).fill(-1);
  positive.forEach((index, at) => (loadOf[index] = at));
  const rows = rowsOf(axis);
  const { src, dst, firstTransfer, transferCount, transferWireBytes } = columns;
  for (let c = 0; c < src.length; ++c) {
    const load = loads[loadOf[rows[src[c]! + 1]! * axis.side + rows[dst[c]! + 1]!]!];
    if (!load) continue;
    if (selection.cells[c]) {
      load.bytes += columns.bytes[c]!;
      load.messages += columns.messages[c]!;
      load.time += columns.time[c]!;
      load.timed += columns.timed[c]!;
    }
    for (let t = firstTransfer[c]!; t < firstTransfer[c + 1]!; ++t) {
      if (!selection.transfers[t]) continue;
      load.transfers += transferCount[t]!;
      load.wire_bytes += transferWireBytes[t]!;
    }
  }
  return { pairs: loads, count };
}

/** Indexes of the greatest `limit` values above 0, in falling order, equal ones by index; and how many are above 0. */
function greatest(values: Float64Array, limit: number): { positive: number[]; count: number } {
  const sorted = values.filter((value) => value > 0).sort();
  const count = sorted.length;
  const least = sorted[Math.max(0, count - limit)] ?? Infinity;
  const positive: number[] = [];
  values.forEach((value, index) => {
    if (value >= least) positive.push(index);
  });
  positive.sort((a, b) => values[b]! - values[a]! || a - b);
  return { positive: positive.slice(0, limit), count };
}

/** Of each process: the payload of the selected messages that it sent or received, those to itself once. */
export function trafficOfProcesses({ columns, selection }: Pick<View, 'columns' | 'selection'>, processes: number) {
  const sums = new Float64Array(processes);
  const values = cellValues(columns, selection, 'bytes');
  const { src, dst } = columns;
  for (let c = 0; c < src.length; ++c) {
    if (src[c]! >= 0) sums[src[c]!]! += values[c]!;
    if (dst[c]! >= 0 && dst[c] !== src[c]) sums[dst[c]!]! += values[c]!;
  }
  return sums;
}
