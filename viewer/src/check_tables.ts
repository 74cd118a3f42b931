// Checks that the numbers of the packed tables are valid indexes, and that rows are in their order.

import type { Columns } from './columns';
import { kMemoryKinds, type PageData } from './data';
import { DataError } from './error';
import { tableOf, type Tables } from './packed';

/** Tables, and what precedes `memory` and `gpu` in the names of their columns. */
const kPlaces = [
  ['ucp_operations', ''],
  ['messages', 'src_'],
  ['messages', 'dst_'],
  ['transfers', 'from_'],
  ['transfers', 'to_'],
  ['hops', 'from_'],
  ['hops', 'to_'],
] as const;

type Inside = (name: string, column: string, limit: number, least?: number) => void;

function makeInside(tables: Tables): Inside {
  return (name, column, limit, least = 0) => {
    for (const value of tableOf(tables, name).column(column)) {
      if (value < least || value >= limit) {
        throw new DataError(`data.packed: ${name}.${column} is ${value}, of ${limit}`);
      }
    }
  };
}

/** Checks that every number of the tables is a valid index. Throws a DataError. */
export function checkTables(columns: Columns, tables: Tables): void {
  const { data } = columns;
  const inside = makeInside(tables);
  const cells = columns.src.length;
  const totals = columns.transferCount.length;
  inside('slab_cells', 'slab', data.time.slabs);
  inside('slab_cells', 'cell', cells);
  inside('slab_transfers', 'slab', data.time.slabs);
  inside('slab_transfers', 'total', totals);
  for (const [layer, keys] of [
    ['mpi', data.time.call_kinds.length],
    ['ucp', cells],
    ['uct', totals],
  ] as const) {
    const name = `${layer}_activity`;
    inside(name, 'process', data.processes.length);
    inside(name, 'key', keys, -1);
    inside(name, 'slab', data.time.slabs);
    tableOf(tables, name)
      .column('process')
      .forEach((process, row, all) => {
        if (row > 0 && process < all[row - 1]!) {
          throw new DataError(`data.packed: ${name} row ${row} is not in the order of processes`);
        }
      });
    const slab = tableOf(tables, name).column('slab');
    tableOf(tables, name)
      .column('length')
      .forEach((length, row) => {
        if (slab[row]! + length > data.time.slabs) {
          throw new DataError(`data.packed: ${name} row ${row} ends behind the last slab`);
        }
      });
  }
  checkWaitSums(data, tables, inside);
  checkSingles(columns, tables);
}

/** The same for the operations that are listed one by one, in the page or in a tile. */
export function checkSingles(columns: Columns, tables: Tables): void {
  const { data } = columns;
  const inside = makeInside(tables);
  const cells = columns.src.length;
  const totals = columns.transferCount.length;
  for (const name of ['mpi_calls', 'ucp_operations', 'transfers']) {
    inside(name, 'process', data.processes.length);
  }
  inside('messages', 'cell', cells, -1);
  inside('ucp_operations', 'cell', cells, -1);
  inside('transfers', 'total', totals, -1);
  for (const [name, end] of kPlaces) {
    inside(name, `${end}memory`, kMemoryKinds.length);
    inside(name, `${end}gpu`, data.devices.gpus.length, -1);
  }
  checkWaits(data, tables, inside);
}

function checkWaitSums(data: PageData, tables: Tables, inside: Inside): void {
  const processes = data.processes.length;
  inside('wait_sums', 'process', processes);
  inside('wait_activity', 'process', processes);
  inside('wait_activity', 'slab', data.time.slabs);
  const activity = tableOf(tables, 'wait_activity');
  activity.column('length').forEach((length, row) => {
    if (activity.column('slab')[row]! + length > data.time.slabs) {
      throw new DataError(`data.packed: wait_activity row ${row} ends behind the last slab`);
    }
  });
  checkWhom(data, inside, 'wait_sums');
}

function checkWhom({ processes, waits }: PageData, inside: Inside, name: string): void {
  inside(name, 'cause', processes.length, -1);
  inside(name, 'kind', waits.kinds.length);
}

function checkWaits(data: PageData, tables: Tables, inside: Inside): void {
  checkWhom(data, inside, 'waits');
  inside('waits', 'call', tableOf(tables, 'mpi_calls').rows);
  inside('waits', 'unknown', data.waits.unknown.length);
  tableOf(tables, 'waits')
    .column('call')
    .forEach((call, row, all) => {
      if (row > 0 && call < all[row - 1]!) {
        throw new DataError(`data.packed: waits row ${row} is not in the order of calls`);
      }
    });
}
