// The checks that the merge made: both sides are counted independently of each other.

import type { Identity, PageData } from '../data';
import { columnHead, element, rowHead, section, table } from '../dom';
import { formatCount } from '../format';

export function makeIdentities({ identities }: PageData): HTMLElement {
  const head = [
    columnHead('identity'),
    columnHead('scope'),
    columnHead('statement'),
    columnHead('left', true),
    columnHead('right', true),
    columnHead('result'),
  ];
  const side = (value: number | null) =>
    element('td', { class: 'number' }, value === null ? '–' : formatCount(value));
  const row = ({ name, scope, statement, left, right, result }: Identity) =>
    element(
      'tr',
      {},
      rowHead(name),
      element('td', {}, scope),
      element('td', { class: 'wrap' }, statement),
      side(left),
      side(right),
      element('td', {}, element('span', { class: `result ${result}` }, result)),
    );
  return section(
    'identities',
    'Identities',
    element(
      'p',
      {},
      'Each statement compares two sides that are counted independently over the whole run; ' +
        'filters do not change them.',
    ),
    table({ 'data-testid': 'identities-table' }, head, identities.map(row)),
  );
}
