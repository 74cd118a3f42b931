// Tables: a click on a column head sorts them, and they can be saved as CSV.

import { button, element, type Attributes, type Child } from './dom';
import { csvText, download } from './download';
import { formatCount } from './format';
import { untilPainted } from './show_panels';

/** The sort column of a table; stored by name, because panels make their tables anew. */
export interface Order {
  column: number;
  falling: boolean;
}
const kOrders = new Map<string, Order>();

type Content = readonly (readonly string[])[];

function makeTable(attributes: Attributes, head: Child[], rows: Node[], content: (made: HTMLTableElement) => Content = contentOf) {
  const body = element('tbody', {}, ...rows);
  const made = element('table', attributes, element('thead', {}, element('tr', {}, ...head)), body);
  const name = String(attributes['data-testid'] ?? 'table');
  const csv = button('CSV', { class: 'link csv', title: 'Save this table as CSV' }, () =>
    // The mark in front identifies UTF-8 to spreadsheets.
    download(`${name}.csv`, new Blob(['\ufeff', csvText(content(made))], { type: 'text/csv' })),
  );
  // Scrollable regions must be reachable by keyboard.
  const scroll = element('div', { class: 'scroll', tabindex: 0 }, made);
  const root = element('div', { class: 'with-csv' }, scroll, csv);
  return { root, body, made, name };
}

/** In its own order, row by row. */
export function table(attributes: Attributes, head: Child[], rows: Node[]): HTMLElement {
  return makeTable(attributes, head, rows).root;
}

export interface GrowingTable {
  readonly root: HTMLElement;
  /** Adds the remaining rows. */
  finish(): void;
}

/**
 * The first rows, in their own order. The others follow once these are painted, unless the table has left the page by
 * then.
 */
export function growingTable(attributes: Attributes, head: Child[], first: Node[], makeOthers: () => Node[]): GrowingTable {
  let isWhole = false;
  const finish = () => {
    if (isWhole) return;
    isWhole = true;
    body.append(...makeOthers());
  };
  const { root, body } = makeTable(attributes, head, first, (made) => {
    finish();
    return contentOf(made);
  });
  void untilPainted().then(() => root.isConnected && finish());
  return { root, finish };
}

/**
 * Rows of one kind. A click on a column head changes their order: falling, rising, then their own. `first` is the
 * initial order.
 */
export function sortedTable(
  attributes: Attributes,
  head: Child[],
  rows: HTMLElement[],
  first?: Order,
): HTMLElement {
  const { root, body, made, name } = makeTable(attributes, head, rows);
  addSorting(made, name, first, (column) => isNumeric(rows, column), (order) =>
    body.replaceChildren(...(order ? sorted(rows, order) : rows)),
  )();
  return root;
}

/** Rows of which the page shows only some. */
export interface LongRows {
  /** Of each column. */
  readonly numeric: readonly boolean[];
  /** The rows to show, in this order, or in their own. */
  seen(order: Order | undefined): HTMLElement[];
  /** All of them, as CSV. */
  content(order: Order | undefined): string[][];
}

/** The same for more rows than the page can have. `show` requests the rows to show. */
export function longTable(
  attributes: Attributes,
  head: HTMLElement[],
  source: LongRows,
  first: Order,
): { readonly root: HTMLElement; show(): void } {
  const heads = head.map(({ textContent }) => textContent ?? '');
  const { root, body, made, name } = makeTable(attributes, head, [], () => [heads, ...source.content(kOrders.get(name))]);
  const show = addSorting(made, name, first, (column) => source.numeric[column]!, (order) =>
    body.replaceChildren(...source.seen(order)),
  );
  return { root, show };
}

/** Makes the column heads of a table sort it; the returned function shows the table in its order. */
function addSorting(
  made: HTMLTableElement,
  name: string,
  first: Order | undefined,
  isNumericColumn: (column: number) => boolean,
  arrange: (order: Order | undefined) => void,
): () => void {
  if (first && !kOrders.has(name)) kOrders.set(name, first);
  const heads = [...made.querySelectorAll<HTMLElement>('thead th')];
  const show = () => {
    const order = kOrders.get(name);
    arrange(order);
    heads.forEach((cell, column) => {
      if (order?.column === column) cell.ariaSort = order.falling ? 'descending' : 'ascending';
      else cell.removeAttribute('aria-sort');
    });
  };
  heads.forEach((cell, column) => {
    const text = cell.textContent ?? '';
    const sort = button(text, { class: 'link sort', title: `Sort by ${text}` }, () => {
      const next = following(kOrders.get(name), column, isNumericColumn(column));
      if (next) kOrders.set(name, next);
      else kOrders.delete(name);
      show();
    });
    cell.replaceChildren(sort);
  });
  return show;
}

/** Below a table that lacks rows: how many there are, and the command that lists them. */
export function moreToldBy(number: number, command: string): HTMLElement[] {
  if (number === 0) return [];
  return [element('p', { class: 'faint' }, `${formatCount(number)} more are told by ${command}.`)];
}

/** Numbers fall first, texts rise; the third click restores the table's own order. */
function following(order: Order | undefined, column: number, numeric: boolean): Order | undefined {
  if (order?.column !== column) return { column, falling: numeric };
  return order.falling === numeric ? { column, falling: !numeric } : undefined;
}

function valueOf(row: HTMLElement, column: number): string | undefined {
  return (row.children[column] as HTMLElement | undefined)?.dataset['value'];
}

function isNumeric(rows: HTMLElement[], column: number): boolean {
  return rows.some((row) => valueOf(row, column) !== undefined);
}

/** Rows without a number come last, either way. */
function sorted(rows: HTMLElement[], { column, falling }: Order): HTMLElement[] {
  const way = falling ? -1 : 1;
  const numeric = isNumeric(rows, column);
  const number = (row: HTMLElement) => Number(valueOf(row, column) ?? NaN);
  const text = (row: HTMLElement) => row.children[column]?.textContent ?? '';
  return [...rows].sort((a, b) => {
    if (!numeric) return way * (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
    const [x, y] = [number(a), number(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return way * (x - y);
  });
}

/** The text of a cell without a value. */
const kNoValue = new Set(['–', '·']);

/** Heads, then rows; numbers exactly as they are, and nothing where there is none. */
function contentOf(made: HTMLTableElement): string[][] {
  const text = (cell: HTMLElement) => (kNoValue.has(cell.innerText) ? '' : (cell.textContent ?? ''));
  return [...made.rows].map((row) => [...row.cells].map((cell) => cell.dataset['value'] ?? text(cell)));
}
