// Traffic over time by rank: a row for each rank, or for several, and a column for each part of the time. A rank's row
// counts what it sends, so that each byte counts once. tests/rank_bins.test.ts compares the sums with the cells.

import type { Columns } from './columns';
import { kUnknownProcess } from './data';
import { isOfMessages, type Measure, type Selection } from './filter';
import { rowOf, type Axis, type Extent } from './matrix';
import type { Tables } from './packed';
import { slabValues, type TimeAxis } from './slabs';

/** In pixels, and therefore also the most rows. */
export const kMostRankHeight = 256;
const kTallestRow = 16;

/** The ranks of each row: the same number in all rows but the last one of known ranks. */
export function makeRankAxis({ data, src }: Columns, mostRows = kMostRankHeight): Axis {
  const processes = data.processes.length;
  const group = Math.max(1, Math.ceil(processes / mostRows));
  const hasUnknown = src.includes(kUnknownProcess);
  return { processes, group, hasUnknown, side: Math.ceil(processes / group) + Number(hasUnknown) };
}

/** In whole pixels. */
export function rankRowHeight({ side }: Axis): number {
  return Math.max(1, Math.min(kTallestRow, Math.floor(kMostRankHeight / Math.max(1, side))));
}

/** The source of each cell, or of the cell of each transfer total. */
function sourcesOf({ src, firstTransfer, transferStep }: Columns, ofMessages: boolean): ArrayLike<number> {
  if (ofMessages) return src;
  const sources = new Int32Array(transferStep.length);
  src.forEach((source, cell) => sources.fill(source, firstTransfer[cell]!, firstTransfer[cell + 1]!));
  return sources;
}

/** By source and slab: the selected sum of the measure; the unknown source comes first. */
export function densityByRank(
  columns: Columns,
  tables: Tables,
  axis: TimeAxis,
  selection: Selection,
  measure: Measure,
): Float64Array {
  const sums = new Float64Array((columns.data.processes.length + 1) * axis.slabs);
  const sources = sourcesOf(columns, isOfMessages(measure));
  slabValues(tables, selection, measure, (slab, key, value) => {
    sums[(sources[key]! + 1) * axis.slabs + slab]! += value;
  });
  return sums;
}

export interface RankBins extends Extent {
  readonly rows: Axis;
  readonly columns: number;
  /** By row, then by column. */
  readonly values: Float64Array;
}

/** The column of a slab, if this many columns show all slabs. */
export function columnOf(slab: number, slabs: number, columns: number): number {
  return Math.min(columns - 1, Math.floor((slab * columns) / slabs));
}

/** The slabs of a column: [first, end). */
export function slabsOf(column: number, slabs: number, columns: number): [number, number] {
  return [Math.ceil((column * slabs) / columns), Math.ceil(((column + 1) * slabs) / columns)];
}

export function mergeRankBins(density: Float64Array, rows: Axis, slabs: number, columns: number): RankBins {
  const values = new Float64Array(rows.side * columns);
  const place = Int32Array.from({ length: slabs }, (_, slab) => columnOf(slab, slabs, columns));
  for (let process = rows.hasUnknown ? kUnknownProcess : 0; process < rows.processes; ++process) {
    const row = rowOf(rows, process) * columns;
    const first = (process + 1) * slabs;
    for (let slab = 0; slab < slabs; ++slab) values[row + place[slab]!]! += density[first + slab]!;
  }
  let max = 0;
  let minPositive = Infinity;
  for (const value of values) {
    if (value > max) max = value;
    if (value > 0 && value < minPositive) minPositive = value;
  }
  return { rows, columns, values, max, minPositive };
}
