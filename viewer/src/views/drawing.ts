// The drawing interface of the views: on the screen a canvas, in a saved picture the shapes of an
// SVG.

/** The part of a canvas that they use. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'beginPath' | 'moveTo' | 'lineTo' | 'rect' | 'clip' | 'fill' | 'stroke' | 'fillRect' | 'fillText' | 'measureText'
  | 'save' | 'restore' | 'scale' | 'translate' | 'rotate' | 'setLineDash'
  | 'fillStyle' | 'strokeStyle' | 'lineWidth' | 'globalAlpha' | 'font' | 'textAlign' | 'textBaseline'
>;

/** For the timeline: many rectangles. Colours are pixels (`pixel()` of the palette). */
export interface Bars {
  bar(left: number, top: number, right: number, bottom: number, colour: number): void;
  /** Diagonal stripes over what is there, `period` apart. */
  hatch(left: number, top: number, right: number, bottom: number, colour: number, period: number): void;
}
