// The picture in the strip above the timeline: heights for all ranks together, or colours by rank.

import { css, layerColour, kCard, kInk, type Theme } from '../palette';
import { columnOf, rankRowHeight, type RankBins } from '../rank_bins';
import type { Scale } from '../matrix';
import { squareColour, ticks } from './heat_map';

/** In CSS pixels: where the run begins, how wide it is, and the free space above and below the rows. */
export interface StripPlace {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const kLabelRoom = 12;
const kFont = '10px system-ui, sans-serif';

/** As many as there are slabs, but no more than pixels. */
export function columnsIn({ width }: StripPlace, slabs: number): number {
  return Math.max(1, Math.min(slabs, Math.floor(width)));
}

/** Sums of whole slabs per column of pixels. */
export function columnsOf(density: Float64Array, columns: number): Float64Array {
  const sums = new Float64Array(columns);
  density.forEach((value, slab) => {
    sums[columnOf(slab, density.length, columns)]! += value;
  });
  return sums;
}

export function paintDensity(pen: CanvasRenderingContext2D, density: Float64Array, place: StripPlace, theme: Theme): void {
  const { left, width, height } = place;
  const sums = columnsOf(density, columnsIn(place, density.length));
  const most = sums.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return;
  const step = width / sums.length;
  pen.fillStyle = css(layerColour(theme, 1));
  sums.forEach((value, column) => {
    if (value === 0) return;
    // Square root: little traffic stays visible beside much.
    const tall = Math.max(1.5, Math.sqrt(value / most) * (height - 6));
    pen.fillRect(left + column * step, height - tall, Math.max(1, step), tall);
  });
}

/** `label`: for a row, to its left if there is room. */
export function paintRanks(
  pen: CanvasRenderingContext2D,
  bins: RankBins,
  place: StripPlace,
  style: { readonly theme: Theme; readonly scale: Scale },
  label: (row: number) => string,
): void {
  const { rows, columns, values } = bins;
  if (rows.side === 0) return;
  const image = new ImageData(columns, rows.side);
  const pixels = new Uint32Array(image.data.buffer);
  values.forEach((value, at) => (pixels[at] = squareColour(bins, style, value)));
  const small = document.createElement('canvas');
  small.width = columns;
  small.height = rows.side;
  small.getContext('2d')!.putImageData(image, 0, 0);
  const rowHeight = rankRowHeight(rows);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(small, place.left, place.top, place.width, rows.side * rowHeight);
  pen.fillStyle = css(kInk[style.theme]);
  pen.font = kFont;
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  for (const row of ticks(rows.side, rowHeight, kLabelRoom)) {
    const middle = Math.min(place.height - 6, Math.max(6, place.top + (row + 0.5) * rowHeight));
    pen.fillText(label(row), place.left - 6, middle, place.left - 8);
  }
}

export function clearStrip(pen: CanvasRenderingContext2D, { left, width, height }: StripPlace, theme: Theme): void {
  pen.fillStyle = css(kCard[theme]);
  pen.fillRect(0, 0, left + width, height);
}
