// The state of the page with everything that the views show of it: computed once for all of them,
// so that they agree.

import { filtersTime, select, totals } from './filter';
import type { Context, View } from './page';
import { chooseActivity, columnsWithin, density, makeActivity } from './slabs';
import type { State } from './state';

export type Selects = Pick<Context, 'data' | 'columns' | 'tables' | 'axis'>;

/** What does not depend on a part of the state is taken from the view before. */
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
  return {
    ...state,
    columns,
    selection,
    totals: totals(columns, selection),
    alongTime: {
      selection: steady,
      choice,
      activity: known?.activity ?? makeActivity(data, tables, axis, choice),
      density:
        known && before!.measure === state.measure
          ? known.density
          : density(tables, axis, steady, state.measure),
    },
  };
}

/** Whether two filters differ in nothing but time. */
function sameChoice(a: State['filter'], b: State['filter']): boolean {
  const key = ({ from: _from, to: _to, ...rest }: State['filter']) =>
    JSON.stringify(Object.entries(rest).sort(([x], [y]) => (x < y ? -1 : 1)));
  return key(a) === key(b);
}
