// The whole run above the timeline: how much of the measure starts when, for all ranks together or for each, and which
// part is visible and which is chosen. Dragging chooses a span of time.

import { element } from '../dom';
import type { Scale } from '../matrix';
import { css, kInk, kLine, type Theme } from '../palette';
import { makeRankAxis, mergeRankBins, rankRowHeight, type RankBins } from '../rank_bins';
import { endOf } from '../slabs';
import type { Context, Update, View } from '../page';
import { theme } from '../theme';
import type { Range } from '../time_range';
import { rowLabel } from '../words';
import { makeOverviewControls } from './overview_controls';
import { clearStrip, columnsIn, paintDensity, paintRanks, type StripPlace } from './overview_picture';
import { sizeCanvas } from './pixel_canvas';
import { addRankCursor, boxOfSquare, type RankPicture } from './rank_cursor';

const kTogetherHeight = 54;
/** Space above and below the rows; a row may be as thin as a line. */
const kFrame = 3;
const kLabel = 'Traffic over time by source rank: arrow keys move between ranks and times, Enter chooses the time';

export interface OverviewStrip {
  readonly root: HTMLElement;
  draw(view: View, range: Range, left: number, width: number): void;
}

interface Drawn {
  readonly view: View;
  readonly range: Range;
  readonly place: StripPlace;
  readonly bins: RankBins | undefined;
}

/** `choose`: takes a span of time, or nothing for the whole run. */
export function makeOverviewStrip(
  context: Context,
  update: Update,
  choose: (from?: number, to?: number) => void,
): OverviewStrip {
  const { axis, data } = context;
  const canvas = element('canvas', { class: 'overview', 'data-testid': 'timeline-overview' });
  const controls = makeOverviewControls(update, data.processes.length);
  const rows = makeRankAxis(context.columns);
  let drawn: Drawn | undefined;
  addDrag(canvas, choose, (x) => {
    const { left, width } = drawn!.place;
    return axis.from + Math.min(1, Math.max(0, (x - left) / width)) * (endOf(axis) - axis.from);
  });
  const rankPicture = (): RankPicture | undefined =>
    drawn?.bins && { view: drawn.view, place: drawn.place, bins: drawn.bins };
  const cursor = addRankCursor(canvas, context, { picture: rankPicture, redraw: () => redraw(), choose });
  const keptBins = keepLast((density: Float64Array, columns: number) => mergeRankBins(density, rows, axis.slabs, columns));

  // The part that does not change when the timeline moves.
  const keptPicture = keepLast(
    (from: Float64Array | RankBins, scale: Scale, dress: Theme, ratio: number, left: number, top: number, width: number, height: number) => {
      const picture = document.createElement('canvas');
      sizeCanvas(picture, left + width, height, ratio);
      const pen = picture.getContext('2d')!;
      pen.scale(ratio, ratio);
      const place = { left, top, width, height };
      clearStrip(pen, place, dress);
      if (from instanceof Float64Array) paintDensity(pen, from, place, dress);
      else paintRanks(pen, from, place, { theme: dress, scale }, (row) => rowLabel(data, rows, row));
      return picture;
    },
  );

  const redraw = () => {
    if (!drawn) return;
    const { view, place, bins } = drawn;
    const { left, top, width, height } = place;
    const ratio = window.devicePixelRatio || 1;
    sizeCanvas(canvas, left + width, height, ratio);
    const pen = canvas.getContext('2d')!;
    pen.drawImage(keptPicture(bins ?? view.alongTime.density, view.scale, theme(), ratio, left, top, width, height), 0, 0);
    pen.save();
    pen.scale(ratio, ratio);
    drawSpans(pen, drawn, axis.from, endOf(axis));
    const square = cursor.square();
    if (square && bins) {
      const box = boxOfSquare(rankPicture()!, square);
      pen.strokeRect(box.left - 1, box.top - 1, box.width + 2, box.height + 2);
    }
    drawEdges(pen, place);
    pen.restore();
  };

  const describeCanvas = ({ bins, place }: Drawn) => {
    setAttributes(canvas, {
      'aria-hidden': bins ? undefined : 'true',
      title: bins ? undefined : 'The whole run: drag to choose a span of time',
      tabindex: bins ? '0' : undefined,
      role: bins ? 'application' : undefined,
      'aria-label': bins ? kLabel : undefined,
      'data-rows': bins ? String(bins.rows.side) : undefined,
      'data-columns': bins ? String(bins.columns) : undefined,
      'data-left': String(place.left),
      'data-top': String(place.top),
      'data-total': bins ? String(bins.values.reduce((sum, value) => sum + value, 0)) : undefined,
    });
  };

  return {
    root: element('div', {}, controls.root, canvas),
    draw(view, range, left, width) {
      const byRank = view.overview === 'ranks' && data.processes.length > 1;
      const top = byRank ? kFrame : 0;
      const height = byRank ? rows.side * rankRowHeight(rows) + 2 * kFrame : kTogetherHeight;
      const place = { left, top, width, height };
      const bins = byRank ? keptBins(view.alongTime.densityByRank, columnsIn(place, axis.slabs)) : undefined;
      const before = drawn;
      drawn = { view, range, place, bins };
      if (before?.bins !== bins) cursor.forget();
      if (!before || before.bins !== bins || before.place.left !== left) describeCanvas(drawn);
      controls.show(view, theme(), bins);
      redraw();
    },
  };
}

