// Cuts the operations of an invented run into tiles, as `uctrace view --tiles` does: the page without them, and the
// contents of each tile's file. The method is plain: it checks each row against each tile for an overlap.

import { pack, packTable, unpackTables } from './pack.mjs';

const kOperations = ['mpi_calls', 'ucp_operations', 'transfers'];
const kSingle = [...kOperations, 'messages', 'hops', 'waits'];
const kDifferences = ['start_ns', 'id', 'message', 'call'];

const rowsOf = (columns) => columns[Object.keys(columns)[0]].map((_, row) => row);
const chosen = (columns, rows) =>
  Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, rows.map((row) => values[row])]));

/** The rows in progress in [from, to); a message without an end is in progress only when it starts. */
function overlapping(name, columns, { from, to }) {
  const endOf = (row) => {
    const [start, duration] = [columns.start_ns[row], columns.duration_ns[row]];
    if (duration === -1) return name === 'messages' ? start : Infinity;
    return duration < 0 ? start : start + duration;
  };
  return rowsOf(columns).filter((row) => columns.start_ns[row] < to && endOf(row) >= from);
}

/** The tables of all operations in progress in a span. */
export function tablesWithin(tables, span) {
  const cut = {};
  for (const name of kOperations) cut[name] = chosen(tables[name], overlapping(name, tables[name], span));
  const messages = overlapping('messages', tables.messages, span);
  cut.messages = chosen(tables.messages, messages);
  let next = 0;
  const firstHop = tables.messages.hops.map((count) => (next += count) - count);
  cut.hops = chosen(tables.hops, messages.flatMap((row) => Array.from({ length: tables.messages.hops[row] }, (_, hop) => firstHop[row] + hop)));
  const placeOf = new Map(overlapping('mpi_calls', tables.mpi_calls, span).map((row, place) => [row, place]));
  const waits = rowsOf(tables.waits).filter((row) => placeOf.has(tables.waits.call[row]));
  cut.waits = chosen(tables.waits, waits);
  cut.waits.call = cut.waits.call.map((call) => placeOf.get(call));
  return cut;
}

const packed = (tables) =>
  pack(Object.entries(tables).map(([name, columns]) => packTable(name, columns, kDifferences.filter((column) => column in columns))));

/**
 * `run`: from makeRun, with all its operations listed one by one. `firstSlabs`: where the tiles begin, also within
 * slabs; 0 is one of them.
 */
export function makeTiles(run, firstSlabs) {
  const all = unpackTables(run.packed, run.packed.tables.map(({ name }) => name));
  const { slab_ns, slabs } = run.time;
  const spans = firstSlabs.map((first, i) => ({ from: Math.round(first * slab_ns), to: Math.round((firstSlabs[i + 1] ?? slabs) * slab_ns) }));
  const tables = spans.map((span) => tablesWithin(all, span));
  const tiles = tables.map((cut, tile) => ({ schema: run.schema, run: run.run.id, tile, packed: packed(cut) }));
  const count = (cut) => [...kOperations, 'messages'].reduce((sum, name) => sum + rowsOf(cut[name]).length, 0);
  const without = { ...all, ...Object.fromEntries(kSingle.map((name) => [name, chosen(all[name], [])])) };
  return {
    page: {
      ...run,
      packed: packed(without),
      time: { ...run.time, embedded: 0, details_to_ns: 0 },
      tiles: { from_ns: spans.map(({ from }) => from), operations: tables.map(count), adler32: tiles.map((tile) => tile.packed.adler32) },
    },
    spans,
    tables: all,
    tiles,
  };
}

/** The text of the file of a tile. */
export const tileScript = (tile) => `uctraceTile(${JSON.stringify(tile)});\n`;
