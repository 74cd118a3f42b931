// Pictures as SVG: the drawing is there as shapes, and any name stays text.

import { describe, expect, it } from 'vitest';

import { pixel } from '../src/palette';
import { escaped, SvgDrawing, svgText } from '../src/views/svg_drawing';

const measure = (text: string) => 10 * text.length;
const make = () => new SvgDrawing(200, 100, measure, 20, 10);
const kWhite = [255, 255, 255] as const;

describe('names', () => {
  it.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['a & "b"', 'a &amp; &quot;b&quot;'],
    ['\u0000\u001b[31m', '\ufffd\ufffd[31m'],
    ['half \ud800 pair', 'half \ufffd pair'],
    ['other half \udc00', 'other half \ufffd'],
    ['whole \u{1f600}', 'whole \u{1f600}'],
    ['tab\tline\n', 'tab\tline\n'],
  ])('%j is text', (name, expected) => {
    expect(escaped(name)).toBe(expected);
  });

  it('cannot end an attribute', () => {
    const drawing = make();
    drawing.fillStyle = '"/><script>';
    drawing.fillRect(0, 0, 1, 1);
    expect(drawing.text(kWhite)).not.toContain('<script>');
  });
});

describe('bars', () => {
  it('are cut where lanes begin and end', () => {
    const drawing = make();
    drawing.bar(0, 0, 30, 20, pixel([1, 2, 3]));
    drawing.bar(190, 90, 300, 300, pixel([1, 2, 3]));
    expect(drawing.text(kWhite)).toContain('<path d="M20 10h10v10h-10zM190 90h10v10h-10z" fill="rgb(1, 2, 3)" shape-rendering="crispEdges"/>');
  });

  it('outside of the lanes are not there', () => {
    const drawing = make();
    drawing.bar(0, 20, 10, 30, pixel([1, 2, 3]));
    expect(drawing.text(kWhite)).not.toContain('rgb(1, 2, 3)');
  });

  it('lie on each other in the order in which they are drawn, whatever their colours', () => {
    const drawing = make();
    for (const colour of [1, 2, 1]) drawing.bar(30, 20, 40, 30, pixel([colour, 0, 0]));
    drawing.fillStyle = '#abc';
    drawing.fillRect(30, 20, 5, 5);
    const fills = [...drawing.text(kWhite).matchAll(/fill="([^"]+)"/g)].map(([, fill]) => fill);
    expect(fills).toEqual(['rgb(255, 255, 255)', 'rgb(1, 0, 0)', 'rgb(2, 0, 0)', 'rgb(1, 0, 0)', '#abc']);
  });

  it('have one pattern for all stripes of a colour and period', () => {
    const drawing = make();
    for (let i = 0; i < 3; ++i) drawing.hatch(30, 20, 40, 30, pixel([9, 9, 9]), 4);
    drawing.hatch(30, 20, 40, 30, pixel([9, 9, 9]), 8);
    const text = drawing.text(kWhite);
    expect(text.match(/<pattern /g)).toHaveLength(2);
    expect(text.match(/url\(#stripes0\)/g)).toHaveLength(3);
  });
});

describe('the pen', () => {
  it('turns and moves as a canvas does, and returns to where it was', () => {
    const drawing = make();
    drawing.save();
    drawing.translate(10, 50);
    drawing.rotate(-Math.PI / 2);
    drawing.textAlign = 'right';
    drawing.fillText('sender', 0, 0);
    drawing.restore();
    drawing.fillText('receiver', 1, 2);
    const [turned, plain] = drawing.text(kWhite).split('\n').filter((line) => line.startsWith('<text'));
    expect(turned).toContain('transform="matrix(0 -1 1 0 10 50)"');
    expect(turned).toContain('text-anchor="end"');
    expect(plain).not.toMatch(/transform|text-anchor/);
  });

  it('cuts what is drawn until it is restored', () => {
    const drawing = make();
    drawing.save();
    drawing.beginPath();
    drawing.rect(0, 0, 5, 5);
    drawing.clip();
    drawing.beginPath();
    drawing.moveTo(0, 0);
    drawing.lineTo(9, 9);
    drawing.stroke();
    drawing.restore();
    drawing.fillRect(1, 1, 2, 2);
    const text = drawing.text(kWhite);
    expect(text).toMatch(/<clipPath id="clip0"><path d="M0 0h5v5h-5z"\/><\/clipPath>/);
    expect(text).toMatch(/<path d="M0 0L9 9"[^>]*clip-path="url\(#clip0\)"/);
    expect(text.slice(text.indexOf('<rect x="1"'))).not.toContain('clip-path');
  });

  it('presses a text that is wider than its room, and no other', () => {
    const drawing = make();
    drawing.fillText('four', 0, 0, 30);
    drawing.fillText('four', 0, 0, 40);
    expect(drawing.text(kWhite).match(/textLength="30"/g)).toHaveLength(1);
    expect(drawing.text(kWhite)).not.toContain('textLength="40"');
  });
});

it('a picture has its ground wherever its corner lies', () => {
  const text = svgText({ left: -10, top: -20, width: 30, height: 40 }, kWhite, '');
  expect(text).toContain('viewBox="-10 -20 30 40"');
  expect(text).toContain('<rect x="-10" y="-20" width="30" height="40" fill="rgb(255, 255, 255)"/>');
});
