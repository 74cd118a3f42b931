// Paints the lanes of the timeline: everything but text and arrows goes into one image as pixels. So a frame costs only
// what is on the screen, even if the run has many operations.

import { messagesWithin, rowsWithin, type LayerDetails } from '../details';
import { elided } from '../measure_text';
import type { Numbers } from '../packed';
import { categoryColour, css, faintBar, inkOn, kCard, kInk, kLine, kWaitMark, layerColour, pixel } from '../palette';
import { counts, kLayers } from '../slabs';
import type { Range } from '../time_range';
import { waitsOfCall } from '../waits';
import type { Bars, Pen } from './drawing';
import { PixelCanvas, sizeCanvas } from './pixel_canvas';
import { drawRuler } from './ruler';
import { SvgDrawing, type Measure } from './svg_drawing';
import { functionColour, functionColours, kUnknownPeriod, kWaitPeriod, paintBins } from './timeline_bins';
import { barBox, common, isCovered, isSingle, kRulerHeight, laneBox, processBox, rowTop, visibleRows, xOf, type Box, type Scene } from './timeline_scene';

/** With more operations in the lanes on the screen, bins are shown instead. */
const kMostRows = 20_000;
const kMostArrows = 400;
const kMostLabels = 400;
const kMostSvgBars = 50_000;
const kFont = '11px system-ui, sans-serif';

