// Waits of the page, compared with plain sums over its tables.

import { describe, expect, it } from 'vitest';

import { makeColumns } from '../src/columns';
import { describeWaits } from '../src/describe_waits';
import { makeOwnOperations } from '../src/singles';
import { select, type Filter } from '../src/filter';
import { tableOf } from '../src/packed';
import { readWritten } from './read_written';
import { chooseActivity, endOf, makeTimeAxis } from '../src/slabs';
import { describeWaitCells, selectWaits } from '../src/wait_matrix';
import { callThatEnded, makeWaits, processesToldBy, waitsOfCall, type Wait } from '../src/waits';
import { makeRun, written } from './make_run.mjs';

const read = (limit: number) => readWritten(written(makeRun({ ranks: 6, steps: 40, slabs: 64, limit })));
const { data, tables } = await read(1e9);
const axis = makeTimeAxis(data.time);
const { singles } = makeOwnOperations(data, tables, axis);
const { details } = singles;
const waits = makeWaits(data, tables, axis);
const calls = details.layers[0]!;
const single = tableOf(tables, 'waits');
const processOf = (row: number) => calls.table.column('process')[single.column('call')[row]!]!;

interface Plain extends Wait {
  readonly process: number;
}
const plain: Plain[] = Array.from({ length: single.rows }, (_, row) => {
  const of = (column: string) => single.column(column)[row]!;
  const from = calls.start[of('call')]! + of('since_start_ns');
  const [cause, kind, unknown] = [of('cause'), of('kind'), of('unknown')];
  return { process: processOf(row), from, to: from + of('ns'), cause, kind, unknown };
});
const finalize = data.waits.kinds.indexOf('wait_finalize');
/** The waits that the sums include. */
const known = plain.filter(({ unknown, kind }) => unknown === 0 && kind !== finalize);
const length = (some: readonly Wait[]) => some.reduce((sum, { from, to }) => sum + to - from, 0);
const sum = (values: ArrayLike<number>) => Array.from(values).reduce((all, value) => all + value, 0);

describe('waits', () => {
  it('are there, of every kind', () => {
    expect(known.length).toBeGreaterThan(100);
    expect(new Set(known.map(({ kind }) => kind)).size).toBe(data.waits.kinds.length - 1);
    expect(plain.some(({ unknown, kind }) => unknown === 0 && kind === finalize)).toBe(true);
  });

  it('add up by who waited and for whom', () => {
    data.processes.forEach((_, process) => {
      expect(waits.waited[process]).toBe(length(known.filter((wait) => wait.process === process)));
      expect(waits.caused[process]).toBe(length(known.filter(({ cause }) => cause === process)));
    });
  });

  it('over time are those of the processes, on every level', () => {
    for (const { bins, values } of waits.busy.levels) {
      expect(values.length).toBe(bins * data.processes.length);
      expect(sum(values)).toBe(length(known));
    }
  });

  it('of a call are found by its row', () => {
    const found = Array.from({ length: calls.table.rows }, (_, row) => waitsOfCall(singles.waits, calls, row)).flat();
    expect(found).toEqual(plain.map(({ process: _, ...wait }) => wait));
  });

  it('end with the call of the other process that begins then, if there is one', () => {
    const at = calls.first[2]!;
    const wait = { from: 0, to: calls.start[at]!, cause: 2, kind: 0, unknown: 0 };
    expect(callThatEnded(calls, wait)).toBe(at);
    expect(callThatEnded(calls, { ...wait, to: wait.to + 1 })).not.toBe(at);
    expect(callThatEnded(calls, { ...wait, cause: -1 })).toBeUndefined();
    expect(callThatEnded(calls, { ...wait, unknown: 1 })).toBeUndefined();
  });

  it('are told with their kind, their cause and what is not known', () => {
    const row = single.column('call')[plain.findIndex(({ unknown }) => unknown === 0)]!;
    const told = describeWaits(data, singles.waits, calls, row)!;
    expect(told.lines[0]![0]).toBe('waited');
    expect(told.lines[1]![1]).toMatch(/ for rank \d/);
    const open = single.column('call')[plain.findIndex(({ unknown }) => unknown === 1)]!;
    expect(describeWaits(data, singles.waits, calls, open)!.lines.flat().join()).toMatch(/may have waited.*below_clock_bound/);
    const none = Array.from(calls.start.keys()).find((call) => waitsOfCall(singles.waits, calls, call).length === 0)!;
    expect(describeWaits(data, singles.waits, calls, none)).toBeUndefined();
  });
});

