// Tiles of operations, compared with the plain rows of the run that they are cut from.

import { describe, expect, it } from 'vitest';

import { nextStep } from '../src/awaited';
import { makeColumns } from '../src/columns';
import type { PageData } from '../src/data';
import { DataError } from '../src/error';
import { keptOfRow, rowOfKept } from '../src/look';
import { mergeTiles } from '../src/merge_tiles';
import { Table, tableOf, unpack, type Tables } from '../src/packed';
import { readWritten } from './read_written';
import { makeOwnOperations, type Operations } from '../src/singles';
import { endOf, makeTimeAxis } from '../src/slabs';
import { makeTiledOperations, readTile } from '../src/tiles';
import { sameAmong } from '../src/views/timeline_target';
import { makeRun, written } from './make_run.mjs';
import { makeTiles, tablesWithin } from './make_tiles.mjs';

/** Around the single operations of the run, which begin after a twentieth of it. */
const kFirstSlabs = [0, 53, 54, 56, 58, 59, 64];
const run = makeRun({ ranks: 6, slabs: 1024, limit: 400 });
const made = makeTiles(run, kFirstSlabs);
const { data, tables } = await readWritten(written(made.page));
const columns = makeColumns(data);
const axis = makeTimeAxis(data.time);
const kTables = ['mpi_calls', 'ucp_operations', 'transfers', 'messages', 'hops', 'waits'];

const plain = (read: Tables) =>
  Object.fromEntries(
    kTables.map((name) => {
      const table = tableOf(read, name);
      return [name, Object.fromEntries([...table.names()].map((column) => [column, Array.from(table.column(column))]))];
    }),
  );
const tile = (number: number) => readTile(columns, number, structuredClone(made.tiles[number]));

describe('a tile', () => {
  it('is read', async () => {
    for (const number of made.tiles.keys()) expect(plain(await tile(number))).toEqual(tablesWithin(made.tables, made.spans[number]!));
  });

  it.each<[string, (tile: Record<string, unknown>) => void]>([
    ['it is of run other, and the page is of run', (t) => (t['run'] = 'other')],
    ['it is tile 3, under another name', (t) => (t['tile'] = 3)],
    ['it was not written together with the page', (t) => (t['packed'] = made.tiles[1]!.packed)],
    ['.schema: expected 7, found 4', (t) => (t['schema'] = 4)],
    ['its checksum is', (t) => (t['packed'] = { ...made.tiles[2]!.packed, deflated: made.tiles[1]!.packed.deflated })],
    ['.packed: cannot be inflated', (t) => (t['packed'] = damaged(made.tiles[2]!.packed))],
    ['.packed.tables: expected a list', (t) => (t['packed'] = { ...made.tiles[2]!.packed, tables: null })],
  ])('that is not the one which was written says %s', async (message, change) => {
    const changed = structuredClone(made.tiles[2]) as Record<string, unknown>;
    change(changed);
    await expect(readTile(columns, 2, changed)).rejects.toThrow(message);
    await expect(readTile(columns, 2, changed)).rejects.toThrow(DataError);
  });

  it('has as many operations as were written', () => {
    const more = { ...data, tiles: { ...data.tiles!, operations: made.page.tiles.operations.map((count: number) => count + 1) } };
    return expect(readTile({ ...columns, data: more }, 2, made.tiles[2])).rejects.toThrow(/it has \d+ of \d+ operations/);
  });

  it('of whoever makes it later than the page is known by its run and its number', async () => {
    const served = { ...columns, data: { ...data, tiles: { ...data.tiles!, adler32: null } } };
    for (const number of made.tiles.keys()) {
      expect(plain(await readTile(served, number, structuredClone(made.tiles[number])))).toEqual(tablesWithin(made.tables, made.spans[number]!));
    }
    await expect(readTile(served, 2, structuredClone(made.tiles[1]))).rejects.toThrow('it is tile 1');
    const damagedTile = { ...made.tiles[2]!, packed: damaged(made.tiles[2]!.packed) };
    await expect(readTile(served, 2, damagedTile)).rejects.toThrow(DataError);
  });

  it('is an object', () => expect(readTile(columns, 2, 'text')).rejects.toThrow(DataError));
});

