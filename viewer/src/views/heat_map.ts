// Draws a matrix on a canvas: one putImageData for the squares, text only for labels and for the
// numbers of small matrices. 1024 x 1024 squares take some 20 ms.

import type { Matrix, Scale, Square } from '../matrix';
import { position, type Extent } from '../matrix';
import { elided, measureText } from '../measure_text';
import { colourAt, inkOn, kCard, pixel, type Theme } from '../palette';
import type { Pen } from './drawing';
import { SvgDrawing } from './svg_drawing';

export interface HeatMapStyle {
  readonly theme: Theme;
  readonly scale: Scale;
  /** Text of a row or column. */
  readonly label: (row: number) => string;
  /** If so, names of columns are turned, and more of them have room. */
  readonly hasLongNames: boolean;
  /** The kind of rows and columns. */
  readonly titles: { readonly rows: string; readonly columns: string };
  /** Text of a square, drawn where it fits. */
  readonly number: (value: number) => string;
}

/** Where the squares lie on the canvas, in device pixels. */
interface Layout {
  readonly left: number;
  readonly top: number;
  readonly square: number;
  readonly side: number;
  readonly ratio: number;
  /** Longest name of a row or column, in CSS pixels. */
  readonly mostLabel: number;
}

/** At this extent, a matrix of 16 ranks shows its numbers, and there is room for the list beside it. */
const kGoodExtent = 760;
const kMaxExtent = 1040;
const kMaxSquare = 96;
const kNumberSquare = 44;
const kLargeSquare = 72;
const kGridSquare = 6;
/** A larger matrix would need more than 16,384 SVG shapes for its squares: the SVG has a picture of them. */
const kMostSvgSide = 128;
const kTitleRoom = 20;
/** From one line of text to the next. */
const kLineRoom = 16;
/** For the name of a row or column; less in a narrow window. */
const kMostLabel = 170;
const kMostLabelShare = 0.4;
const kFamily = 'system-ui, sans-serif';
const kFont = `11px ${kFamily}`;
const kLargeFont = `13px ${kFamily}`;

