// An image that is filled rectangle by rectangle, as pixels: thousands of bars cost no more than the pixels they cover.
// It is reused for many frames: new memory for each frame costs more than all painting.

import { pixel, type Rgb } from '../palette';
import type { Bars } from './drawing';
import { kRulerHeight } from './timeline_scene';

export class PixelCanvas implements Bars {
  readonly pixels: Uint32Array;
  private readonly image: ImageData;

  constructor(
    readonly width: number,
    readonly height: number,
    private readonly ratio: number,
    private readonly clip: number,
  ) {
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  clear(background: Rgb): void {
    this.pixels.fill(pixel(background));
  }

  /** In CSS pixels, at least one device pixel wide and tall; cut at the left edge of the lanes. */
  bar(left: number, top: number, right: number, bottom: number, colour: number): void {
    const { ratio, width, height } = this;
    const x0 = Math.max(Math.round(this.clip * ratio), Math.round(left * ratio));
    const x1 = Math.min(width, Math.max(x0 + 1, Math.round(right * ratio)));
    const y0 = Math.max(Math.round(kRulerHeight * ratio), Math.round(top * ratio));
    const y1 = Math.min(height, Math.max(Math.round(top * ratio) + 1, Math.round(bottom * ratio)));
    if (right < this.clip || x1 <= x0) return;
    for (let y = y0; y < y1; ++y) this.pixels.fill(colour, y * width + x0, y * width + x1);
  }

  /** Diagonal stripes over what is there: every `period`-th pixel and its neighbour. */
  hatch(left: number, top: number, right: number, bottom: number, colour: number, period: number): void {
    const { ratio, width, height } = this;
    const x0 = Math.max(Math.round(this.clip * ratio), Math.round(left * ratio));
    const x1 = Math.min(width, Math.round(right * ratio));
    const y0 = Math.max(Math.round(kRulerHeight * ratio), Math.round(top * ratio));
    const y1 = Math.min(height, Math.round(bottom * ratio));
    const step = Math.max(4, Math.round(period * ratio));
    for (let y = y0; y < y1; ++y) {
      const first = x0 + ((((-x0 - y) % step) + step) % step);
      for (let x = first; x < x1; x += step) {
        this.pixels[y * width + x] = colour;
        if (x + 1 < x1) this.pixels[y * width + x + 1] = colour;
      }
    }
  }

  put(context: CanvasRenderingContext2D): void {
    context.putImageData(this.image, 0, 0);
  }
}

/** In CSS pixels. Setting a canvas to the size that it already has would recreate it. */
export function sizeCanvas(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void {
  const [pixelsWide, pixelsTall] = [width, height].map((length) => Math.max(1, Math.round(length * ratio)));
  if (canvas.width !== pixelsWide) canvas.width = pixelsWide!;
  if (canvas.height !== pixelsTall) canvas.height = pixelsTall!;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}
