// What changed between an earlier run and the run of the page: types and checks of the output of
// `uctrace diff --format json` (docs/diff.md).

import { count, list, nullable, oneOf, primitive, record, text, type Check } from './checks';

export interface ComparedRun {
  folder: string;
  command: string;
  ranks: number;
}

/** `a` is of the earlier run, `b` of the page's; null: not set. `ranks`: null is the whole run. */
export interface SettingDifference {
  name: string;
  a: string | null;
  b: string | null;
  ranks: string | null;
}

export type ChangeUnit = 'bytes' | 'ns' | 'count' | 'percent';
export type Verdict = 'change' | 'noise' | 'small' | 'not_told';

/** One call, wait or message of those that make up a number. */
export interface Each {
  quarter_ns: number;
  median_ns: number;
  three_quarters_ns: number;
}

export interface Change {
  what: string;
  a: number;
  b: number;
  /** The difference as a share of all time, payload, messages or calls: 0 to 1. */
  share: number;
  unit: ChangeUnit;
  verdict: Verdict;
  each_a: Each | null;
  each_b: Each | null;
}

export interface SizeTotals {
  messages: number;
  bytes: number;
  median_ns: number | null;
  p99_ns: number | null;
}

/** Messages of one protocol and class of sizes; null where a run has none. */
export interface ComparedProtocol {
  protocol: string;
  from_bytes: number;
  below_bytes: number;
  a: SizeTotals | null;
  b: SizeTotals | null;
}

export interface Comparison {
  a: ComparedRun;
  b: ComparedRun;
  settings: SettingDifference[];
  changes: Change[];
  others: Change[];
  /** Rows that the page has no room for. */
  left_out: { changes: number; others: number };
  equal: number;
  protocols: ComparedProtocol[];
  notes: string[];
}

const number = primitive<number>('a number', (v) => Number.isFinite(v));
const run = record<ComparedRun>({ folder: text, command: text, ranks: count });
const each = nullable(record<Each>({ quarter_ns: count, median_ns: count, three_quarters_ns: count }));
const change = record<Change>({
  what: text,
  a: number,
  b: number,
  share: number,
  unit: oneOf<ChangeUnit>('bytes', 'ns', 'count', 'percent'),
  verdict: oneOf<Verdict>('change', 'noise', 'small', 'not_told'),
  each_a: each,
  each_b: each,
});
const totals = nullable(
  record<SizeTotals>({
    messages: count,
    bytes: count,
    median_ns: nullable(count),
    p99_ns: nullable(count),
  }),
);

export const comparison: Check<Comparison> = record<Comparison>({
  a: run,
  b: run,
  settings: list(
    record<SettingDifference>({
      name: text,
      a: nullable(text),
      b: nullable(text),
      ranks: nullable(text),
    }),
  ),
  changes: list(change),
  others: list(change),
  left_out: record<Comparison['left_out']>({ changes: count, others: count }),
  equal: count,
  protocols: list(
    record<ComparedProtocol>({
      protocol: text,
      from_bytes: count,
      below_bytes: count,
      a: totals,
      b: totals,
    }),
  ),
  notes: list(text),
});
