// The cells and their transfers as columns, so that a filter is one scan of typed arrays.

import type { PageData, Step } from './data';

/**
 * Cell `c` owns the transfer totals `firstTransfer[c]` to `firstTransfer[c + 1]`, in path order.
 * Counts, bytes and nanoseconds are exact up to 2^53.
 */
export interface Columns {
  readonly data: PageData;
  /** The paths of all classes, one after the other. */
  readonly steps: readonly Step[];

  readonly src: Int32Array;
  readonly dst: Int32Array;
  readonly cellClass: Int32Array;
  readonly messages: Float64Array;
  readonly bytes: Float64Array;
  /** Messages whose duration is known, and nanoseconds that these took. */
  readonly timed: Float64Array;
  readonly time: Float64Array;
  readonly firstTransfer: Int32Array;

  readonly transferStep: Int32Array;
  readonly transferCount: Float64Array;
  readonly transferBytes: Float64Array;
  readonly transferWireBytes: Float64Array;
}

export function makeColumns(data: PageData): Columns {
  const { cells, classes } = data;
  const steps: Step[] = [];
  const firstStep = classes.map(({ path }) => steps.push(...path) - path.length);
  const transfers = cells.reduce((sum, cell) => sum + cell.transfers.length, 0);
  const columns: Columns = {
    data,
    steps,
    src: Int32Array.from(cells, (cell) => cell.src),
    dst: Int32Array.from(cells, (cell) => cell.dst),
    cellClass: Int32Array.from(cells, (cell) => cell.class),
    messages: Float64Array.from(cells, (cell) => cell.messages),
    bytes: Float64Array.from(cells, (cell) => cell.bytes),
    timed: Float64Array.from(cells, (cell) => cell.timed),
    time: Float64Array.from(cells, (cell) => cell.ns),
    firstTransfer: new Int32Array(cells.length + 1),
    transferStep: new Int32Array(transfers),
    transferCount: new Float64Array(transfers),
    transferBytes: new Float64Array(transfers),
    transferWireBytes: new Float64Array(transfers),
  };
  let next = 0;
  cells.forEach((cell, index) => {
    cell.transfers.forEach((totals, hop) => {
      columns.transferStep[next] = firstStep[cell.class]! + hop;
      columns.transferCount[next] = totals.count;
      columns.transferBytes[next] = totals.bytes;
      columns.transferWireBytes[next] = totals.wire_bytes;
      ++next;
    });
    columns.firstTransfer[index + 1] = next;
  });
  return columns;
}
