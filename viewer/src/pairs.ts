// The pairs of ranks with the most traffic: the list beside the matrix.

import type { Columns } from './columns';
import { addCell, cellValues, noLoad, type CellLoad, type Selection } from './filter';
import type { Matrix, Square } from './matrix';
import type { View } from './page';

export interface PairLoad extends Square, CellLoad {}

export interface LargestPairs {
  /** In order of falling value in the matrix; equal ones by source, then by destination. */
  readonly pairs: readonly PairLoad[];
  /** How many squares of the matrix have a value above 0. */
  readonly count: number;
}

/**
 * The `limit` squares with the largest values above 0. Each measure of a pair is the sum of the selected cells that
 * fall into its square. `squares`: the square of each cell.
 */
export function largestPairs(
  columns: Columns,
  selection: Selection,
  squares: Int32Array,
  matrix: Matrix,
  limit: number,
): LargestPairs {
  return largestSquares(squares, matrix, limit, (load, c) => addCell(load, columns, selection, c));
}

/** The same for anything that has squares; `add` adds its part to the sums of its square. */
export function largestSquares(
  squares: Int32Array,
  { axis, values }: Matrix,
  limit: number,
  add: (load: CellLoad, index: number) => void,
): LargestPairs {
  const { positive, count } = greatest(values, limit);
  const loads = positive.map((index): PairLoad => {
    const [row, column] = [Math.floor(index / axis.side), index % axis.side];
    return { row, column, ...noLoad() };
  });
  const loadOf = new Int32Array(values.length).fill(-1);
  positive.forEach((index, at) => (loadOf[index] = at));
  for (let i = 0; i < squares.length; ++i) {
    const at = loadOf[squares[i]!]!;
    if (at >= 0) add(loads[at]!, i);
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

/** For each process: the payload of the selected messages that it sent or received; messages to itself count once. */
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
