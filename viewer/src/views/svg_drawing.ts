// A picture as SVG: receives what the views draw, as shapes and text that stay sharp and can be edited.

import { css, rgbOf, type Rgb } from '../palette';
import type { Bars, Pen } from './drawing';

/** Coordinates have this many digits after the point. */
const kDigits = 2;

/** Width of a text in a font. */
export type Measure = (text: string, font: string) => number;

interface State {
  fillStyle: Pen['fillStyle'];
  strokeStyle: Pen['strokeStyle'];
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dash: readonly number[];
  /** As in matrix(a, b, c, d, e, f). */
  matrix: readonly [number, number, number, number, number, number];
  clip: string | undefined;
}

const kAnchors: Partial<Record<CanvasTextAlign, string>> = { center: 'middle', right: 'end', end: 'end' };

/** Any name stays text; characters that XML does not allow become replacement characters. */
export function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return (
    text
      // eslint-disable-next-line no-control-regex
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
      .replace(/[&<>"]/g, (sign) => entities[sign]!)
  );
}

export function short(value: number): string {
  return String(Number(value.toFixed(kDigits)));
}

export type Values = Record<string, string | number | undefined>;

/** ` name="value"` of each that has a value. */
export function attributes(values: Values): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${typeof value === 'number' ? short(value) : escaped(value!)}"`)
    .join('');
}

/** Shapes as the text of a file, on a background that fills the picture. */
export function svgText(
  box: { left?: number; top?: number; width: number; height: number },
  background: Rgb,
  body: string,
): string {
  const { left = 0, top = 0, width, height } = box;
  const view = [left, top, width, height].map(short).join(' ');
  const size = attributes({ xmlns: 'http://www.w3.org/2000/svg', viewBox: view, width, height });
  const ground = `<rect${attributes({ x: left, y: top, width, height, fill: css(background) })}/>`;
  return `<svg${size}>\n${ground}\n${body}\n</svg>\n`;
}

export class SvgDrawing implements Pen, Bars {
  fillStyle: Pen['fillStyle'] = '#000';
  strokeStyle: Pen['strokeStyle'] = '#000';
  lineWidth = 1;
  globalAlpha = 1;
  font = '10px sans-serif';
  textAlign: CanvasTextAlign = 'start';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  private dash: readonly number[] = [];
  private matrix: State['matrix'] = [1, 0, 0, 1, 0, 0];
  private clipId: string | undefined;

  private readonly shapes: string[] = [];
  private readonly stack: State[] = [];
  private readonly patterns = new Map<string, string>();
  private path: string[] = [];
  /** Rectangles so far. */
  bars = 0;
  private clips = 0;
  /** Successive rectangles of one colour are one shape. */
  private run: { colour: number; path: string[] } | undefined;

