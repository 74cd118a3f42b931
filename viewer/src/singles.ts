// The operations that the page lists one by one: all that it has, or the tiles of the time that the reader looks at.

import type { PageData } from './data';
import { formatInstant } from './describe';
import { makeDetails, type Details } from './details';
import { formatCount } from './format';
import type { Tables } from './packed';
import { endOf, type TimeAxis } from './slabs';
import type { Range } from './time_range';
import { makeSingleWaits, type SingleWaits } from './waits';

/** Has every operation in progress in [from, to). */
export interface Singles extends Range {
  readonly details: Details;
  readonly waits: SingleWaits;
}

export function makeSingles(data: PageData, tables: Tables, axis: TimeAxis, range: Range): Singles {
  return { ...range, details: makeDetails(data, tables, endOf(axis)), waits: makeSingleWaits(tables) };
}

/** The operations at hand. */
export interface Operations {
  /** Another object after each change. */
  readonly singles: Singles;
  /** The part of them that is drawn one by one if there is room: empty if the reader sees a far longer time. */
  readonly drawn: Range;
  /** What is missing, or on its way; empty for nothing. */
  readonly trouble: string;
  readonly loading: string;
  /** Which operations the search covers; empty: all operations of the run. */
  readonly searched: string;
  /** The reader looks at this range; the operations in it are loaded bit by bit. */
  lookAt(range: Range): void;
  /** A range such that lookAt() loads the operations at that instant; undefined if nothing more can be loaded. */
  spanAt(time: number): Range | undefined;
  /** Calls back after each change. */
  whenChanged(listener: () => void): void;
}

/** The operations that the page itself has. */
export function makeOwnOperations(data: PageData, tables: Tables, axis: TimeAxis): Operations {
  const { events, embedded, details_to_ns } = data.time;
  const isAll = embedded === events;
  const range = { from: -Infinity, to: isAll ? Infinity : details_to_ns };
  const singles = makeSingles(data, tables, axis, range);
  return {
    singles,
    drawn: range,
    trouble: '',
    loading: '',
    searched: isAll ? '' : `the ${formatCount(embedded)} of ${formatCount(events)} operations and messages in this page`,
    lookAt: () => {},
    spanAt: () => undefined,
    whenChanged: () => {},
  };
}

/** "the operations from 1.000000000 s to 1.200000000 s, which are loaded" */
export function describeLoaded({ from, to }: Range): string {
  if (from >= to) return 'no operations, as none are loaded: zoom in first';
  return `the operations from ${formatInstant(from)} to ${formatInstant(to)}, which are loaded`;
}
