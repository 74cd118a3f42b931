// Beside the matrix: the pairs of ranks, memories or devices with the most traffic, or the parts of the chosen pair.

import { button, columnHead, element, numberCell } from '../dom';
import { kMeasures, type Measure } from '../filter';
import { formatCount, formatShare } from '../format';
import type { Matrix, Square } from '../matrix';
import type { View } from '../page';
import { largestPairs, type LargestPairs, type PairLoad } from '../pairs';
import { formatExactValue, formatShortValue, formatValue, kMeasureNames } from '../words';
import { growingTable, type GrowingTable } from '../table';
import type { MatrixList } from './matrix_kind';
import { barCell, PairRows } from './pair_rows';
import { timeTitle } from './time_cells';

const kListedPairs = 200;
/** More than fit beside the largest matrix. Laying out all rows would delay each choice. */
const kFirstPairs = 45;

export interface PairActions {
  readonly choose: (square: Square) => void;
  /** The reader looks at this pair, or at none. */
  readonly point: (square: Square | undefined) => void;
}

/** What the pairs are. */
export interface PairsOf {
  readonly testId: string;
  /** The heading of their names. */
  readonly ends: string;
  readonly hasLongNames: boolean;
  /** The name of one end. */
  name(row: number): string;
  title(square: Square): string;
  /** The matrix's own measure comes first. */
  measures(view: View): readonly Measure[];
  measureName(measure: Measure): string;
  largest(view: View, matrix: Matrix, limit: number): LargestPairs;
  /** The total of which a pair has a share. */
  total(view: View): number;
  /** The action of a click; nothing if there is none. */
  chooses(pair: Square): string;
  /** The pair in the filter. */
  chosen(view: View): Square | undefined;
  describe(view: View, square: Square): HTMLElement[];
}

/** The sums of a matrix of cells. `squares`: the square of each cell. */
export function sumsOfCells(squares: () => Int32Array): Pick<PairsOf, 'measures' | 'measureName' | 'largest' | 'total'> {
  return {
    measures: ({ measure }) => [measure, ...kMeasures.filter((other) => other !== measure)],
    measureName: (measure) => kMeasureNames[measure],
    largest: ({ columns, selection }, matrix, limit) => largestPairs(columns, selection, squares(), matrix, limit),
    total: ({ measure, totals }) => totals[measure],
  };
}

export function makePairList(of: PairsOf, actions: PairActions): MatrixList {
  const heading = element('h3');
  const text = element('p');
  const content = element('div', { class: 'content' });
  const root = element('div', { class: 'pairs' }, heading, text, content);
  const rows = new PairRows(actions.point);
  let table: GrowingTable | undefined;
  const finish = () => table?.finish();

  const showChosen = (view: View, square: Square) => {
    const [title, ...details] = of.describe(view, square);
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
    const { pairs, count } = of.largest(view, matrix, kListedPairs);
    const makeRows = (some: readonly PairLoad[]) =>
      some.map((pair) => rows.add(pair, makeRow(of, view, pair, matrix.max, actions.choose)));
    if (count > 0) {
      const attributes = { 'data-testid': of.testId, class: of.hasLongNames && 'long-names' };
      table = growingTable(attributes, makeHead(of, view), makeRows(pairs.slice(0, kFirstPairs)), () =>
        makeRows(pairs.slice(kFirstPairs)),
      );
    }
    const listed = pairs.length < count ? `, ${formatCount(pairs.length)} of them listed` : '';
    const noun = count === 1 ? 'pair has' : 'pairs have';
    heading.textContent = 'Largest pairs';
    text.textContent =
      count === 0
        ? 'The filter selects nothing.'
        : `${formatCount(count)} ${noun} ${of.measureName(of.measures(view)[0]!)}${listed}.`;
    content.replaceChildren(...(table ? [table.root] : []));
  };

  return {
    root,
    show(view, matrix) {
      const chosen = of.chosen(view);
      rows.clear();
      table = undefined;
      if (chosen) showChosen(view, chosen);
      else showLargest(view, matrix);
    },
    mark(square) {
      if (square) finish();
      rows.mark(square);
    },
    finish,
  };
}

/** The chosen measure comes first. The others are short, and the last of them leave first where there is little room (matrix.css). */
function makeHead(of: PairsOf, view: View): HTMLElement[] {
  const [first, ...others] = of.measures(view);
  return [
    columnHead(of.ends),
    columnHead(of.measureName(first!), true),
    columnHead('share', true),
    ...others.map((measure) => {
      const head = columnHead(of.measureName(measure), true);
      head.classList.add('extra');
      return head;
    }),
  ];
}

function makeRow(of: PairsOf, view: View, pair: PairLoad, largest: number, choose: PairActions['choose']): HTMLElement {
  const [measure, ...others] = of.measures(view) as [Measure, ...Measure[]];
  const all = of.total(view);
  const name = `${of.name(pair.row)} → ${of.name(pair.column)}`;
  const exact = (shown: Measure) => (shown === 'time' ? timeTitle(pair) : formatExactValue(shown, pair[shown]));
  const wordsOf = (shown: Measure, format: typeof formatValue) =>
    [format(shown, pair[shown]), exact(shown), pair[shown]] as const;
  const extra = others.map((other) => {
    const cell = numberCell(...wordsOf(other, formatShortValue));
    cell.classList.add('extra');
    return cell;
  });
  const chooses = of.chooses(pair);
  const chooser = chooses
    ? button(name, { class: 'link', title: `${of.title(pair)}: ${chooses}` }, () => choose(pair))
    : name;
  return element(
    'tr',
    { 'data-row': pair.row, 'data-column': pair.column },
    element('th', { scope: 'row' }, chooser),
    barCell(...wordsOf(measure, formatValue), largest),
    numberCell(formatShare(pair[measure], all), '', all > 0 ? pair[measure] / all : 0),
    ...extra,
  );
}
