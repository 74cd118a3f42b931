// The cells of a page, out of its packed tables `cells` and `cell_transfers`.

import type { Cells, TrafficClass } from './data';
import { kUnknownProcess } from './data';
import { DataError } from './error';
import { tableOf, type Numbers, type Table, type Tables } from './packed';

const fail = (row: number, problem: string): never => {
  throw new DataError(`.cells[${row}]${problem}`);
};

/** Where the transfers of each cell begin, and where those of the last one end. */
function firstTransfers(of: Numbers, classes: readonly TrafficClass[], totals: number): Int32Array {
  const lengths = classes.map(({ path }) => path.length);
  const first = new Int32Array(of.length + 1);
  for (let row = 0; row < of.length; ++row) {
    const length = lengths[of[row]!] ?? fail(row, `.class: no class ${of[row]}`);
    first[row + 1] = first[row]! + length;
    if (first[row + 1]! > totals) fail(row, `: its ${length} steps have no totals`);
  }
  const used = first[of.length]!;
  if (used !== totals) throw new DataError(`.cells: ${totals} totals for ${used} steps`);
  return first;
}

/** Checked in their stored form: as whole numbers of 32 bits, greater values would turn into others. */
function processesOf(cells: Table, end: 'src' | 'dst', limit: number): Int32Array {
  const processes = cells.column(end);
  for (let row = 0; row < processes.length; ++row) {
    const process = processes[row]!;
    if (process < kUnknownProcess || process >= limit) fail(row, `.${end}: there is no process ${process}`);
  }
  return new Int32Array(processes);
}

/** Checks that indexes point at something. Throws a DataError. One pass over each column, without an object of each cell. */
export function readCells(tables: Tables, classes: readonly TrafficClass[], processes: number): Cells {
  const cells = tableOf(tables, 'cells');
  const transfers = tableOf(tables, 'cell_transfers');
  const cellClass = cells.column('class');
  return {
    firstTransfer: firstTransfers(cellClass, classes, transfers.rows),
    cellClass: new Int32Array(cellClass),
    src: processesOf(cells, 'src', processes),
    dst: processesOf(cells, 'dst', processes),
    messages: new Float64Array(cells.column('messages')),
    bytes: new Float64Array(cells.column('bytes')),
    timed: new Float64Array(cells.column('timed')),
    time: new Float64Array(cells.column('ns')),
    transferCount: new Float64Array(transfers.column('count')),
    transferBytes: new Float64Array(transfers.column('bytes')),
    transferWireBytes: new Float64Array(transfers.column('wire_bytes')),
  };
}
