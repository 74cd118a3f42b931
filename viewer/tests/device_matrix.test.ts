// The matrices of memories and of devices, compared with plain sums over random selections.

import { describe, expect, it } from 'vitest';

import { makeColumns } from '../src/columns';
import type { Place, Step } from '../src/data';
import { kLegMeasures, legTotals, legValues, makeLegs, movedBy } from '../src/device_matrix';
import { makeDeviceEdges, makeDeviceLayout } from '../src/devices';
import { cellValues, totals, type Selection } from '../src/filter';
import { makeMatrix } from '../src/matrix';
import { makeMemoryMatrix } from '../src/memories';
import { largestSquares } from '../src/pairs';
import { makeChoices } from '../src/choices';
import { fromHash, kInitialState, matricesOf, toHash } from '../src/state';
import { cellsOf, pageDataOf } from './cells';
import { makeRandom, makeRun, written } from './make_run.mjs';
import { readWritten } from './read_written';

const { data } = await readWritten(written(makeRun({ ranks: 10, gpus: 2, slabs: 64, limit: 600 })));
const columns = makeColumns(data);
const cells = cellsOf(data.cells);
const random = makeRandom(5);
const flags = (length: number) => Uint8Array.from({ length }, () => Number(random() < 0.6));
const selections: Selection[] = Array.from({ length: 6 }, () => ({
  cells: flags(cells.length),
  transfers: flags(columns.transferStep.length),
}));

const hostOf = (process: number) => data.processes[process]?.host ?? null;

/** The definition: the devices that a step leaves and reaches, device by device. */
function devicesOn(step: Step, src: number, dst: number): string[] {
  if (step.role === 'control' && step.from.kind === 'unknown' && step.to.kind === 'unknown') return [];
  const memory = ({ kind, gpu }: Place, process: number) => {
    if (gpu >= 0) return `gpu ${gpu}`;
    const host = hostOf(process);
    return host === null ? 'unknown' : kind === 'host' ? `host memory of ${host}` : `${kind} memory of ${host}`;
  };
  const card = (name: string | null, process: number) =>
    hostOf(process) === null ? 'unknown' : `card ${name} of ${hostOf(process)}`;
  const own = step.issued_by === 'src' ? src : dst;
  if (step.role === 'staging') return [memory(step.from, own), memory(step.to, own)];
  const [first, last] = [memory(step.from, src), memory(step.to, dst)];
  if (!step.network) return [first, last];
  const bySource = step.issued_by === 'src';
  const [left, reached] = bySource ? [step.device, step.remote_device] : [step.remote_device, step.device];
  return [first, card(left, src), card(reached, dst), last];
}

/** "from > to" -> sum of the values of the selected transfer totals that pass directly from one to the other. */
function expectedLegs(selection: Selection, values: Float64Array): Map<string, number> {
  const sums = new Map<string, number>();
  let t = 0;
  for (const cell of cells) {
    const { path, reason } = data.classes[cell.class]!;
    for (const step of path) {
      const value = selection.transfers[t] ? values[t]! : 0;
      ++t;
      if (reason !== null || value === 0) continue;
      const devices = devicesOn(step, cell.src, cell.dst);
      for (let i = 1; i < devices.length; ++i) {
        const [from, to] = [devices[i - 1]!, devices[i]!];
        if (from !== 'unknown' || to !== 'unknown') sums.set(`${from} > ${to}`, (sums.get(`${from} > ${to}`) ?? 0) + value);
      }
    }
  }
  return sums;
}

const sum = (values: Iterable<number>) => [...values].reduce((all, value) => all + value, 0);
const sorted = (sums: Map<string, number>) => [...sums].sort(([a], [b]) => (a < b ? -1 : 1));

