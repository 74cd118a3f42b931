// The differences between the matrices of the page: what their rows are, what a square adds up, and what choosing one
// means.

import type { Matrix, Square } from '../matrix';
import type { View } from '../page';
import type { MatrixOf, Wanted } from '../state';
import type { ValueWords } from '../words';
import type { PairActions } from './pair_list';

/** The list beside a matrix. */
export interface MatrixList {
  readonly root: HTMLElement;
  show(view: View, matrix: Matrix): void;
  /** Marks the row of a square, if it is listed. */
  mark(square: Square | undefined): void;
  /** Adds the remaining rows. */
  finish?(): void;
}

/** Its texts about rows and squares refer to the matrix that it made last. */
export interface MatrixKind {
  readonly id: MatrixOf;
  readonly name: string;
  /** The kind of rows and columns. */
  readonly titles: { readonly rows: string; readonly columns: string };
  /** The same, in the corner of a table. */
  readonly corner: string;
  /** Names of columns are too long to stand beside each other. */
  readonly hasLongNames: boolean;
  make(view: View): Matrix;
  label(row: number): string;
  words(view: View): ValueWords;
  /** Further notes; nothing if there are none. */
  note(view: View): string;
  describe(view: View, square: Square): HTMLElement[];
  /** Nothing: no filter selects a square; its details are kept instead. */
  choice(square: Square): Wanted | undefined;
  /** No two squares have the same choice. */
  readonly choosesOne: boolean;
  /** The key of a cell of the table. */
  keysOf(square: Square): Record<string, string>;
  makeList(actions: PairActions): MatrixList;
}