/** Drops undefined values. */
function setAttributes(canvas: HTMLElement, values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) canvas.removeAttribute(name);
    else canvas.setAttribute(name, value);
  }
}

/** Makes it anew only if the arguments differ from the last ones. */
function keepLast<A extends readonly unknown[], T>(make: (...args: A) => T): (...args: A) => T {
  let last: { readonly args: A; readonly made: T } | undefined;
  return (...args) => {
    if (!last || !args.every((value, i) => value === last!.args[i])) last = { args, made: make(...args) };
    return last.made;
  };
}

function addDrag(canvas: HTMLCanvasElement, choose: (from: number, to: number) => void, timeAt: (x: number) => number): void {
  let anchor: number | undefined;
  const timeOf = (event: PointerEvent) => timeAt(event.clientX - canvas.getBoundingClientRect().left);
  canvas.addEventListener('pointerdown', (event) => {
    anchor = timeOf(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointerup', (event) => {
    if (anchor === undefined) return;
    const [from, to] = [anchor, timeOf(event)].sort((a, b) => a - b) as [number, number];
    anchor = undefined;
    choose(Math.floor(from), Math.max(Math.ceil(to), Math.floor(from) + 1));
  });
  canvas.addEventListener('pointercancel', () => (anchor = undefined));
}

/** By rank, there is no room for lines of text beside the rows. */
function drawEdges(pen: CanvasRenderingContext2D, { left, top, width, height }: StripPlace): void {
  pen.strokeStyle = css(kLine[theme()]);
  pen.lineWidth = 1;
  pen.beginPath();
  if (top === 0) pen.rect(left + 0.5, 0.5, width - 1, height - 1);
  else {
    for (const y of [0.5, height - 0.5]) {
      pen.moveTo(left, y);
      pen.lineTo(left + width, y);
    }
  }
  pen.stroke();
}

/** Shades the time that is not chosen, and frames the time that the timeline shows. */
function drawSpans(pen: CanvasRenderingContext2D, { view, range, place }: Drawn, begin: number, end: number): void {
  const { filter } = view;
  const x = (time: number) => place.left + ((time - begin) / (end - begin)) * place.width;
  const dress = theme();
  const shade = (from: number, to: number, colour: string) => {
    pen.fillStyle = colour;
    pen.fillRect(x(from), 0, x(to) - x(from), place.height);
  };
  if (filter.from !== undefined || filter.to !== undefined) {
    const grey = dress === 'dark' ? 'rgb(0 0 0 / 0.55)' : 'rgb(90 100 115 / 0.3)';
    shade(begin, filter.from ?? begin, grey);
    shade(filter.to ?? end, end, grey);
  }
  pen.strokeStyle = css(kInk[dress]);
  pen.lineWidth = 2;
  // By rank, a frame around all would cover the first and the last instants.
  if (place.top > 0 && range.from <= begin && range.to >= end) return;
  const [from, to] = [x(range.from), x(range.to)];
  pen.strokeRect(from + 1, 1, Math.max(2, to - from - 2), place.height - 2);
}
