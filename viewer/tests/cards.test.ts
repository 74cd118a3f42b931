// The traffic of network cards, compared with plain sums.

import { describe, expect, it } from 'vitest';

import { makeCards } from '../src/cards';
import { makeColumns } from '../src/columns';
import { select, type Filter } from '../src/filter';
import { readWritten } from './read_written';
import { makeRun, written } from './make_run.mjs';

const { data } = await readWritten(written(makeRun({ ranks: 8, gpus: 2, steps: 40, slabs: 64, limit: 0 })));
const columns = makeColumns(data);
const made = (filter: Filter) => makeCards(columns, select(columns, filter));

/** [sender, receiver, transport, bytes] of all traffic over a network. */
function plain(filter: Filter) {
  const { transfers } = select(columns, filter);
  const hostOf = (process: number) => data.processes[process]?.host;
  const found: { from: (string | null | undefined)[]; to: (string | null | undefined)[]; transport: string; bytes: number }[] = [];
  data.cells.src.forEach((src, c) => {
    const { path } = data.classes[data.cells.cellClass[c]!]!;
    path.forEach((step, hop) => {
      const t = data.cells.firstTransfer[c]! + hop;
      const bytes = data.cells.transferWireBytes[t]!;
      if (!transfers[t] || !step.network || step.role === 'staging' || bytes === 0) return;
      const own = step.issued_by === 'src';
      const source = [hostOf(src), own ? step.device : step.remote_device];
      const target = [hostOf(data.cells.dst[c]!), own ? step.remote_device : step.device];
      const back = step.role === 'control' && !own;
      found.push({ from: back ? target : source, to: back ? source : target, transport: step.transport, bytes });
    });
  });
  return found;
}

const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);

describe('network cards', () => {
  const filters: Filter[] = [{}, { role: 'data' }, { role: 'control' }, { rank: 1 }, { src: 0 }, { withoutMessage: true }];
  it.each(filters)('are summed up under %j', (filter) => {
    const all = plain(filter);
    const { rows, unknown } = made(filter);
    const between = all.filter(({ from, to }) => from[0] !== undefined && to[0] !== undefined && from[0] !== to[0]);
    expect(unknown).toBe(sum(all.filter(({ from, to }) => from[0] === undefined || to[0] === undefined).map(({ bytes }) => bytes)));
    for (const { host, card, sent, received, ofHost, transports } of rows) {
      const at = (end: 'from' | 'to') => between.filter((one) => one[end][0] === host && one[end][1] === card);
      expect(sent).toBe(sum(at('from').map(({ bytes }) => bytes)));
      expect(received).toBe(sum(at('to').map(({ bytes }) => bytes)));
      expect(ofHost).toBe(sum(rows.filter((row) => row.host === host).map((row) => row.sent + row.received)));
      for (const end of ['from', 'to'] as const) for (const { transport } of at(end)) expect(transports).toContain(transport);
    }
    const known = (end: 'from' | 'to') => sum(between.filter((one) => one[end][1] !== null).map(({ bytes }) => bytes));
    expect(sum(rows.map(({ sent }) => sent))).toBe(known('from'));
    expect(sum(rows.map(({ received }) => received))).toBe(known('to'));
  });

  it('are all there, by host and name, and carry something in this run', () => {
    const { rows } = made({});
    expect(rows.map(({ host, card }) => `${host} ${card}`)).toEqual(expect.arrayContaining(data.devices.nics.map(({ host, device }) => `${host} ${device}`)));
    expect(new Set(rows.map(({ host }) => host)).size).toBeGreaterThan(1);
    expect(rows.filter(({ sent }) => sent > 0).length).toBeGreaterThan(1);
    expect(made({ transport: 'no such transport' as string }).rows.every(({ sent, transports }) => sent === 0 && transports.length === 0)).toBe(true);
  });
});
