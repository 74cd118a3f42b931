// A description of an operation or message as the content of a tooltip.

import type { Description } from '../describe';
import { element } from '../dom';

export function makeCard({ title, lines, path, notes }: Description): HTMLElement[] {
  const facts = element('dl', { class: 'card' });
  for (const [name, value] of lines) {
    facts.append(element('dt', {}, name), element('dd', {}, value));
  }
  const items = (path ?? []).map((line) => element('li', {}, line));
  return [
    element('strong', {}, title),
    facts,
    ...(path
      ? [
          element('div', { class: 'faint' }, items.length > 0 ? 'Path' : 'Path: not recorded'),
          element('ol', { class: 'path' }, ...items),
        ]
      : []),
    ...(notes ?? []).map((note) => element('div', { class: 'faint' }, note)),
  ];
}
