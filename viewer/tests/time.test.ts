// Computations along time and in the graph, compared with plain definitions.

import { describe, expect, it } from 'vitest';

import { makeColumns } from '../src/columns';
import { quote, selectionCommand, timeWord, viewCommand } from '../src/command';
import type { PageData } from '../src/data';
import { checkTables } from '../src/check_tables';
import { readWritten } from './read_written';
import { kMaxTracks, makeDetails, rowsWithin } from '../src/details';
import { DataError } from '../src/error';
import { cellValues, kMeasures, select, totals, type Filter } from '../src/filter';
import { kEdgesBy, makeEdges, makeLayout, nodeOfProcess, ringPlaces } from '../src/graph';
import { makeAxis, makeMatrix, squaresOf } from '../src/matrix';
import { tableOf, unpack } from '../src/packed';
import {
  counts,
  endOf,
  kLayers,
  laneOf,
  levelFor,
  makePyramid,
  makeTimeAxis,
} from '../src/slabs';
import { makeChoices } from '../src/choices';
import { fromHash, toHash, withSpan, kInitialState } from '../src/state';
import { inside, panned, showing, ticks, zoomed } from '../src/time_range';
import { makeView } from '../src/view';
import { makeRandom, makeRun, written } from './make_run.mjs';
import { pack, packTable } from './pack.mjs';

const { data, tables } = await readWritten(written(makeRun({ ranks: 6, slabs: 64, limit: 800 })));
const columns = makeColumns(data);
const axis = makeTimeAxis(data.time);
const choices = makeChoices(data);
const context = { data, columns, tables, axis };
const sum = (values: ArrayLike<number>) => Array.from(values).reduce((all, v) => all + v, 0);

function randomFilter(random: () => number): Filter {
  const filter: Record<string, unknown> = { withoutMessage: random() < 0.4 };
  for (const [name, values] of Object.entries(choices)) {
    if (random() < 0.12) filter[name] = values[Math.floor(random() * values.length)];
  }
  const state = { ...kInitialState, filter: filter as Filter };
  if (random() < 0.5) return state.filter;
  const [a, b] = [random(), random()].sort((x, y) => x - y) as [number, number];
  return withSpan(state, axis, axis.slab * 64 * a, axis.slab * 64 * b).filter;
}

describe('packed tables', () => {
  it('are read as they were', async () => {
    const written = {
      small: [0, 1, 255],
      signed: [-1, 70_000, -70_000],
      rising: [5, 2 ** 40, 2 ** 40 + 7],
      wide: [0, 2 ** 45, 9],
      none: [0, 0, 0],
      big: [2 ** 32 - 1, 2 ** 31, 0],
      two: [0, 256, 65_535],
      three: [0, 65_536, 2 ** 24 - 1],
      four_signed: [-(2 ** 31), 2 ** 31 - 1, 0],
      one_signed: [-128, 127, -1],
    };
    const read = tableOf(await unpack(pack([packTable('t', written, ['rising'])])), 't');
    for (const [name, values] of Object.entries(written)) {
      expect([...read.column(name)]).toEqual(values);
    }
    expect(() => read.column('other')).toThrow(DataError);
  });

  it('tell 64 bits in hexadecimal', async () => {
    const packed = pack([packTable('t', { a_low: [16, 5], a_high: [0, 1] })]);
    const table = tableOf(await unpack(packed), 't');
    expect([table.wide('a', 0), table.wide('a', 1)]).toEqual(['0x10', '0x100000005']);
  });

  it('say what is wrong', async () => {
    const packed = pack([packTable('t', { a: [1, 2] })]);
    await expect(unpack({ ...packed, bytes: 3 })).rejects.toThrow('3 bytes for 2 that are described');
    const told = (rows: number) => ({ ...packed, bytes: rows, tables: [{ ...packed.tables[0]!, rows }] });
    await expect(unpack(told(1))).rejects.toThrow('cannot be inflated: more than 1 bytes');
    await expect(unpack(told(3))).rejects.toThrow('cannot be inflated: 2 bytes for 3');
    await expect(unpack({ ...packed, deflated: 'AAAA' })).rejects.toThrow(DataError);
    const broken = new Map(tables);
    broken.delete('slab_cells');
    expect(() => checkTables(columns, broken)).toThrow('no table slab_cells');
    checkTables(columns, tables);
  });
});

