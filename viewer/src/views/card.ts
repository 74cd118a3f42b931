// A description of an operation or message, as the dock of details shows it.

import type { Description } from '../describe';
import { element } from '../dom';

export function makeCard({ title, lines, path, notes }: Description): HTMLElement[] {
  const facts = lines.map(([name, value]) => element('div', {}, element('dt', {}, name), ' ', element('dd', {}, value)));
  const items = (path ?? []).map((line) => element('li', {}, line));
  return [
    element('strong', {}, title),
    element('dl', { class: 'card' }, ...facts),
    ...(path
      ? [
          element('div', { class: 'faint' }, items.length > 0 ? 'Path' : 'Path: not recorded'),
          element('ol', { class: 'path' }, ...items),
        ]
      : []),
    ...(notes ?? []).map((note) => element('div', { class: 'faint' }, note)),
  ];
}
