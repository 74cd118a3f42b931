// Cells that several tables have.

import { element, numberCell } from '../dom';
import { formatCount, formatDuration } from '../format';

export const kNone = '–';

export function noneCell(): HTMLElement {
  return element('td', { class: 'number' }, kNone);
}

export function durationCell(ns: number | null): HTMLElement {
  if (ns === null) return noneCell();
  return numberCell(formatDuration(ns), `${formatCount(ns)} ns`, ns);
}
