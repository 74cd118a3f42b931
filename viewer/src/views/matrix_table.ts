// The numbers of the matrix as a table, for readers who cannot see colours and for tests.

import { columnHead, element, numberCell, rowHead } from '../dom';
import { processesOf, type Matrix } from '../matrix';
import type { Context } from '../page';
import { rowLabel, type ValueWords } from '../words';
import { table } from '../table';

export function makeMatrixTable({ data }: Context, words: ValueWords, corner: string, matrix: Matrix): HTMLElement {
  const { axis, values } = matrix;
  const order = Array.from({ length: axis.side }, (_, index) => index);
  const head = [
    columnHead(corner),
    ...order.map((column) => columnHead(rowLabel(data, axis, column), true)),
  ];
  const rows = order.map((row) => {
    const cells = order.map((column) => {
      const value = values[row * axis.side + column]!;
      const shown = value === 0 ? '·' : words.short(value);
      const cell = numberCell(shown, words.exact(value), value);
      cell.dataset['src'] = String(processesOf(axis, row).first);
      cell.dataset['dst'] = String(processesOf(axis, column).first);
      return cell;
    });
    return element('tr', {}, rowHead(rowLabel(data, axis, row)), ...cells);
  });
  return table({ 'data-testid': 'matrix-table' }, head, rows);
}
