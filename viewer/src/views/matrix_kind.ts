// What tells the matrices of the page apart: what their rows are, what a square adds up, and what choosing one means.

import type { Matrix, Square } from '../matrix';
import type { View } from '../page';
import type { MatrixOf, Wanted } from '../state';
import type { ValueWords } from '../words';
import type { PairActions } from './pair_list';

/** What stands beside a matrix. */
export interface MatrixList {
  readonly root: HTMLElement;
  show(view: View, matrix: Matrix): void;
  /** Marks the row of a square, if it is listed. */
  mark(square: Square | undefined): void;
  /** Adds the rows that are still to come. */
  finish?(): void;
}

/** What it says of rows and squares is of the matrix that it made last. */
export interface MatrixKind {
  readonly id: MatrixOf;
  readonly name: string;
  /** What rows and columns are. */
  readonly titles: { readonly rows: string; readonly columns: string };
  /** The same in the corner of a table. */
  readonly corner: string;
  /** Names of columns are too long to lie beside each other. */
  readonly hasLongNames: boolean;
  make(view: View): Matrix;
  label(row: number): string;
  words(view: View): ValueWords;
  /** What else is to be known of it; nothing for nothing. */
  note(view: View): string;
  describe(view: View, square: Square): HTMLElement[];
  /** Nothing: no filter chooses a square, of which the details are kept instead. */
  choice(square: Square): Wanted | undefined;
  /** No two squares have the same choice. */
  readonly choosesOne: boolean;
  /** What a cell of the table is found by. */
  keysOf(square: Square): Record<string, string>;
  makeList(actions: PairActions): MatrixList;
}
