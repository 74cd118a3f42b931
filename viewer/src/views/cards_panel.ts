// The traffic of the hosts' network cards, by which transports, and how evenly.

import { makeCards, type CardRow } from '../cards';
import { button, columnHead, element, numberCell, rowHead, section } from '../dom';
import { formatBytes, formatExactBytes, formatShare } from '../format';
import type { Panel, Update } from '../page';
import { withChoice } from '../state';
import { sortedTable } from '../table';
import { kNone, noneCell } from './cells';

export function makeCardsPanel(update: Update): Panel {
  const said = element('p');
  const listing = element('div');
  const root = section('network', 'Network cards', said, listing);
  const head = [
    columnHead('host'),
    columnHead('card'),
    columnHead('transports'),
    columnHead('sent', true),
    columnHead('received', true),
    columnHead('within the host', true),
    columnHead('share of its host', true),
  ];
  return {
    root,
    show(view) {
      const { rows, unknown } = makeCards(view.columns, view.selection);
      said.textContent =
        rows.length === 0
          ? 'UCX opened no network card.'
          : 'Wire bytes to and from other hosts by the card that carried them, as uctrace report --by rails has them ' +
            'of the whole run, beside the counters of the cards.' +
            (unknown > 0 ? ` Of ${formatBytes(unknown)} more the other end is not known.` : '');
      listing.replaceChildren(
        ...(rows.length === 0
          ? []
          : [sortedTable({ 'data-testid': 'network-cards' }, head, rows.map((row) => makeRow(row, update)))]),
      );
    },
  };
}

function makeRow(row: CardRow, update: Update): HTMLElement {
  const { host, card, transports, sent, received, inside, ofHost } = row;
  const choosers = transports.flatMap((transport, at) => [
    ...(at > 0 ? [', '] : []),
    button(transport, { class: 'link', title: `Show only ${transport}` }, () =>
      update((state) => withChoice(state, 'transport', transport)),
    ),
  ]);
  const bytes = (count: number) => numberCell(formatBytes(count), formatExactBytes(count), count);
  return element(
    'tr',
    {},
    rowHead(host),
    element('td', {}, card),
    element('td', {}, ...(choosers.length > 0 ? choosers : [kNone])),
    bytes(sent),
    bytes(received),
    bytes(inside),
    ofHost === 0 ? noneCell() : numberCell(formatShare(sent + received, ofHost), '', (sent + received) / ofHost),
  );
}
