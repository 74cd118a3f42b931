// Shared by all views: the run, the selection, and the way to change it.

import type { Columns } from './columns';
import type { PageData } from './data';
import type { Measure, Selection } from './filter';
import type { Tables } from './packed';
import type { Activity, ActivityChoice, TimeAxis } from './slabs';
import type { Choices } from './choices';
import type { Look } from './look';
import type { Operations } from './singles';
import type { State } from './state';
import type { DetailsDock } from './views/details_dock';
import type { Waits } from './waits';

export interface Context {
  readonly data: PageData;
  /** For the whole run, or for the part of it that the page shows. */
  readonly columns: Columns;
  readonly tables: Tables;
  readonly axis: TimeAxis;
  readonly operations: Operations;
  readonly waits: Waits;
  readonly choices: Choices;
  /** Totals of all messages and of the transfers that serve them, unfiltered. */
  readonly runTotals: Record<Measure, number>;
  readonly dock: DetailsDock;
}

export interface View extends State {
  /** With the sums of the chosen span of time. */
  readonly columns: Columns;
  readonly selection: Selection;
  readonly totals: Record<Measure, number>;
  /** The selection over all times, for views that are drawn along time. */
  readonly alongTime: {
    readonly selection: Selection;
    readonly choice: ActivityChoice;
    readonly activity: Activity;
    readonly makeActivity: () => Activity;
    readonly density: Float64Array;
    readonly makeDensity: () => Float64Array;
    /** The same by source (rank_bins.ts). */
    readonly densityByRank: Float64Array;
    readonly makeDensityByRank: () => Float64Array;
  };
}

/**
 * A part of the page: made once, shown again after choices. In a page of many cells, a panel out of view may be shown
 * later than others. It skips views that were left in the meantime (show_panels.ts).
 */
export interface Panel {
  readonly root: HTMLElement;
  /** It costs little, and keys use its content wherever the reader is. */
  readonly neverWaits?: true;
  show(view: View): void;
  /** Draws now what it has postponed. */
  finish?(): void;
}

/** Shows the page in the state that `next` makes from the present one. */
export type Update = (next: (state: State) => State) => void;

/** Notes the view of a part of the page for the address. Nothing is shown anew. */
export type Note = (look: Look) => void;
