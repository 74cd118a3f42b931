// The timeline: for each rank a lane of MPI calls, UCP operations and UCT transfers, from bins of
// the whole run down to single operations, with messages as arrows between the lanes.

import { nextStep, type Awaited } from '../awaited';
import type { LayerDetails } from '../details';
import { downloadCanvas, downloadSvg } from '../download';
import { element, section } from '../dom';
import { measureText } from '../measure_text';
import { keptOfRow, type Kept } from '../look';
import type { Context, Note, Panel, Update, View } from '../page';
import { groupFunctions } from '../mpi_bins';
import { slotsOf } from '../name_colours';
import { tableOf } from '../packed';
import { makeLanes, type Lanes } from '../lanes';
import { trafficOfProcesses } from '../pairs';
import { search, type Found } from '../search';
import type { Singles } from '../singles';
import { counts, endOf, kLayers } from '../slabs';
import { withSpan } from '../state';
import { darkScheme, theme } from '../theme';
import { inside, panned, showing, zoomed, type Range } from '../time_range';
import { kKeptChange } from './details_dock';
import { makeOverviewStrip } from './overview_strip';
import { makeTimelineLook } from './timeline_look';
import { paint, timelineSvg, type Screen } from './timeline_painter';
import { addPointer } from './timeline_pointer';
import { kNameRoom, kRulerHeight, layOutLanes, rowAt, visibleRows, type LaneLayout } from './timeline_scene';
import { markOf, nearest, nextAcross, nextAlong, processesOf, sameAmong, shownBox, targetAt, targetOfKept, timeOf } from './timeline_target';
import type { Drawing, LaneTarget, Target } from './timeline_target';
import { makeFunctionLegend } from './function_legend';
import { laneLabel, makeLaneControls } from './lane_controls';
import { makeTransportLegend } from './name_legend';
import { makeTimelineSearch } from './timeline_search';
import { makeTimelineStage } from './timeline_stage';
import { makeTimelineTools } from './timeline_tools';
import { describeDrawing, explainTarget, makeClockNote, makeMissingNote, makeTileNote, nameOf, numberTransports } from './timeline_words';

/** Share of the visible time: less is hard to see. */
const kSeenShare = 0.01;
const kLeastJump_ns = 2000;

export interface TimelinePanel extends Panel {
  /** Moves to a span with room beside it, and keeps the details of an operation in it that is at hand. */
  showOperation(found: Found, span: Range): void;
}

