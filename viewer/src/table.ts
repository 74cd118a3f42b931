// Tables: sorted by a click on a head, and taken along as CSV.

import { button, element, type Attributes, type Child } from './dom';
import { csvText, download } from './download';
import { formatCount } from './format';
import { untilPainted } from './show_panels';

/** What a table is sorted by; kept by name, as panels make their tables anew. */
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
    // The mark in front tells spreadsheets that it is UTF-8.
    download(`${name}.csv`, new Blob(['\ufeff', csvText(content(made))], { type: 'text/csv' })),
  );
  // Scrollable regions must be reachable by keyboard.
  const scroll = element('div', { class: 'scroll', tabindex: 0 }, made);
  const root = element('div', { class: 'with-csv' }, scroll, csv);
  return { root, body, made, name };
}

/** As it is, row by row. */
export function table(attributes: Attributes, head: Child[], rows: Node[]): HTMLElement {
  return makeTable(attributes, head, rows).root;
}

export interface GrowingTable {
  readonly root: HTMLElement;
  /** Adds the rows that are still to come. */
  finish(): void;
}

/** The first rows, as it is; the others come when these are painted, unless the table has left the page by then. */
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
 * Of rows of one kind, in an order that a click on a head changes: its own, falling, rising. `first`
 * is the order at first.
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

/** Rows of which the page shows a part. */
export interface LongRows {
  /** Of each column. */
  readonly numeric: readonly boolean[];
  /** Those to be seen, in this order, or in their own. */
  seen(order: Order | undefined): HTMLElement[];
  /** All of them, as CSV. */
  content(order: Order | undefined): string[][];
}

/** The same of rows that are too many to be all in the page. `show` asks for those to be seen. */
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

/** Makes the heads of a table sort it; what it returns shows the table in its order. */
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

/** Under a table that lacks rows: how many, and the command that has them. */
export function moreToldBy(number: number, command: string): HTMLElement[] {
  if (number === 0) return [];
  return [element('p', { class: 'faint' }, `${formatCount(number)} more are told by ${command}.`)];
}

/** Numbers fall first, texts rise; the third click gives the table's own order back. */
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

/** What stands in a cell without a value. */
const kNoValue = new Set(['–', '·']);

/** Heads, then rows; numbers exactly as they are, and nothing where there is none. */
function contentOf(made: HTMLTableElement): string[][] {
  const text = (cell: HTMLElement) => (kNoValue.has(cell.innerText) ? '' : (cell.textContent ?? ''));
  return [...made.rows].map((row) => [...row.cells].map((cell) => cell.dataset['value'] ?? text(cell)));
}
