// The timeline: for each rank a lane of MPI calls, UCP operations and UCT transfers, from bins of
// the whole run down to single operations, with messages as arrows between the lanes.

import { viewCommand } from '../command';
import { describeMessage, describeOperation, formatInstant, type Description } from '../describe';
import { rowsWithin, type LayerDetails } from '../details';
import { button, element, section } from '../dom';
import { formatCount, formatDuration } from '../format';
import type { Context, Panel, Update, View } from '../page';
import { counts, endOf, kLayers, laneOf } from '../slabs';
import { withSpan } from '../state';
import { darkScheme, theme } from '../theme';
import { describeRange, inside, panned, showing, zoomed, type Range } from '../time_range';
import { kMeasureNames, processLabel } from '../words';
import { makeCard } from './card';
import { makeOverviewStrip } from './overview_strip';
import { drawRuler } from './ruler';
import { barBox, kRulerHeight, laneBox, paint, timeAt, visibleProcesses, xOf } from './timeline_painter';
import type { Box, LaneLayout, Painted, Scene } from './timeline_painter';
import { copyButton } from './tooltip';

const kNameRoom = 74;
const kMostHeight = 520;

/** What the reader looks at: an operation, a bin of a lane, or a message. */
type Target =
  | { kind: 'operation'; process: number; layer: number; row: number }
  | { kind: 'bin'; process: number; layer: number; bin: number; level: number }
  | { kind: 'message'; row: number; x: number; y: number };