export class HeatMap {
  readonly canvas: HTMLCanvasElement;
  private layout: Layout | undefined;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
  }

  /** `room` is the available width, in CSS pixels; a large matrix takes more and scrolls. */
  draw(matrix: Matrix, room: number, style: HeatMapStyle): void {
    const { side } = matrix.axis;
    const ratio = window.devicePixelRatio || 1;
    const context = this.canvas.getContext('2d')!;
    context.font = kFont;
    const mostLabel = Math.min(kMostLabel, room * kMostLabelShare);
    const labelWidth = (row: number) => context.measureText(labelOf(context, style, row, mostLabel)).width;
    const labelRoom = 8 + Math.max(0, ...widestRows(side, style).map(labelWidth));
    const left = Math.ceil(kTitleRoom + labelRoom);
    const top = Math.ceil(kTitleRoom + (style.hasLongNames ? labelRoom : 20));
    this.layout = {
      left: Math.round(left * ratio),
      top: Math.round(top * ratio),
      square: squareSize(side, room - left - 2, ratio),
      side,
      ratio,
      mostLabel,
    };
    const extent = this.layout.square * side;
    this.canvas.width = this.layout.left + extent + 2;
    this.canvas.height = this.layout.top + extent + 2;
    this.canvas.style.width = `${this.canvas.width / ratio}px`;
    this.canvas.style.height = `${this.canvas.height / ratio}px`;

    const image = paint(matrix, this.layout, style);
    context.putImageData(image, this.layout.left, this.layout.top);
    context.save();
    context.scale(ratio, ratio);
    this.drawText(context, matrix, style);
    context.restore();
  }

  /** The last drawing, as SVG: squares as shapes; for a large matrix as one picture of pixels. */
  svg(matrix: Matrix, style: HeatMapStyle): string {
    const { left, top, square, side, ratio } = this.layout!;
    const [width, height] = [this.canvas.width / ratio, this.canvas.height / ratio];
    const drawing = new SvgDrawing(width, height, measureText);
    const [x, y, cell] = [left / ratio, top / ratio, square / ratio];
    if (side > kMostSvgSide) {
      const squares = document.createElement('canvas');
      squares.width = squares.height = square * side;
      squares.getContext('2d')!.putImageData(paint(matrix, this.layout!, style), 0, 0);
      drawing.image(squares.toDataURL('image/png'), x, y, cell * side, cell * side);
    } else {
      const gap = gapOf(this.layout!) / ratio;
      matrix.values.forEach((value, index) => {
        const [from, down] = [x + (index % side) * cell, y + Math.floor(index / side) * cell];
        drawing.bar(from, down, from + cell - gap, down + cell - gap, squareColour(matrix, style, value));
      });
    }
    this.drawText(drawing, matrix, style);
    return drawing.text(kCard[style.theme]);
  }

  squareAt(event: MouseEvent): Square | undefined {
    if (!this.layout) return undefined;
    const { left, top, square, side, ratio } = this.layout;
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) * ratio - left) / square);
    const row = Math.floor(((event.clientY - box.top) * ratio - top) / square);
    const inside = row >= 0 && column >= 0 && row < side && column < side;
    return inside ? { row, column } : undefined;
  }

  /** The place of a square on the canvas, as CSS lengths. */
  boxOf({ row, column }: Square): { left: string; top: string; width: string; height: string } {
    const { left, top, square, ratio } = this.layout!;
    const length = (pixels: number) => `${pixels / ratio}px`;
    return {
      left: length(left + column * square),
      top: length(top + row * square),
      width: length(square),
      height: length(square),
    };
  }

  /** In CSS pixels. */
  private drawText(pen: Pen, matrix: Matrix, style: HeatMapStyle): void {
    const { left, top, square, side, ratio, mostLabel } = this.layout!;
    const cell = square / ratio;
    const origin = { x: left / ratio, y: top / ratio };
    pen.textBaseline = 'middle';
    if (cell >= kNumberSquare) drawNumbers(pen, matrix, style, origin, cell);
    const middle = (index: number) => (index + 0.5) * cell;
    pen.font = kFont;
    pen.fillStyle = getComputedStyle(this.canvas).color;
    for (const row of ticks(side, cell, kLineRoom)) {
      pen.textAlign = 'right';
      pen.fillText(labelOf(pen, style, row, mostLabel), origin.x - 6, origin.y + middle(row));
    }
    if (style.hasLongNames) this.drawTurned(pen, origin, cell, style);
    else this.drawColumnNames(pen, origin, cell, style);
    this.drawTitles(pen, origin, side * cell, style);
  }

  /** From the last to the first, unless they would touch. */
  private drawColumnNames(pen: Pen, origin: { x: number; y: number }, cell: number, style: HeatMapStyle): void {
    const { side, mostLabel } = this.layout!;
    const label = (row: number) => labelOf(pen, style, row, mostLabel);
    // The width of the last known rank; "unknown" may be wider and then takes the place of its neighbour.
    const widest = pen.measureText(label(edgeRows(side)[0]!)).width;
    const middle = (index: number) => (index + 0.5) * cell;
    pen.textAlign = 'left';
    let end = origin.x + side * cell + 2;
    for (const column of ticks(side, cell, widest + 8).reverse()) {
      const { width } = pen.measureText(label(column));
      const centred = origin.x + middle(column) - width / 2;
      const x = column === side - 1 ? Math.min(centred, end - width) : centred;
      if (x + width > end) continue;
      pen.fillText(label(column), x, origin.y - 9);
      end = x - 6;
    }
  }

  /** Upwards from the squares. */
  private drawTurned(pen: Pen, origin: { x: number; y: number }, cell: number, style: HeatMapStyle): void {
    const { side, mostLabel } = this.layout!;
    pen.textAlign = 'left';
    for (const column of ticks(side, cell, kLineRoom)) {
      pen.save();
      pen.translate(origin.x + (column + 0.5) * cell, origin.y - 6);
      pen.rotate(-Math.PI / 2);
      pen.fillText(labelOf(pen, style, column, mostLabel), 0, 0);
      pen.restore();
    }
  }

  private drawTitles(
    pen: Pen,
    origin: { x: number; y: number },
    extent: number,
    { titles }: HeatMapStyle,
  ): void {
    pen.font = `600 ${kFont}`;
    pen.textAlign = 'left';
    pen.fillText(`${titles.columns} →`, origin.x, 10, Math.max(extent, 110));
    pen.save();
    pen.translate(10, origin.y);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = 'right';
    pen.fillText(`← ${titles.rows}`, 0, 0);
    pen.restore();
  }
}

