// The pairs of ranks that carry most: what stands beside the matrix.

import type { Columns } from './columns';
import { cellValues, kMeasures, timedMessages, type Measure, type Selection } from './filter';
import { rowOf, type Matrix, type Square } from './matrix';
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
  const positive: number[] = [];
  values.forEach((value, index) => {
    if (value > 0) positive.push(index);
  });
  positive.sort((a, b) => values[b]! - values[a]! || a - b);
  const loads = new Map<number, PairLoad>();
  for (const index of positive.slice(0, limit)) {
    const row = Math.floor(index / axis.side);
    const column = index % axis.side;
    loads.set(index, { row, column, bytes: 0, messages: 0, transfers: 0, wire_bytes: 0, time: 0, timed: 0 });
  }
  const { src, dst } = columns;
  const ofCells = kMeasures.map((measure) => cellValues(columns, selection, measure));
  const timed = timedMessages(columns, selection);
  for (let c = 0; c < src.length; ++c) {
    const load = loads.get(rowOf(axis, src[c]!) * axis.side + rowOf(axis, dst[c]!));
    if (!load) continue;
    kMeasures.forEach((measure, m) => (load[measure] += ofCells[m]![c]!));
    load.timed += timed[c]!;
  }
  return { pairs: [...loads.values()], count: positive.length };
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
