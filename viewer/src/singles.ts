// The operations that are told one by one: all that the page has of them, or the tiles of the time
// that the reader looks at.

import type { PageData } from './data';
import { formatInstant } from './describe';
import { makeDetails, type Details } from './details';
import { formatCount } from './format';
import type { Tables } from './packed';
import { endOf, type TimeAxis } from './slabs';
import type { Range } from './time_range';
import { makeSingleWaits, type SingleWaits } from './waits';

/** Everything that is in progress in [from, to) is here. */
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
  /** The part of them that is drawn one by one where there is room: nothing where the reader sees far more. */
  readonly drawn: Range;
  /** What is missing, or on its way; empty for nothing. */
  readonly trouble: string;
  readonly loading: string;
  /** Which of them the search looks at; empty: all that the run has. */
  readonly searched: string;
  /** The reader looks at this; what it needs comes by and by. */
  lookAt(range: Range): void;
  /** Who looks at this span has what is in progress at that instant; undefined where nothing more can come. */
  spanAt(time: number): Range | undefined;
  /** Calls back after each change. */
  whenChanged(listener: () => void): void;
}

/** Those that the page has in itself. */
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
