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
  return `rgb(${red} ${green} ${blue})`;
}

/** Black or white, whichever reads better on the colour. */
export function inkOn([red, green, blue]: Rgb): string {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 128 ? '#000' : '#fff';
}

export function gradient(theme: Theme): string {
  const stops = Array.from({ length: 17 }, (_, i) => css(colourAt(theme, i / 16)));
  return `linear-gradient(to right, ${stops.join(', ')})`;
}
