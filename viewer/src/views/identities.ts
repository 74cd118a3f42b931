// The checks of the merge: each compares two independent counts.

import type { Identity, RunData } from '../data';
import { columnHead, element, rowHead, section } from '../dom';
import { formatCount } from '../format';
import { sortedTable } from '../table';

export function makeIdentities({ identities }: RunData): HTMLElement {
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
  const failed = identities.filter(({ result }) => result !== 'holds').length;
  const sum =
    identities.length === 0
      ? 'None were checked'
      : failed === 0
      ? `All ${formatCount(identities.length)} hold`
      : `${formatCount(failed)} of ${formatCount(identities.length)} do not hold, or cannot be decided`;
  return section(
    'identities',
    'Identities',
    // One line, unless a check failed.
    element(
      'details',
      { open: failed > 0, 'data-testid': 'identities' },
      element('summary', {}, sum),
      element(
        'p',
        {},
        'Each statement compares two sides that are counted independently over the whole run; ' +
          'filters do not change them.',
      ),
      sortedTable({ 'data-testid': 'identities-table' }, head, identities.map(row)),
    ),
  );
}
