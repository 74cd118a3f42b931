// The colours of names: the same in every page, distinct for each kind of colour vision, and readable.

import { describe, expect, it } from 'vitest';

import { homeSlot, kKnownNames, slotsOf, type Named } from '../src/name_colours';
import { categoryColour, contrast, inkOn, kCard, kCategories, luminance, type Rgb, type Theme } from '../src/palette';
import { makeRandom } from './make_run.mjs';

const kThemes: Theme[] = ['light', 'dark'];
const kKinds = Object.keys(kKnownNames) as Named[];

// Machado, Oliveira and Fernandes 2009, severity 1: on linear RGB.
const kVisions = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
type Vision = keyof typeof kVisions;
type Lab = readonly [number, number, number];

const clipped = (value: number) => Math.min(1, Math.max(0, value));
const linear = (part: number) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
const times = (m: readonly number[], v: readonly number[]) => [0, 3, 6].map((row) => v.reduce((sum, x, i) => sum + m[row + i]! * x, 0));

/** CIE Lab under D65, as a reader with this vision sees the colour. */
function seen(colour: Rgb, vision: Vision): Lab {
  const rgb = times(kVisions[vision], colour.map(linear)).map(clipped);
  const xyz = times([0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041], rgb);
  const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const [x, y, z] = [f(xyz[0]! / 0.95047), f(xyz[1]!), f(xyz[2]! / 1.08883)];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIEDE2000. */
function deltaE([l1, a1, b1]: Lab, [l2, a2, b2]: Lab): number {
  const rad = Math.PI / 180;
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 1.5 - 0.5 * Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7));
  const [c1, c2] = [Math.hypot(g * a1, b1), Math.hypot(g * a2, b2)];
  const hue = (b: number, a: number) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) / rad + 360) % 360);
  const [h1, h2] = [hue(b1, g * a1), hue(b2, g * a2)];
  const isGrey = c1 * c2 === 0;
  const turn = isGrey ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * rad);
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const h = isGrey ? h1 + h2 : h1 + turn / 2;
  const cos = (factor: number, offset: number) => Math.cos((factor * h + offset) * rad);
  const t = 1 - 0.17 * cos(1, -30) + 0.24 * cos(2, 0) + 0.32 * cos(3, 6) - 0.2 * cos(4, -63);
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [dl, dc, dh] = [(l2 - l1) / sl, (c2 - c1) / (1 + 0.045 * c), dH / (1 + 0.015 * c * t)];
  const around = ((h + 360) % 360 - 275) / 25;
  const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(60 * rad * Math.exp(-(around ** 2)));
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rt * dc * dh);
}

describe('the measure of what looks alike', () => {
  // Sharma, Wu and Dalal 2005, the pairs that reveal most mistakes.
  it.each<[Lab, Lab, number]>([
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, -1.3802, -84.2814], [50, 0, -82.7485], 1],
    [[50, 0, 0], [50, -1, 2], 2.3669],
    [[50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[50, 2.5, 0], [56, -27, -3], 31.903],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ])('%j and %j: %f', (a, b, expected) => {
    expect(deltaE(a, b)).toBeCloseTo(expected, 3);
    expect(deltaE(b, a)).toBeCloseTo(expected, 3);
  });

  it('says that red and green of one lightness are alike for a deutan reader', () => {
    const [red, green] = [[190, 84, 0], [112, 120, 0]] as const;
    expect(deltaE(seen(red, 'normal'), seen(green, 'normal'))).toBeGreaterThan(25);
    expect(deltaE(seen(red, 'deutan'), seen(green, 'deutan'))).toBeLessThan(11.5);
  });
});

describe('the first eight colours', () => {
  // Measured: neighbours are 11.8 apart or more, and any two of them 11.7; for readers with normal vision 26.9 and 18.9.
  const bounds: Record<Vision, number> = { normal: 18, protan: 11.5, deutan: 11.5, tritan: 11.5 };

  it.each(kThemes.flatMap((theme) => (Object.keys(kVisions) as Vision[]).map((vision) => [theme, vision] as const)))(
    'are apart: %s, %s',
    (theme, vision) => {
      const colours = Array.from({ length: 8 }, (_, slot) => seen(categoryColour(theme, slot), vision));
      // A run has only some of the names, so any two may be neighbours in its legend.
      colours.forEach((a, i) => {
        for (const b of colours.slice(i + 1)) expect(deltaE(a, b)).toBeGreaterThanOrEqual(bounds[vision]);
      });
    },
  );
});

