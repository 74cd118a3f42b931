// The cursor in the strip by rank: the square that the pointer or the keys have reached, and its
// text.

import { processLabel } from '../choices';
import { formatInstant, type Description } from '../describe';
import { processesOf } from '../matrix';
import { kUnknownProcess } from '../data';
import type { Context, View } from '../page';
import { rankRowHeight, slabsOf, type RankBins } from '../rank_bins';
import { formatExactValue, kMeasureNames, rowLabel } from '../words';
import { makeCard } from './card';
import type { StripPlace } from './overview_picture';

export interface RankSquare {
  readonly row: number;
  readonly column: number;
}

/** The picture by rank. */
export interface RankPicture {
  readonly bins: RankBins;
  readonly place: StripPlace;
  readonly view: View;
}

export interface CursorActions {
  /** Nothing while all ranks are drawn together. */
  picture(): RankPicture | undefined;
  redraw(): void;
  /** Chooses a span of time, or the whole run again. */
  choose(from?: number, to?: number): void;
}

export function boxOfSquare({ bins, place }: RankPicture, { row, column }: RankSquare) {
  const height = rankRowHeight(bins.rows);
  const width = place.width / bins.columns;
  return { left: place.left + column * width, top: place.top + row * height, width, height };
}

function squareAt({ bins, place }: RankPicture, x: number, y: number): RankSquare | undefined {
  const row = Math.floor((y - place.top) / rankRowHeight(bins.rows));
  const column = Math.floor(((x - place.left) / place.width) * bins.columns);
  return row >= 0 && row < bins.rows.side && column >= 0 && column < bins.columns ? { row, column } : undefined;
}

/** "Rank 3", "Ranks 8–11", "Unknown source" */
function titleOf({ data }: Context, { rows }: RankBins, row: number): string {
  const { first, last } = processesOf(rows, row);
  if (first === kUnknownProcess) return 'Unknown source';
  return last - first === 1 ? `Rank ${processLabel(data, first)}` : `Ranks ${rowLabel(data, rows, row)}`;
}

export function describeSquare(context: Context, { bins, view }: RankPicture, { row, column }: RankSquare): Description {
  const { axis, data } = context;
  const { first, last } = processesOf(bins.rows, row);
  const { from, to } = spanOf(context, bins, column);
  const hosts = [...new Set(data.processes.slice(Math.max(0, first), last).map(({ host }) => host))];
  return {
    title: `${titleOf(context, bins, row)} as source`,
    lines: [
      ...(hosts.length === 1 ? [['host', hosts[0]!] as const] : []),
      ['from', formatInstant(from)],
      ['to', formatInstant(Math.min(to, axis.from + axis.slab * axis.slabs))],
      [kMeasureNames[view.measure], formatExactValue(view.measure, bins.values[row * bins.columns + column]!)],
    ],
  };
}

function spanOf({ axis }: Context, { columns }: RankBins, column: number): { from: number; to: number } {
  const [first, end] = slabsOf(column, axis.slabs, columns);
  return { from: axis.from + first * axis.slab, to: axis.from + end * axis.slab };
}

export function addRankCursor(canvas: HTMLCanvasElement, context: Context, actions: CursorActions) {
  const { dock } = context;
  let square: RankSquare | undefined;

  const point = (next: RankSquare | undefined, byKey = false) => {
    // Kept details stay while the pointer moves. Keys go on, and what they reach is kept instead.
    if (dock.keeps(canvas) && !byKey) return;
    const picture = actions.picture();
    square = picture && next;
    actions.redraw();
    if (!picture || !next) return dock.leave(canvas);
    const box = () => {
      const { x, y } = canvas.getBoundingClientRect();
      const { left, top, width, height } = boxOfSquare(picture, next);
      return new DOMRect(x + left, y + top, width, height);
    };
    const explanation = { owner: canvas, box, content: makeCard(describeSquare(context, picture, next)) };
    if (byKey) dock.reach(explanation);
    else dock.point(explanation);
  };
  const move = (rows: number, columns: number) => {
    const { bins } = actions.picture()!;
    const within = (at: number, count: number) => Math.min(count - 1, Math.max(0, at));
    const from = square ?? { row: -rows, column: -columns };
    point({ row: within(from.row + rows, bins.rows.side), column: within(from.column + columns, bins.columns) }, true);
  };
  const chooseColumn = () => {
    const { bins, view } = actions.picture()!;
    if (!square) return;
    const { from, to } = spanOf(context, bins, square.column);
    const again = view.filter.from === from && view.filter.to === to;
    actions.choose(...(again ? [] : ([from, to] as const)));
  };
  const keys: Record<string, () => void> = {
    ArrowRight: () => move(0, 1),
    ArrowLeft: () => move(0, -1),
    ArrowDown: () => move(1, 0),
    ArrowUp: () => move(-1, 0),
    Enter: chooseColumn,
    Escape: () => point(undefined),
  };
  canvas.addEventListener('keydown', (event) => {
    const action = keys[event.key];
    if (!action || !actions.picture() || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key === 'Escape' && !square) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener('pointermove', (event) => {
    const picture = actions.picture();
    if (!picture) return;
    const { x, y } = canvas.getBoundingClientRect();
    point(event.buttons === 0 ? squareAt(picture, event.clientX - x, event.clientY - y) : undefined);
  });
  for (const name of ['pointerleave', 'blur'] as const) canvas.addEventListener(name, () => square && point(undefined));
  return { square: () => square, forget: () => (square = undefined) };
}
