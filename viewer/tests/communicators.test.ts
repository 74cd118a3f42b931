// The table of communicators, compared with plain sums.

import { describe, expect, it } from 'vitest';

import { makeColumns } from '../src/columns';
import { listCommunicators } from '../src/communicators';
import type { Communicator, PageData } from '../src/data';
import { select, totals, type Filter } from '../src/filter';
import { cellsOf, pageDataOf } from './cells';
import { makeRun } from './make_run.mjs';

const data = pageDataOf(makeRun({ ranks: 6, steps: 8, slabs: 16, limit: 0 }));
const kFilters: Filter[] = [{}, { comm: 'cart 4x4' }, { src: 1 }, { mpi: 'MPI_Gather', dst: 0 }, { comm: null }, { transport: 'cma' }];

const listed = (of: PageData, filter: Filter) => {
  const columns = makeColumns(of);
  const selection = select(columns, filter);
  return { columns, selection, rows: listCommunicators(columns, selection) };
};

describe('communicators', () => {
  it.each(kFilters)('have the messages that %j selects, each once', (filter) => {
    const { columns, selection, rows } = listed(data, filter);
    const plain = (called: string | null) =>
      cellsOf(data.cells).filter((cell, c) => selection.cells[c] && data.classes[cell.class]!.comm === called);
    for (const { called, load } of rows) {
      if (!load) continue;
      expect(load.messages).toBe(plain(called).reduce((sum, { messages }) => sum + messages, 0));
      expect(load.bytes).toBe(plain(called).reduce((sum, { bytes }) => sum + bytes, 0));
    }
    const sum = totals(columns, selection);
    expect(rows.reduce((all, { load }) => all + (load?.messages ?? 0), 0)).toBe(sum.messages);
    expect(rows.reduce((all, { load }) => all + (load?.bytes ?? 0), 0)).toBe(sum.bytes);
    expect(new Set(rows.filter(({ load }) => load).map(({ called }) => called)).size).toBe(rows.filter(({ load }) => load).length);
  });

  it('are all there, whatever is selected', () => {
    const { rows } = listed(data, { comm: 'no such' });
    expect(rows.map(({ of }) => of)).toEqual(data.communicators.rows);
    expect(rows.every(({ load }) => (load?.messages ?? 0) === 0)).toBe(true);
  });

  it('share no messages where they share a name: these have a row of that name', () => {
    const { rows } = listed(data, {});
    const same = rows.filter(({ called }) => called === 'cart 4x4');
    expect(same.map(({ of, load }) => [of?.name, load !== undefined])).toEqual([
      ['a0.1', false],
      ['a1.1', false],
      [undefined, true],
    ]);
  });

  it('have none where no message has their name, also if they share it', () => {
    const self = { ...data.communicators.rows[0]!, name: 'S0.0', called: 'MPI_COMM_SELF', shares_name: true };
    const { rows } = listed({ ...data, communicators: { rows: [self, self], left_out: 0, ns: 1 } }, {});
    expect(rows.slice(0, 2).map(({ load }) => load?.messages)).toEqual([0, 0]);
  });

  it('that the data leaves out have a row for their messages', () => {
    const [world] = data.communicators.rows as [Communicator];
    const cut = { ...data, communicators: { rows: [world], left_out: 5, ns: 1 } };
    expect(listed(cut, {}).rows.map(({ called, of }) => [called, of?.name])).toEqual([
      ['MPI_COMM_WORLD', 'W0.0'],
      ['cart 4x4', undefined],
      ['dup of MPI_COMM_WORLD', undefined],
      [null, undefined],
    ]);
  });
});