/** In the font of the pen. */
function labelOf(pen: Pick<Pen, 'measureText'>, style: HeatMapStyle, row: number, most: number): string {
  return elided(style.label(row), most, (text) => pen.measureText(text).width);
}

/**
 * The side of a square in device pixels: the least that gives the matrix a good extent, if there is room for that and
 * the squares are not larger than useful.
 */
function squareSize(side: number, room: number, ratio: number): number {
  const good = Math.ceil((kGoodExtent * ratio) / side);
  const most = Math.floor((Math.min(room, kMaxExtent) * ratio) / side);
  return Math.max(1, Math.min(good, most, Math.round(kMaxSquare * ratio)));
}

function drawNumbers(
  pen: Pen,
  matrix: Matrix,
  style: HeatMapStyle,
  origin: { x: number; y: number },
  cell: number,
): void {
  const { side } = matrix.axis;
  pen.font = cell >= kLargeSquare ? kLargeFont : kFont;
  pen.textAlign = 'center';
  matrix.values.forEach((value, index) => {
    if (value === 0) return;
    pen.fillStyle = inkOn(colourAt(style.theme, position(matrix, style.scale, value)));
    const x = origin.x + ((index % side) + 0.5) * cell;
    const y = origin.y + (Math.floor(index / side) + 0.5) * cell;
    pen.fillText(style.number(value), x, y, cell - 4);
  });
}

/** The rows that may have the widest labels: all of them for names, the last ones for numbers. */
function widestRows(side: number, { hasLongNames }: HeatMapStyle): number[] {
  return hasLongNames ? [...Array(side).keys()] : edgeRows(side);
}

/** The last two, because the very last may be the unknown process. */
function edgeRows(side: number): [number, number] {
  return [Math.max(0, side - 2), Math.max(0, side - 1)];
}

/** The rows to label: every 1st, 2nd, 5th, 10th ... so that labels are at least `room` apart. */
export function ticks(side: number, cell: number, room: number): number[] {
  let step = 1;
  for (let scale = 1; step * cell < room; scale *= 10) {
    step = [1, 2, 5].map((digit) => digit * scale).find((s) => s * cell >= room) ?? step;
    if (scale > side) break;
  }
  return Array.from({ length: Math.ceil(side / step) }, (_, index) => index * step);
}

/** Between squares, in device pixels. */
function gapOf({ square, ratio }: Layout): number {
  return square >= kGridSquare * ratio ? Math.max(1, Math.round(ratio)) : 0;
}

/** As a pixel. */
export function squareColour(extent: Extent, { theme, scale }: Pick<HeatMapStyle, 'theme' | 'scale'>, value: number): number {
  if (value === 0) return pixel(theme === 'dark' ? [38, 42, 48] : [238, 240, 243]);
  return pixel(colourAt(theme, position(extent, scale, value)));
}

function paint(matrix: Matrix, layout: Layout, style: HeatMapStyle): ImageData {
  const { square, side } = layout;
  const extent = square * side;
  // A run without processes has no squares, but an image has at least one pixel.
  const image = new ImageData(Math.max(1, extent), Math.max(1, extent));
  const pixels = new Uint32Array(image.data.buffer);
  const gap = gapOf(layout);
  for (let row = 0; row < side; ++row) {
    const firstLine = row * square * extent;
    for (let column = 0; column < side; ++column) {
      const colour = squareColour(matrix, style, matrix.values[row * side + column]!);
      const start = firstLine + column * square;
      pixels.fill(colour, start, start + square - gap);
    }
    for (let line = 1; line < square - gap; ++line) {
      pixels.copyWithin(firstLine + line * extent, firstLine, firstLine + extent);
    }
  }
  return image;
}
