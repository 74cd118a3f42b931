// The matrices of ranks: traffic from rank to rank, and which rank waited for which.

import { cellValues } from '../filter';
import { kMaxSide, makeAxis, makeMatrix, processesOf, rowOf, squaresOf, type Axis, type Square } from '../matrix';
import type { Context } from '../page';
import { selectWaits, type WaitCells } from '../wait_matrix';
import { kWaitWords, rowLabel, wordsOf } from '../words';
import type { MatrixKind } from './matrix_kind';
import { describeCells, describeEnds } from './pair_details';
import { makePairList, sumsOfCells } from './pair_list';
import { describeWaitPair, makeWaitList } from './wait_list';

export function makeRankMatrices(context: Context): MatrixKind[] {
  const axis = makeAxis(context.columns, kMaxSide, context.waits.sums.column('cause').includes(-1));
  const ofRanks = {
    hasLongNames: false,
    choosesOne: true,
    label: (row: number) => rowLabel(context.data, axis, row),
    note: () => (axis.group > 1 ? describeGroups(axis) : ''),
    keysOf({ row, column }: Square) {
      const [src, dst] = [row, column].map((at) => String(processesOf(axis, at).first));
      return { src: src!, dst: dst! };
    },
  };
  return [makeTraffic(context, axis, ofRanks), makeWaits(context, axis, ofRanks)];
}

type OfRanks = Pick<MatrixKind, 'hasLongNames' | 'choosesOne' | 'label' | 'note' | 'keysOf'>;

function makeTraffic(context: Context, axis: Axis, ofRanks: OfRanks): MatrixKind {
  const squares = squaresOf(context.columns, axis);
  const title = (square: Square) => describeEnds(context, axis, square);
  const choice = ({ row, column }: Square) =>
    axis.group > 1 ? undefined : { src: processesOf(axis, row).first, dst: processesOf(axis, column).first };
  const describe: MatrixKind['describe'] = (view, square) =>
    describeCells(view, title(square), { squares, axis, square });
  return {
    ...ofRanks,
    id: 'traffic',
    name: 'Traffic',
    titles: { rows: 'Source rank', columns: 'Destination rank' },
    corner: 'source \\ destination',
    make: ({ columns, selection, measure }) => makeMatrix(squares, axis, cellValues(columns, selection, measure)),
    words: ({ measure }) => wordsOf(measure),
    describe,
    choice,
    makeList: (actions) =>
      makePairList(
        {
          testId: 'matrix-pairs',
          ends: 'source → destination',
          hasLongNames: false,
          name: ofRanks.label,
          title,
          ...sumsOfCells(() => squares),
          chooses: () => (axis.group === 1 ? 'show only this pair' : ''),
          chosen: ({ filter: { src, dst } }) =>
            src === undefined || dst === undefined || axis.group > 1
              ? undefined
              : { row: rowOf(axis, src), column: rowOf(axis, dst) },
          describe,
        },
        actions,
      ),
  };
}

function makeWaits(context: Context, axis: Axis, ofRanks: OfRanks): MatrixKind {
  let cells: WaitCells | undefined;
  return {
    ...ofRanks,
    id: 'waits',
    name: 'Waits',
    titles: { rows: 'Rank that waited', columns: 'Rank that it waited for' },
    corner: 'waited \\ for',
    make({ filter }) {
      cells = selectWaits(context.data, context.waits, context.operations.singles, filter);
      return makeMatrix(squaresOf(cells, axis), axis, cells.ns);
    },
    words: () => kWaitWords,
    describe: (_, square) => describeWaitPair(context, cells!, axis, square),
    choice: () => undefined,
    makeList(actions) {
      const list = makeWaitList(context, axis, actions);
      return { ...list, show: (_, matrix) => list.show(cells!, matrix) };
    },
  };
}

function describeGroups({ group }: Axis): string {
  return `Each square stands for ${group} × ${group} neighbouring ranks; its number is their sum.`;
}
