// The communication matrix: rows are sources, columns are destinations. Here they are ranks; memories.ts and
// device_matrix.ts define other rows.

import type { Columns } from './columns';
import { kUnknownProcess } from './data';

/** The most rows that are drawn; with more ranks, neighbouring ranks share a row. */
export const kMaxSide = 1024;

/** A place in the matrix: the pair from the processes of the row to those of the column. */
export interface Square {
  readonly row: number;
  readonly column: number;
}

/** The number of rows, and of columns. */
export interface Side {
  readonly side: number;
}

/** Which processes each row (and each column) of the matrix stands for. */
export interface Axis extends Side {
  readonly processes: number;
  /** Consecutive processes per row. */
  readonly group: number;
  /** The last row stands for the unknown process. */
  readonly hasUnknown: boolean;
}

/** The least and the greatest value of the colour scale. */
export interface Extent {
  readonly max: number;
  /** Infinity when every value is 0. */
  readonly minPositive: number;
}

export interface Matrix extends Extent {
  readonly axis: Side;
  /** Row-major, `side * side`. */
  readonly values: Float64Array;
}

/** `alsoUnknown`: there is also traffic of an unknown process. */
export function makeAxis(columns: Columns, maxSide = kMaxSide, alsoUnknown = false): Axis {
  const processes = columns.data.processes.length;
  const hasUnknown = alsoUnknown || columns.src.includes(kUnknownProcess) || columns.dst.includes(kUnknownProcess);
  const group = Math.max(1, Math.ceil(processes / maxSide));
  return { processes, group, hasUnknown, side: Math.ceil(processes / group) + Number(hasUnknown) };
}

export function rowOf(axis: Axis, process: number): number {
  return process === kUnknownProcess ? axis.side - 1 : Math.floor(process / axis.group);
}

/** The processes of a row as the half-open range [first, last); the unknown one is [-1, 0). */
export function processesOf(axis: Axis, row: number): { first: number; last: number } {
  if (axis.hasUnknown && row === axis.side - 1) return { first: kUnknownProcess, last: 0 };
  const first = row * axis.group;
  return { first, last: Math.min(first + axis.group, axis.processes) };
}

/** The processes of each cell, or kUnknownProcess. */
export interface Ends {
  readonly src: ArrayLike<number>;
  readonly dst: ArrayLike<number>;
}

/** For each cell: rowOf(src) * side + rowOf(dst), the index of its square in a matrix. */
export function squaresOf({ src, dst }: Ends, axis: Axis): Int32Array {
  const rows = Int32Array.from({ length: axis.processes + 1 }, (_, at) => rowOf(axis, at - 1));
  const squares = new Int32Array(src.length);
  for (let c = 0; c < squares.length; ++c) squares[c] = rows[src[c]! + 1]! * axis.side + rows[dst[c]! + 1]!;
  return squares;
}

/** The value of a square is the sum of `cellValues` over the cells that fall into it. */
export function makeMatrix(squares: Int32Array, axis: Side, cellValues: Float64Array): Matrix {
  const values = new Float64Array(axis.side * axis.side);
  for (let c = 0; c < squares.length; ++c) {
    const value = cellValues[c]!;
    if (value !== 0) values[squares[c]!]! += value;
  }
  let max = 0;
  let minPositive = Infinity;
  for (const value of values) {
    if (value > max) max = value;
    if (value > 0 && value < minPositive) minPositive = value;
  }
  return { axis, values, max, minPositive };
}

/** The indexes of the cells that fall into one square of the matrix. One scan of the cells. */
export function cellsAt(squares: Int32Array, axis: Side, { row, column }: Square): number[] {
  const square = row * axis.side + column;
  const found: number[] = [];
  for (let c = 0; c < squares.length; ++c) if (squares[c] === square) found.push(c);
  return found;
}

export type Scale = 'log' | 'linear';

/** Where a positive value lies between the smallest and the largest, from 0 to 1. */
export function position({ max, minPositive }: Extent, scale: Scale, value: number): number {
  if (scale === 'linear') return value / max;
  return max === minPositive ? 1 : Math.log(value / minPositive) / Math.log(max / minPositive);
}

/** The inverse of `position`. */
export function valueAt({ max, minPositive }: Extent, scale: Scale, at: number): number {
  return scale === 'linear' ? at * max : minPositive * (max / minPositive) ** at;
}
