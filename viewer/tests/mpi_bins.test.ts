// MPI calls by function and bin, compared with a plain sum slab by slab.

import { describe, expect, it } from 'vitest';

import { makeColumns } from '../src/columns';
import { readWritten } from './read_written';
import { select } from '../src/filter';
import { functionBins, groupFunctions, kColouredFunctions, kSetUpFunctions } from '../src/mpi_bins';
import { tableOf, unpack } from '../src/packed';
import { chooseActivity, counts } from '../src/slabs';
import { makeRandom, makeRun, written } from './make_run.mjs';
import { pack, packTable } from './pack.mjs';

const { data, tables } = await readWritten(written(makeRun({ ranks: 6, slabs: 64, limit: 10 })));

describe('functions of a run', () => {
  it('have groups by their time, set-up apart', async () => {
    const functions = ['MPI_Init', 'MPI_Finalize', ...Array.from({ length: 12 }, (_, i) => `MPI_F${i}`), null];
    const call_kinds = functions.map((mpi) => ({ mpi, comm: null }));
    const rows = call_kinds.map((_, key) => key);
    const zero = rows.map(() => 0);
    const made = pack([
      packTable('mpi_activity', {
        process: zero,
        key: rows,
        slab: zero,
        length: rows.map((key) => key + 1),
        busy_ns: rows.map(() => 10),
        starts: zero,
      }),
    ]);
    const groups = groupFunctions({ ...data, time: { ...data.time, call_kinds } }, await unpack(made));
    expect(groups.names.slice(0, kColouredFunctions)).toEqual(
      Array.from({ length: kColouredFunctions }, (_, i) => `MPI_F${11 - i}`),
    );
    expect(groups.names[groups.setUp]).toBe(kSetUpFunctions);
    expect([...groups.ofKind.slice(0, 2)]).toEqual([groups.setUp, groups.setUp]);
    expect(groups.ofKind[2]).toBe(groups.others);
    expect(groups.ofKind[13]).toBe(0);
    expect(groups.ofKind[14]).toBe(groups.others);
  });
});

describe('bins of a process', () => {
  it('are the sums of their slabs', () => {
    const random = makeRandom(7);
    const any = (below: number) => Math.floor(random() * below);
    const columns = makeColumns(data);
    const groups = groupFunctions(data, tables);
    const table = tableOf(tables, 'mpi_activity');
    const column = (name: string) => table.column(name);
    for (let round = 0; round < 200; ++round) {
      const filter = random() < 0.3 ? { mpi: data.time.call_kinds[any(data.time.call_kinds.length)]!.mpi } : {};
      const choice = chooseActivity(data, filter, select(columns, filter));
      const [process, level] = [any(data.processes.length), any(5)];
      const bins = Math.ceil(data.time.slabs / 2 ** level);
      const [begin, end] = [any(bins + 1), any(bins + 1)].sort((a, b) => a - b) as [number, number];
      const naive = new Float64Array((end - begin) * groups.names.length);
      for (let row = 0; row < table.rows; ++row) {
        if (column('process')[row] !== process) continue;
        const key = column('key')[row]!;
        if (!counts(choice, 'mpi', process, key)) continue;
        for (let slab = column('slab')[row]!; slab < column('slab')[row]! + column('length')[row]!; ++slab) {
          const bin = Math.floor(slab / 2 ** level);
          if (bin < begin || bin >= end) continue;
          naive[(bin - begin) * groups.names.length + groups.ofKind[key]!]! += column('busy_ns')[row]!;
        }
      }
      expect(functionBins(table, groups, choice, process, { level, begin, end })).toEqual(naive);
    }
  });
});
