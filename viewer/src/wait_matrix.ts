// Time waited from rank to rank, for the matrix of waits. tests/waits.test.ts compares it with plain sums.

import type { PageData } from './data';
import type { Filter } from './filter';
import type { Singles } from './singles';
import { endOf, makeTimeAxis } from './slabs';
import type { Waits } from './waits';

/** Waits with the same waiting process, process waited for, and kind; `src` and `dst` as in a matrix. */
export interface WaitCells {
  /** The process that waited. */
  readonly src: Float64Array;
  /** The process waited for. */
  readonly dst: Float64Array;
  readonly kind: Float64Array;
  readonly ns: Float64Array;
  readonly count: Float64Array;
  /** The chosen time is ignored, because the page does not list all waits in it. */
  readonly ofAllTimes: boolean;
}

interface Sum {
  readonly src: number;
  readonly dst: number;
  readonly kind: number;
  ns: number;
  count: number;
}

/**
 * Of the filter, only rank, host and time apply: a wait is selected if it has the rank, or a process of the host, at
 * either end, and begins in the time. Other choices are about messages, and most waits have none.
 */
export function selectWaits(data: PageData, waits: Waits, singles: Singles, filter: Filter): WaitCells {
  const known = filter.from === undefined && filter.to === undefined;
  const axis = makeTimeAxis(data.time);
  const inDetail = !known && (filter.from ?? axis.from) >= singles.from && (filter.to ?? endOf(axis)) <= singles.to;
  const sums = known || !inDetail ? sumsOfAll(waits) : sumsWithin(waits, singles, filter);
  const hasHost = (process: number, host: string) => data.processes[process]?.host === host;
  const { rank, host } = filter;
  const chosen = sums.filter(
    ({ src, dst }) =>
      (rank === undefined || src === rank || dst === rank) &&
      (host === undefined || hasHost(src, host) || hasHost(dst, host)),
  );
  const column = (name: keyof Sum) => Float64Array.from(chosen, (sum) => sum[name]);
  return {
    src: column('src'),
    dst: column('dst'),
    kind: column('kind'),
    ns: column('ns'),
    count: column('count'),
    ofAllTimes: !known && !inDetail,
  };
}

function sumsOfAll({ sums }: Waits): Sum[] {
  const [src, dst, kind, count, ns] = ['process', 'cause', 'kind', 'waits', 'ns'].map((name) => sums.column(name));
  return Array.from({ length: sums.rows }, (_, row) => ({
    src: src![row]!,
    dst: dst![row]!,
    kind: kind![row]!,
    ns: ns![row]!,
    count: count![row]!,
  }));
}

/** From the single waits; no sum includes MPI_Finalize. */
function sumsWithin({ kinds, waited }: Waits, { details, waits }: Singles, { from = 0, to = Infinity }: Filter): Sum[] {
  const calls = details.layers[0]!;
  const single = waits.table;
  const process = calls.table.column('process');
  const [call, since, ns, cause, kind, unknown] = [
    'call', 'since_start_ns', 'ns', 'cause', 'kind', 'unknown',
  ].map((name) => single.column(name));
  const processes = waited.length;
  const finalize = kinds.indexOf('wait_finalize');
  const found = new Map<number, Sum>();
  for (let row = 0; row < single.rows; ++row) {
    if (unknown![row] !== 0 || kind![row] === finalize) continue;
    const at = calls.start[call![row]!]! + since![row]!;
    if (at < from || at >= to) continue;
    const key = { src: process[call![row]!]!, dst: cause![row]!, kind: kind![row]! };
    const number = (key.src * (processes + 1) + key.dst + 1) * kinds.length + key.kind;
    const sum = found.get(number) ?? { ...key, ns: 0, count: 0 };
    sum.ns += ns![row]!;
    ++sum.count;
    found.set(number, sum);
  }
  return [...found.values()];
}

/** Says which processes these waits are about, and where the page shows more. */
export function describeWaitCells({ ns, count, ofAllTimes }: WaitCells, { sums }: Waits): string {
  if (ns.length === 0 && sums.rows === 0) return 'No rank is known to have waited for another one.';
  const all = count.reduce((sum, n) => sum + n, 0);
  const time = ofAllTimes
    ? ' The chosen time is not taken into account: not all of its operations are loaded.'
    : '';
  if (ns.length === 0) return `The filter selects no wait.${time}`;
  return (
    `${all} ${all === 1 ? 'wait' : 'waits'} of MPI calls whose length is known. Of the filters, rank, host and ` +
    `time apply.${time}`
  );
}
