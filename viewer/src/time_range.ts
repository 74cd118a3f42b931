// The part of the run that the timeline shows, and how it moves.

import { formatDuration } from './format';

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** No shorter than this many nanoseconds. */
const kShortest = 40;

/** A range of the same length inside `whole`, or `whole`. */
export function inside({ from, to }: Range, whole: Range): Range {
  const length = Math.min(Math.max(to - from, kShortest), whole.to - whole.from);
  const start = Math.min(Math.max(from, whole.from), whole.to - length);
  return { from: start, to: start + length };
}

/** `factor` above 1 shows more time; the instant `at` stays where it is on the screen. */
export function zoomed(range: Range, factor: number, at: number, whole: Range): Range {
  const length = Math.max(kShortest, (range.to - range.from) * factor);
  const scale = length / (range.to - range.from);
  const from = at - (at - range.from) * scale;
  return inside({ from, to: from + length }, whole);
}

/** Moves right by this `share` of the range's own length. */
export function panned(range: Range, share: number, whole: Range): Range {
  const shift = (range.to - range.from) * share;
  return inside({ from: range.from + shift, to: range.to + shift }, whole);
}

/** Moves no more than needed to show the span. */
export function showing(range: Range, span: Range, whole: Range): Range {
  const length = range.to - range.from;
  if (span.to - span.from > length) return inside({ from: span.from, to: span.from + length }, whole);
  const margin = Math.min(length * 0.08, (length - (span.to - span.from)) / 2);
  if (span.from < range.from) {
    return inside({ from: span.from - margin, to: span.from - margin + length }, whole);
  }
  if (span.to > range.to) {
    return inside({ from: span.to + margin - length, to: span.to + margin }, whole);
  }
  return range;
}

/** Round instants in the range, at most `most` of them. */
export function ticks(range: Range, most: number): { at: number; label: string }[] {
  const least = (range.to - range.from) / Math.max(1, most);
  let step = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  step *= [1, 2, 5, 10].find((factor) => step * factor >= least) ?? 10;
  const decimals = Math.max(0, 9 - Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(range.from / step);
  const count = Math.max(0, Math.floor(range.to / step) - first + 1);
  return Array.from({ length: count }, (_, index) => {
    const at = (first + index) * step;
    return { at, label: `${(at / 1e9).toFixed(decimals)} s` };
  });
}

export function describeRange({ from, to }: Range): string {
  return formatDuration(Math.round(to - from));
}
