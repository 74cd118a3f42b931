// The lanes of the timeline, compared with plain definitions.

import { describe, expect, it } from 'vitest';

import { kAllLanes, kMostPinned, makeLanes, parseRanks, type LaneChoice } from '../src/lanes';
import { readWritten } from './read_written';
import { differInDockAlone, differInTimelineAlone, kInitialState } from '../src/state';
import { makeRandom, makeRun, written } from './make_run.mjs';

const ranks = 18; // four on each host, two on the last one
const { data } = await readWritten(written(makeRun({ ranks, slabs: 16, limit: 10 })));
const random = makeRandom(5);
const numbers = () => Float64Array.from({ length: ranks }, () => Math.floor(50 * random()));
const weights = { waited: numbers(), caused: numbers(), bytes: numbers() };
const lanesOf = (choice: Partial<LaneChoice>) => makeLanes(data, { ...kAllLanes, ...choice }, weights);
const singles = (choice: Partial<LaneChoice>) => lanesOf(choice).rows.map(({ processes }) => processes[0]!);
const all = Array.from({ length: ranks }, (_, process) => process);

describe('lanes', () => {
  it('are those of the ranks', () => {
    const { rows, rowOf, pinned } = lanesOf({});
    expect(rows.map(({ host }) => host)).toEqual(all.map(() => null));
    expect([...rowOf]).toEqual(all);
    expect(pinned).toBe(0);
  });

  it.each(['waited', 'caused', 'bytes'] as const)('are sorted by %s, equal ones by rank', (sort) => {
    const expected = [...all].sort((a, b) => weights[sort][b]! - weights[sort][a]! || a - b);
    expect(singles({ sort })).toEqual(expected);
  });

  it('are filtered by rank or by host', () => {
    expect(singles({ only: '0-2, 7,16–40' })).toEqual([0, 1, 2, 7, 16, 17]);
    expect(singles({ only: 'NODE2' })).toEqual([4, 5, 6, 7]);
    expect(singles({ only: 'nowhere' })).toEqual([]);
    expect(singles({ only: '  ' })).toEqual(all);
    expect(lanesOf({ only: '3' }).rowOf[4]).toBe(-1);
  });

  it('that are pinned come first, also those that would be left out, and only once', () => {
    const { rows, pinned, rowOf } = lanesOf({ pinned: [9, 2, 99], only: '0-2' });
    expect(rows.map(({ processes }) => processes[0])).toEqual([9, 2, 0, 1]);
    expect(pinned).toBe(2);
    expect(rowOf[2]).toBe(1);
    expect(lanesOf({ pinned: all }).pinned).toBe(kMostPinned);
  });

  it('of a host are one, but for those that are opened', () => {
    const { rows, rowOf } = lanesOf({ byHost: true, opened: ['node2'], pinned: [1] });
    expect(rows.map(({ host, processes }) => [host, ...processes])).toEqual([
      [null, 1],
      ['node1', 0, 2, 3],
      ...[4, 5, 6, 7].map((process) => [null, process]),
      ['node3', 8, 9, 10, 11],
      ['node4', 12, 13, 14, 15],
      ['node5', 16, 17],
    ]);
    for (const process of all) expect(rows[rowOf[process]!]!.processes).toContain(process);
  });

  it('of hosts are sorted by their sums', () => {
    const { rows } = lanesOf({ byHost: true, sort: 'bytes' });
    const sums = rows.map(({ processes }) => processes.reduce((sum, each) => sum + weights.bytes[each]!, 0));
    expect(sums).toEqual([...sums].sort((a, b) => b - a));
    expect(sums.reduce((sum, each) => sum + each, 0)).toBe(weights.bytes.reduce((sum, each) => sum + each, 0));
  });
});

describe('a choice of lanes', () => {
  it('is told from one that concerns more than the timeline', () => {
    const lanes = { ...kAllLanes, compact: true };
    expect(differInTimelineAlone(kInitialState, { ...kInitialState, lanes })).toBe(true);
    expect(differInTimelineAlone(kInitialState, { ...kInitialState, overview: 'ranks' })).toBe(true);
    expect(differInTimelineAlone(kInitialState, { ...kInitialState, lanes, overview: 'ranks' })).toBe(true);
    expect(differInTimelineAlone(kInitialState, { ...kInitialState, overview: 'ranks', scale: 'linear' })).toBe(false);
    expect(differInTimelineAlone(kInitialState, kInitialState)).toBe(false);
    expect(differInTimelineAlone(kInitialState, { ...kInitialState, lanes, measure: 'messages' })).toBe(false);
    expect(differInTimelineAlone(kInitialState, { ...kInitialState, lanes, filter: { rank: 1 } })).toBe(false);
  });

  it('is no choice of the dock', () => {
    const folded = { ...kInitialState, dock: 'folded' } as const;
    expect(differInDockAlone(kInitialState, folded)).toBe(true);
    expect(differInTimelineAlone(kInitialState, folded)).toBe(false);
    expect(differInDockAlone(kInitialState, { ...folded, overview: 'ranks' })).toBe(false);
    expect(differInDockAlone(kInitialState, kInitialState)).toBe(false);
  });
});

describe('ranks as text', () => {
  it('are numbers and ranges, or no ranks at all', () => {
    const accepts = parseRanks('3,5-7')!;
    expect(all.filter(accepts)).toEqual([3, 5, 6, 7]);
    for (const text of ['node1', '3,', '-3', '1-2-3', '']) expect(parseRanks(text)).toBeUndefined();
  });
});
