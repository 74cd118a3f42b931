// Makes a screenshot small: a PNG of at most 256 colours, chosen by median cut.

import zlib from 'node:zlib';

const { deflateSync, inflateSync } = zlib;

const kMost = 256;
const kSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** zlib has none in Node.js 18. */
function crc32(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function chunk(name, data) {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, crc]);
}

/** The filters of PNG: which byte is subtracted from a byte. */
const kPredicted = [
  () => 0,
  (left) => left,
  (_, up) => up,
  (left, up) => (left + up) >> 1,
  (left, up, corner) => {
    const [a, b, c] = [left, up, corner].map((value) => Math.abs(left + up - corner - value));
    if (a <= b && a <= c) return left;
    return b <= c ? up : corner;
  },
];

/** For 8 bits a channel and without interlacing, as browsers write them: the colour of each pixel as one number. */
function pixelsOf(png) {
  const parts = [];
  const [width, height, depth, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]];
  if (depth !== 8 || (kind !== 2 && kind !== 6)) throw new Error(`a PNG of ${depth} bits and kind ${kind}`);
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const channels = kind === 2 ? 3 : 4;
  const stride = width * channels;
  const packed = inflateSync(Buffer.concat(parts));
  const bytes = new Uint8Array(stride * height);
  for (let row = 0; row < height; ++row) {
    const predicted = kPredicted[packed[row * (stride + 1)]];
    for (let at = 0; at < stride; ++at) {
      const to = row * stride + at;
      const left = at < channels ? 0 : bytes[to - channels];
      const up = row === 0 ? 0 : bytes[to - stride];
      const corner = row === 0 || at < channels ? 0 : bytes[to - stride - channels];
      bytes[to] = packed[row * (stride + 1) + 1 + at] + predicted(left, up, corner);
    }
  }
  const pixels = new Uint32Array(width * height);
  for (let i = 0; i < pixels.length; ++i) {
    pixels[i] = (bytes[i * channels] << 16) | (bytes[i * channels + 1] << 8) | bytes[i * channels + 2];
  }
  return { width, height, pixels };
}

const channel = (colour, which) => (colour >> (16 - 8 * which)) & 255;

/** The channel in which the colours differ most, and how much. */
function widest(colours) {
  const spans = [0, 1, 2].map((which) => {
    const values = colours.map(([colour]) => channel(colour, which));
    return values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b));
  });
  const span = Math.max(...spans);
  return { which: spans.indexOf(span), span };
}

/**
 * Boxes of colours: the one with the greatest span is cut in two until there are enough; its number of pixels counts
 * little.
 */
function cutInto(counts, most) {
  const boxOf = (colours) => {
    const pixels = colours.reduce((sum, [, count]) => sum + count, 0);
    return { colours, pixels, ...widest(colours) };
  };
  const boxes = [boxOf([...counts])];
  while (boxes.length < most) {
    const weight = ({ span, pixels }) => span * pixels ** 0.15;
    boxes.sort((a, b) => weight(b) - weight(a));
    if (weight(boxes[0]) === 0) break;
    const { colours, which, pixels } = boxes.shift();
    colours.sort(([a], [b]) => channel(a, which) - channel(b, which) || a - b);
    let at = 0;
    for (let sum = 0; at < colours.length - 1 && (at === 0 || sum + colours[at][1] <= pixels / 2); ++at) sum += colours[at][1];
    boxes.push(boxOf(colours.slice(0, at)), boxOf(colours.slice(at)));
  }
  return boxes;
}

/** The most frequent colour of each box represents all of it, so that flat areas keep theirs. */
export function smallPng(png) {
  const { width, height, pixels } = pixelsOf(png);
  const counts = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const palette = [];
  const numbers = new Map();
  for (const { colours } of cutInto(counts, kMost)) {
    for (const [colour] of colours) numbers.set(colour, palette.length);
    palette.push(colours.reduce((best, each) => (each[1] > best[1] ? each : best))[0]);
  }
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; ++row) {
    for (let x = 0; x < width; ++x) rows[row * (width + 1) + 1 + x] = numbers.get(pixels[row * width + x]);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [0, 1, 2].map((which) => channel(colour, which))));
  const data = deflateSync(rows, { level: 9 });
  return Buffer.concat([kSignature, chunk('IHDR', head), chunk('PLTE', colours), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}