describe('all views agree under any filter', () => {
  it.each(kMeasures)('%s', (measure) => {
    const random = makeRandom(5);
    let found = 0;
    for (let round = 0; round < 60; ++round) {
      const filter = randomFilter(random);
      const view = makeView(context, { ...kInitialState, filter, measure });
      const all = view.totals[measure];
      found += Number(all > 0);
      const values = cellValues(view.columns, view.selection, measure);
      expect(sum(makeMatrix(squaresOf(view.columns, makeAxis(columns)), makeAxis(columns), values).values)).toBe(all);
      // The strip above the timeline, within the chosen time.
      const first = ((filter.from ?? axis.from) - axis.from) / axis.slab;
      const last = ((filter.to ?? endOf(axis)) - axis.from) / axis.slab;
      expect(sum(view.alongTime.density.subarray(first, last))).toBe(all);
      const layout = makeLayout(data, true);
      const none = { cells: values, transfers: new Float64Array(columns.transferCount.length) };
      expect(makeEdges(view.columns, view.selection, layout, 'pair', none).total).toBe(all);
      if (measure !== 'transfers' && measure !== 'wire_bytes') continue;
      const transfers =
        measure === 'transfers' ? view.columns.transferCount : view.columns.transferWireBytes;
      for (const by of ['transport', 'operation'] as const) {
        const edges = makeEdges(view.columns, view.selection, layout, by, {
          cells: values,
          transfers,
        });
        expect(edges.total).toBe(all);
      }
    }
    expect(found).toBeGreaterThan(20);
  });

  it('a span is the sum of its slabs', () => {
    const cells = tableOf(tables, 'slab_cells');
    for (const [from, to] of [[3, 9], [0, 1], [60, 64]] as const) {
      const state = withSpan(kInitialState, axis, from * axis.slab, to * axis.slab);
      const view = makeView(context, state);
      let messages = 0;
      for (let row = 0; row < cells.rows; ++row) {
        const slab = cells.column('slab')[row]!;
        if (slab >= from && slab < to) messages += cells.column('messages')[row]!;
      }
      expect(messages).toBeGreaterThanOrEqual(0);
      expect(view.totals.messages).toBe(messages);
      expect(fromHash(`#${toHash(state, data.run.id)}`, choices, axis, data)).toEqual(state);
    }
    const whole = makeView(context, kInitialState).totals;
    expect(whole).toEqual(totals(columns, select(columns, {})));
  });
});

describe('activity', () => {
  it('counts what the filter chooses', () => {
    const random = makeRandom(9);
    for (let round = 0; round < 20; ++round) {
      const { choice, activity } = makeView(context, {
        ...kInitialState,
        filter: randomFilter(random),
      }).alongTime;
      kLayers.forEach((layer, index) => {
        const table = tableOf(tables, `${layer}_activity`);
        const expected = new Float64Array(data.processes.length);
        for (let row = 0; row < table.rows; ++row) {
          const process = table.column('process')[row]!;
          if (!counts(choice, layer, process, table.column('key')[row]!)) continue;
          expected[process]! += table.column('busy_ns')[row]! * table.column('length')[row]!;
        }
        activity.busy.levels.forEach(({ bins, values }) => {
          expected.forEach((value, process) => {
            const lane = laneOf(process, index) * bins;
            expect(sum(values.subarray(lane, lane + bins))).toBe(value);
          });
        });
      });
    }
  });

  it('levels sum pairs', () => {
    const base = Float64Array.from({ length: 2 * 5 }, (_, index) => index);
    const { levels } = makePyramid(base, 2);
    expect(levels.map(({ bins }) => bins)).toEqual([5, 3, 2, 1]);
    expect([...levels[1]!.values]).toEqual([1, 5, 4, 11, 15, 9]);
    expect([...levels[3]!.values]).toEqual([10, 35]);
    expect([0.1, 1, 2, 3, 99].map((least) => levelFor({ lanes: 2, levels }, least))).toEqual([
      0, 0, 1, 2, 3,
    ]);
  });
});

