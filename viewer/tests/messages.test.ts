// The table of messages, compared with plain definitions.

import { describe, expect, it } from 'vitest';

import { processLabel } from '../src/choices';
import { makeColumns } from '../src/columns';
import { messagesCommand, selectionCommand } from '../src/command';
import { makeDetails } from '../src/details';
import type { Filter } from '../src/filter';
import { MessageList, pathInShort } from '../src/message_list';
import { firstRows } from '../src/row_order';
import { endOf, makeTimeAxis } from '../src/slabs';
import { kInitialState, withSpan } from '../src/state';
import { makeView } from '../src/view';
import { readWritten } from './read_written';
import { makeRandom, makeRun, written } from './make_run.mjs';

const { data, tables } = await readWritten(written(makeRun({ ranks: 6, steps: 6, slabs: 64, limit: Infinity })));
const columns = makeColumns(data);
const axis = makeTimeAxis(data.time);
const details = makeDetails(data, tables, endOf(axis));
const list = new MessageList(columns, details);
const value = (column: string, row: number) => details.messages.column(column)[row]!;
const viewOf = (filter: Filter, from?: number, to?: number) =>
  makeView({ data, columns, tables, axis }, withSpan({ ...kInitialState, filter }, axis, from, to));
const everything = list.chosen(viewOf({}));

describe('the first rows of many', () => {
  it('are those of a plain sort', () => {
    const random = makeRandom(3);
    for (let round = 0; round < 60; ++round) {
      const keys = Float64Array.from({ length: 40 }, () => (random() < 0.2 ? NaN : Math.floor(8 * random()) - 2));
      const rows = Int32Array.from(keys.keys()).filter(() => random() < 0.8);
      for (const falling of [false, true]) {
        const plain = [...rows].sort((a, b) => {
          const [x, y] = [keys[a]!, keys[b]!];
          if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
          return (falling ? y - x : x - y) || a - b;
        });
        for (const count of [0, 1, 7, 40, 1000]) expect(firstRows(rows, keys, falling, count)).toEqual(plain.slice(0, count));
      }
    }
  });
});

describe('messages', () => {
  it('are those that the filters choose: as many as the sums of the page', () => {
    const length = endOf(axis) - axis.from;
    for (const filter of [{}, { comm: 'cart 4x4' }, { src: 1 }, { transport: 'cma' }, { role: 'control', dst: 0 }, { comm: null }] as Filter[]) {
      for (const [from, to] of [[], [0.2 * length, 0.7 * length], [0.5 * length], [0.98 * length, length]]) {
        const view = viewOf(filter, from, to);
        const rows = list.chosen(view);
        expect(rows.length).toBe(view.totals.messages);
        expect([...rows].reduce((sum, row) => sum + value('bytes', row), 0)).toBe(view.totals.bytes);
        const timed = list.columns.find(({ name }) => name === 'took')!.keys();
        expect([...rows].reduce((sum, row) => sum + (timed[row]! || 0), 0)).toBe(view.totals.time);
      }
    }
    expect(everything.length).toBe(details.messages.rows);
  });

  it('say what is recorded of them', () => {
    const shown = (name: string, row: number) => list.columns.find((column) => column.name === name)!.shown(row);
    const text = (column: string, row: number) => data.texts[value(column, row)] || 'not known';
    for (const row of everything) {
      expect(shown('message', row)).toBe(`#${value('id', row)}`);
      for (const [name, end] of [['from', 'src_process'], ['to', 'dst_process']] as const) {
        expect(shown(name, row)).toBe(value(end, row) < 0 ? 'not known' : processLabel(data, value(end, row)));
      }
      for (const [name, column] of [['communicator', 'comm'], ['protocol', 'protocol']] as const) {
        expect(shown(name, row)).toBe(text(column, row));
      }
      expect(shown('call', row)).toBe(text(value('mpi', row) ? 'mpi' : 'asked_function', row));
    }
    const called = new Set([...everything].map((row) => shown('call', row)));
    expect(called).toContain('shmem_putmem');
    expect(called).toContain('MPI_Isend');
    expect(called).toContain('not known');
  });

  it.each(list.columns.map(({ name }) => name))('are in the order of %s', (name) => {
    const at = list.columns.findIndex((column) => column.name === name);
    const { numeric, keys, shown } = list.columns[at]!;
    for (const falling of [false, true]) {
      const rows = list.first(everything, at, falling, Infinity).filter((row) => !Number.isNaN(keys()[row]!));
      expect(rows.length).toBeGreaterThan(100);
      const said = rows.map((row) => (numeric ? keys()[row]! : shown(row)));
      const plain = [...said].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      expect(said).toEqual(falling ? plain.reverse() : plain);
    }
  });

  it('lead to the operation of the side that asked', () => {
    const { table } = details.layers[1]!;
    for (const row of everything.subarray(0, 200)) {
      const found = list.operationOf(row)!;
      expect(found.layer).toBe(1);
      expect(table.column('message')[found.row]).toBe(value('id', row));
      // A message without a known sender leads to its receiver.
      expect(table.column('process')[found.row]).toBe(value('src_process', row) < 0 ? value('dst_process', row) : value('src_process', row));
    }
  });

  it('have a path in short: what moved the data, else what carried them', () => {
    const path = (...steps: [string, string][]) => pathInShort({ path: steps.map(([transport, role]) => ({ ...data.classes[0]!.path[0]!, transport, role: role as 'data' })) });
    expect(path(['sysv', 'control'], ['cma', 'data'], ['sysv', 'control'])).toBe('cma');
    expect(path(['cuda_copy', 'staging'], ['tcp', 'data'], ['tcp', 'data'])).toBe('cuda_copy + tcp');
    expect(path(['tcp', 'control'])).toBe('tcp');
    expect(path()).toBeNull();
  });

  it('are listed by a command with the same filters', () => {
    const filter: Filter = { src: 1, comm: 'cart 4x4', from: axis.slab, withoutMessage: true };
    expect(messagesCommand(data, filter)).toBe(selectionCommand(data, { ...filter, withoutMessage: false }).replace(' report', ' messages'));
    expect(messagesCommand(data, {})).toBe('uctrace messages');
  });
});
