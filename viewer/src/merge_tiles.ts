// Combines the tables of tiles that follow each other in time: each operation once, in the order that a page has them.

import { tableOf, Table, type Numbers, type Tables } from './packed';
import { kTableOf } from './details';
import { lowerBound } from './slabs';

/** A tile, and the instant at which it begins. */
export interface TileTables {
  readonly from: number;
  readonly tables: Tables;
}

/** Rows [first, end) of the tile of this index. */
interface Slice {
  readonly tile: number;
  readonly first: number;
  readonly end: number;
}

/**
 * An operation that began before a tile is also in the tile before it. So from each tile but the first, only operations
 * that begin in it are taken. They are the last ones of their process.
 */
export function mergeTiles(tiles: readonly TileTables[], processes: number): Tables {
  if (tiles.length === 1) return tiles[0]!.tables;
  const of = (name: string) => tiles.map(({ tables }) => tableOf(tables, name));
  const merged = new Map<string, Table>();
  for (const name of Object.values(kTableOf)) {
    const slices = operationSlices(of(name), tiles, processes);
    merged.set(name, joined(name, of(name), slices));
    if (name === kTableOf.mpi) merged.set('waits', joinedWaits(of('waits'), slices));
  }
  const messages = tiles.map(({ from, tables }, tile) => {
    const start = tableOf(tables, 'messages').column('start_ns');
    return { tile, first: tile === 0 ? 0 : lowerBound(start, from), end: start.length };
  });
  merged.set('messages', joined('messages', of('messages'), messages));
  merged.set('hops', joined('hops', of('hops'), hopSlices(of('messages'), messages)));
  return merged;
}

function operationSlices(tables: readonly Table[], tiles: readonly TileTables[], processes: number): Slice[] {
  const columns = tables.map((table) => [table.column('process'), table.column('start_ns')] as const);
  const slices: Slice[] = [];
  const next = tables.map(() => 0);
  for (let index = 0; index < processes; ++index) {
    columns.forEach(([process, start], tile) => {
      const begin = next[tile]!;
      const end = lowerBound(process, index + 1, begin);
      next[tile] = end;
      const first = tile === 0 ? begin : lowerBound(start, tiles[tile]!.from, begin, end);
      if (first < end) slices.push({ tile, first, end });
    });
  }
  return slices;
}

function hopSlices(messages: readonly Table[], slices: readonly Slice[]): Slice[] {
  return slices.map(({ tile, first, end }) => {
    const hops = messages[tile]!.column('hops');
    const within = (from: number, to: number) => {
      let sum = 0;
      for (let row = from; row < to; ++row) sum += hops[row]!;
      return sum;
    };
    const before = within(0, first);
    return { tile, first: before, end: before + within(first, end) };
  });
}

function joined(name: string, tables: readonly Table[], slices: readonly Slice[]): Table {
  const rows = slices.reduce((sum, { first, end }) => sum + end - first, 0);
  const columns = [...tables[0]!.names()].map((column) => {
    const parts = tables.map((table) => table.column(column));
    const values = makeRoom(parts, rows);
    let at = 0;
    for (const { tile, first, end } of slices) {
      values.set(parts[tile]!.subarray(first, end), at);
      at += end - first;
    }
    return [column, values] as const;
  });
  return new Table(name, rows, new Map(columns));
}

/** An array that can hold the values of all parts. */
function makeRoom(parts: readonly Numbers[], rows: number): Numbers {
  const [first, ...others] = parts.map((part) => part.constructor as new (length: number) => Numbers);
  return others.every((type) => type === first) ? new first!(rows) : new Float64Array(rows);
}

/** `calls`: the slices of the calls that have these waits; the rows of the calls have new numbers. */
function joinedWaits(tables: readonly Table[], calls: readonly Slice[]): Table {
  const slices: Slice[] = [];
  const renumbered: number[] = [];
  let before = 0;
  for (const { tile, first, end } of calls) {
    const call = tables[tile]!.column('call');
    const slice = { tile, first: lowerBound(call, first), end: lowerBound(call, end) };
    slices.push(slice);
    for (let row = slice.first; row < slice.end; ++row) renumbered.push(call[row]! - first + before);
    before += end - first;
  }
  const table = joined('waits', tables, slices);
  const columns = [...table.names()].map((name) => [name, name === 'call' ? Float64Array.from(renumbered) : table.column(name)] as const);
  return new Table('waits', table.rows, new Map(columns));
}
