// The state of the page with everything that the views show for it: computed once for all of them,
// so that they agree.

import { filtersTime, select, totals, type Selection } from './filter';
import { once } from './once';
import type { Context, View } from './page';
import { densityByRank } from './rank_bins';
import { chooseActivity, columnsWithin, density, makeActivity, type Activity, type ActivityChoice } from './slabs';
import type { State } from './state';

export type Selects = Pick<Context, 'data' | 'columns' | 'tables' | 'axis'>;

/** Expensive parts are made only when a panel shows them. */
class AlongTime {
  constructor(
    readonly selection: Selection,
    readonly choice: ActivityChoice,
    readonly makeActivity: () => Activity,
    readonly makeDensity: () => Float64Array,
    readonly makeDensityByRank: () => Float64Array,
  ) {}

  get activity(): Activity {
    return this.makeActivity();
  }

  get density(): Float64Array {
    return this.makeDensity();
  }

  get densityByRank(): Float64Array {
    return this.makeDensityByRank();
  }
}

/** Parts that a change of the state does not affect are taken from the view before. */
export function makeView(context: Selects, state: State, before?: View): View {
  const { data, tables, axis } = context;
  const { from, to, ...lasting } = state.filter;
  const columns = filtersTime(state.filter)
    ? columnsWithin(context.columns, tables, axis, { ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
    : context.columns;
  const selection = select(columns, state.filter);
  const same = before !== undefined && sameChoice(before.filter, state.filter);
  const known = same ? before.alongTime : undefined;
  const isOfAllTimes = columns === context.columns;
  const steady = known?.selection ?? (isOfAllTimes ? selection : select(context.columns, lasting));
  const choice = known?.choice ?? chooseActivity(data, lasting, steady);
  const ofSameMeasure = before !== undefined && before.measure === state.measure ? known : undefined;
  return {
    ...state,
    columns,
    selection,
    totals: totals(columns, selection),
    alongTime: new AlongTime(
      steady,
      choice,
      known?.makeActivity ?? once(() => makeActivity(data, tables, axis, choice)),
      ofSameMeasure?.makeDensity ?? once(() => density(tables, axis, steady, state.measure)),
      ofSameMeasure?.makeDensityByRank ?? once(() => densityByRank(context.columns, tables, axis, steady, state.measure)),
    ),
  };
}

/** Whether two filters differ only in time. */
function sameChoice(a: State['filter'], b: State['filter']): boolean {
  const key = ({ from: _from, to: _to, ...rest }: State['filter']) =>
    JSON.stringify(Object.entries(rest).sort(([x], [y]) => (x < y ? -1 : 1)));
  return key(a) === key(b);
}