export interface Arrow {
  readonly row: number;
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

export interface Painted {
  /** The visible time with single operations; the rest has bins. None: it ends where it begins. */
  readonly singly: Range;
  readonly level: number;
  readonly arrows: readonly Arrow[];
  readonly arrowsLeftOut: boolean;
}

/** The visible time in which all operations are loaded, if they fit on the screen or bins would show less. */
function singlyIn(scene: Scene): Range {
  const shown = common(scene.range, common(scene.drawn, scene.singles));
  return shown.from < shown.to && showsSingly(scene) ? shown : { from: scene.axis.from, to: scene.axis.from };
}

function showsSingly(scene: Scene): boolean {
  const { range, axis, layout } = scene;
  if (singleProcesses(scene).length === 0) return false;
  if ((axis.slab / (range.to - range.from)) * layout.width >= 2) return true;
  let rows = 0;
  for (const layer of drawnLayers(scene)) {
    for (const process of singleProcesses(scene)) {
      const [begin, end] = rowsWithin(layer, process, range.from, range.to);
      rows += end - begin;
    }
  }
  return rows <= kMostRows;
}

/** The processes in view with a lane of their own. */
function singleProcesses({ layout }: Scene): number[] {
  return visibleRows(layout).flatMap((row) => {
    const { host, processes } = layout.lanes.rows[row]!;
    return host === null ? processes : [];
  });
}

function drawnLayers({ singles, layout }: Scene): LayerDetails[] {
  return layout.layers.map((layer) => singles.details.layers[layer]!);
}

/** A canvas, and the pixels of the lanes on it. */
export interface Screen {
  readonly canvas: HTMLCanvasElement;
  pixels?: PixelCanvas;
}

/** The pixels of the canvas, as large as the lanes are now. */
function pixelsOf(screen: Screen, { layout }: Scene, ratio: number): PixelCanvas {
  const { canvas } = screen;
  const width = layout.left + layout.width;
  sizeCanvas(canvas, width, layout.height, ratio);
  if (screen.pixels?.width !== canvas.width || screen.pixels.height !== canvas.height) {
    screen.pixels = new PixelCanvas(canvas.width, canvas.height, ratio, layout.left);
  }
  return screen.pixels;
}

export function paint(screen: Screen, scene: Scene): Painted {
  const { theme } = scene;
  const ratio = window.devicePixelRatio || 1;
  const pixels = pixelsOf(screen, scene, ratio);
  pixels.clear(kCard[theme]);
  const drawn = paintLanes(scene, pixels);
  const context = screen.canvas.getContext('2d')!;
  pixels.put(context);
  context.save();
  context.scale(ratio, ratio);
  const painted = paintOverLanes(scene, context, drawn);
  context.restore();
  return painted;
}

/** The same picture as SVG. If there are too many bars for a useful file, they are one picture of pixels in it. */
export function timelineSvg(scene: Scene, measure: Measure): string {
  const { layout, theme } = scene;
  const width = layout.left + layout.width;
  const make = () => new SvgDrawing(width, layout.height, measure, layout.left, kRulerHeight);
  let drawing = make();
  const drawn = paintLanes(scene, drawing);
  if (drawing.bars > kMostSvgBars) {
    drawing = make();
    drawing.image(lanesPicture(scene), 0, 0, width, layout.height);
  }
  paintOverLanes(scene, drawing, drawn);
  return drawing.text(kCard[theme]);
}

/** The data URL of a picture of the lanes, twice as fine as on the screen. */
function lanesPicture(scene: Scene): string {
  const { layout, theme } = scene;
  const canvas = document.createElement('canvas');
  canvas.width = 2 * (layout.left + layout.width);
  canvas.height = 2 * layout.height;
  const pixels = new PixelCanvas(canvas.width, canvas.height, 2, layout.left);
  pixels.clear(kCard[theme]);
  paintLanes(scene, pixels);
  pixels.put(canvas.getContext('2d')!);
  return canvas.toDataURL('image/png');
}

interface DrawnLanes extends Pick<Painted, 'singly' | 'level'> {
  readonly labels: readonly Label[];
}

function paintLanes(scene: Scene, bars: Bars): DrawnLanes {
  const singly = singlyIn(scene);
  paintLines(scene, bars);
  const level = paintBins(scene, bars, singly);
  return { singly, level, labels: paintBars(scene, bars, singly) };
}

function paintOverLanes(scene: Scene, pen: Pen, { labels, singly, level }: DrawnLanes): Painted {
  paintSpan(scene, pen);
  paintEdges(scene, pen);
  paintLabels(pen, labels);
  const arrows = paintArrows(scene, pen, singly);
  paintNames(scene, pen);
  drawRuler(pen, scene);
  return { singly, level, ...arrows };
}

/** Under each lane, and a stronger one under those that are pinned. */
function paintLines(scene: Scene, bars: Bars): void {
  const { layout, theme } = scene;
  const { pinned } = layout.lanes;
  const right = layout.left + layout.width;
  for (const row of visibleRows(layout)) {
    const bottom = rowTop(layout, row) + layout.rowHeight;
    const isLast = row === pinned - 1;
    if (layout.rowHeight < 12 && !isLast) continue;
    bars.bar(layout.left, bottom - (isLast ? 3 : 2), right, bottom - 1, pixel((isLast ? kInk : kLine)[theme]));
  }
}

interface Label {
  readonly text: string;
  readonly box: Box;
  readonly colour: string;
}

function paintBars(scene: Scene, bars: Bars, singly: Range): Label[] {
  const { theme, view } = scene;
  const labels: Label[] = [];
  const colourOf = barColours(scene);
  const faint = pixel(faintBar(theme));
  // Bars end where bins begin.
  const sides = singly.from < singly.to ? [xOf(scene, singly.from), xOf(scene, singly.to)] : [0, 0];
  const [leftmost, rightmost] = sides as [number, number];
  const processes = singly.from < singly.to ? singleProcesses(scene) : [];
  drawnLayers(scene).forEach((layer) => {
    const plain = pixel(layerColour(theme, kLayers.indexOf(layer.layer)));
    for (const process of processes) {
      const [begin, end] = rowsWithin(layer, process, singly.from, singly.to);
      // Of the operations within one pixel of a track, one is drawn: a selected one if there is any.
      const drawn = new Int32Array(layer.tracks[process]!).fill(-1);
      for (let row = begin; row < end; ++row) {
        if (layer.end[row]! < singly.from) continue;
        const chosen = counts(view.alongTime.choice, layer.layer, process, layer.key[row]!);
        const whole = barBox(scene, layer, process, row);
        const box = { ...whole, left: Math.max(whole.left, leftmost), right: Math.min(whole.right, rightmost + 1) };
        const wide = box.right - box.left;
        const place = wide > 1 ? -1 : 2 * Math.round(box.left) + Number(chosen);
        const before = drawn[layer.track[row]!]!;
        if (place >= 0 && (before === place || before === place + 1)) continue;
        drawn[layer.track[row]!] = place;
        const colour = chosen ? colourOf(layer, row, plain) : faint;
        const gap = box.bottom - box.top > 5 ? 1 : 0;
        bars.bar(box.left, box.top, box.right - (wide > 3 ? 1 : 0), box.bottom - gap, colour);
        if (layer.layer === 'mpi' && wide > 2) markWaits(scene, bars, layer, row, { ...box, bottom: box.bottom - gap });
        const seen = box.right - box.left;
        if (seen > 34 && box.bottom - box.top >= 11 && labels.length < kMostLabels) {
          const ink = chosen ? inkOfBar(scene, layer, row) : css(kInk[theme]);
          labels.push({
            text: scene.name(layer, row),
            box,
            colour: ink,
          });
        }
      }
    }
  });
  return labels;
}

/** Hatches the parts of a call in which it waited; parts in which it may have waited, sparsely. */
function markWaits(scene: Scene, bars: Bars, layer: LayerDetails, row: number, box: Box): void {
  const { waits } = scene.singles;
  const { firstOfCall } = waits;
  if (firstOfCall[row] === firstOfCall[row + 1]) return;
  const mark = pixel(kWaitMark);
  for (const { from, to, unknown } of waitsOfCall(waits, layer, row)) {
    const [left, right] = [Math.max(box.left, xOf(scene, from)), Math.min(box.right, xOf(scene, to))];
    if (right - left < 2) continue;
    bars.hatch(left, box.top, right, box.bottom, mark, unknown === 0 ? kWaitPeriod : kUnknownPeriod);
  }
}

/** As pixels: transfers by transport, MPI calls by function, other operations `plain`. */
function barColours(scene: Scene) {
  const { transports, theme, functions } = scene;
  const ofTransports = new Map(
    [...transports].map(([text, slot]) => [text, pixel(categoryColour(theme, slot))]),
  );
  const ofFunctions = functionColours(scene);
  return ({ layer, table, key }: LayerDetails, row: number, plain: number): number => {
    if (layer === 'uct') return ofTransports.get(table.column('transport')[row]!) ?? plain;
    if (layer === 'mpi') return ofFunctions[functions.ofKind[key[row]!] ?? functions.others]!;
    return plain;
  };
}

/** The colour of text on a bar. */
function inkOfBar({ theme, functions, transports }: Scene, { layer, table, key }: LayerDetails, row: number): string {
  if (layer === 'mpi') return inkOn(functionColour(theme, functions, functions.ofKind[key[row]!] ?? functions.others));
  const slot = layer === 'uct' ? transports.get(table.column('transport')[row]!) : undefined;
  return slot === undefined ? css(kCard[theme]) : inkOn(categoryColour(theme, slot));
}

function paintLabels(pen: Pen, labels: readonly Label[]): void {
  pen.font = kFont;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  for (const { text, box, colour } of labels) {
    const room = box.right - box.left - 8;
    const shown = elided(text, room, (part) => pen.measureText(part).width);
    if (shown.length < 4 && shown !== text) continue;
    pen.fillStyle = colour;
    pen.fillText(shown, box.left + 4, (box.top + box.bottom) / 2);
  }
}

/** Shades the time outside of the chosen span. */
function paintSpan(scene: Scene, pen: Pen): void {
  const { layout, view, theme, axis, range } = scene;
  const { from, to } = view.filter;
  const right = layout.left + layout.width;
  const bottom = layout.height;
  if (from !== undefined || to !== undefined) {
    const x0 = Math.min(right, Math.max(layout.left, xOf(scene, from ?? axis.from)));
    const x1 = Math.min(right, Math.max(layout.left, xOf(scene, to ?? range.to)));
    pen.fillStyle = css(theme === 'dark' ? [0, 0, 0] : [90, 100, 115]);
    pen.globalAlpha = theme === 'dark' ? 0.5 : 0.22;
    pen.fillRect(layout.left, 0, x0 - layout.left, bottom);
    pen.fillRect(x1, 0, right - x1, bottom);
    pen.globalAlpha = 1;
  }
}

/** A dashed line where the loaded operations begin, or end. */
function paintEdges(scene: Scene, pen: Pen): void {
  const { drawn, singles, range, layout, theme } = scene;
  const { from, to } = common(drawn, singles);
  if (from >= to) return;
  for (const edge of [from, to].filter((at) => at > range.from && at < range.to)) {
    const x = xOf(scene, edge);
    pen.strokeStyle = css(kInk[theme]);
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x, layout.height);
    pen.stroke();
    pen.setLineDash([]);
  }
}

