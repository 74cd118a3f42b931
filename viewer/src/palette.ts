// A sequential palette that stays ordered for colour-blind readers and in print: lightness rises
// evenly while the hue goes from violet over teal to yellow. Made in OKLCH.

export type Rgb = readonly [number, number, number];

const kSteps = 256;

function gamma(linear: number): number {
  const clipped = Math.min(1, Math.max(0, linear));
  return clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
}

function fromOklch(lightness: number, chroma: number, hueDegrees: number): Rgb {
  const hue = (hueDegrees * Math.PI) / 180;
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const [red, green, blue] = linear.map((value) => Math.round(255 * gamma(value)));
  return [red!, green!, blue!];
}

const kRamp: readonly Rgb[] = Array.from({ length: kSteps }, (_, step) => {
  const t = step / (kSteps - 1);
  return fromOklch(0.28 + 0.62 * t, 0.1 + 0.05 * t, 300 - 195 * t);
});

export type Theme = 'light' | 'dark';

/** The colour of a position from 0 (least) to 1 (most), which stands out most from the page. */
export function colourAt(theme: Theme, position: number): Rgb {
  const t = theme === 'dark' ? position : 1 - position;
  return kRamp[Math.round(Math.min(1, Math.max(0, t)) * (kSteps - 1))]!;
}

export function css([red, green, blue]: Rgb): string {
  // With commas, as the graph's library reads it.
  return `rgb(${red}, ${green}, ${blue})`;
}

function linearOf(part: number): number {
  return part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
}

/** As WCAG defines it. */
export function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linearOf(red) + 0.7152 * linearOf(green) + 0.0722 * linearOf(blue);
}

export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a) + 0.05, luminance(b) + 0.05];
  return Math.max(x / y, y / x);
}

/** Black or white, whichever reads better on the colour: the contrast is 4.5:1 or better. */
export function inkOn(colour: Rgb): string {
  return contrast(colour, [0, 0, 0]) >= contrast(colour, [255, 255, 255]) ? '#000' : '#fff';
}

export function gradient(theme: Theme): string {
  const stops = Array.from({ length: 17 }, (_, i) => css(colourAt(theme, i / 16)));
  return `linear-gradient(to right, ${stops.join(', ')})`;
}

/**
 * Hue, lightness on a light and on a dark page, chroma. The contrast of all with the page and with the stripes over
 * bars is 3:1 or better. Found by a search: the first eight are as far apart as possible, for readers with any kind of
 * colour vision; each further one is as far as possible from those before it (tests/colours.test.ts has the bounds).
 */
const kCategorySlots: readonly (readonly [number, number, number, number])[] = [
  [256, 0.49, 0.75, 0.16], [60, 0.66, 0.83, 0.16], [135, 0.65, 0.88, 0.09], [328, 0.49, 0.69, 0.09],
  [196, 0.62, 0.88, 0.16], [113, 0.47, 0.58, 0.11], [12, 0.53, 0.66, 0.16], [287, 0.66, 0.58, 0.16],
  [165, 0.46, 0.62, 0.09], [44, 0.59, 0.71, 0.11], [171, 0.57, 0.74, 0.15], [222, 0.52, 0.80, 0.13],
  [351, 0.65, 0.82, 0.09], [96, 0.55, 0.71, 0.14], [250, 0.64, 0.59, 0.09], [41, 0.48, 0.58, 0.09],
  [79, 0.66, 0.65, 0.10], [303, 0.59, 0.68, 0.17], [132, 0.63, 0.88, 0.17], [61, 0.53, 0.86, 0.09],
  [356, 0.60, 0.58, 0.16], [289, 0.48, 0.71, 0.10], [332, 0.58, 0.61, 0.16], [14, 0.64, 0.75, 0.10],
  [358, 0.56, 0.67, 0.09], [157, 0.54, 0.82, 0.08], [125, 0.58, 0.74, 0.08], [316, 0.62, 0.79, 0.09],
  [276, 0.56, 0.63, 0.11], [187, 0.50, 0.75, 0.08], [53, 0.50, 0.60, 0.17], [163, 0.63, 0.69, 0.08],
];
export const kCategories = kCategorySlots.length;

/** Colours that can be distinguished. name_colours.ts assigns them to names. */
export function categoryColour(theme: Theme, index: number): Rgb {
  const [hue, onLight, onDark, chroma] = kCategorySlots[index % kCategories]!;
  return fromOklch(theme === 'dark' ? onDark : onLight, chroma, hue);
}

/** The colours of MPI, UCP and UCT. */
export function layerColour(theme: Theme, layer: number): Rgb {
  return fromOklch(theme === 'dark' ? 0.76 : 0.54, 0.12, [175, 255, 55][layer]!);
}

export function mixed(a: Rgb, b: Rgb, share: number): Rgb {
  const part = (i: 0 | 1 | 2) => Math.round(a[i] + (b[i] - a[i]) * share);
  return [part(0), part(1), part(2)];
}

/** The bar of an operation that is not chosen. */
export function faintBar(theme: Theme): Rgb {
  return mixed(kCard[theme], kInk[theme], 0.14);
}

/** Functions without a colour of their own. */
export function otherBar(theme: Theme): Rgb {
  return mixed(kCard[theme], kInk[theme], 0.6);
}

/** Calls that say little about the run: MPI_Init and MPI_Finalize. */
export function setUpBar(theme: Theme): Rgb {
  return mixed(kCard[theme], kInk[theme], theme === 'dark' ? 0.32 : 0.28);
}

/** Stripes over waiting time, on the bars of functions: contrast 3:1 or better in both themes. */
export const kWaitMark: Rgb = [0, 0, 0];

/** RGB as one little-endian pixel of ImageData. */
export function pixel([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

export function rgbOf(colour: number): Rgb {
  return [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
}

export const kCard: Record<Theme, Rgb> = { light: [255, 255, 255], dark: [28, 32, 37] };
export const kLine: Record<Theme, Rgb> = { light: [217, 221, 227], dark: [52, 58, 67] };
export const kInk: Record<Theme, Rgb> = { light: [28, 33, 40], dark: [228, 231, 235] };