type Packed = (typeof made.tiles)[number]['packed'];
/** With its own checksum at the end. */
function damaged(packed: Packed): Packed {
  const bytes = Buffer.from(packed.deflated, 'base64');
  for (let at = 20; at < bytes.length - 4; at += 7) bytes[at]! ^= 0x55;
  return { ...packed, deflated: bytes.toString('base64') };
}

describe('tiles that follow each other', () => {
  it.each([[0], [0, 1], [2, 3, 4], [1, 2, 3], [4, 5, 6], kFirstSlabs.map((_, number) => number)])('%j %j %j are put together', async (...numbers) => {
    const wanted = numbers.flat().filter((number) => typeof number === 'number');
    const parts = await Promise.all(wanted.map(async (number) => ({ from: made.spans[number]!.from, tables: await tile(number) })));
    const merged = mergeTiles(parts, data.processes.length);
    const span = { from: made.spans[wanted[0]!]!.from, to: made.spans[wanted[wanted.length - 1]!]!.to };
    expect(plain(merged)).toEqual(tablesWithin(made.tables, span));
  });

  it('have what the page of all operations has', async () => {
    const parts = await Promise.all(made.tiles.map(async (_: unknown, number: number) => ({ from: made.spans[number]!.from, tables: await tile(number) })));
    expect(plain(mergeTiles(parts, data.processes.length))).toEqual(plain(await unpack(run.packed)));
  });
});