export function makeTimelinePanel(context: Context, update: Update, note: Note): TimelinePanel {
  const { data, axis, tables, operations, dock } = context;
  const functions = groupFunctions(data, tables);
  const legend = makeFunctionLegend(functions);
  const transportSlots = slotsOf('transport', context.choices.transport.map(String));
  const transportLegend = makeTransportLegend(transportSlots);
  const whole: Range = { from: axis.from, to: endOf(axis) };
  const processes = data.processes.length;
  let range = whole;
  let view: View | undefined;
  let lanes: Lanes | undefined;
  let drawing: Drawing | undefined;
  let target: Target | undefined;
  let awaited: Awaited | undefined;
  /** The operation whose details are kept, also while other tiles are loaded and it is no target. */
  let held: Kept | undefined;
  const look = makeTimelineLook(whole, note);

  const chooseSpan = (from?: number, to?: number) =>
    update((state) => withSpan(state, axis, from, to));
  const overview = makeOverviewStrip(context, update, chooseSpan);
  const { canvas, marker, spacer, stage, scroll } = makeTimelineStage('timeline-said');
  const screen: Screen = { canvas };
  const said = element('p', { id: 'timeline-said', 'data-testid': 'timeline-level' });
  const missing = makeMissingNote(context);
  const tiles = makeTileNote(context);
  const laneControls = makeLaneControls(update, processes);
  const chooseVisible = () => chooseSpan(Math.ceil(range.from), Math.floor(range.to));
  const tools = makeTimelineTools({
    zoom: (factor) => go(zoomed(range, factor, (range.from + range.to) / 2, whole)),
    pan: (share) => go(panned(range, share, whole)),
    showWhole: () => go(whole),
    chooseVisible,
    savePng: () => downloadCanvas('timeline', canvas),
    saveSvg: () => {
      if (drawing) downloadSvg('timeline', timelineSvg(drawing.scene, measureText));
    },
  });
  const root = section(
    'timeline',
    'Timeline',
    said,
    tools,
    laneControls.root,
    legend.root,
    transportLegend.root,
    overview.root,
    scroll,
    tiles.root,
    missing.root,
    makeClockNote(context),
  );

  const finder = makeTimelineSearch(context, {
    search: (query) =>
      search(data, operations.singles.details, query, (layer, process, row) =>
        lanes!.rowOf[process]! >= 0 && counts(view!.alongTime.choice, layer.layer, process, layer.key[row]!),
      ),
    here: () => (target?.kind === 'operation' ? { layer: target.layer, row: target.row } : undefined),
    jump: (found) => jump(found),
  });
  tools.append(finder.root);

  // ---- drawing ----

  let frame = 0;
  const redraw = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  };
  const go = (next: Range) => {
    turn(next);
    draw();
  };
  const turn = (next: Range) => {
    // A reader who moves away does not want to be pulled back.
    if (awaited) noteKept();
    range = next;
    look.turnTo(range);
  };
  /** Called when the dock keeps something else, or nothing; the operation in the address is no longer awaited. */
  const noteKept = () => {
    awaited = undefined;
    if (!dock.keeps(canvas)) held = undefined;
    else if (target) held = target.kind === 'operation' ? keptOfRow(layerOf(target.layer), target.row) : undefined;
    look.keep(held);
  };
  const layerOf = (layer: number) => operations.singles.details.layers[layer]!;

  /** Other operations are loaded, so rows have changed: the target stays the same operation, if it is still there. */
  const renumber = (before: Singles) => {
    finder.forget();
    const { details } = operations.singles;
    // The kept operation may come back with its tile.
    target = target ? sameAmong(target, before.details, details) : held && targetOfKept(held, details);
    if (!target) dock.leave(canvas);
  };

  const layOut = (): LaneLayout => {
    const { layout, full } = layOutLanes(lanes!, view!.lanes.compact, scroll.clientWidth, scroll.scrollTop);
    scroll.style.height = `${layout.height}px`;
    spacer.style.height = `${full}px`;
    return layout;
  };

  const draw = () => {
    if (!view || !lanes || scroll.clientWidth === 0) return;
    operations.lookAt(range);
    const { singles, drawn } = operations;
    if (drawing && drawing.scene.singles !== singles) renumber(drawing.scene.singles);
    const scene = {
      layout: layOut(),
      range,
      axis,
      singles,
      drawn,
      waits: context.waits,
      view,
      theme: theme(),
      label: (row: number) => laneLabel(data, lanes!, row),
      name: (layer: LayerDetails, row: number) => nameOf(context, layer, row),
      transports,
      functions,
      mpiActivity: tableOf(tables, 'mpi_activity'),
    };
    drawing = { scene, painted: paint(screen, scene) };
    overview.draw(view, range, kNameRoom, scene.layout.width);
    said.textContent = describeDrawing(drawing, data.tiles !== null);
    missing.show(range);
    tiles.show();
    legend.show(scene.theme);
    transportLegend.show(scene.theme, scene.layout.layers.includes(kLayers.indexOf('uct')));
    placeMarker();
  };

  // ---- what is under the pointer or the cursor ----

  const placeMarker = () => {
    const mark = target && drawing && markOf(drawing, target);
    marker.hidden = mark === undefined;
    if (!mark) return;
    const { left, top, width, height, turn } = mark;
    Object.assign(marker.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
      height: `${height}px`,
      transform: `rotate(${turn}rad)`,
    });
  };

  const box = () => {
    const { x, y } = canvas.getBoundingClientRect();
    const { left, right, top, bottom } = target && drawing ? shownBox(drawing.scene, target) : { left: 0, right: 0, top: 0, bottom: 0 };
    return new DOMRect(x + left, y + top, right - left, bottom - top);
  };

  const point = (next: Target | undefined, byKey = false) => {
    // Kept details stay while the pointer moves. Keys go on, and what they reach is kept instead.
    if (dock.keeps(canvas) && !byKey) return;
    target = next;
    placeMarker();
    if (!next) {
      dock.leave(canvas);
      return;
    }
    const own = next.kind === 'message' ? [] : processesOf(drawing!.scene, next.process);
    const explanation = { owner: canvas, box, content: explainTarget(context, view!, next, own) };
    if (byKey) dock.reach(explanation);
    else dock.point(explanation);
  };

  // ---- keys ----

  /** Moves the page, the lanes and the time so that the target is on the screen; its row may change. */
  const reveal = (aim: LaneTarget) => {
    target = aim;
    // Not every browser does this when the canvas gets the focus.
    canvas.scrollIntoView({ block: 'nearest' });
    const { layout } = drawing!.scene;
    const start = timeOf(drawing!.scene, aim);
    const end = aim.kind === 'operation' ? layerOf(aim.layer).end[aim.row]! : start;
    if (end < range.from || start > range.to) turn(showing(range, { from: start, to: start }, whole));
    const { rowHeight, height, lanes } = layout;
    const row = lanes.rowOf[aim.process]!;
    if (row >= lanes.pinned) {
      const top = (row - lanes.pinned) * rowHeight;
      if (top < scroll.scrollTop) scroll.scrollTop = top;
      const below = kRulerHeight + (row + 1) * rowHeight - height;
      if (below > scroll.scrollTop) scroll.scrollTop = Math.ceil(below / rowHeight) * rowHeight;
    }
    draw();
  };

  /** Gives the operation a lane of its own, with its layer. */
  const openLane = ({ layer, row }: Found) => {
    const process = layerOf(layer).table.column('process')[row]!;
    const lane = lanes!.rows[lanes!.rowOf[process]!]!;
    if (lane.host !== null) laneControls.toggleHost(lane.host);
    if (view!.lanes.compact && layer !== 0) laneControls.toggleCompact();
    return process;
  };

  /** Shows one operation in a lane of its own, wide enough to be seen, with its details. */
  const jump = ({ layer, row }: Found) => {
    const { start, end } = layerOf(layer);
    const process = openLane({ layer, row });
    const length = end[row]! - start[row]!;
    const shown = range.to - range.from;
    if (length < (shown * kSeenShare) || start[row]! < range.from || start[row]! > range.to) {
      const wanted = Math.min(shown, Math.max(length / (4 * kSeenShare), kLeastJump_ns));
      const middle = start[row]! + Math.min(length, wanted) / 2;
      turn(inside({ from: middle - wanted / 2, to: middle + wanted / 2 }, whole));
    }
    keep({ kind: 'operation', process, layer, row });
  };
  const keep = (aim: LaneTarget) => {
    reveal(aim);
    point(target, true);
    dock.keep();
  };

  /** From an address. An operation that this page does not have, or leaves out, is not kept. */
  const showAwaited = () => {
    if (!awaited || !drawing) return;
    const { kept } = awaited;
    const next = lanes!.rowOf[kept.process]! < 0 ? 'give up' : nextStep(awaited, operations);
    if (next === 'wait') return;
    if (next === 'give up') return noteKept();
    awaited = undefined;
    if ('turnTo' in next) {
      turn(inside(next.turnTo, whole));
      awaited = { kept, isSought: true };
      return draw();
    }
    dock.close();
    const found = { layer: kLayers.indexOf(kept.layer), row: next.row };
    keep({ kind: 'operation', process: openLane(found), ...found });
  };
  operations.whenChanged(() => {
    draw();
    showAwaited();
  });

  const first = (): LaneTarget => {
    const { layout } = drawing!.scene;
    const process = layout.lanes.rows[visibleRows(layout)[0]!]!.processes[0]!;
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
    Enter: () => dock.keep(),
    w: () => zoomAt(0.5),
    s: () => zoomAt(2),
    a: () => go(panned(range, -0.25, whole)),
    d: () => go(panned(range, 0.25, whole)),
    b: () => {
      const { from, to } = view!.filter;
      if (from === undefined && to === undefined) chooseVisible();
      else chooseSpan();
    },
    Escape: () => point(undefined),
    i: () => target && target.kind !== 'message' && laneControls.togglePin(target.process),
    h: laneControls.toggleHosts,
    l: laneControls.toggleCompact,
    f: finder.focus,
    n: () => finder.step(1),
    N: () => finder.step(-1),
    o: () => target && target.kind !== 'message' && laneControls.toggleHost(data.processes[target.process]!.host),
  };
  const step = (direction: number, way: 'along' | 'across') => {
    let next: LaneTarget;
    if (!target || target.kind === 'message') next = first();
    else next = (way === 'along' ? nextAlong : nextAcross)(drawing!, target, direction);
    reveal(next);
    point(target, true);
  };
  const zoomAt = (factor: number) => {
    const at = target ? timeOf(drawing!.scene, target) : (range.from + range.to) / 2;
    const shown = at >= range.from && at <= range.to ? at : (range.from + range.to) / 2;
    go(zoomed(range, factor, shown, whole));
    if (!target || target.kind === 'message') return;
    // The thing under the cursor may have become single operations, or bins.
    point(nearest(drawing!, target, shown), true);
  };
  canvas.addEventListener('keydown', (event) => {
    if (!drawing || event.ctrlKey || event.metaKey || event.altKey || lanes!.rows.length === 0) return;
    if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
      go(panned(range, event.key === 'ArrowLeft' ? -0.25 : 0.25, whole));
    } else {
      const action = keys[event.key];
      if (!action || (event.key === 'Escape' && dock.isKept)) return;
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
      turn(inside(next, whole));
      if (when === 'now') draw();
      else redraw();
    },
    choose: ({ from, to }) => chooseSpan(Math.floor(from), Math.ceil(to)),
    pointAt: (place) => point(place && targetAt(drawing!, place.x, place.y)),
    keepAt: ({ x, y }) => {
      if (x < kNameRoom) {
        const lane = lanes!.rows[rowAt(drawing!.scene.layout, y) ?? -1];
        if (lane?.host != null) laneControls.toggleHost(lane.host);
        else if (lane) laneControls.togglePin(lane.processes[0]!);
        return;
      }
      const found = targetAt(drawing!, x, y);
      if (!found) return;
      point(found, true);
      dock.keep();
    },
    isKept: () => dock.keeps(canvas),
    close: () => void (dock.keeps(canvas) && dock.close()),
  });
  canvas.addEventListener('blur', () => point(undefined));
  canvas.addEventListener(kKeptChange, noteKept);
  scroll.addEventListener('scroll', redraw, { passive: true });
  let drawnWidth = 0;
  new ResizeObserver(() => {
    if (scroll.clientWidth === drawnWidth) return;
    drawnWidth = scroll.clientWidth;
    draw();
  }).observe(scroll);
  darkScheme.addEventListener('change', draw);

  const transports = numberTransports(context, transportSlots);
  return {
    root,
    showOperation(found, { from, to }) {
      // Its lane may be left out.
      if (lanes!.rowOf[layerOf(found.layer).table.column('process')[found.row]!]! < 0) {
        update((state) => ({ ...state, lanes: { ...state.lanes, only: '' } }));
      }
      const process = openLane(found);
      const room = Math.max(to - from, kLeastJump_ns) / 2;
      turn(inside({ from: from - room, to: to + room }, whole));
      keep({ kind: 'operation', process, ...found });
    },
    show(next) {
      view = next;
      lanes = makeLanes(data, next.lanes, { ...context.waits, bytes: trafficOfProcesses(next, processes) });
      laneControls.show(next, lanes.rows.length);
      finder.forget();
      if (target) point(undefined);
      const asked = look.take(next.look);
      if (asked.range) range = asked.range;
      if (asked.range || asked.keepsNoMore) awaited = undefined;
      draw();
      if (asked.keepsNoMore && dock.keeps(canvas)) dock.close();
      if (asked.kept) awaited = { kept: asked.kept, isSought: false };
      showAwaited();
    },
  };
}
