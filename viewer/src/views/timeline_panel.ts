// The timeline: for each rank a lane of MPI calls, UCP operations and UCT transfers, from bins of
// the whole run down to single operations, with messages as arrows between the lanes.

import type { LayerDetails } from '../details';
import { downloadCanvas } from '../download';
import { button, element, section } from '../dom';
import type { Context, Panel, Update, View } from '../page';
import { groupFunctions } from '../mpi_bins';
import { tableOf } from '../packed';
import { endOf } from '../slabs';
import { withSpan } from '../state';
import { darkScheme, theme } from '../theme';
import { inside, panned, showing, zoomed, type Range } from '../time_range';
import { processLabel } from '../choices';
import { makeOverviewStrip } from './overview_strip';
import { drawRuler } from './ruler';
import { paint } from './timeline_painter';
import { addPointer } from './timeline_pointer';
import { kRulerHeight, visibleProcesses, type LaneLayout } from './timeline_scene';
import { nearest, nextAcross, nextAlong, shownBox, targetAt, timeOf } from './timeline_target';
import type { Drawing, LaneTarget, Target } from './timeline_target';
import { makeFunctionLegend } from './function_legend';
import { describeDrawing, explainTarget, makeClockNote, makeMissingNote, nameOf } from './timeline_words';

const kNameRoom = 74;
const kMostHeight = 520;

export function makeTimelinePanel(context: Context, update: Update): Panel {
  const { data, axis, tables, details, tooltip } = context;
  const functions = groupFunctions(data, tables);
  const legend = makeFunctionLegend(functions);
  const whole: Range = { from: axis.from, to: endOf(axis) };
  const detailsTo = data.time.embedded === data.time.events ? Infinity : data.time.details_to_ns;
  const processes = data.processes.length;
  let range = whole;
  let view: View | undefined;
  let drawing: Drawing | undefined;
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
  const missing = makeMissingNote(context);
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
    button('PNG', { title: 'Save the lanes in view as a picture', 'data-testid': 'timeline-png' }, () =>
      downloadCanvas('timeline', canvas),
    ),
  );
  const root = section(
    'timeline',
    'Timeline',
    said,
    tools,
    legend.root,
    overview.root,
    scroll,
    announced,
    missing.root,
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
    const scene = {
      layout: layOut(),
      range,
      axis,
      detailsTo,
      details,
      view,
      theme: theme(),
      label: (process: number) => `rank ${processLabel(data, process)}`,
      name: (layer: LayerDetails, row: number) => nameOf(context, layer, row),
      transports,
      functions,
      mpiActivity: tableOf(tables, 'mpi_activity'),
    };
    drawing = { scene, painted: paint(canvas, scene) };
    drawRuler(canvas, scene);
    overview.draw(view, range, kNameRoom, scene.layout.width);
    said.textContent = describeDrawing(drawing);
    missing.show(range);
    legend.show(scene.theme);
    placeMarker();
  };

  // ---- what is under the pointer or the cursor ----

  const placeMarker = () => {
    marker.hidden = target === undefined || target.kind === 'message' || !drawing;
    if (marker.hidden) return;
    const { left, right, top, bottom } = shownBox(drawing!.scene, target!);
    marker.hidden = bottom <= kRulerHeight || top >= drawing!.scene.layout.height || right < left;
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
      const box = target && drawing ? shownBox(drawing.scene, target) : { left: 0, right: 0, top: 0, bottom: 0 };
      return new DOMRect(left + box.left, top + box.top, box.right - box.left, box.bottom - box.top);
    },
  };

  const point = (next: Target | undefined, speak = false) => {
    if (tooltip.pinned) return;
    target = next;
    placeMarker();
    if (!next) {
      tooltip.hide();
      return;
    }
    const content = explainTarget(context, view!, next);
    tooltip.show(anchor, ...content);
    if (speak) announced.textContent = content.map((part) => part.textContent).join(', ');
  };

  // ---- keys ----

  /** Moves the lanes and the time so that the target is on the screen. */
  const reveal = (aim: LaneTarget) => {
    const { layout } = drawing!.scene;
    const start = timeOf(drawing!.scene, aim);
    const end = aim.kind === 'operation' ? details.layers[aim.layer]!.end[aim.row]! : start;
    if (end < range.from || start > range.to) range = showing(range, { from: start, to: start }, whole);
    const { rowHeight, height } = layout;
    const top = aim.process * rowHeight;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    const below = kRulerHeight + top + rowHeight - height;
    if (below > scroll.scrollTop) scroll.scrollTop = below;
    draw();
  };

  const first = (): LaneTarget => {
    const { first: process } = visibleProcesses(drawing!.scene.layout);
    return nearest(drawing!, { process, layer: 0 }, Math.max(range.from, (range.from + range.to) / 2));
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
    w: () => zoomAt(0.5),
    s: () => zoomAt(2),
    a: () => go(panned(range, -0.25, whole)),
    d: () => go(panned(range, 0.25, whole)),
    b: () => {
      const { from, to } = view!.filter;
      if (from === undefined && to === undefined) visibleSpan.click();
      else chooseSpan();
    },
    Escape: () => point(undefined),
  };
  const step = (direction: number, way: 'along' | 'across') => {
    let next: LaneTarget;
    if (!target || target.kind === 'message') next = first();
    else next = (way === 'along' ? nextAlong : nextAcross)(drawing!, target, direction);
    reveal(next);
    point(next, true);
  };
  const zoomAt = (factor: number) => {
    const at = target ? timeOf(drawing!.scene, target) : (range.from + range.to) / 2;
    const shown = at >= range.from && at <= range.to ? at : (range.from + range.to) / 2;
    go(zoomed(range, factor, shown, whole));
    if (!target || target.kind === 'message') return;
    // What is under the cursor may have become single operations, or bins.
    point(nearest(drawing!, target, shown), true);
  };
  canvas.addEventListener('keydown', (event) => {
    if (!drawing || event.ctrlKey || event.metaKey || event.altKey || processes === 0) return;
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

  addPointer(canvas, stage, {
    whole,
    layout: () => drawing?.scene.layout,
    range: () => range,
    go: (next, when = 'now') => {
      range = inside(next, whole);
      if (when === 'now') draw();
      else redraw();
    },
    choose: ({ from, to }) => chooseSpan(Math.floor(from), Math.ceil(to)),
    pointAt: (place) => point(place && targetAt(drawing!, place.x, place.y)),
    pinAt: ({ x, y }) => {
      tooltip.unpin();
      point(targetAt(drawing!, x, y));
      if (target) tooltip.pin(canvas);
    },
    isPinned: () => tooltip.pinned,
    unpin: () => void tooltip.unpin(),
  });
  canvas.addEventListener('blur', () => point(undefined));
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