/** Selected messages, from the lane of the sender to that of the receiver. */
function paintArrows(scene: Scene, pen: Pen, singly: Range) {
  const { singles: { details }, view, layout, theme } = scene;
  const arrows: Arrow[] = [];
  const shown = visibleRows(layout);
  if (singly.from >= singly.to || shown.length === 0) return { arrows, arrowsLeftOut: details.messages.rows > 0 };
  const [begin, end] = messagesWithin(details, singly.from, singly.to);
  const [src, dst, cell] = ['src_process', 'dst_process', 'cell'].map((name) =>
    details.messages.column(name),
  ) as [Numbers, Numbers, Numbers];
  const { rowOf } = layout.lanes;
  const [first, last] = [shown[0]!, shown[shown.length - 1]!];
  const middle = (process: number) => {
    const lane = processBox(layout, process, 1);
    return (lane.top + lane.bottom) / 2;
  };
  for (let row = begin; row < end; ++row) {
    if (details.messageEnd[row]! < singly.from || src[row]! < 0 || dst[row]! < 0) continue;
    if (!view.alongTime.selection.cells[cell[row]!]) continue;
    const [a, b] = [rowOf[src[row]!]!, rowOf[dst[row]!]!];
    if (Math.max(a, b) < first || Math.min(a, b) > last || isCovered(layout, a) || isCovered(layout, b)) continue;
    if (!isSingle(layout, src[row]!) || !isSingle(layout, dst[row]!)) continue;
    const [y0, y1] = [middle(src[row]!), middle(dst[row]!)];
    if (Math.max(y0, y1) < kRulerHeight || Math.min(y0, y1) > layout.height) continue;
    if (arrows.length >= kMostArrows) return { arrows: [], arrowsLeftOut: true };
    arrows.push({
      row,
      x0: xOf(scene, details.messageStart[row]!),
      y0,
      x1: xOf(scene, details.messageEnd[row]!),
      y1,
    });
  }
  pen.save();
  pen.beginPath();
  pen.rect(layout.left, kRulerHeight, layout.width, layout.height - kRulerHeight);
  pen.clip();
  pen.strokeStyle = pen.fillStyle = css(kInk[theme]);
  pen.globalAlpha = arrows.length > 120 ? 0.45 : 0.8;
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (const { x0, y0, x1, y1 } of arrows) {
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
  }
  pen.stroke();
  for (const arrow of arrows) paintHead(pen, arrow);
  pen.restore();
  return { arrows, arrowsLeftOut: false };
}

