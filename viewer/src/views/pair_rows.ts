// Rows of the lists beside the matrices. Each belongs to a square: it points at the square, and is marked together with
// it.

import { numberCell } from '../dom';
import type { Square } from '../matrix';

export class PairRows {
  private readonly rows = new Map<string, HTMLElement>();
  private marked: HTMLElement | undefined;

  /** `point`: the reader looks at this square, or at none. */
  constructor(private readonly point: (square: Square | undefined) => void) {}

  clear(): void {
    this.rows.clear();
  }

  add(square: Square, row: HTMLElement): HTMLElement {
    row.addEventListener('mouseenter', () => this.point(square));
    row.addEventListener('mouseleave', () => this.point(undefined));
    this.rows.set(keyOf(square), row);
    return row;
  }

  all(): HTMLElement[] {
    return [...this.rows.values()];
  }

  /** Marks the row of a square, if it is listed, and no other one. */
  mark(square: Square | undefined): void {
    this.marked?.classList.remove('marked');
    this.marked = square && this.rows.get(keyOf(square));
    this.marked?.classList.add('marked');
  }
}

const keyOf = ({ row, column }: Square) => `${row}>${column}`;

/** A number with a bar behind it: its share of the largest one. */
export function barCell(text: string, exact: string, value: number, largest: number): HTMLElement {
  const cell = numberCell(text, exact, value);
  cell.classList.add('share');
  cell.style.setProperty('--share', `${((100 * value) / largest).toFixed(1)}%`);
  return cell;
}
