// The time of messages, in a row of a table: all of them together, and one of them on average.

import { element, numberCell } from '../dom';
import { describeUntimed, formatExactValue, formatMeanTime, formatValue } from '../words';

export interface MessageTimes {
  readonly messages: number;
  readonly timed: number;
  /** Nanoseconds of those with a known time. */
  readonly time: number;
}

/** "12,000 ns of 8 messages, 1.50 µs each on average." */
export function timeTitle({ messages, timed, time }: MessageTimes): string {
  const all = `${formatExactValue('time', time)} of ${formatExactValue('messages', timed)}`;
  return [`${all}, ${formatMeanTime(time, timed)} each on average.`, describeUntimed(messages - timed)].join(' ').trim();
}

export function timeCells(times: MessageTimes): HTMLElement[] {
  const { timed, time } = times;
  if (timed === 0) return [element('td'), element('td')];
  const title = timeTitle(times);
  return [
    numberCell(formatValue('time', time), title, time),
    numberCell(formatMeanTime(time, timed), title, time / timed),
  ];
}