describe('single operations', () => {
  const details = makeDetails(data, tables, endOf(axis));

  it('are found by time', () => {
    const random = makeRandom(3);
    for (let round = 0; round < 200; ++round) {
      const layer = details.layers[round % 3]!;
      const process = Math.floor(random() * data.processes.length);
      const from = random() * data.time.details_to_ns;
      const to = from + random() * 3e7;
      const overlapping = Array.from(layer.table.column('process'), (_, row) => row).filter(
        (row) =>
          layer.table.column('process')[row] === process &&
          layer.start[row]! < to &&
          layer.end[row]! >= from,
      );
      const [begin, end] = rowsWithin(layer, process, from, to);
      for (const row of overlapping) expect(row >= begin && row < end).toBe(true);
      const found = Array.from({ length: end - begin }, (_, i) => begin + i);
      expect(found.filter((row) => layer.end[row]! >= from)).toEqual(overlapping);
    }
  });

  it('lie on tracks of their own while there are any', () => {
    for (const { first, start, end, track } of details.layers) {
      for (let process = 0; process < data.processes.length; ++process) {
        for (let row = first[process]!; row < first[process + 1]!; ++row) {
          expect(track[row]).toBeLessThan(kMaxTracks);
          const above = Array.from({ length: row - first[process]! }, (_, i) => first[process]! + i);
          if (track[row] === kMaxTracks - 1) continue;
          const clash = above.some(
            (other) => track[other] === track[row] && end[other]! > start[row]!,
          );
          expect(clash).toBe(false);
        }
      }
    }
  });
});