export function makeTimelinePanel(context: Context, update: Update): Panel {
  const { data, axis, details, tooltip } = context;
  const whole: Range = { from: axis.from, to: endOf(axis) };
  const detailsTo = data.time.embedded === data.time.events ? Infinity : data.time.details_to_ns;
  const processes = data.processes.length;
  let range = whole;
  let view: View | undefined;
  let scene: Scene | undefined;
  let painted: Painted | undefined;
  let target: Target | undefined;

  const chooseSpan = (from?: number, to?: number) =>
    update((state) => withSpan(state, axis, from, to));
  const overview = makeOverviewStrip(axis, chooseSpan);
  const canvas = element('canvas', {
    tabindex: 0,
    role: 'application',
    'aria-label':
      'Timeline: arrow keys move between operations and lanes, plus and minus zoom, Enter pins ' +
      'the details',
    'aria-describedby': 'timeline-said',
    'data-testid': 'timeline-canvas',
  });
  const marker = element('div', { class: 'marker', hidden: true, 'data-testid': 'timeline-marker' });
  const spacer = element('div', { class: 'spacer' });
  const stage = element('div', { class: 'timeline-stage' }, canvas, marker);
  const scroll = element('div', { class: 'timeline-scroll' }, spacer, stage);
  const said = element('p', { id: 'timeline-said', 'data-testid': 'timeline-level' });
  const announced = element('div', { class: 'offscreen', 'aria-live': 'polite' });
  const missing = element('p', { 'data-testid': 'timeline-missing' });
  const missingCommand = element('code');
  const zoomBy = (factor: number) => go(zoomed(range, factor, (range.from + range.to) / 2, whole));
  const visibleSpan = button('Choose visible time', { 'data-testid': 'timeline-choose' }, () =>
    chooseSpan(Math.ceil(range.from), Math.floor(range.to)),
  );
  const tools = element(
    'div',
    { class: 'tools' },
    button('+', { 'aria-label': 'Zoom in', 'data-testid': 'timeline-in' }, () => zoomBy(0.5)),
    button('−', { 'aria-label': 'Zoom out', 'data-testid': 'timeline-out' }, () => zoomBy(2)),
    button('◀', { 'aria-label': 'Earlier' }, () => go(panned(range, -0.5, whole))),
    button('▶', { 'aria-label': 'Later' }, () => go(panned(range, 0.5, whole))),
    button('Whole run', { 'data-testid': 'timeline-whole' }, () => go(whole)),
    visibleSpan,
  );
  const root = section(
    'timeline',
    'Timeline',
    said,
    tools,
    overview.root,
    scroll,
    announced,
    missing,
    makeClockNote(context),
  );

  // ---- drawing ----

  let frame = 0;
  const redraw = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  };
  const go = (next: Range) => {
    range = next;
    draw();
  };

  const layOut = (): LaneLayout => {
    const room = Math.max(1, scroll.clientWidth - kNameRoom);
    const rowHeight = Math.min(112, Math.max(24, Math.floor((kMostHeight - kRulerHeight) / Math.max(1, processes))));
    const full = kRulerHeight + rowHeight * processes;
    const height = Math.min(kMostHeight, full);
    scroll.style.height = `${height}px`;
    spacer.style.height = `${full}px`;
    return { left: kNameRoom, width: room, height, top: scroll.scrollTop, rowHeight, processes };
  };

  const draw = () => {
    if (!view || scroll.clientWidth === 0) return;
    scene = {
      layout: layOut(),
      range,
      axis,
      detailsTo,
      details,
      view,
      theme: theme(),
      label: (process) => `rank ${processLabel(data, process)}`,
      name: (layer, row) => nameOf(context, layer, row),
      transports,
    };
    painted = paint(canvas, scene);
    drawRuler(canvas, scene);
    overview.draw(view, range, kNameRoom, scene.layout.width);
    say();
    placeMarker();
  };

  const say = () => {
    const { layout } = scene!;
    const px = formatDuration(Math.max(1, Math.round((range.to - range.from) / layout.width)));
    const parts = [`${describeRange(range)} from ${formatInstant(range.from)}, 1 px = ${px}.`];
    const bins = axis.slab * 2 ** painted!.level;
    if (painted!.detailsTo <= range.from) {
      parts.push(
        `Height: share of each ${formatDuration(bins)} in which something is in progress.`,
        detailsTo > range.from ? 'Zoom in for single operations.' : '',
      );
    } else {
      parts.push('Single operations; grey ones are not chosen.');
      parts.push(painted!.arrowsLeftOut ? 'Zoom in for messages as arrows.' : '');
    }
    const measure = kMeasureNames[view!.measure];
    parts.push(`The strip shows when the ${measure} start; drag in it to choose a time.`);
    said.textContent = parts.filter(Boolean).join(' ');
    missing.hidden = data.time.embedded === data.time.events;
    if (missing.hidden) return;
    const from = Math.max(range.from, axis.from);
    missingCommand.textContent = viewCommand(Math.floor(from), Math.ceil(range.to));
    const text =
      `Of ${formatCount(data.time.events)} operations the first ` +
      `${formatCount(data.time.embedded)} are in this page singly, up to ` +
      `${formatInstant(data.time.details_to_ns)} (dashed line); all are in the sums and bins. ` +
      'Those of the visible time are in the page of ';
    const copy = copyButton('Copy', () => missingCommand.textContent ?? '');
    missing.replaceChildren(text, missingCommand, ' ', copy);
  };

  // ---- what is under the pointer or the cursor ----

  const boxOf = (aim: Target): Box => {
    if (aim.kind === 'message') {
      return { left: aim.x - 3, right: aim.x + 3, top: aim.y - 3, bottom: aim.y + 3 };
    }
    if (aim.kind === 'operation') {
      const layer = details.layers[aim.layer]!;
      return barBox(scene!, layer, aim.process, aim.row);
    }
    const length = axis.slab * 2 ** aim.level;
    const start = axis.from + aim.bin * length;
    const lane = laneBox(scene!.layout, aim.process, aim.layer);
    return { ...lane, left: xOf(scene!, start), right: xOf(scene!, start + length) };
  };

  const shownBox = (aim: Target): Box => {
    const { layout } = scene!;
    const box = boxOf(aim);
    const clamp = (x: number) => Math.min(layout.left + layout.width, Math.max(layout.left, x));
    return { ...box, left: clamp(box.left), right: clamp(box.right) };
  };

  const placeMarker = () => {
    marker.hidden = target === undefined || target.kind === 'message' || !scene;
    if (marker.hidden) return;
    const { left, right, top, bottom } = shownBox(target!);
    marker.hidden = bottom <= kRulerHeight || top >= scene!.layout.height || right < left;
    Object.assign(marker.style, {
      left: `${left}px`,
      top: `${Math.max(kRulerHeight, top)}px`,
      width: `${Math.max(3, right - left)}px`,
      height: `${bottom - Math.max(kRulerHeight, top)}px`,
    });
  };

  const anchor = {
    getBoundingClientRect: () => {
      const { left, top } = canvas.getBoundingClientRect();
      const box = target && scene ? shownBox(target) : { left: 0, right: 0, top: 0, bottom: 0 };
      return new DOMRect(left + box.left, top + box.top, box.right - box.left, box.bottom - box.top);
    },
  };

  const explain = (aim: Target): HTMLElement[] => {
    if (aim.kind === 'bin') return makeCard(describeBin(context, view!, aim));
    if (aim.kind === 'message') return makeCard(describeMessage(data, details, aim.row));
    const layer = details.layers[aim.layer]!;
    const cards = makeCard(describeOperation(data, layer, aim.row));
    if (layer.layer === 'mpi') return cards;
    const message = details.rowOfMessage.get(layer.table.column('message')[aim.row]!);
    if (message === undefined) return cards;
    return [...cards, element('hr'), ...makeCard(describeMessage(data, details, message))];
  };

  const point = (next: Target | undefined, speak = false) => {
    if (tooltip.pinned) return;
    target = next;
    placeMarker();
    if (!next) {
      tooltip.hide();
      return;
    }
    const content = explain(next);
    tooltip.show(anchor, ...content);
    if (speak) announced.textContent = content.map((part) => part.textContent).join(', ');
  };

  const targetAt = (x: number, y: number): Target | undefined => {
    const { layout } = scene!;
    if (x < layout.left || y < kRulerHeight) return undefined;
    const process = Math.floor((y - kRulerHeight + layout.top) / layout.rowHeight);
    if (process >= processes) return undefined;
    const layer = kLayers.findIndex((_, index) => {
      const lane = laneBox(layout, process, index);
      return y >= lane.top && y <= lane.bottom + 1;
    });
    const time = timeAt(layout, range, x);
    const found = layer < 0 ? undefined : operationAt(process, layer, x, y);
    if (found) return found;
    const arrow = painted!.arrows.find((line) => distance(line, x, y) <= 4);
    if (arrow) return { kind: 'message', row: arrow.row, x, y };
    if (layer < 0 || time < painted!.detailsTo) return undefined;
    return binAt(process, layer, time);
  };

  const binAt = (process: number, layer: number, time: number): Target => {
    const level = painted!.level;
    const { bins } = view!.alongTime.activity.busy.levels[level]!;
    const bin = Math.floor((time - axis.from) / (axis.slab * 2 ** level));
    return { kind: 'bin', process, layer, level, bin: Math.min(bins - 1, Math.max(0, bin)) };
  };

  const operationAt = (process: number, layer: number, x: number, y: number) => {
    const lane = details.layers[layer]!;
    const { layout } = scene!;
    const [from, to] = [x - 3, x + 3].map((at) => timeAt(layout, range, at)) as [number, number];
    if (from >= painted!.detailsTo) return undefined;
    const [begin, end] = rowsWithin(lane, process, from, to);
    let best: { row: number; far: number } | undefined;
    for (let row = begin; row < end; ++row) {
      if (lane.end[row]! < from) continue;
      const box = barBox(scene!, lane, process, row);
      if (y < box.top || y > box.bottom) continue;
      const far = Math.max(0, box.left - x, x - box.right) + (isChosen(lane, process, row) ? 0 : 0.5);
      if (!best || far <= best.far) best = { row, far };
    }
    return best && { kind: 'operation' as const, process, layer, row: best.row };
  };

  const isChosen = (lane: LayerDetails, process: number, row: number) =>
    counts(view!.alongTime.choice, lane.layer, process, lane.key[row]!);

  // ---- keys ----

  /** The operation of a lane nearest to an instant, among those that are chosen. */
  const nearest = (process: number, layer: number, time: number): Target => {
    if (time >= painted!.detailsTo) return binAt(process, layer, time);
    const lane = details.layers[layer]!;
    const [begin, end] = [lane.first[process]!, lane.first[process + 1]!];
    let best = -1;
    let far = Infinity;
    for (let row = begin; row < end; ++row) {
      const gap = Math.max(0, lane.start[row]! - time, time - lane.end[row]!);
      if (gap < far && isChosen(lane, process, row)) [best, far] = [row, gap];
    }
    return best < 0
      ? binAt(process, layer, time)
      : { kind: 'operation', process, layer, row: best };
  };

  const timeOf = (aim: Target): number => {
    if (aim.kind === 'message') return details.messageStart[aim.row]!;
    if (aim.kind === 'operation') return details.layers[aim.layer]!.start[aim.row]!;
    return axis.from + (aim.bin + 0.5) * axis.slab * 2 ** aim.level;
  };

  const moveAlong = (aim: Exclude<Target, { kind: 'message' }>, step: number): Target => {
    if (aim.kind === 'operation') {
      const lane = details.layers[aim.layer]!;
      const { process } = aim;
      for (let row = aim.row + step; ; row += step) {
        if (row < lane.first[process]! || row >= lane.first[process + 1]!) return aim;
        if (isChosen(lane, process, row)) return { ...aim, row };
      }
    }
    const level = painted!.level;
    const { bins, values } = view!.alongTime.activity.busy.levels[level]!;
    const lane = laneOf(aim.process, aim.layer) * bins;
    const here = binAt(aim.process, aim.layer, timeOf(aim)) as typeof aim;
    for (let bin = here.bin + step; bin >= 0 && bin < bins; bin += step) {
      if (values[lane + bin]! > 0) return { ...here, bin };
    }
    return here;
  };

  const moveAcross = (aim: Exclude<Target, { kind: 'message' }>, step: number): Target => {
    const lane = laneOf(aim.process, aim.layer) + step;
    if (lane < 0 || lane >= processes * kLayers.length) return aim;
    const middle = Math.min(range.to, Math.max(range.from, timeOf(aim)));
    return nearest(Math.floor(lane / kLayers.length), lane % kLayers.length, middle);
  };

  /** Moves the lanes and the time so that the target is on the screen. */
  const reveal = (aim: Target) => {
    if (aim.kind === 'message') return;
    const start = timeOf(aim);
    const end = aim.kind === 'operation' ? details.layers[aim.layer]!.end[aim.row]! : start;
    if (end < range.from || start > range.to) range = showing(range, { from: start, to: start }, whole);
    const { rowHeight, height } = scene!.layout;
    const top = aim.process * rowHeight;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    const below = kRulerHeight + top + rowHeight - height;
    if (below > scroll.scrollTop) scroll.scrollTop = below;
    draw();
  };

  const first = (): Target => {
    const { first: process } = visibleProcesses(scene!.layout);
    return nearest(process, 0, Math.max(range.from, (range.from + range.to) / 2));
  };

  const keys: Record<string, () => void> = {
    ArrowRight: () => step(1, 'along'),
    ArrowLeft: () => step(-1, 'along'),
    ArrowDown: () => step(1, 'across'),
    ArrowUp: () => step(-1, 'across'),
    '+': () => zoomAt(0.5),
    '=': () => zoomAt(0.5),
    '-': () => zoomAt(2),
    '0': () => go(whole),
    Home: () => go(inside({ from: whole.from, to: whole.from + range.to - range.from }, whole)),
    End: () => go(inside({ from: whole.to - range.to + range.from, to: whole.to }, whole)),
    Enter: () => tooltip.pin(canvas),
    p: () => tooltip.pin(canvas),
    b: () => {
      const { from, to } = view!.filter;
      if (from === undefined && to === undefined) visibleSpan.click();
      else chooseSpan();
    },
    Escape: () => point(undefined),
  };
  const step = (direction: number, way: 'along' | 'across') => {
    let next: Target;
    if (!target || target.kind === 'message') next = first();
    else next = way === 'along' ? moveAlong(target, direction) : moveAcross(target, direction);
    reveal(next);
    point(next, true);
  };
  const zoomAt = (factor: number) => {
    const at = target ? timeOf(target) : (range.from + range.to) / 2;
    const shown = at >= range.from && at <= range.to ? at : (range.from + range.to) / 2;
    go(zoomed(range, factor, shown, whole));
    if (!target || target.kind === 'message') return;
    // What is under the cursor may have become single operations, or bins.
    point(nearest(target.process, target.layer, shown), true);
  };
  canvas.addEventListener('keydown', (event) => {
    if (!scene || event.ctrlKey || event.metaKey || event.altKey || processes === 0) return;
    if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
      go(panned(range, event.key === 'ArrowLeft' ? -0.25 : 0.25, whole));
    } else {
      const action = keys[event.key];
      if (!action || (event.key === 'Escape' && tooltip.pinned)) return;
      action();
    }
    event.preventDefault();
    event.stopPropagation();
  });

  // ---- mouse and touch ----

  let drag: { x: number; y: number; top: number; range: Range; moved: boolean } | undefined;
  const placeOf = (event: MouseEvent) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (!scene || event.button !== 0) return;
    drag = { ...placeOf(event), top: scroll.scrollTop, range, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!scene) return;
    const { x, y } = placeOf(event);
    if (!drag) {
      if (event.pointerType !== 'touch') point(targetAt(x, y));
      return;
    }
    if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4) drag.moved = true;
    if (!drag.moved) return;
    if (!tooltip.pinned) point(undefined);
    const share = (drag.x - x) / scene.layout.width;
    range = panned(drag.range, share, whole);
    if (event.pointerType === 'mouse') scroll.scrollTop = drag.top + drag.y - y;
    redraw();
  });
  canvas.addEventListener('pointerup', (event) => {
    const still = drag && !drag.moved;
    drag = undefined;
    if (!still || !scene) return;
    tooltip.unpin();
    const { x, y } = placeOf(event);
    point(targetAt(x, y));
    if (target) tooltip.pin(canvas);
  });
  canvas.addEventListener('pointercancel', () => (drag = undefined));
  canvas.addEventListener('pointerleave', () => !drag && document.activeElement !== canvas && point(undefined));
  canvas.addEventListener('blur', () => point(undefined));
  canvas.addEventListener(
    'wheel',
    (event) => {
      if (!scene) return;
      // The page scrolls under a wheel, unless the reader works in the timeline.
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        range = panned(range, (event.deltaX || event.deltaY) / scene.layout.width, whole);
      } else if (event.ctrlKey || event.metaKey || document.activeElement === canvas) {
        const at = timeAt(scene.layout, range, placeOf(event).x);
        range = zoomed(range, Math.exp(event.deltaY * 0.002), at, whole);
      } else return;
      event.preventDefault();
      point(undefined);
      redraw();
    },
    { passive: false },
  );
  scroll.addEventListener('scroll', redraw, { passive: true });
  let drawnWidth = 0;
  new ResizeObserver(() => {
    if (scroll.clientWidth === drawnWidth) return;
    drawnWidth = scroll.clientWidth;
    draw();
  }).observe(scroll);
  darkScheme.addEventListener('change', draw);

  const transports = numberTransports(context);
  return {
    root,
    show(next) {
      view = next;
      if (target && !tooltip.pinned) point(undefined);
      draw();
    },
  };
}

