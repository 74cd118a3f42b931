// The words of the page: names of measures and processes, and the sentence that describes the
// numbers on the page.

import { choicesOf, choiceWords, kChoices, processLabel } from './choices';
import { kUnknownProcess, type PageData } from './data';
import { filtersPath, filtersTime, isOfMessages, type Filter, type Measure, type MessageMeasure } from './filter';
import { formatBytes, formatCount, formatDuration, formatExactBytes, formatShortCount } from './format';
import type { Axis } from './matrix';
import { processesOf } from './matrix';

export const kMeasureNames: Record<Measure, string> = {
  bytes: 'payload bytes',
  messages: 'messages',
  transfers: 'transfers',
  wire_bytes: 'wire bytes',
  time: 'time of messages',
};

export const kNotKnown = 'not known';

export function countsBytes(measure: Measure): boolean {
  return measure === 'bytes' || measure === 'wire_bytes';
}

function nounFor(measure: Measure, value: number): string {
  const noun = measure === 'messages' ? 'message' : 'transfer';
  return value === 1 ? noun : `${noun}s`;
}

/** "1,234 ns"; beyond 2^53 the page's sums are no longer exact. */
function formatExactTime(ns: number): string {
  return `${ns > Number.MAX_SAFE_INTEGER ? 'about ' : ''}${formatCount(ns)} ns`;
}

/** For `timed` messages that took `ns` together. */
export function formatMeanTime(ns: number, timed: number): string {
  return timed === 0 ? '–' : formatDuration(Math.round(ns / timed));
}

/** The messages that the time leaves out; nothing if all have a time. */
export function describeUntimed(untimed: number): string {
  if (untimed === 0) return '';
  return `Of ${formatCount(untimed)} ${nounFor('messages', untimed)} start or end is not known: no time counts for ${untimed === 1 ? 'it' : 'them'}.`;
}

/** "1.50 KiB", "1,234", "12.3 µs" */
export function formatValue(measure: Measure, value: number): string {
  if (measure === 'time') return formatDuration(value);
  return countsBytes(measure) ? formatBytes(value) : formatCount(value);
}

/** "1.50 KiB", "1.23 k", "12.3 µs" */
export function formatShortValue(measure: Measure, value: number): string {
  if (measure === 'time') return formatDuration(value);
  return countsBytes(measure) ? formatBytes(value) : formatShortCount(value);
}

/** "1,536 B", "1,234 messages", "12,345 ns" */
export function formatExactValue(measure: Measure, value: number): string {
  if (countsBytes(measure)) return formatExactBytes(value);
  if (measure === 'time') return formatExactTime(value);
  return `${formatCount(value)} ${nounFor(measure, value)}`;
}

/** How the values of a matrix are written. */
export interface ValueWords {
  readonly name: string;
  readonly short: (value: number) => string;
  readonly exact: (value: number) => string;
}

export function wordsOf(measure: Measure): ValueWords {
  return {
    name: kMeasureNames[measure],
    short: (value) => formatShortValue(measure, value),
    exact: (value) => formatExactValue(measure, value),
  };
}

export const kWaitWords: ValueWords = {
  name: 'time waited',
  short: formatDuration,
  exact: formatExactTime,
};

/** "3", "8–11" if ranks share a row, "unknown" */
export function rowLabel(data: PageData, axis: Axis, row: number): string {
  const { first, last } = processesOf(axis, row);
  if (first === kUnknownProcess || last - first === 1) return processLabel(data, first);
  return `${processLabel(data, first)}–${processLabel(data, last - 1)}`;
}

function pathWords(filter: Filter, article: string): string {
  const words = [article, filter.role, filter.op, 'transfer'].filter(Boolean).join(' ');
  return filter.transport === undefined ? words : `${words} over ${filter.transport}`;
}

const pathChoices = choicesOf('path');

function messageWords(data: PageData, filter: Filter): string {
  const words: string[] = [];
  for (const choice of [...kChoices].filter((choice) => !pathChoices.includes(choice))) {
    const value = filter[choice];
    if (value !== undefined) words.push(choiceWords(data, choice, value));
  }
  if (filtersTime(filter)) words.push('that start in the chosen time');
  return words.length === 0 ? '' : ` ${words.join(', ')}`;
}

const kMessageSums: Record<MessageMeasure, string> = {
  bytes: 'Payload of the messages',
  messages: 'Number of messages',
  time: 'Time that the messages',
};
const kMessageRules: Record<MessageMeasure, string> = {
  bytes: '; each message counts once',
  messages: '',
  time: ' took from start to end, added up',
};

/** Says in one sentence what the measure adds up under the filter. */
export function describe(data: PageData, filter: Filter, measure: Measure): string {
  const which = messageWords(data, filter);
  const qualified = which || (filtersPath(filter) ? '' : ' of the run');
  if (isOfMessages(measure)) {
    const path = filtersPath(filter)
      ? `${which ? ',' : ''} whose path uses ${pathWords(filter, 'at least one')}`
      : '';
    return `${kMessageSums[measure]}${qualified}${path}${kMessageRules[measure]}.`;
  }
  const transfers = filtersPath(filter) ? `${pathWords(filter, 'each')}` : 'every transfer';
  const what =
    measure === 'transfers'
      ? `Number of UCT transfers: ${transfers}`
      : `Payload and headers above UCT: ${transfers}`;
  const orNone = filter.withoutMessage ? ', or no message at all' : '';
  return `${what} that serves a message${qualified}${orNone}.`;
}