describe('all colours', () => {
  it.each(kThemes)('are no two the same, at 3:1 or better from the page, with ink at 4.5:1 on them: %s', (theme) => {
    const colours = Array.from({ length: kCategories }, (_, slot) => categoryColour(theme, slot));
    expect(new Set(colours.map(String)).size).toBe(kCategories);
    for (const colour of colours) {
      expect(contrast(colour, kCard[theme])).toBeGreaterThanOrEqual(3);
      const ink: Rgb = inkOn(colour) === '#000' ? [0, 0, 0] : [255, 255, 255];
      expect(contrast(colour, ink)).toBeGreaterThanOrEqual(4.5);
    }
  });

  it('are compared by the luminance of WCAG', () => {
    expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21);
    expect(luminance([119, 119, 119])).toBeCloseTo(0.184, 3);
  });
});

/** The definition: names that may keep their slot do, then each of the others takes the next slot that is free. */
function naiveSlots(kind: Named, names: readonly string[]): Map<string, number> {
  const all = [...new Set(names)].sort();
  const isKnown = (name: string) => kKnownNames[kind].includes(name);
  const rank = (name: string) => (isKnown(name) ? 0 : 1);
  const staysAtHome = (name: string) =>
    isKnown(name) ||
    all.every((other) => {
      if (other === name || homeSlot(kind, other) !== homeSlot(kind, name)) return true;
      return rank(other) === 1 && name < other;
    });
  const slots = new Map(all.filter(staysAtHome).map((name) => [name, homeSlot(kind, name)]));
  for (const name of all.filter((each) => !staysAtHome(each))) {
    const taken = new Set(slots.values());
    const walk = Array.from({ length: kCategories }, (_, step) => (homeSlot(kind, name) + step) % kCategories);
    slots.set(name, walk.find((slot) => !taken.has(slot)) ?? homeSlot(kind, name));
  }
  return slots;
}

describe('the slot of a name', () => {
  it.each(kKinds)('is known for the commonest, each its own: %s', (kind) => {
    const known = kKnownNames[kind];
    expect(known.length).toBeLessThanOrEqual(kCategories);
    expect(new Set(known).size).toBe(known.length);
    known.forEach((name, slot) => expect(homeSlot(kind, name)).toBe(slot));
  });

  it.each(kKinds)('is that of the definition, whatever else the run has and in whatever order: %s', (kind) => {
    const random = makeRandom(11);
    const any = (below: number) => Math.floor(random() * below);
    const unknown = Array.from({ length: 60 }, (_, i) => `name_${i}`);
    let collisions = 0;
    for (let round = 0; round < 300; ++round) {
      const pick = (names: readonly string[]) => Array.from({ length: any(round % 10 === 0 ? 60 : 8) }, () => names[any(names.length)]!);
      const names = [...pick(kKnownNames[kind]), ...pick(unknown)];
      const slots = slotsOf(kind, names);
      expect(slots).toEqual(naiveSlots(kind, names));
      const turned = [...names].sort(() => random() - 0.5);
      expect(new Map([...slotsOf(kind, turned)].sort())).toEqual(new Map([...slots].sort()));
      if (slots.size <= kCategories) expect(new Set(slots.values()).size).toBe(slots.size);
      for (const [name, slot] of slots) {
        if (kKnownNames[kind].includes(name)) expect(slot).toBe(homeSlot(kind, name));
        else if (slot !== homeSlot(kind, name)) ++collisions;
      }
    }
    expect(collisions).toBeGreaterThan(100);
  });

  it('is the same in the pages of two runs that are compared', () => {
    const before = slotsOf('transport', ['tcp', 'sysv', 'self', 'my_transport']);
    const after = slotsOf('transport', ['rc_mlx5', 'cma', 'my_transport', 'sysv', 'cuda_ipc', 'self']);
    for (const name of ['sysv', 'self', 'my_transport']) expect(after.get(name)).toBe(before.get(name));
  });

  it('is a number for any name', () => {
    for (const name of ['', '__proto__', 'constructor', '<b>', '\ud800', 'x'.repeat(10_000)]) {
      const slot = slotsOf('transport', [name]).get(name)!;
      expect(Number.isInteger(slot) && slot >= 0 && slot < kCategories).toBe(true);
    }
  });
});
