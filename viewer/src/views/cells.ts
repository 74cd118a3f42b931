// Cells that several tables use.

import { element, numberCell } from '../dom';
import { formatBytes, formatCount, formatDuration, formatExactBytes } from '../format';

export const kNone = '–';

export function noneCell(): HTMLElement {
  return element('td', { class: 'number' }, kNone);
}

/** Lengths from `least` bytes to below `end`: sorted by `least`. */
export function sizesCell(least: number, end: number): HTMLElement {
  const text =
    end - least <= 1 ? formatExactBytes(least) : `${formatBytes(least)} to ${formatExactBytes(end - 1)}`;
  return element('td', { 'data-value': least }, text);
}

export function durationCell(ns: number | null): HTMLElement {
  if (ns === null) return noneCell();
  return numberCell(formatDuration(ns), `${formatCount(ns)} ns`, ns);
}
