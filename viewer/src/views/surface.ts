// What the lanes of the timeline are painted on: pixels of the screen, or shapes of an SVG file.

/** In CSS pixels; colours as pixels. What lies left of the lanes, or over their ruler, is cut. */
export interface Surface {
  fill(left: number, top: number, right: number, bottom: number, colour: number): void;
  /** Stripes over what is there, `period` apart. */
  hatch(left: number, top: number, right: number, bottom: number, colour: number, period: number): void;
}