describe('waits over time', () => {
  const all = data.processes.map((_, process) => process);
  const toldBy = (filter: Filter) =>
    processesToldBy(filter, chooseActivity(data, filter, select(makeColumns(data), filter)), all);

  it('are told of the chosen processes, but not where functions or communicators are chosen', () => {
    expect(toldBy({})).toEqual(all);
    expect(toldBy({ rank: 2 })).toEqual([2]);
    expect(toldBy({ host: data.processes[0]!.host })).toEqual(
      all.filter((process) => data.processes[process]!.host === data.processes[0]!.host),
    );
    expect(toldBy({ mpi: 'MPI_Gather' })).toEqual([]);
    expect(toldBy({ rank: 2, comm: null })).toEqual([]);
  });
});

describe('the matrix of waits', () => {
  const accepts = ({ rank, host, from = 0, to = Infinity }: Filter) => (wait: Plain) =>
    (rank === undefined || wait.process === rank || wait.cause === rank) &&
    (host === undefined || [wait.process, wait.cause].some((end) => data.processes[end]?.host === host)) &&
    wait.from >= from &&
    wait.from < to;

  it.each<Filter>([{}, { rank: 2 }, { host: 'node2' }, { from: 2e9, to: 5e9 }, { rank: 0, host: 'node1', to: 4e9 }, { mpi: 'MPI_Gather' }])(
    'sums up what %j selects',
    (filter) => {
      const cells = selectWaits(data, waits, singles, filter);
      const chosen = known.filter(accepts(filter));
      expect(sum(cells.ns)).toBe(length(chosen));
      expect(sum(cells.count)).toBe(chosen.length);
      expect(cells.ofAllTimes).toBe(false);
      cells.src.forEach((src, c) => {
        const own = chosen.filter(({ process, cause, kind }) => process === src && cause === cells.dst[c] && kind === cells.kind[c]);
        expect(cells.ns[c]).toBe(length(own));
      });
      expect(describeWaitCells(cells, waits)).toMatch(new RegExp(`^${chosen.length} waits`));
    },
  );

  it('tells a filter that selects none from a run that has none', () => {
    const cells = selectWaits(data, waits, singles, { from: 0, to: 1 });
    expect(describeWaitCells(cells, waits)).toBe('The filter selects no wait.');
    expect(describeWaitCells({ ...cells, ofAllTimes: true }, waits)).toMatch(/no wait\. The chosen time is not/);
    const none = { ...waits, sums: { ...waits.sums, rows: 0 } as typeof waits.sums };
    expect(describeWaitCells(cells, none)).toMatch(/^No rank is known/);
  });

  it('sums up a time without a beginning or an end, where what is loaded reaches that of the run', () => {
    const middle = 4e9;
    const loaded = (from: number, to: number) => ({ ...singles, from, to });
    const [first, last] = [loaded(axis.from, middle), loaded(middle, endOf(axis))];
    for (const [part, filter] of [[first, { to: middle }], [last, { from: middle }]] as const) {
      const cells = selectWaits(data, waits, part, filter);
      expect(cells.ofAllTimes).toBe(false);
      expect(sum(cells.ns)).toBe(length(known.filter(accepts(filter))));
    }
    expect(selectWaits(data, waits, first, { from: 1 }).ofAllTimes).toBe(true);
    expect(selectWaits(data, waits, last, { to: endOf(axis) }).ofAllTimes).toBe(true);
  });

  it('says where it cannot tell a span', async () => {
    const part = await read(200);
    const few = makeOwnOperations(part.data, part.tables, axis).singles;
    const own = makeWaits(part.data, part.tables, axis);
    const cells = selectWaits(part.data, own, few, { from: 0, to: 8e9 });
    expect(cells.ofAllTimes).toBe(true);
    expect(describeWaitCells(cells, own)).toMatch(/The chosen time is not taken into account/);
    expect(selectWaits(part.data, own, few, { from: 0, to: part.data.time.details_to_ns }).ofAllTimes).toBe(false);
  });
});
