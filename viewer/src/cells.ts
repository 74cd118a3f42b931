// The cells of a page, out of its packed tables `cells` and `cell_transfers`.

import type { Cell, TrafficClass } from './data';
import { kUnknownProcess } from './data';
import { DataError } from './error';
import { tableOf, type Numbers, type Tables } from './packed';

/** Checks that indexes point at something. Throws a DataError. */
export function readCells(
  tables: Tables,
  classes: readonly TrafficClass[],
  processes: number,
): Cell[] {
  const cells = tableOf(tables, 'cells');
  const transfers = tableOf(tables, 'cell_transfers');
  const [src, dst, of] = ['src', 'dst', 'class'].map((name) => cells.column(name)) as [Numbers, Numbers, Numbers];
  const [messages, bytes, timed, ns] = ['messages', 'bytes', 'timed', 'ns'].map((name) =>
    cells.column(name),
  ) as [Numbers, Numbers, Numbers, Numbers];
  const [count, moved, wire] = ['count', 'bytes', 'wire_bytes'].map((name) =>
    transfers.column(name),
  ) as [Numbers, Numbers, Numbers];
  const fail = (row: number, problem: string): never => {
    throw new DataError(`.cells[${row}]${problem}`);
  };
  const process = (row: number, end: string, index: number) => {
    if (index < kUnknownProcess || index >= processes) {
      fail(row, `.${end}: there is no process ${index}`);
    }
    return index;
  };
  let next = 0;
  const read = Array.from({ length: cells.rows }, (_, row): Cell => {
    const path = classes[of[row]!]?.path ?? fail(row, `.class: no class ${of[row]}`);
    const first = next;
    next += path.length;
    if (next > transfers.rows) fail(row, `: its ${path.length} steps have no totals`);
    return {
      src: process(row, 'src', src[row]!),
      dst: process(row, 'dst', dst[row]!),
      class: of[row]!,
      messages: messages[row]!,
      bytes: bytes[row]!,
      timed: timed[row]!,
      ns: ns[row]!,
      transfers: path.map((_step, hop) => ({
        count: count[first + hop]!,
        bytes: moved[first + hop]!,
        wire_bytes: wire[first + hop]!,
      })),
    };
  });
  if (next !== transfers.rows) {
    throw new DataError(`.cells: ${transfers.rows} totals for ${next} steps`);
  }
  return read;
}
