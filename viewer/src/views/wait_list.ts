// Beside the matrix of waits: the pairs of ranks with the longest waits, and the details of one square.

import { button, columnHead, element, numberCell, rowHead } from '../dom';
import { formatCount, formatDuration, formatShare } from '../format';
import { rowOf, type Axis, type Matrix, type Square } from '../matrix';
import type { Context } from '../page';
import { table } from '../table';
import { describeWaitCells, type WaitCells } from '../wait_matrix';
import { kWaitWords, rowLabel } from '../words';
import type { PairActions } from './pair_list';
import { barCell, PairRows } from './pair_rows';

const kListedPairs = 200;

export interface WaitList {
  readonly root: HTMLElement;
  show(cells: WaitCells, matrix: Matrix): void;
  mark(square: Square | undefined): void;
}

/** "Rank 3 waited for rank 0" */
function titleOf({ data }: Context, axis: Axis, { row, column }: Square): string {
  return `Rank ${rowLabel(data, axis, row)} waited for rank ${rowLabel(data, axis, column)}`;
}

function cellsIn(cells: WaitCells, axis: Axis, { row, column }: Square): number[] {
  const found: number[] = [];
  for (let c = 0; c < cells.src.length; ++c) {
    if (rowOf(axis, cells.src[c]!) === row && rowOf(axis, cells.dst[c]!) === column) found.push(c);
  }
  return found;
}

/** For one square, by kind of wait. */
export function describeWaitPair(context: Context, cells: WaitCells, axis: Axis, square: Square): HTMLElement[] {
  const title = element('strong', {}, titleOf(context, axis, square));
  const kinds = new Map<number, { count: number; ns: number }>();
  for (const c of cellsIn(cells, axis, square)) {
    const sum = kinds.get(cells.kind[c]!) ?? { count: 0, ns: 0 };
    kinds.set(cells.kind[c]!, { count: sum.count + cells.count[c]!, ns: sum.ns + cells.ns[c]! });
  }
  if (kinds.size === 0) return [title, element('div', {}, 'no time that is known')];
  const line = (part: string, name: string, { count, ns }: { count: number; ns: number }) =>
    element(
      'tr',
      { 'data-part': part, 'data-name': name },
      rowHead(name),
      numberCell(formatCount(count), '', count),
      numberCell(formatDuration(ns), kWaitWords.exact(ns), ns),
    );
  const rows = [...kinds].sort(([, a], [, b]) => b.ns - a.ns);
  const all = rows.reduce((sum, [, { count, ns }]) => ({ count: sum.count + count, ns: sum.ns + ns }), { count: 0, ns: 0 });
  return [
    title,
    element(
      'div',
      { class: 'tables' },
      element(
        'table',
        { class: 'details' },
        element('thead', {}, element('tr', {}, ...['kind of wait', 'waits', 'time'].map((text) => columnHead(text, text !== 'kind of wait')))),
        element('tbody', {}, line('all', 'all', all), ...rows.map(([kind, sum]) => line('kind', context.waits.kinds[kind]!, sum))),
      ),
    ),
  ];
}

export function makeWaitList(context: Context, axis: Axis, { choose, point }: PairActions): WaitList {
  const text = element('p', { 'data-testid': 'waits-said' });
  const content = element('div', { class: 'content' });
  const root = element('div', { class: 'pairs' }, element('h3', {}, 'Longest waits'), text, content);
  const rows = new PairRows(point);

  const makeRow = (square: Square, ns: number, count: number, { max }: Matrix, total: number) => {
    const name = `${rowLabel(context.data, axis, square.row)} → ${rowLabel(context.data, axis, square.column)}`;
    return element(
      'tr',
      {},
      rowHead(button(name, { class: 'link', title: titleOf(context, axis, square) }, () => choose(square))),
      barCell(formatDuration(ns), kWaitWords.exact(ns), ns, max),
      numberCell(formatShare(ns, total), '', ns / total),
      numberCell(formatCount(count), '', count),
    );
  };

  return {
    root,
    show(cells, matrix) {
      rows.clear();
      const counts = new Float64Array(matrix.values.length);
      cells.count.forEach((count, c) => {
        counts[rowOf(axis, cells.src[c]!) * axis.side + rowOf(axis, cells.dst[c]!)]! += count;
      });
      const positive = [...matrix.values.keys()].filter((index) => matrix.values[index]! > 0);
      positive.sort((a, b) => matrix.values[b]! - matrix.values[a]! || a - b);
      const cut =
        positive.length > kListedPairs ? ` ${kListedPairs} of ${formatCount(positive.length)} pairs listed.` : '';
      text.textContent = describeWaitCells(cells, context.waits) + cut;
      const total = matrix.values.reduce((sum, ns) => sum + ns, 0);
      for (const index of positive.slice(0, kListedPairs)) {
        const square = { row: Math.floor(index / axis.side), column: index % axis.side };
        rows.add(square, makeRow(square, matrix.values[index]!, counts[index]!, matrix, total));
      }
      const head = [columnHead('waited → for'), columnHead('time waited', true), columnHead('share', true), columnHead('waits', true)];
      content.replaceChildren(...(positive.length > 0 ? [table({ 'data-testid': 'wait-pairs' }, head, rows.all())] : []));
    },
    mark: (square) => rows.mark(square),
  };
}
