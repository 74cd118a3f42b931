// Beside the matrix: the pairs with the most traffic, or what makes up the pair that is chosen.

import { button, columnHead, element, numberCell } from '../dom';
import { kMeasures, type Measure } from '../filter';
import { formatCount, formatShare } from '../format';
import { rowOf, type Axis, type Matrix, type Square } from '../matrix';
import type { Context, View } from '../page';
import { largestPairs, type PairLoad } from '../pairs';
import { formatExactValue, formatValue, kMeasureNames, rowLabel } from '../words';
import { table } from '../table';
import { describeEnds, describePair } from './pair_details';
import { barCell, PairRows } from './pair_rows';
import { timeTitle } from './time_cells';

const kListedPairs = 200;

export interface PairActions {
  readonly choose: (square: Square) => void;
  /** The reader looks at this pair, or at none. */
  readonly point: (square: Square | undefined) => void;
}

export interface PairList {
  readonly root: HTMLElement;
  show(view: View, matrix: Matrix): void;
  /** Marks the row of a pair, if it is listed. */
  mark(square: Square | undefined): void;
}

/** `squares`: that of each cell. */
export function makePairList(context: Context, axis: Axis, squares: Int32Array, actions: PairActions): PairList {
  const heading = element('h3');
  const text = element('p');
  const content = element('div', { class: 'content' });
  const root = element('div', { class: 'pairs' }, heading, text, content);
  const rows = new PairRows(actions.point);

  const showChosen = (view: View, square: Square) => {
    const [title, ...details] = describePair(context, view, axis, squares, square);
    heading.textContent = 'Chosen pair';
    text.replaceChildren(
      title!.textContent,
      ' ',
      button('Show all pairs', { class: 'link', 'data-testid': 'all-pairs' }, () =>
        actions.choose(square),
      ),
    );
    content.replaceChildren(element('div', { class: 'scroll', tabindex: 0 }, ...details));
  };

  const showLargest = (view: View, matrix: Matrix) => {
    const { pairs, count } = largestPairs(view.columns, view.selection, squares, matrix, kListedPairs);
    for (const pair of pairs) {
      rows.add(pair, makeRow(context, view, axis, pair, matrix.max, actions.choose));
    }
    const listed = pairs.length < count ? `, ${formatCount(pairs.length)} of them listed` : '';
    const noun = count === 1 ? 'pair has' : 'pairs have';
    heading.textContent = 'Largest pairs';
    text.textContent =
      count === 0
        ? 'The filter selects nothing.'
        : `${formatCount(count)} ${noun} ${kMeasureNames[view.measure]}${listed}.`;
    content.replaceChildren(
      ...(count > 0
        ? [table({ 'data-testid': 'matrix-pairs' }, makeHead(view), rows.all())]
        : []),
    );
  };

  return {
    root,
    show(view, matrix) {
      const { src, dst } = view.filter;
      rows.clear();
      if (src !== undefined && dst !== undefined && axis.group === 1) {
        showChosen(view, { row: rowOf(axis, src), column: rowOf(axis, dst) });
      } else {
        showLargest(view, matrix);
      }
    },
    mark: (square) => rows.mark(square),
  };
}

function otherMeasures({ measure }: View): Measure[] {
  return kMeasures.filter((other) => other !== measure);
}

/** The measure that is chosen comes first; the others are left out where there is little room. */
function makeHead(view: View): HTMLElement[] {
  const others = otherMeasures(view).map((measure) => {
    const head = columnHead(kMeasureNames[measure], true);
    head.classList.add('extra');
    return head;
  });
  return [
    columnHead('source → destination'),
    columnHead(kMeasureNames[view.measure], true),
    columnHead('share', true),
    ...others,
  ];
}

function makeRow(
  context: Context,
  view: View,
  axis: Axis,
  pair: PairLoad,
  largest: number,
  choose: PairActions['choose'],
): HTMLElement {
  const { measure } = view;
  const all = view.totals[measure];
  const [source, destination] = [pair.row, pair.column].map((row) =>
    rowLabel(context.data, axis, row),
  );
  const name = `${source} → ${destination}`;
  const ends = describeEnds(context, axis, pair);
  const exact = (shown: Measure) => (shown === 'time' ? timeTitle(pair) : formatExactValue(shown, pair[shown]));
  const wordsOf = (shown: Measure) => [formatValue(shown, pair[shown]), exact(shown), pair[shown]] as const;
  const others = otherMeasures(view).map((other) => {
    const cell = numberCell(...wordsOf(other));
    cell.classList.add('extra');
    return cell;
  });
  const chooser =
    axis.group === 1
      ? button(name, { class: 'link', title: `${ends}: show only this pair` }, () => choose(pair))
      : name;
  return element(
    'tr',
    { 'data-row': pair.row, 'data-column': pair.column },
    element('th', { scope: 'row' }, chooser),
    barCell(...wordsOf(measure), largest),
    numberCell(formatShare(pair[measure], all), '', all > 0 ? pair[measure] / all : 0),
    ...others,
  );
}
