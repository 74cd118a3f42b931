// The numbers of the matrix as a table, for readers who cannot see colours and for tests.

import { columnHead, element, numberCell, rowHead } from '../dom';
import type { Matrix } from '../matrix';
import type { View } from '../page';
import { table } from '../table';
import type { MatrixKind } from './matrix_kind';

export function makeMatrixTable(kind: MatrixKind, view: View, { axis, values }: Matrix): HTMLElement {
  const words = kind.words(view);
  const order = Array.from({ length: axis.side }, (_, index) => index);
  const head = [columnHead(kind.corner), ...order.map((column) => columnHead(kind.label(column), true))];
  const rows = order.map((row) => {
    const cells = order.map((column) => {
      const value = values[row * axis.side + column]!;
      const shown = value === 0 ? '·' : words.short(value);
      const cell = numberCell(shown, words.exact(value), value);
      Object.assign(cell.dataset, kind.keysOf({ row, column }));
      return cell;
    });
    return element('tr', {}, rowHead(kind.label(row)), ...cells);
  });
  return table({ 'data-testid': 'matrix-table' }, head, rows);
}
