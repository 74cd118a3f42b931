// The whole run above the timeline: how much of the measure starts when, which part is visible and
// which is chosen. Dragging chooses a span of time.

import { element } from '../dom';
import { css, kCard, kInk, kLine, layerColour } from '../palette';
import { endOf, type TimeAxis } from '../slabs';
import type { View } from '../page';
import { theme } from '../theme';
import { sizeCanvas } from './pixel_canvas';
import type { Range } from '../time_range';

export const kOverviewHeight = 54;

export interface OverviewStrip {
  readonly root: HTMLCanvasElement;
  draw(view: View, range: Range, left: number, width: number): void;
}

/** Sums of whole slabs per column of pixels. */
export function columnsOf(density: Float64Array, columns: number): Float64Array {
  const sums = new Float64Array(columns);
  density.forEach((value, slab) => {
    sums[Math.min(columns - 1, Math.floor((slab * columns) / density.length))]! += value;
  });
  return sums;
}

export function makeOverviewStrip(axis: TimeAxis, choose: (from: number, to: number) => void) {
  const root = element('canvas', {
    class: 'overview',
    'data-testid': 'timeline-overview',
    'aria-hidden': 'true',
    title: 'The whole run: drag to choose a span of time',
  });
  let place = { left: 0, width: 1 };
  let anchor: number | undefined;
  const timeAt = (event: PointerEvent) => {
    const x = event.clientX - root.getBoundingClientRect().left - place.left;
    const share = Math.min(1, Math.max(0, x / place.width));
    return axis.from + share * (endOf(axis) - axis.from);
  };
  root.addEventListener('pointerdown', (event) => {
    anchor = timeAt(event);
    root.setPointerCapture(event.pointerId);
  });
  root.addEventListener('pointerup', (event) => {
    if (anchor === undefined) return;
    const [from, to] = [anchor, timeAt(event)].sort((a, b) => a - b) as [number, number];
    anchor = undefined;
    choose(Math.floor(from), Math.max(Math.ceil(to), Math.floor(from) + 1));
  });
  root.addEventListener('pointercancel', () => (anchor = undefined));

  const strip: OverviewStrip = {
    root,
    draw(view, range, left, width) {
      place = { left, width };
      const ratio = window.devicePixelRatio || 1;
      sizeCanvas(root, left + width, kOverviewHeight, ratio);
      const context = root.getContext('2d')!;
      context.drawImage(pictureOf(view.alongTime.density, root.width, root.height, ratio), 0, 0);
      context.save();
      context.scale(ratio, ratio);
      drawSpans(context, view, range);
      context.strokeStyle = css(kLine[theme()]);
      context.lineWidth = 1;
      context.strokeRect(left + 0.5, 0.5, width - 1, kOverviewHeight - 1);
      context.restore();
    },
  };

  // What a moving timeline leaves as it is.
  const picture = document.createElement('canvas');
  let drawn = '';
  let drawnDensity: Float64Array | undefined;
  const pictureOf = (density: Float64Array, width: number, height: number, ratio: number) => {
    const dress = theme();
    const wanted = [width, height, ratio, place.left, dress].join();
    if (density === drawnDensity && wanted === drawn) return picture;
    [drawn, drawnDensity] = [wanted, density];
    picture.width = width;
    picture.height = height;
    const context = picture.getContext('2d')!;
    context.scale(ratio, ratio);
    context.fillStyle = css(kCard[dress]);
    context.fillRect(0, 0, place.left + place.width, kOverviewHeight);
    drawDensity(context, density, place.left, place.width);
    return picture;
  };

  const drawDensity = (
    context: CanvasRenderingContext2D,
    density: Float64Array,
    left: number,
    width: number,
  ) => {
    const sums = columnsOf(density, Math.max(1, Math.min(density.length, Math.floor(width))));
    const most = sums.reduce((a, b) => Math.max(a, b), 0);
    if (most === 0) return;
    const step = width / sums.length;
    context.fillStyle = css(layerColour(theme(), 1));
    sums.forEach((value, column) => {
      if (value === 0) return;
      // Square root: little traffic stays visible beside much.
      const height = Math.max(1.5, Math.sqrt(value / most) * (kOverviewHeight - 6));
      context.fillRect(left + column * step, kOverviewHeight - height, Math.max(1, step), height);
    });
  };

  const drawSpans = (context: CanvasRenderingContext2D, { filter }: View, range: Range) => {
    const x = (time: number) =>
      place.left + ((time - axis.from) / (endOf(axis) - axis.from)) * place.width;
    const dress = theme();
    const shade = (from: number, to: number, colour: string) => {
      context.fillStyle = colour;
      context.fillRect(x(from), 0, x(to) - x(from), kOverviewHeight);
    };
    if (filter.from !== undefined || filter.to !== undefined) {
      const grey = dress === 'dark' ? 'rgb(0 0 0 / 0.55)' : 'rgb(90 100 115 / 0.3)';
      shade(axis.from, filter.from ?? axis.from, grey);
      shade(filter.to ?? endOf(axis), endOf(axis), grey);
    }
    context.strokeStyle = css(kInk[dress]);
    context.lineWidth = 2;
    const [from, to] = [x(range.from), x(range.to)];
    context.strokeRect(from + 1, 1, Math.max(2, to - from - 2), kOverviewHeight - 2);
  };
  return strip;
}
