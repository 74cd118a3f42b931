// The pixels that the timeline paints, and colours on top of each other.

import { describe, expect, it, vi } from 'vitest';

import { contrast, kCategories, kWaitMark, pixel, type Theme } from '../src/palette';
import { PixelCanvas } from '../src/views/pixel_canvas';
import { functionColour } from '../src/views/timeline_bins';
import { isCovered, kRulerHeight, type LaneLayout } from '../src/views/timeline_scene';

class Image {
  readonly data: Uint8ClampedArray;
  constructor(readonly width: number, readonly height: number) {
    this.data = new Uint8ClampedArray(4 * width * height);
  }
}
vi.stubGlobal('ImageData', Image);

describe('stripes', () => {
  const [kWidth, kHeight, kPeriod] = [400, 32, 4];
  const colour = pixel([1, 2, 3]);

  it.each([20, 31, 300, 301, 302, 303])('from %i on fill half of their box, and nothing outside of it', (left) => {
    const canvas = new PixelCanvas(kWidth, kHeight, 1, 10);
    canvas.clear([255, 255, 255]);
    const [right, top, bottom] = [left + 40, 22, 30];
    canvas.hatch(left, top, right, bottom, colour, kPeriod);
    const marked = [...canvas.pixels.keys()].filter((at) => canvas.pixels[at] === colour);
    for (const at of marked) {
      const [x, y] = [at % kWidth, Math.floor(at / kWidth)];
      expect(x >= left && x < right && y >= top && y < bottom).toBe(true);
    }
    // At the left edge, the second pixel of a stripe may be missing.
    const half = ((right - left) * (bottom - top)) / 2;
    expect(marked.length).toBeGreaterThan(0.9 * half);
    expect(marked.length).toBeLessThanOrEqual(half);
  });

  it('stay apart where pixels are large', () => {
    const canvas = new PixelCanvas(kWidth, kHeight, 0.25, 0);
    canvas.clear([255, 255, 255]);
    canvas.hatch(0, 0, 4 * kWidth, 4 * kHeight, colour, kPeriod);
    expect([...canvas.pixels].some((value) => value !== colour)).toBe(true);
    expect([...canvas.pixels].some((value) => value === colour)).toBe(true);
  });

  it.each<Theme>(['light', 'dark'])('stand out 3:1 or better from the bars of functions, %s', (theme) => {
    const slots = [...Array(kCategories).keys()];
    const names = slots.map((slot) => `MPI_${slot}`);
    const [others, setUp] = [kCategories, kCategories + 1];
    const groups = { names: [...names, 'others', 'set-up'], slots, ofKind: new Uint8Array(), others, setUp };
    groups.names.forEach((_, group) => {
      expect(contrast(kWaitMark, functionColour(theme, groups, group))).toBeGreaterThanOrEqual(3);
    });
  });
});

describe('lanes', () => {
  const layout = (pinned: number, top: number): LaneLayout => ({
    ...{ left: 92, width: 500, height: kRulerHeight + 100, rowHeight: 20, layers: [0], top },
    lanes: { rows: [], pinned, rowOf: new Int32Array() },
  });

  it('are covered where they have scrolled under those that are pinned', () => {
    const covered = (pinned: number, top: number) => [0, 1, 2, 3, 4, 5].filter((row) => isCovered(layout(pinned, top), row));
    expect(covered(2, 0)).toEqual([]);
    expect(covered(2, 20)).toEqual([2]);
    expect(covered(2, 60)).toEqual([2, 3, 4]);
    expect(covered(0, 60)).toEqual([]);
  });
});
