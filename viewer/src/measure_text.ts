// The width of a text, before anything is drawn.

let context: CanvasRenderingContext2D | null | undefined;

export function measureText(text: string, font: string): number {
  context ??= document.createElement('canvas').getContext('2d');
  if (!context) return 0;
  context.font = font;
  return context.measureText(text).width;
}

/** The part of the text that fits, marked if there is more. */
export function elided(text: string, most: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= most) return text;
  const signs = Array.from(text);
  let [fits, cut] = [0, signs.length];
  while (cut - fits > 1) {
    const middle = (fits + cut) >> 1;
    if (widthOf(`${signs.slice(0, middle).join('')}…`) <= most) fits = middle;
    else cut = middle;
  }
  return `${signs.slice(0, fits).join('')}…`;
}