describe('the matrix of devices', () => {
  const legs = makeLegs(columns);
  const side = legs.devices.length;
  const shown = (selection: Selection, values: Float64Array) =>
    makeMatrix(legs.squares, { side }, legValues(legs, selection, values));

  it('has each device once, by host', () => {
    expect(new Set(legs.devices.map(({ key }) => key)).size).toBe(side);
    expect(legs.devices.filter(({ kind }) => kind === 'gpu')).toHaveLength(6);
    expect(legs.devices.slice(0, 4).map(({ label }) => label)).toEqual([
      'GPU 10:00.0 of node1', 'GPU 20:00.0 of node1', 'host memory of node1', 'eth0 of node1',
    ]);
    expect(legs.devices[side - 1]!.label).toBe('unknown');
  });

  it.each(kLegMeasures)('adds up what passes from one to the next: %s', (measure) => {
    const values = movedBy(columns, measure);
    for (const selection of selections) {
      const matrix = shown(selection, values);
      const found = new Map<string, number>();
      matrix.values.forEach((value, square) => {
        const [from, to] = [legs.devices[Math.floor(square / side)]!, legs.devices[square % side]!];
        if (value > 0) found.set(`${from.key} > ${to.key}`, value);
      });
      expect(sorted(found)).toEqual(sorted(expectedLegs(selection, values)));
    }
  });

  it('adds up to what the arrows of the device graph do', () => {
    for (const selection of selections) {
      const values = columns.transferCount;
      const edges = makeDeviceEdges(columns, selection, makeDeviceLayout(columns), 'pair', values);
      expect(sum(shown(selection, values).values)).toBe(edges.arrows);
      const { moved, still } = legTotals(legs, selection, values);
      expect([moved + still, still]).toEqual([edges.total, edges.still]);
    }
  });

  it('lists its largest squares with every measure', () => {
    const [selection] = selections as [Selection];
    const values = kLegMeasures.map((measure) => legValues(legs, selection, movedBy(columns, measure)));
    const matrix = makeMatrix(legs.squares, { side }, values[0]!);
    const { pairs, count } = largestSquares(legs.squares, matrix, 5, (load, leg) =>
      kLegMeasures.forEach((measure, at) => (load[measure] += values[at]![leg]!)),
    );
    expect(count).toBe(matrix.values.filter((value) => value > 0).length);
    expect(pairs.map(({ bytes }) => bytes)).toEqual([...matrix.values].sort((a, b) => b - a).slice(0, 5));
    for (const { row, column, transfers, wire_bytes } of pairs) {
      const square = row * side + column;
      expect(transfers).toBe(shown(selection, columns.transferCount).values[square]);
      expect(wire_bytes).toBe(shown(selection, columns.transferWireBytes).values[square]);
    }
  });

  it('puts the devices together that moved the least', () => {
    const few = makeLegs(columns, 4);
    expect(few.devices.map(({ key }) => key)).toContain('others');
    expect(few.devices).toHaveLength(4);
    for (const selection of selections) {
      const matrix = makeMatrix(few.squares, { side: 4 }, legValues(few, selection, columns.transferCount));
      expect(sum(matrix.values)).toBe(sum(shown(selection, columns.transferCount).values));
    }
  });
});

describe('the matrix of memories', () => {
  it.each(['bytes', 'messages', 'time', 'transfers'] as const)('has each cell in the square of its ends: %s', (measure) => {
    for (const selection of selections) {
      const values = cellValues(columns, selection, measure);
      const { memories, squares, values: sums } = makeMemoryMatrix(columns, values);
      const made = makeMatrix(squares, { side: memories.length }, values);
      expect(made.values).toEqual(sums);
      expect(sum(sums)).toBe(totals(columns, selection)[measure]);
      memories.forEach((from, row) =>
        memories.forEach((to, column) => {
          const expected = cells.map(({ src, dst, class: of }, c) => {
            const { src_memory, dst_memory } = data.classes[of]!;
            const key = (place: Place | null, process: number) =>
              place ? `${place.kind} ${place.gpu} ${data.devices.gpus[place.gpu]?.host ?? hostOf(process)}` : 'none';
            return key(src_memory, src) === from.key && key(dst_memory, dst) === to.key ? values[c]! : 0;
          });
          expect(sums[row * memories.length + column]).toBe(sum(expected));
        }),
      );
    }
  });
});

describe('the choice of a matrix', () => {
  const axis = { from: 0, slab: 1, slabs: 1 };

  it('is in the address', () => {
    for (const matrix of matricesOf(data)) {
      const state = { ...kInitialState, matrix };
      expect(fromHash(`#${toHash(state, data.run.id)}`, makeChoices(data), axis, data)).toEqual(state);
    }
    expect(matricesOf(data)).toEqual(['traffic', 'waits', 'memories', 'devices']);
  });

  it('has none that says nothing of the run', () => {
    const oneHost = pageDataOf(makeRun({ ranks: 4, slabs: 64, limit: 100 }));
    for (const one of oneHost.classes) one.path.forEach((step) => (step.network = false));
    expect(matricesOf(oneHost)).toEqual(['traffic', 'waits']);
    expect(fromHash('#matrix=devices', makeChoices(oneHost), axis, oneHost).matrix).toBe('traffic');
    expect(matricesOf(pageDataOf(makeRun({ ranks: 8, slabs: 64, limit: 100 })))).toEqual(['traffic', 'waits', 'memories', 'devices']);
  });
});