/** Text id of each transport -> its colour, the same as in the graph. */
function numberTransports({ data, choices }: Context): Map<number, number> {
  return new Map(
    choices.transport.map((name, index) => [data.texts.indexOf(String(name)), index] as const),
  );
}

function nameOf({ data }: Context, { layer, table }: LayerDetails, row: number): string {
  const text = (column: string) => data.texts[table.column(column)[row]!] ?? '';
  if (layer === 'mpi') return text('function');
  if (layer === 'ucp') return text('protocol') || text('function');
  return `${text('op')} ${text('transport')}`;
}

function describeBin(
  { data, axis }: Context,
  view: View,
  { process, layer, bin, level }: Extract<Target, { kind: 'bin' }>,
): Description {
  const { busy, starts } = view.alongTime.activity;
  const at = (pyramid: typeof busy) => {
    const { bins, values } = pyramid.levels[level]!;
    return values[laneOf(process, layer) * bins + bin]!;
  };
  const length = axis.slab * 2 ** level;
  const start = axis.from + bin * length;
  const what = ['MPI calls', 'UCP operations', 'UCT transfers'][layer]!;
  return {
    title: `${what} of rank ${processLabel(data, process)}`,
    lines: [
      ['from', formatInstant(start)],
      ['to', formatInstant(start + length)],
      ['begin here', formatCount(at(starts))],
      ['in progress', `${formatDuration(at(busy))} together`],
      ['at a time', (at(busy) / length).toFixed(3)],
    ],
  };
}

function distance(
  { x0, y0, x1, y1 }: { x0: number; y0: number; x1: number; y1: number },
  x: number,
  y: number,
): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / length));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}

/** Lanes of different processes stand on one time axis: how far that can be trusted. */
function makeClockNote({ data }: Context): HTMLElement {
  const { clock_error_ns: error, messages_without_time: lost } = data.time;
  const clock =
    error === null
      ? 'The hosts are set against each other by their wall clocks: between lanes of different ' +
        'hosts, times may be off by an amount that is not known.'
      : `Times of different ranks can be compared to ${formatDuration(Math.ceil(error))}.`;
  const without =
    lost > 0 ? ` ${formatCount(lost)} messages have no known time and count only for all times.` : '';
  return element('p', { class: 'faint', 'data-testid': 'timeline-clock' }, clock + without);
}
