// Traffic over time by rank, compared with plain sums over the rows of the page.

import { describe, expect, it } from 'vitest';

import { makeChoices } from '../src/choices';
import { makeColumns } from '../src/columns';
import type { Columns } from '../src/columns';
import { kMeasures, type Filter, type Measure } from '../src/filter';
import { processesOf, rowOf } from '../src/matrix';
import { tableOf } from '../src/packed';
import { columnOf, kMostRankHeight, makeRankAxis, mergeRankBins, rankRowHeight, slabsOf } from '../src/rank_bins';
import { makeTimeAxis } from '../src/slabs';
import { kInitialState } from '../src/state';
import { makeView } from '../src/view';
import { describeRows } from '../src/views/overview_controls';
import { columnsOf } from '../src/views/overview_picture';
import { readWritten } from './read_written';
import { makeRandom, makeRun, written } from './make_run.mjs';

const { data, tables } = await readWritten(written(makeRun({ ranks: 10, slabs: 64, limit: 20 })));
const columns = makeColumns(data);
const axis = makeTimeAxis(data.time);
const choices = makeChoices(data);
const context = { data, columns, tables, axis };
const sum = (values: ArrayLike<number>) => Array.from(values).reduce((all, v) => all + v, 0);

/** Row by row of the table, with the source looked up for each. */
function naiveBins(flags: Uint8Array, measure: Measure, group: number, wide: number): Map<string, number> {
  const ofTransfers = measure === 'transfers' || measure === 'wire_bytes';
  const table = tableOf(tables, ofTransfers ? 'slab_transfers' : 'slab_cells');
  const column = { bytes: 'bytes', messages: 'messages', transfers: 'count', wire_bytes: 'wire_bytes', time: 'ns' }[measure];
  const sums = new Map<string, number>();
  for (let row = 0; row < table.rows; ++row) {
    const key = table.column(ofTransfers ? 'total' : 'cell')[row]!;
    if (!flags[key]) continue;
    const cell = ofTransfers ? columns.firstTransfer.findIndex((first) => first > key) - 1 : key;
    const src = columns.src[cell]!;
    const at = Math.floor((table.column('slab')[row]! * wide) / axis.slabs);
    const place = `${src < 0 ? 'unknown' : Math.floor(src / group)} ${at}`;
    const value = table.column(column)[row]!;
    if (value > 0) sums.set(place, (sums.get(place) ?? 0) + value);
  }
  return sums;
}

describe('traffic by rank', () => {
  it('has the sums of the cells in every bin, and in all of them together', () => {
    const random = makeRandom(5);
    const any = (below: number) => Math.floor(random() * below);
    let filled = 0;
    for (let round = 0; round < 120; ++round) {
      const filter: Record<string, unknown> = { withoutMessage: random() < 0.4 };
      for (const [name, values] of Object.entries(choices)) if (random() < 0.08) filter[name] = values[any(values.length)];
      const measure = kMeasures[any(kMeasures.length)]!;
      const view = makeView(context, { ...kInitialState, filter: filter as Filter, measure });
      const { selection, densityByRank } = view.alongTime;
      const rows = makeRankAxis(columns, 1 + any(12));
      const wide = 1 + any(axis.slabs);
      const bins = mergeRankBins(densityByRank, rows, axis.slabs, wide);
      expect(bins.values.length).toBe(rows.side * wide);
      expect(sum(bins.values)).toBe(view.totals[measure]);
      const ofTransfers = measure === 'transfers' || measure === 'wire_bytes';
      const naive = naiveBins(ofTransfers ? selection.transfers : selection.cells, measure, rows.group, wide);
      const shown = new Map<string, number>();
      bins.values.forEach((value, at) => {
        const { first } = processesOf(rows, Math.floor(at / wide));
        if (value > 0) shown.set(`${first < 0 ? 'unknown' : first / rows.group} ${at % wide}`, value);
      });
      expect(shown).toEqual(naive);
      filled += naive.size;
      const positive = [...naive.values()];
      expect(bins.max).toBe(Math.max(0, ...positive));
      expect(bins.minPositive).toBe(Math.min(Infinity, ...positive));
      // The strip of all ranks together has the sums of the columns.
      const together = columnsOf(view.alongTime.density, wide);
      together.forEach((value, column) => expect(sum(bins.values.filter((_, at) => at % wide === column))).toBe(value));
    }
    expect(filled).toBeGreaterThan(1000);
  });

  it('is computed once for one choice, whatever time is chosen', () => {
    const view = makeView(context, kInitialState);
    const { densityByRank } = view.alongTime;
    const later = makeView(context, { ...kInitialState, filter: { from: axis.from + axis.slab } }, view);
    expect(later.alongTime.densityByRank).toBe(densityByRank);
    const other = makeView(context, { ...kInitialState, measure: 'messages' }, later);
    expect(other.alongTime.densityByRank).not.toBe(densityByRank);
  });
});

describe('rows of ranks', () => {
  const of = (ranks: number, src: number[] = [0]) =>
    makeRankAxis({ data: { processes: Array(ranks).fill({}) }, src: Int32Array.from(src) } as unknown as Columns);

  it.each([1, 2, 16, 17, 64, 255, 256, 257, 1000, 1024, 5000, 100_000])('hold %i ranks, each once, in no more than their height', (ranks) => {
    const rows = of(ranks);
    const held = Array.from({ length: rows.side }, (_, row) => processesOf(rows, row));
    expect(held[0]!.first).toBe(0);
    expect(held[held.length - 1]!.last).toBe(ranks);
    held.slice(1).forEach(({ first }, row) => expect(first).toBe(held[row]!.last));
    // Evenly: all rows but the last have the same number of ranks.
    for (const { first, last } of held.slice(0, -1)) expect(last - first).toBe(rows.group);
    expect(rowOf(rows, ranks - 1)).toBe(rows.side - 1);
    expect(rows.side * rankRowHeight(rows)).toBeLessThanOrEqual(kMostRankHeight);
    expect(rows.side > 128 || ranks < 128).toBe(true);
  });

  it('say how many ranks a row is', () => {
    const said = (ranks: number, src?: number[]) => describeRows({ rows: of(ranks, src) });
    expect(said(64)).toBe('Rows are source ranks, one rank a row.');
    expect(said(1024)).toBe('Rows are source ranks, 4 ranks a row.');
    expect(said(1023, [3, -1])).toBe('Rows are source ranks, 4 ranks a row, 3 in the last. The lowest row is the unknown source.');
    expect(said(0)).toBe('Rows are source ranks, one rank a row.');
  });
});

describe('columns of time', () => {
  it('hold each slab once, at its place', () => {
    const random = makeRandom(3);
    for (let round = 0; round < 60; ++round) {
      const slabs = 1 + Math.floor(random() * 4096);
      const wide = 1 + Math.floor(random() * slabs);
      const naive = Array.from({ length: wide }, (): number[] => []);
      for (let slab = 0; slab < slabs; ++slab) naive[columnOf(slab, slabs, wide)]!.push(slab);
      const ends = naive.map((held) => [held[0], held[held.length - 1]! + 1]);
      expect(ends).toEqual(naive.map((_, column) => slabsOf(column, slabs, wide)));
    }
  });
});