  /** Bars are cut above `barsTop` and left of `barsLeft`. */
  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly measure: Measure,
    private readonly barsLeft = 0,
    private readonly barsTop = 0,
  ) {}

  text(background: Rgb): string {
    this.endBars();
    return svgText({ width: this.width, height: this.height }, background, this.shapes.join('\n'));
  }

  // ---- bars ----

  bar(left: number, top: number, right: number, bottom: number, colour: number): void {
    const box = this.cut(left, top, right, bottom);
    if (!box) return;
    if (this.run?.colour !== colour) {
      this.endBars();
      this.run = { colour, path: [] };
    }
    this.run.path.push(box);
  }

  hatch(left: number, top: number, right: number, bottom: number, colour: number, period: number): void {
    const box = this.cut(left, top, right, bottom);
    if (box) this.add('path', { d: box, fill: `url(#${this.pattern(colour, period)})` });
  }

  /** A picture of pixels at a place: for more squares than shapes are useful for. */
  image(address: string, x: number, y: number, width: number, height: number): void {
    this.add('image', { href: address, x, y, width, height, 'image-rendering': 'pixelated' });
  }

  private cut(left: number, top: number, right: number, bottom: number): string | undefined {
    const [x0, y0] = [Math.max(this.barsLeft, left), Math.max(this.barsTop, top)];
    const [x1, y1] = [Math.min(this.width, right), Math.min(this.height, bottom)];
    // The screen also shows shapes thinner than a pixel.
    if (x0 > x1 || y0 > y1) return undefined;
    const [w, h] = [Math.max(0.5, x1 - x0), Math.max(0.5, y1 - y0)].map(short);
    return `M${short(x0)} ${short(y0)}h${w}v${h}h-${w}z`;
  }

  private endBars(): void {
    const { run } = this;
    this.run = undefined;
    if (!run) return;
    this.bars += run.path.length;
    // Without soft edges: the background would show between bars that touch.
    const look = { fill: css(rgbOf(run.colour)), 'shape-rendering': 'crispEdges' };
    this.add('path', { d: run.path.join(''), ...look });
  }

  private pattern(colour: number, period: number): string {
    const key = `${colour} ${period}`;
    const known = this.patterns.get(key);
    if (known !== undefined) return known;
    const id = `stripes${this.patterns.size}`;
    this.patterns.set(key, id);
    const p = short(period);
    const size = attributes({ id, width: period, height: period, patternUnits: 'userSpaceOnUse' });
    const line = attributes({ d: `M0 ${p}L${p} 0`, stroke: css(rgbOf(colour)), 'stroke-width': 1.4 });
    this.shapes.push(`<pattern${size}><path${line}/></pattern>`);
    return id;
  }

  // ---- a canvas' pen ----

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dash, matrix } = this;
    this.stack.push({
      ...{ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dash, matrix },
      clip: this.clipId,
    });
  }

  restore(): void {
    const { clip, ...state } = this.stack.pop() ?? { clip: undefined };
    Object.assign(this, state);
    this.clipId = clip;
  }

  scale(x: number, y: number): void {
    this.transform(x, 0, 0, y, 0, 0);
  }

  translate(x: number, y: number): void {
    this.transform(1, 0, 0, 1, x, y);
  }

  rotate(angle: number): void {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.transform(cos, sin, -sin, cos, 0, 0);
  }

  setLineDash(segments: Iterable<number>): void {
    this.dash = [...segments];
  }

  beginPath(): void {
    this.path = [];
  }

  moveTo(x: number, y: number): void {
    this.path.push(`M${short(x)} ${short(y)}`);
  }

  lineTo(x: number, y: number): void {
    this.path.push(`L${short(x)} ${short(y)}`);
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`);
  }

  clip(): void {
    this.endBars();
    const id = `clip${this.clips++}`;
    // In the coordinates of the shapes that it cuts; they already have the transform.
    const inside = attributes({ d: this.path.join('') });
    this.shapes.push(`<clipPath id="${id}"><path${inside}/></clipPath>`);
    this.clipId = id;
  }

  fill(): void {
    this.add('path', { d: this.path.join(''), ...this.filled() });
  }

  stroke(): void {
    const { strokeStyle, lineWidth, dash } = this;
    this.add('path', {
      d: this.path.join(''),
      fill: 'none',
      stroke: String(strokeStyle),
      'stroke-width': lineWidth,
      'stroke-dasharray': dash.length > 0 ? dash.join(' ') : undefined,
      opacity: this.opacity(),
    });
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    if (width > 0 && height > 0) this.add('rect', { x, y, width, height, ...this.filled() });
  }

  fillText(text: string, x: number, y: number, most?: number): void {
    const isWide = most !== undefined && this.measureText(text).width > most;
    const middle = this.textBaseline === 'middle';
    const values = {
      ...{ x, y, ...this.filled() },
      style: `font: ${this.font}`,
      'text-anchor': kAnchors[this.textAlign],
      'dominant-baseline': middle ? 'central' : undefined,
      textLength: isWide ? most : undefined,
      lengthAdjust: isWide ? 'spacingAndGlyphs' : undefined,
    };
    this.add('text', values, escaped(text));
  }

  measureText(text: string): TextMetrics {
    return { width: this.measure(text, this.font) } as TextMetrics;
  }

  private filled() {
    return { fill: String(this.fillStyle), opacity: this.opacity() };
  }

  private opacity(): number | undefined {
    return this.globalAlpha === 1 ? undefined : this.globalAlpha;
  }

  private transform(a: number, b: number, c: number, d: number, e: number, f: number): void {
    const [A, B, C, D, E, F] = this.matrix;
    this.matrix = [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
  }

  private transformed(): string | undefined {
    const isIdentity = this.matrix.join() === '1,0,0,1,0,0';
    return isIdentity ? undefined : `matrix(${this.matrix.map(short).join(' ')})`;
  }

  private add(name: string, values: Values, content?: string): void {
    this.endBars();
    const places = {
      transform: this.transformed(),
      'clip-path': this.clipId === undefined ? undefined : `url(#${this.clipId})`,
    };
    const start = `<${name}${attributes({ ...values, ...places })}`;
    this.shapes.push(content === undefined ? `${start}/>` : `${start}>${content}</${name}>`);
  }
}
