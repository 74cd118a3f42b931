// The timeline under a mouse or a finger. Pointing explains, a click keeps the explanation, a drag zooms into a span,
// Shift and a drag choose it, a double click zooms in, a wheel zooms or moves; a finger moves.

import { element } from '../dom';
import { panned, zoomed, type Range } from '../time_range';
import { timeAt, type LaneLayout } from './timeline_scene';

const kLeastDrag = 4;
const kDoubleClickZoom = 0.25;

/** The timeline that the pointer works on. */
export interface PointedTimeline {
  readonly whole: Range;
  /** Nothing before the first drawing. */
  layout(): LaneLayout | undefined;
  range(): Range;
  /** Shows another range, at once or with the next frame. */
  go(range: Range, when?: 'now' | 'next frame'): void;
  choose(range: Range): void;
  /** Explains the thing at that place; nothing for nowhere. */
  pointAt(place?: { x: number; y: number }): void;
  /** Explains it until that is closed; on the name of a lane, pins the lane or opens its host. */
  keepAt(place: { x: number; y: number }): void;
  /** Whether details of something in the timeline are kept. */
  isKept(): boolean;
  /** Closes them, and returns the focus to the timeline. */
  close(): void;
}

interface Drag {
  readonly x: number;
  readonly y: number;
  readonly range: Range;
  readonly pans: boolean;
  moved: boolean;
}

/** `stage` holds the canvas, and the mark of the span that is being dragged. */
export function addPointer(canvas: HTMLCanvasElement, stage: HTMLElement, timeline: PointedTimeline): void {
  const band = element('div', { class: 'band', hidden: true, 'data-testid': 'timeline-band' });
  stage.append(band);
  let drag: Drag | undefined;
  const placeOf = (event: MouseEvent) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  /** Cut to the lanes. */
  const spanOf = (layout: LaneLayout, a: number, b: number) => {
    const cut = (x: number) => Math.min(layout.left + layout.width, Math.max(layout.left, x));
    const [left, right] = [Math.min(cut(a), cut(b)), Math.max(cut(a), cut(b))];
    return { left, right };
  };
  const showBand = (layout: LaneLayout, from: number, to: number) => {
    const { left, right } = spanOf(layout, from, to);
    band.hidden = false;
    Object.assign(band.style, { left: `${left}px`, width: `${right - left}px`, height: `${layout.height}px` });
  };
  const stop = () => {
    drag = undefined;
    band.hidden = true;
  };

  canvas.addEventListener('pointerdown', (event) => {
    const layout = timeline.layout();
    if (!layout || event.button !== 0) return;
    const pans = event.pointerType !== 'mouse';
    drag = { ...placeOf(event), range: timeline.range(), pans, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    const layout = timeline.layout();
    if (!layout) return;
    const { x, y } = placeOf(event);
    if (!drag) {
      if (event.pointerType !== 'touch') timeline.pointAt({ x, y });
      return;
    }
    if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > kLeastDrag) drag.moved = true;
    if (!drag.moved) return;
    timeline.pointAt();
    if (drag.pans) {
      timeline.go(panned(drag.range, (drag.x - x) / layout.width, timeline.whole), 'next frame');
    } else {
      showBand(layout, drag.x, x);
    }
  });
  canvas.addEventListener('pointerup', (event) => {
    const layout = timeline.layout();
    const { x, y } = placeOf(event);
    const done = drag;
    stop();
    if (!done || !layout) return;
    if (!done.moved) {
      timeline.keepAt({ x, y });
    } else if (!done.pans) {
      const { left, right } = spanOf(layout, done.x, x);
      if (right - left < kLeastDrag) return;
      const span = { from: timeAt(layout, done.range, left), to: timeAt(layout, done.range, right) };
      if (event.shiftKey) timeline.choose(span);
      else timeline.go(span);
    }
  });
  canvas.addEventListener('pointercancel', stop);
  canvas.addEventListener('pointerleave', () => !drag && document.activeElement !== canvas && timeline.pointAt());
  canvas.addEventListener('dblclick', (event) => {
    const layout = timeline.layout();
    if (!layout) return;
    timeline.close();
    const at = timeAt(layout, timeline.range(), placeOf(event).x);
    timeline.go(zoomed(timeline.range(), kDoubleClickZoom, at, timeline.whole));
  });
  canvas.addEventListener(
    'wheel',
    (event) => {
      const layout = timeline.layout();
      if (!layout) return;
      const range = timeline.range();
      let next: Range;
      // The page scrolls with a wheel, unless the reader works in the timeline.
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        next = panned(range, (event.deltaX || event.deltaY) / layout.width, timeline.whole);
      } else if (event.ctrlKey || event.metaKey || document.activeElement === canvas || timeline.isKept()) {
        const at = timeAt(layout, range, placeOf(event).x);
        next = zoomed(range, Math.exp(event.deltaY * 0.002), at, timeline.whole);
      } else return;
      event.preventDefault();
      timeline.pointAt();
      timeline.go(next, 'next frame');
    },
    { passive: false },
  );
}