function paintHead(pen: Pen, { x0, y0, x1, y1 }: Arrow): void {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const side = (turn: number) =>
    pen.lineTo(x1 - 7 * Math.cos(angle + turn), y1 - 7 * Math.sin(angle + turn));
  pen.beginPath();
  pen.moveTo(x1, y1);
  side(0.4);
  side(-0.4);
  pen.fill();
}

/** Ranks and layers left of the lanes. */
function paintNames(scene: Scene, pen: Pen): void {
  const { layout, theme } = scene;
  const tall = layout.layers.length > 1 && layout.rowHeight >= 33;
  pen.fillStyle = css(kCard[theme]);
  pen.fillRect(0, 0, layout.left, layout.height);
  pen.textBaseline = 'middle';
  let free = kRulerHeight;
  for (const row of visibleRows(layout)) {
    const y = rowTop(layout, row);
    const middle = Math.max(kRulerHeight + 6, y + layout.rowHeight / 2 - 1);
    // If lanes are lower than a line of text, only those with room get a name.
    if (middle - 5 >= free) {
      pen.textAlign = 'left';
      pen.font = `600 ${kFont}`;
      pen.fillStyle = css(kInk[theme]);
      const pin = row < layout.lanes.pinned ? '↑ ' : '';
      const most = layout.left - (tall ? 36 : 6);
      // A name that is a little too wide is drawn narrower.
      const label = elided(pin + scene.label(row), 1.4 * most, (text) => pen.measureText(text).width);
      pen.fillText(label, 2, middle, most);
      free = middle + 6;
    }
    if (!tall) continue;
    pen.textAlign = 'right';
    pen.font = '10px system-ui, sans-serif';
    for (const layer of layout.layers) {
      const lane = laneBox(layout, row, layer);
      pen.fillStyle = css(layerColour(theme, layer));
      pen.fillText(kLayers[layer]!.toUpperCase(), layout.left - 5, (lane.top + lane.bottom) / 2);
    }
  }
  pen.fillStyle = css(kCard[theme]);
  pen.fillRect(0, 0, layout.left, kRulerHeight);
}
