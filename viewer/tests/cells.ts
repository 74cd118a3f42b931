// The cells of a page one by one, for definitions that are written in terms of single cells.

import type { Cells, PageData, TrafficClass } from '../src/data';

export interface TransferTotals {
  count: number;
  bytes: number;
  wire_bytes: number;
}

/** Totals of one class between two processes; `transfers[i]` belongs to `path[i]` of the class. */
export interface Cell {
  src: number;
  dst: number;
  class: number;
  messages: number;
  bytes: number;
  timed: number;
  ns: number;
  transfers: TransferTotals[];
}

export function cellsOf(cells: Cells): Cell[] {
  return Array.from(cells.src, (src, c) => ({
    src,
    dst: cells.dst[c]!,
    class: cells.cellClass[c]!,
    messages: cells.messages[c]!,
    bytes: cells.bytes[c]!,
    timed: cells.timed[c]!,
    ns: cells.time[c]!,
    transfers: Array.from({ length: cells.firstTransfer[c + 1]! - cells.firstTransfer[c]! }, (_, hop) => {
      const t = cells.firstTransfer[c]! + hop;
      return {
        count: cells.transferCount[t]!,
        bytes: cells.transferBytes[t]!,
        wire_bytes: cells.transferWireBytes[t]!,
      };
    }),
  }));
}

/** The inverse. */
export function columnsOf(cells: readonly Cell[], classes: readonly TrafficClass[]): Cells {
  const transfers = cells.flatMap((cell) => {
    if (cell.transfers.length !== classes[cell.class]!.path.length) throw new Error('a step without totals');
    return cell.transfers;
  });
  const ends = cells.map(((next) => (cell: Cell) => (next += cell.transfers.length))(0));
  return {
    src: Int32Array.from(cells, ({ src }) => src),
    dst: Int32Array.from(cells, ({ dst }) => dst),
    cellClass: Int32Array.from(cells, (cell) => cell.class),
    messages: Float64Array.from(cells, ({ messages }) => messages),
    bytes: Float64Array.from(cells, ({ bytes }) => bytes),
    timed: Float64Array.from(cells, ({ timed }) => timed),
    time: Float64Array.from(cells, ({ ns }) => ns),
    firstTransfer: Int32Array.from([0, ...ends]),
    transferCount: Float64Array.from(transfers, ({ count }) => count),
    transferBytes: Float64Array.from(transfers, ({ bytes }) => bytes),
    transferWireBytes: Float64Array.from(transfers, ({ wire_bytes }) => wire_bytes),
  };
}

/** The cells of a run that make_run.mjs made. */
export function pageDataOf(run: unknown): PageData {
  const { cells, ...others } = run as Omit<PageData, 'cells'> & { cells: Cell[] };
  return { ...others, cells: columnsOf(cells, others.classes) };
}
