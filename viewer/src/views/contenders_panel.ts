// Which UCT operations on which transports carry the traffic: as shares, and as a sortable list.

import { listContenders, tabulate, type Contender, type Load } from '../contenders';
import { button, columnHead, element, numberCell, rowHead, section } from '../dom';
import { formatBytes, formatCount, formatExactBytes, formatShare } from '../format';
import type { Panel, Update, View } from '../page';
import { withChoice } from '../state';
import { table } from '../table';

type Column = keyof Contender;

const kColumns: readonly { key: Column; title: string; numeric: boolean }[] = [
  { key: 'transport', title: 'transport', numeric: false },
  { key: 'device', title: 'device', numeric: false },
  { key: 'op', title: 'operation', numeric: false },
  { key: 'count', title: 'transfers', numeric: true },
  { key: 'bytes', title: 'payload', numeric: true },
  { key: 'wire_bytes', title: 'wire bytes', numeric: true },
];

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
  const order: Order = { key: 'bytes', falling: true };
  let shown: View | undefined;

  const showList = () => {
    if (!shown) return;
    const rows = sorted(listContenders(shown.columns, shown.selection), order);
    listing.replaceChildren(makeList(rows, order, showList));
  };

  return {
    root,
    show(view) {
      shown = view;
      shares.replaceChildren(makeShares(view, update));
      showList();
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

/** An `op` or `transport` of "" stands for all. */
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
      'data-bytes': load.bytes,
      'data-count': load.count,
      'data-wire-bytes': load.wire_bytes,
      ...key,
    },
    formatShare(load.bytes, total.bytes),
    element('small', {}, ` (${formatShare(load.count, total.count)})`),
  );
}

interface Order {
  key: Column;
  falling: boolean;
}

function sorted(rows: Contender[], { key, falling }: Order): Contender[] {
  const direction = falling ? -1 : 1;
  return rows.sort((a, b) => {
    const [left, right] = [a[key], b[key]];
    if (typeof left === 'number' && typeof right === 'number') return direction * (left - right);
    return direction * String(left).localeCompare(String(right), 'en', { numeric: true });
  });
}

function makeList(rows: Contender[], order: Order, reorder: () => void): HTMLElement {
  const head = kColumns.map(({ key, title, numeric }) => {
    const sort = order.key === key && (order.falling ? 'descending' : 'ascending');
    const choose = () => {
      order.falling = order.key === key ? !order.falling : numeric;
      order.key = key;
      reorder();
      document.querySelector<HTMLElement>(`[data-testid="sort-${key}"]`)?.focus();
    };
    const mark = sort ? (order.falling ? ' ↓' : ' ↑') : '';
    return element(
      'th',
      { scope: 'col', class: numeric && 'number', 'aria-sort': sort },
      button(title + mark, { class: 'link', 'data-testid': `sort-${key}` }, choose),
    );
  });
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
  return table({ 'data-testid': 'contenders-list' }, head, body);
}