describe('the graph', () => {
  const hostsBut = (...opened: string[]) => ({ collapsed: true, opened: new Set(opened) });

  it.each([1, 2, 7, 64, 65, 300])('%i nodes lie apart', (count) => {
    const places = ringPlaces(count);
    expect(places).toHaveLength(count);
    let least = Infinity;
    for (let a = 0; a < count; ++a) {
      for (let b = 0; b < a; ++b) {
        const [p, q] = [places[a]!, places[b]!];
        least = Math.min(least, Math.hypot(p.x - q.x, p.y - q.y));
      }
    }
    expect(least).toBeGreaterThan(34);
  });

  it('stands for hosts until they are opened', () => {
    const closed = makeLayout(data, false, hostsBut());
    expect(closed.nodes.map(({ label }) => label)).toEqual(['node1 (4)', 'node2 (2)']);
    const open = makeLayout(data, false, hostsBut('node2'));
    expect(open.nodes).toHaveLength(3);
    const nodes = [0, 5].map((process) => nodeOfProcess(data, open, process));
    expect(nodes).toEqual(['host node1', 'process 5']);
    const selection = select(columns, {});
    const values = cellValues(columns, selection, 'messages');
    const both = { cells: values, transfers: columns.transferCount };
    const edges = makeEdges(columns, selection, makeLayout(data, true, hostsBut()), 'pair', both, 2);
    expect(edges.total).toBe(sum(values));
    expect(edges.edges).toHaveLength(2);
    expect(sum(edges.edges.map(({ value }) => value)) + edges.hiddenValue).toBe(edges.total);
  });

  it('has the edges of the definition, the largest first', () => {
    const random = makeRandom(5);
    const layout = makeLayout(data, true, hostsBut('node1'));
    for (let round = 0; round < 60; ++round) {
      const filter = randomFilter(random);
      const view = makeView(context, { ...kInitialState, filter, measure: 'transfers' });
      const { columns: within, selection } = view;
      const by = kEdgesBy[round % kEdgesBy.length]!;
      const values = { cells: cellValues(within, selection, 'bytes'), transfers: within.transferCount };
      // Naive: a text for each part.
      const sums = new Map<string, number>();
      const add = (cell: number, name: string, value: number) => {
        const ends = [within.src[cell]!, within.dst[cell]!].map((process) => nodeOfProcess(data, layout, process));
        if (value > 0) sums.set(ends.join(' > ') + name, (sums.get(ends.join(' > ') + name) ?? 0) + value);
      };
      within.src.forEach((_, cell) => {
        if (by === 'pair') add(cell, '', values.cells[cell]!);
        else {
          for (let t = within.firstTransfer[cell]!; t < within.firstTransfer[cell + 1]!; ++t) {
            const step = within.steps[within.transferStep[t]!]!;
            const name = by === 'transport' ? step.transport : step.op;
            add(cell, ` over ${name}`, selection.transfers[t] ? values.transfers[t]! : 0);
          }
        }
      });
      const all = [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
      const limit = round % 2 === 0 ? 3 : 1000;
      const made = makeEdges(within, selection, layout, by, values, limit);
      expect(made.edges.map(({ id, value }) => [id, value])).toEqual(all.slice(0, limit));
      expect(made.hidden).toBe(Math.max(0, all.length - limit));
      expect(made.hiddenValue).toBe(sum(all.slice(limit).map(([, value]) => value)));
      expect(made.arrows).toBe(sum(all.map(([, value]) => value)));
    }
  });
});

describe('the range on the screen', () => {
  const whole = { from: 0, to: 1000 };
  it('stays inside the run', () => {
    expect(inside({ from: -50, to: 150 }, whole)).toEqual({ from: 0, to: 200 });
    expect(inside({ from: 0, to: 5000 }, whole)).toEqual(whole);
    expect(panned({ from: 100, to: 300 }, -1, whole)).toEqual({ from: 0, to: 200 });
    const near = zoomed({ from: 0, to: 1000 }, 0.5, 400, whole);
    expect(near).toEqual({ from: 200, to: 700 });
    expect(zoomed(near, 1e-9, 400, whole).to - zoomed(near, 1e-9, 400, whole).from).toBe(40);
    expect(showing(near, { from: 800, to: 810 }, whole).to).toBeGreaterThanOrEqual(810);
    expect(showing(near, { from: 300, to: 310 }, whole)).toBe(near);
  });

  it('has round ticks', () => {
    expect(ticks({ from: 0, to: 1e9 }, 5).map(({ label }) => label)).toEqual([
      '0.0 s', '0.2 s', '0.4 s', '0.6 s', '0.8 s', '1.0 s',
    ]);
    expect(ticks({ from: 5, to: 25 }, 4).map(({ at }) => at)).toEqual([5, 10, 15, 20, 25]);
  });
});

describe('the command of a selection', () => {
  it('is what a shell and uctrace read', () => {
    expect(quote("it's")).toBe(`'it'\\''s'`);
    expect([timeWord(0), timeWord(1_230_000_000), timeWord(7)]).toEqual([
      '0s', '1.23s', '0.000000007s',
    ]);
    const filter: Filter = { mpi: null, comm: 'cart 4x4', min_size: 5, max_size: 7, src: 2, rank: 1 };
    expect(selectionCommand(data as PageData, { ...filter, from: 5e8 })).toBe(
      "uctrace report --mpi unknown --comm 'cart 4x4' --min-bytes 16 --max-bytes 127 --src 2 " +
        '--rank 1 --from 0.5s',
    );
    expect(selectionCommand(data as PageData, { withoutMessage: true })).toBe(
      'uctrace report --internal',
    );
    const named = { ...(data as PageData), folder: "'my run' --job 2" };
    expect(selectionCommand(named, { withoutMessage: true, src: 2 })).toBe("uctrace report 'my run' --job 2 --internal --src 2");
    expect(viewCommand(named, 5, 1_000_000_000)).toBe("uctrace view 'my run' --job 2 --from 0.000000005s --to 1s");
    expect(viewCommand(data as PageData, 0, 7)).toBe('uctrace view --from 0s --to 0.000000007s');
    const part = { ...(data as PageData), unrecorded: { src: ['7', 'unknown'], dst: [] } };
    part.time = { ...part.time, is_part: true, from_ns: 100, to_ns: 900 };
    expect(selectionCommand(part, { src: -1, to: 1000 })).toBe(
      'uctrace report --src 7,unknown --from 0.0000001s --to 0.0000009s',
    );
  });
});
