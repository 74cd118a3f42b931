// A floating box stays inside the window and off what it explains wherever there is room.

import { describe, expect, it } from 'vitest';

import { placeBeside, type Box, type Size } from '../src/placement';
import { makeRandom } from './make_run.mjs';

const room: Size = { width: 1280, height: 800 };
const anchorAt = (left: number, top: number): Box => ({ left, top, width: 20, height: 20 });

describe('a box beside its anchor', () => {
  const size = { width: 400, height: 300 };

  it.each([
    ['right of it', anchorAt(100, 50), size, { left: 134, top: 50 }],
    ['left of it', anchorAt(1000, 50), size, { left: 586, top: 50 }],
    ['above the lower edge', anchorAt(100, 700), size, { left: 134, top: 492 }],
    ['below it', anchorAt(600, 50), { width: 900, height: 300 }, { left: 372, top: 84 }],
    ['above it', anchorAt(600, 600), { width: 900, height: 300 }, { left: 372, top: 286 }],
    ['over it', anchorAt(600, 400), { width: 900, height: 600 }, { left: 372, top: 192 }],
  ])('lies %s', (_, anchor, box, corner) => {
    expect(placeBeside(anchor, box, room)).toEqual(corner);
  });

  it('never leaves the window, even if the anchor does', () => {
    const random = makeRandom(1);
    const upTo = (limit: number) => Math.floor(random() * limit);
    for (let trial = 0; trial < 2000; ++trial) {
      const anchor = {
        left: upTo(1600) - 200,
        top: upTo(1200) - 200,
        width: 1 + upTo(300),
        height: 1 + upTo(300),
      };
      const box = { width: upTo(1200), height: upTo(760) };
      const { left, top } = placeBeside(anchor, box, room);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(top).toBeGreaterThanOrEqual(0);
      expect(left + box.width).toBeLessThanOrEqual(room.width);
      expect(top + box.height).toBeLessThanOrEqual(room.height);
    }
  });
});
