// Which UCT operations on which transports carry the traffic: as shares, and as a sortable list.

import { listContenders, tabulate, type Contender, type Load } from '../contenders';
import { button, columnHead, element, numberCell, rowHead, section } from '../dom';
import { formatBytes, formatCount, formatExactBytes, formatShare } from '../format';
import type { Panel, Update, View } from '../page';
import { withChoice } from '../state';
import { sortedTable, table } from '../table';

const kColumns = [
  { title: 'transport', numeric: false },
  { title: 'device', numeric: false },
  { title: 'operation', numeric: false },
  { title: 'transfers', numeric: true },
  { title: 'payload', numeric: true },
  { title: 'wire bytes', numeric: true },
] as const;
const kByPayload = { column: 4, falling: true };

const kReading = 'Share of the payload carried, and of the number of transfers in parentheses.';

export function makeContendersPanel(update: Update): Panel {
  const shares = element('div');
  const listing = element('div');
  const root = section(
    'contenders',
    'Top contenders',
    element('p', {}, kReading),
    shares,
    element('h3', {}, 'By transport, device and operation'),
    listing,
  );
  return {
    root,
    show(view) {
      shares.replaceChildren(makeShares(view, update));
      listing.replaceChildren(makeList(listContenders(view.columns, view.selection)));
    },
  };
}

function makeShares(view: View, update: Update): HTMLElement {
  const contenders = tabulate(view.columns, view.selection);
  const { operations, transports, total } = contenders;
  if (total.count === 0) return element('p', {}, 'The filter selects no transfers.');
  const share = (load: Load | undefined, op: string, transport: string) =>
    makeShare(load, total, { 'data-op': op, 'data-transport': transport });
  const chooser = (choice: 'op' | 'transport', value: string) =>
    button(value, { class: 'link', title: `Show only ${value}` }, () =>
      update((state) => withChoice(state, choice, value)),
    );
  const head = [
    columnHead('operation'),
    ...transports.map((name) =>
      element('th', { scope: 'col', class: 'number' }, chooser('transport', name)),
    ),
    columnHead('all', true),
  ];
  const rows = operations.map((op) =>
    element(
      'tr',
      {},
      rowHead(chooser('op', op)),
      ...transports.map((transport) => share(contenders.at(op, transport), op, transport)),
      share(contenders.operation(op), op, ''),
    ),
  );
  const totals = element(
    'tr',
    { class: 'total' },
    rowHead('all'),
    ...transports.map((transport) => share(contenders.transport(transport), '', transport)),
    share(total, '', ''),
  );
  return table({ 'data-testid': 'contenders-table' }, head, [...rows, totals]);
}

/** An `op` or `transport` of "" means all. */
function makeShare(
  load: Load | undefined,
  total: Load,
  key: { 'data-op': string; 'data-transport': string },
): HTMLElement {
  if (!load) return element('td', { class: 'number faint', ...key }, '·');
  const exact =
    `${formatExactBytes(load.bytes)} payload, ${formatCount(load.count)} ` +
    `transfers, ${formatExactBytes(load.wire_bytes)} wire bytes`;
  const percent = total.bytes === 0 ? 0 : (100 * load.bytes) / total.bytes;
  return element(
    'td',
    {
      class: 'number share',
      title: exact,
      style: `--share: ${percent.toFixed(1)}%`,
      'data-value': load.bytes,
      'data-bytes': load.bytes,
      'data-count': load.count,
      'data-wire-bytes': load.wire_bytes,
      ...key,
    },
    formatShare(load.bytes, total.bytes),
    element('small', {}, ` (${formatShare(load.count, total.count)})`),
  );
}

function makeList(rows: Contender[]): HTMLElement {
  const head = kColumns.map(({ title, numeric }) => columnHead(title, numeric));
  const body = rows.map((row) =>
    element(
      'tr',
      {},
      rowHead(row.transport),
      element('td', {}, row.device),
      element('td', {}, row.op),
      numberCell(formatCount(row.count), '', row.count),
      numberCell(formatBytes(row.bytes), formatExactBytes(row.bytes), row.bytes),
      numberCell(formatBytes(row.wire_bytes), formatExactBytes(row.wire_bytes), row.wire_bytes),
    ),
  );
  return sortedTable({ 'data-testid': 'contenders-list' }, head, body, kByPayload);
}