describe('operations of tiles', () => {
  const settle = async (operations: Operations) => {
    for (let turn = 0; operations.loading !== '' && turn < 1000; ++turn) await new Promise((done) => setTimeout(done, 1));
  };
  const start = (load = (number: number): Promise<unknown> => Promise.resolve(structuredClone(made.tiles[number]))) => {
    const asked: number[] = [];
    const operations = makeTiledOperations(columns, tables, axis, (number) => {
      asked.push(number);
      return load(number);
    });
    let changes = 0;
    operations.whenChanged(() => ++changes);
    const view = (first: number, last: number) =>
      operations.lookAt({ from: made.spans[first]!.from + 1, to: made.spans[last]!.to - 1 });
    return { operations, asked, view, changes: () => changes };
  };

  it('are none until the reader comes near', () => {
    const { operations, asked, view } = start();
    view(0, 6);
    expect(asked).toEqual([]);
    expect(operations.searched).toMatch(/none are loaded/);
    expect(operations.drawn.to).toBe(operations.drawn.from);
  });

  it('are loaded once, and said to be on their way', async () => {
    const { operations, asked, view, changes } = start();
    view(2, 4);
    expect(operations.loading).toMatch(/^Loading the operations from /);
    await settle(operations);
    view(2, 4);
    expect([operations.loading, operations.trouble]).toEqual(['', '']);
    expect(asked).toEqual([2, 3, 4]);
    expect(changes()).toBe(3);
    const { from, to, details } = operations.singles;
    expect({ from, to }).toEqual({ from: made.spans[2]!.from, to: made.spans[4]!.to });
    expect(details.messages.rows).toBe(tablesWithin(made.tables, { from, to }).messages.id.length);
    view(0, 6);
    expect(operations.drawn.to).toBe(operations.drawn.from);
    expect(operations.singles.to).toBe(to);
    expect(operations.searched).toMatch(/, which are loaded$/);
  });

  /** The run in 64 tiles. */
  const startMany = async (load = (_: number): void => {}) => {
    const many = makeTiles(run, Array.from({ length: 64 }, (_, slab) => 16 * slab));
    const page = await readWritten(written(many.page));
    const asked: number[] = [];
    const operations = makeTiledOperations(makeColumns(page.data), page.tables, axis, async (number) => {
      asked.push(number);
      load(number);
      return structuredClone(many.tiles[number]);
    });
    const look = async (first: number, last = first) => {
      operations.lookAt({ from: many.spans[first]!.from, to: many.spans[last]!.to });
      await settle(operations);
    };
    return { operations, asked, look };
  };
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

  it('are forgotten where there are many of them', async () => {
    const { asked, look } = await startMany();
    for (const number of numbers(10, 30)) await look(number);
    await look(29);
    await look(10);
    expect(asked).toEqual([...numbers(10, 30), 10]);
  });

  it('stay while they are in view, whatever could not be had before', async () => {
    const { operations, asked, look } = await startMany((number) => {
      if (number < 17) throw new DataError('it is missing');
    });
    for (const number of numbers(10, 17)) await look(number);
    for (let turn = 0; turn < 3; ++turn) await look(20, 22);
    expect(asked).toEqual([...numbers(10, 17), 20, 21, 22]);
    expect(operations.trouble).toBe('');
  });

  it('are tried again when the reader comes back', async () => {
    let isThere = false;
    const { operations, look } = await startMany((number) => {
      if (number === 12 && !isThere) throw new DataError('it is missing');
    });
    await look(12);
    expect(operations.trouble).toMatch(/it is missing/);
    isThere = true;
    await look(13);
    await look(12);
    expect(operations.trouble).toBe('');
  });

  it('tell that they changed where tiles come back that were kept', async () => {
    const { operations, asked, view, changes } = start();
    for (const number of [2, 4]) {
      view(number, number);
      await settle(operations);
    }
    const before = changes();
    view(2, 2);
    expect(changes()).toBe(before);
    await Promise.resolve();
    expect(changes()).toBe(before + 1);
    view(2, 2);
    await Promise.resolve();
    expect(changes()).toBe(before + 1);
    expect(asked).toEqual([2, 4]);
  });

  it.each([[new RangeError('too much'), 'too much'], ['no error at all', 'no error at all']])('say of %s that it came', async (error, said) => {
    const { operations, look } = await startMany(() => {
      throw error;
    });
    await look(12);
    expect(operations.trouble).toBe(`tiles/12.js cannot be shown: ${said}`);
  });

  it('say which of them cannot be had, and show the others', async () => {
    const { operations, view, asked } = start((number) =>
      number === 3 ? Promise.reject(new DataError('it is missing')) : Promise.resolve(structuredClone(made.tiles[number])),
    );
    view(2, 3);
    await settle(operations);
    expect(operations.trouble).toBe('tiles/3.js cannot be shown: it is missing');
    expect(operations.singles.to).toBe(made.spans[2]!.to);
    view(3, 3);
    await settle(operations);
    expect(asked).toEqual([2, 3]);
    view(5, 5);
    await settle(operations);
    expect(operations.trouble).toBe('');
  });
});

