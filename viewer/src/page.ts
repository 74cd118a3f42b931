// What the views share: the run, what is chosen, and the way to choose something else.

import type { Columns } from './columns';
import type { PageData } from './data';
import type { Measure, Selection } from './filter';
import type { Choices, State } from './state';

export interface Context {
  readonly data: PageData;
  readonly columns: Columns;
  readonly choices: Choices;
  /** Totals of all messages and of the transfers that serve them, unfiltered. */
  readonly runTotals: Record<Measure, number>;
}

export interface View extends State {
  readonly selection: Selection;
  readonly totals: Record<Measure, number>;
}

/** A part of the page: made once, shown again after each choice. */
export interface Panel {
  readonly root: HTMLElement;
  show(view: View): void;
}

/** Shows the page in the state that `next` makes of the present one. */
export type Update = (next: (state: State) => State) => void;
