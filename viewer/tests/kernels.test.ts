// The kernels, compared with the definitions that they state, on random runs and random filters.

import { describe, expect, it } from 'vitest';

import { makeColumns } from '../src/columns';
import { listContenders, listFunctions, listTransports, tabulate } from '../src/contenders';
import { kMemoryKinds, type PageData, type Place, type Step, type TrafficClass } from '../src/data';
import { cellValues, kMeasures, select, totals, type Filter, type Measure } from '../src/filter';
import { cellsAt, makeAxis, makeMatrix, position, processesOf, squaresOf, valueAt } from '../src/matrix';
import { largestPairs } from '../src/pairs';
import { makeChoices } from '../src/choices';
import { cellsOf, columnsOf, pageDataOf, type Cell } from './cells';
import { makeRandom, makeRun } from './make_run.mjs';

type Random = () => number;

const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)]!;
const upTo = (random: Random, limit: number) => Math.floor(random() * limit);

function randomRun(random: Random): PageData {
  // Only its processes and devices are used; the traffic is made below.
  const base = pageDataOf(makeRun({ ranks: 1 + upTo(random, 7), gpus: upTo(random, 3), steps: 1, limit: 0 }));
  const { gpus } = base.devices;
  const place = (): Place => {
    const kind = gpus.length === 0 ? 'host' : pick(random, kMemoryKinds);
    const isOfGpu = kind === 'gpu' || kind === 'managed';
    return { kind, gpu: isOfGpu ? upTo(random, gpus.length + 1) - 1 : -1 };
  };
  const memories = (reason: string | null) =>
    reason === null
      ? { src_memory: place(), dst_memory: place() }
      : { src_memory: null, dst_memory: null };
  const makeClass = (reason: string | null): TrafficClass => ({
    kind: pick(random, ['tag', 'put', null]),
    size: pick(random, [0, 1, 7, 20, null]),
    mpi: pick(random, ['MPI_Send', 'MPI_Isend', null]),
    comm: pick(random, ['world', 'row', null]),
    protocol: pick(random, ['eager', 'rndv', null]),
    match: null,
    reason,
    ...memories(reason),
    path: Array.from({ length: upTo(random, 4) }, (_, hop): Step => ({
      hop,
      transport: pick(random, ['sysv', 'tcp']),
      device: pick(random, ['memory', 'eth0', 'unknown']),
      remote_device: pick(random, ['memory', 'eth1', null]),
      network: random() < 0.5,
      op: pick(random, ['am_short', 'am_bcopy', 'get_zcopy']),
      role: pick(random, ['data', 'control', 'staging'] as const),
      issued_by: pick(random, ['src', 'dst'] as const),
      from: place(),
      to: place(),
    })),
  });
  const classes = Array.from({ length: 12 }, () => makeClass(pick(random, [null, null, 'wireup'])));
  const cells = Array.from({ length: upTo(random, 200) }, (): Cell => {
    const index = upTo(random, classes.length);
    const isMessage = classes[index]!.reason === null;
    const messages = isMessage ? upTo(random, 9) : 0;
    const timed = upTo(random, messages + 1);
    return {
      src: upTo(random, base.processes.length + 1) - 1,
      dst: upTo(random, base.processes.length + 1) - 1,
      class: index,
      messages,
      bytes: messages * upTo(random, 999),
      timed,
      ns: timed * upTo(random, 9999),
      transfers: classes[index]!.path.map(() => {
        const count = upTo(random, 3);
        return { count, bytes: count * upTo(random, 999), wire_bytes: count * upTo(random, 999) };
      }),
    };
  });
  return { ...base, classes, cells: columnsOf(cells, classes) };
}

function randomFilter(random: Random, data: PageData): Filter {
  const choices = makeChoices(data);
  const filter: Record<string, unknown> = { withoutMessage: random() < 0.5 };
  for (const [name, values] of Object.entries(choices)) {
    if (random() < 0.25 && values.length > 0) filter[name] = pick(random, values);
  }
  return filter;
}