describe('the name of an operation in an address', () => {
  it('is the same in a page of all operations and in a tile', async () => {
    const whole = makeOwnOperations(data as PageData, await unpack(run.packed), axis).singles.details;
    const part = makeOwnOperations(data, await tile(3), axis).singles.details;
    whole.layers.forEach((layer, index) => {
      const own = part.layers[index]!;
      for (let row = 0; row < own.table.rows; ++row) {
        const there = rowOfKept(layer, keptOfRow(own, row))!;
        for (const column of own.table.names()) {
          if (column === 'call') continue;
          expect(layer.table.column(column)[there]).toBe(own.table.column(column)[row]);
        }
      }
      expect(rowOfKept(own, { layer: own.layer, process: 0, start: 1, duration: 2, place: 0 })).toBeUndefined();
    });
  });

  it('is the same where one that begins with it is not loaded', async () => {
    const part = await tile(3);
    const calls = tableOf(part, 'mpi_calls');
    /** For calls of the first process that begin at one instant. */
    const details = (...durations: number[]) => {
      const valueOf = (name: string, row: number) =>
        ({ process: 0, start_ns: 5, duration_ns: durations[row] })[name] ?? calls.column(name)[row]!;
      const columns = [...calls.names()].map((name) => [name, Float64Array.from(durations.keys(), (row) => valueOf(name, row))] as const);
      const changed = new Table('mpi_calls', durations.length, new Map(columns));
      return makeOwnOperations(data, new Map([...part, ['mpi_calls', changed]]), axis).singles.details.layers[0]!;
    };
    // The short one is only in the first tile, the long ones are also in the second.
    const [first, second] = [details(3, 900, -1, 900), details(900, -1, 900)];
    for (const [row, there] of [[1, 0], [2, 1], [3, 2]] as const) {
      expect(rowOfKept(second, keptOfRow(first, row))).toBe(there);
      expect(rowOfKept(first, keptOfRow(second, there))).toBe(row);
    }
    expect(rowOfKept(second, keptOfRow(first, 0))).toBeUndefined();
  });
});

describe('what the reader looks at', () => {
  it('is the same when other tiles are loaded, if they have it', async () => {
    const [two, both, other] = await Promise.all(
      [[2], [1, 2], [6]].map(async (some) => {
        const parts = await Promise.all(some.map(async (number) => ({ from: made.spans[number]!.from, tables: await tile(number) })));
        return makeOwnOperations(data, mergeTiles(parts, data.processes.length), axis).singles.details;
      }),
    );
    const row = two!.messages.rows - 1;
    const message = { kind: 'message', row, x: 1, y: 2 } as const;
    const there = sameAmong(message, two!, both!) as typeof message;
    expect(both!.messages.column('id')[there.row]).toBe(two!.messages.column('id')[row]);
    expect(sameAmong(there, both!, two!)).toEqual(message);
    expect(sameAmong(message, two!, other!)).toBeUndefined();
    const call = { kind: 'operation', process: 0, layer: 0, row: two!.layers[0]!.first[1]! - 1 } as const;
    expect(sameAmong(sameAmong(call, two!, both!)!, both!, two!)).toEqual(call);
  });
});

describe('the operation of an address', () => {
  it('is found with few slabs and many tiles, and sought once', async () => {
    const few = makeRun({ ranks: 6, slabs: 16, limit: 400 });
    const many = makeTiles(few, Array.from({ length: 77 }, (_, tile) => (16 * tile) / 77));
    const page = await readWritten(written(many.page));
    const own = makeTimeAxis(page.data.time);
    const operations = makeTiledOperations(makeColumns(page.data), page.tables, own, (number) => Promise.resolve(structuredClone(many.tiles[number])));
    const calls = makeOwnOperations(page.data, await unpack(few.packed), own).singles.details.layers[0]!;
    const kept = keptOfRow(calls, calls.table.rows - 1);
    const next = nextStep({ kept, isSought: false }, operations);
    if (typeof next === 'string' || !('turnTo' in next)) throw new Error(`it is not looked for: ${JSON.stringify(next)}`);
    expect(next.turnTo.from).toBeLessThanOrEqual(kept.start);
    expect(next.turnTo.to).toBeGreaterThan(kept.start);
    expect(nextStep({ kept, isSought: true }, operations)).toBe('give up');
    operations.lookAt(next.turnTo);
    expect(nextStep({ kept, isSought: true }, operations)).toBe('wait');
    for (let turn = 0; operations.loading !== '' && turn < 1000; ++turn) await new Promise((done) => setTimeout(done, 1));
    expect(nextStep({ kept, isSought: true }, operations)).toHaveProperty('row');
    expect(nextStep({ kept: { ...kept, place: 99 }, isSought: false }, operations)).toBe('give up');
    for (const start of [endOf(own), own.from - 1]) expect(nextStep({ kept: { ...kept, start }, isSought: false }, operations)).toBe('give up');
  });
});