/** The definition in src/filter.ts, written out on objects. */
function naive(data: PageData, filter: Filter) {
  const is = (wanted: unknown, value: unknown) => wanted === undefined || wanted === value;
  const asksMessages = [
    filter.kind, filter.mpi, filter.comm, filter.protocol, filter.min_size, filter.max_size,
    filter.src_memory, filter.dst_memory, filter.gpu,
  ].some((v) => v !== undefined);
  const asked = (cell: Cell) => {
    const kind = data.classes[cell.class]!;
    const hosts = [data.processes[cell.src]?.host, data.processes[cell.dst]?.host];
    return (
      is(filter.kind, kind.kind) &&
      is(filter.mpi, kind.mpi) &&
      is(filter.comm, kind.comm) &&
      is(filter.protocol, kind.protocol) &&
      is(filter.src, cell.src) &&
      is(filter.dst, cell.dst) &&
      (filter.min_size === undefined || (kind.size !== null && kind.size >= filter.min_size)) &&
      (filter.max_size === undefined || (kind.size !== null && kind.size <= filter.max_size)) &&
      (filter.rank === undefined || [cell.src, cell.dst].includes(filter.rank)) &&
      (filter.host === undefined || hosts.includes(filter.host)) &&
      is(filter.src_memory, kind.src_memory?.kind) &&
      is(filter.dst_memory, kind.dst_memory?.kind) &&
      (filter.gpu === undefined ||
        [kind.src_memory, kind.dst_memory].some(
          (place) => place && data.devices.gpus[place.gpu]?.label === filter.gpu,
        )) &&
      is(filter.src_host, hosts[0]) &&
      is(filter.dst_host, hosts[1]) &&
      (kind.reason === null || (filter.withoutMessage && !asksMessages))
    );
  };
  const wanted = (step: Step) =>
    is(filter.transport, step.transport) && is(filter.op, step.op) && is(filter.role, step.role);
  const path = (cell: Cell) => data.classes[cell.class]!.path;
  const transfers = (cell: Cell) =>
    asked(cell)
      ? cell.transfers
          .map((totals, hop) => ({ ...totals, step: path(cell)[hop]! }))
          .filter(({ step }) => wanted(step))
      : [];
  const asksPath = [filter.transport, filter.op, filter.role].some((v) => v !== undefined);
  const counts = (cell: Cell) =>
    asked(cell) &&
    data.classes[cell.class]!.reason === null &&
    (!asksPath || transfers(cell).some(({ count }) => count > 0));
  const value = (cell: Cell, measure: Measure) => {
    if (measure === 'bytes') return counts(cell) ? cell.bytes : 0;
    if (measure === 'messages') return counts(cell) ? cell.messages : 0;
    if (measure === 'time') return counts(cell) ? cell.ns : 0;
    const field = measure === 'transfers' ? 'count' : 'wire_bytes';
    return transfers(cell).reduce((sum, totals) => sum + totals[field], 0);
  };
  const timed = (cell: Cell) => (counts(cell) ? cell.timed : 0);
  return { transfers, value, timed };
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
const samples = Array.from({ length: 60 }, (_, index) => {
  const random = makeRandom(index + 1);
  const data = randomRun(random);
  const filter = randomFilter(random, data);
  const columns = makeColumns(data);
  const every = cellsOf(data.cells);
  return { data, every, filter, columns, selection: select(columns, filter), oracle: naive(data, filter) };
});

describe('kernels equal their definitions', () => {
  it.each(kMeasures)('cell values and totals: %s', (measure) => {
    for (const { every, columns, selection, oracle } of samples) {
      const expected = every.map((cell) => oracle.value(cell, measure));
      expect([...cellValues(columns, selection, measure)]).toEqual(expected);
      expect(totals(columns, selection)[measure]).toBe(sum(expected));
    }
  });

  it.each([1024, 3, 1])('matrix of at most %i rows', (maxSide) => {
    for (const { every, columns, selection, oracle } of samples) {
      const axis = makeAxis(columns, maxSide);
      const matrix = makeMatrix(squaresOf(columns, axis), axis, cellValues(columns, selection, 'bytes'));
      const within = (row: number, process: number) => {
        const { first, last } = processesOf(axis, row);
        return first <= process && process < last;
      };
      const expected = Array.from(matrix.values, (_, index) => {
        const [row, column] = [Math.floor(index / axis.side), index % axis.side];
        const cells = every.filter((c) => within(row, c.src) && within(column, c.dst));
        expect(cellsAt(squaresOf(columns, axis), axis, { row, column })).toHaveLength(cells.length);
        return sum(cells.map((cell) => oracle.value(cell, 'bytes')));
      });
      expect([...matrix.values]).toEqual(expected);
      expect(matrix.max).toBe(Math.max(0, ...expected));
      expect(matrix.minPositive).toBe(Math.min(...expected.filter((value) => value > 0)));
    }
  });

  it.each([1000, 3])('the %i largest pairs', (limit) => {
    for (const { every, columns, selection, oracle } of samples) {
      const axis = makeAxis(columns, 3);
      for (const shown of kMeasures) {
        const matrix = makeMatrix(squaresOf(columns, axis), axis, cellValues(columns, selection, shown));
        const { pairs, count } = largestPairs(columns, selection, squaresOf(columns, axis), matrix, limit);
        const falling = [...matrix.values].filter((value) => value > 0).sort((a, b) => b - a);
        expect(count).toBe(falling.length);
        expect(pairs.map((pair) => pair[shown])).toEqual(falling.slice(0, limit));
        for (const { row, column, ...loads } of pairs) {
          const cells = cellsAt(squaresOf(columns, axis), axis, { row, column }).map((c) => every[c]!);
          for (const measure of kMeasures) {
            expect(loads[measure]).toBe(sum(cells.map((cell) => oracle.value(cell, measure))));
          }
          expect(loads.timed).toBe(sum(cells.map(oracle.timed)));
        }
      }
    }
  });

  it('transports of a pair', () => {
    for (const { every, columns, selection, oracle } of samples) {
      const axis = makeAxis(columns);
      for (let square = 0; square < axis.side ** 2; ++square) {
        const cells = cellsAt(squaresOf(columns, axis), axis, { row: Math.floor(square / axis.side), column: square % axis.side });
        const transfers = cells
          .flatMap((c) => oracle.transfers(every[c]!))
          .filter(({ count }) => count > 0);
        const rows = listTransports(columns, selection, cells);
        const names = rows.map((row) => row.transport);
        expect(new Set(names)).toEqual(new Set(transfers.map(({ step }) => step.transport)));
        expect(names).toHaveLength(new Set(names).size);
        for (const row of rows) {
          const found = transfers.filter(({ step }) => step.transport === row.transport);
          expect(row.count).toBe(sum(found.map((t) => t.count)));
          expect(row.bytes).toBe(sum(found.map((t) => t.bytes)));
          expect(row.wire_bytes).toBe(sum(found.map((t) => t.wire_bytes)));
        }
      }
    }
  });

  it('contenders', () => {
    for (const { every, columns, selection, oracle } of samples) {
      const all = every.flatMap((cell) => oracle.transfers(cell));
      const load = (matches: (step: Step) => boolean) => {
        const found = all.filter(({ step }) => matches(step));
        return {
          count: sum(found.map((t) => t.count)),
          bytes: sum(found.map((t) => t.bytes)),
          wire_bytes: sum(found.map((t) => t.wire_bytes)),
        };
      };
      const counted = all.filter(({ count }) => count > 0);
      const table = tabulate(columns, selection);
      expect(new Set(table.operations)).toEqual(new Set(counted.map(({ step }) => step.op)));
      for (const { op, transport, device } of counted.map(({ step }) => step)) {
        const pair = table.at(op, transport)!;
        expect(pair).toMatchObject(load((s) => s.op === op && s.transport === transport));
        expect(table.operation(op)).toMatchObject(load((s) => s.op === op));
        expect(table.transport(transport)).toMatchObject(load((s) => s.transport === transport));
        const row = listContenders(columns, selection).find(
          (c) => c.op === op && c.transport === transport && c.device === device,
        )!;
        const same = (s: Step) => s.op === op && s.transport === transport && s.device === device;
        expect(row).toMatchObject(load(same));
      }
      expect(table.total).toEqual(load(() => true));
    }
  });

  it('MPI functions', () => {
    for (const { data, every, columns, selection, oracle } of samples) {
      const rows = listFunctions(columns, selection);
      for (const measure of kMeasures) {
        expect(sum(rows.map((row) => row[measure]))).toBe(totals(columns, selection)[measure]);
        for (const row of rows) {
          const cells = every.filter((cell) => data.classes[cell.class]!.mpi === row.mpi);
          expect(row[measure]).toBe(sum(cells.map((cell) => oracle.value(cell, measure))));
          expect(row.timed).toBe(sum(cells.map(oracle.timed)));
        }
      }
    }
  });
});

describe('colour scale', () => {
  it('maps values to positions and back', () => {
    const { columns } = samples[0]!;
    const matrix = {
      axis: makeAxis(columns),
      values: new Float64Array(),
      max: 1e6,
      minPositive: 10,
    };
    for (const scale of ['log', 'linear'] as const) {
      expect(position(matrix, scale, 1e6)).toBeCloseTo(1);
      expect(valueAt(matrix, scale, position(matrix, scale, 5000))).toBeCloseTo(5000);
    }
    expect(position({ ...matrix, minPositive: 1e6 }, 'log', 1e6)).toBe(1);
  });
});
