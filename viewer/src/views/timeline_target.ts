// Finds the thing of the timeline at a place or next to another: operations, bins and messages, for the pointer and for
// the keys.

import { rowsWithin, type Details, type LayerDetails } from '../details';
import { keptOfRow, rowOfKept, type Kept } from '../look';
import { counts, kLayers, laneOf } from '../slabs';
import type { Range } from '../time_range';
import type { Arrow, Painted } from './timeline_painter';
import { barBox, isCovered, isSingle, kRulerHeight, laneBox, processBox, rowAt, timeAt, xOf, type Box, type LaneLayout, type Scene } from './timeline_scene';

/** What the reader looks at: an operation, a bin of a lane, or a message. */
export type Target = LaneTarget | { kind: 'message'; row: number; x: number; y: number };

/** The lane of one layer of a process; for the lane of a host, `process` is its first one. */
export type LaneTarget = { process: number; layer: number } & (
  | { kind: 'operation'; row: number }
  | { kind: 'bin'; bin: number; level: number }
);
export type BinTarget = Extract<LaneTarget, { kind: 'bin' }>;

/** The last drawing. */
export interface Drawing {
  readonly scene: Scene;
  readonly painted: Painted;
}

/** The same target after other operations were loaded; undefined if it is not among them. */
export function sameAmong(aim: Target, before: Details, now: Details): Target | undefined {
  if (aim.kind === 'bin') return aim;
  if (aim.kind === 'operation') return targetOfKept(keptOfRow(before.layers[aim.layer]!, aim.row), now);
  const row = now.rowOfMessage.get(before.messages.column('id')[aim.row]!);
  return row === undefined ? undefined : { ...aim, row };
}

/** An operation, if it is loaded. */
export function targetOfKept(kept: Kept, { layers }: Details): LaneTarget | undefined {
  const layer = kLayers.indexOf(kept.layer);
  const row = rowOfKept(layers[layer]!, kept);
  return row === undefined ? undefined : { kind: 'operation', process: kept.process, layer, row };
}

function boxOf(scene: Scene, aim: Target): Box {
  if (aim.kind === 'message') {
    return { left: aim.x - 3, right: aim.x + 3, top: aim.y - 3, bottom: aim.y + 3 };
  }
  if (aim.kind === 'operation') {
    return barBox(scene, scene.singles.details.layers[aim.layer]!, aim.process, aim.row);
  }
  const { axis, layout } = scene;
  const length = axis.slab * 2 ** aim.level;
  const start = axis.from + aim.bin * length;
  const lane = processBox(layout, aim.process, aim.layer);
  return { ...lane, left: xOf(scene, start), right: xOf(scene, start + length) };
}

/** Its place, from the corner of the canvas; cut to the lanes. */
export function shownBox(scene: Scene, aim: Target): Box {
  const { left, width } = scene.layout;
  const box = boxOf(scene, aim);
  const clamp = (x: number) => Math.min(left + width, Math.max(left, x));
  return { ...box, left: clamp(box.left), right: clamp(box.right) };
}

export interface Mark {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Radians, around its left upper corner. */
  readonly turn: number;
}

/** The mark around the target, or along an arrow, from the corner of the canvas; nothing if it is out of view. */
export function markOf({ scene, painted }: Drawing, aim: Target): Mark | undefined {
  const { layout } = scene;
  if (aim.kind === 'message') {
    const arrow = painted.arrows.find(({ row }) => row === aim.row);
    const line = arrow && cutToLanes(layout, arrow);
    if (!line) return undefined;
    const [dx, dy] = [line.x1 - line.x0, line.y1 - line.y0];
    return { left: line.x0, top: line.y0, width: Math.hypot(dx, dy), height: 1, turn: Math.atan2(dy, dx) };
  }
  const { left, right, top, bottom } = shownBox(scene, aim);
  if (isCovered(layout, layout.lanes.rowOf[aim.process]!) || bottom <= kRulerHeight || top >= layout.height || right < left) {
    return undefined;
  }
  const from = Math.max(kRulerHeight, top);
  return { left, top: from, width: Math.max(3, right - left), height: bottom - from, turn: 0 };
}

/** The part of a line that is in the lanes, if any. */
function cutToLanes({ left, width, height }: LaneLayout, { x0, y0, x1, y1 }: Omit<Arrow, 'row'>) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  let [from, to] = [0, 1];
  for (const [step, room] of [[-dx, x0 - left], [dx, left + width - x0], [-dy, y0 - kRulerHeight], [dy, height - y0]] as const) {
    if (step < 0) from = Math.max(from, room / step);
    else if (step > 0) to = Math.min(to, room / step);
    else if (room < 0) return undefined;
  }
  if (from >= to) return undefined;
  return { x0: x0 + from * dx, y0: y0 + from * dy, x1: x0 + to * dx, y1: y0 + to * dy };
}

export function timeOf({ axis, singles: { details } }: Scene, aim: Target): number {
  if (aim.kind === 'message') return details.messageStart[aim.row]!;
  if (aim.kind === 'operation') return details.layers[aim.layer]!.start[aim.row]!;
  return axis.from + (aim.bin + 0.5) * axis.slab * 2 ** aim.level;
}

/** The thing drawn within a few pixels of a point of the canvas. */
export function targetAt(drawing: Drawing, x: number, y: number): Target | undefined {
  const { scene, painted } = drawing;
  const { layout, range } = scene;
  if (x < layout.left || y < kRulerHeight) return undefined;
  const row = rowAt(layout, y);
  if (row === undefined) return undefined;
  const process = layout.lanes.rows[row]!.processes[0]!;
  const layer = layout.layers.find((drawn) => {
    const lane = laneBox(layout, row, drawn);
    return y >= lane.top && y <= lane.bottom + 1;
  });
  const time = timeAt(layout, range, x);
  const single = isSingle(layout, process);
  const found = layer === undefined || !single ? undefined : operationAt(drawing, { process, layer }, x, y);
  if (found) return found;
  const arrow = painted.arrows.find((line) => distance(line, x, y) <= 4);
  if (arrow) return { kind: 'message', row: arrow.row, x, y };
  if (layer === undefined || (single && isWithin(painted.singly, time))) return undefined;
  return binAt(drawing, { process, layer }, time);
}

function isWithin({ from, to }: Range, time: number): boolean {
  return time >= from && time < to;
}

interface Lane {
  readonly process: number;
  readonly layer: number;
}

function binAt({ scene, painted: { level } }: Drawing, { process, layer }: Lane, time: number): BinTarget {
  const { axis, view } = scene;
  const { bins } = view.alongTime.activity.busy.levels[level]!;
  const bin = Math.floor((time - axis.from) / (axis.slab * 2 ** level));
  return { kind: 'bin', process, layer, level, bin: Math.min(bins - 1, Math.max(0, bin)) };
}

function operationAt({ scene, painted }: Drawing, { process, layer }: Lane, x: number, y: number) {
  const lane = scene.singles.details.layers[layer]!;
  const { layout, range } = scene;
  const [from, to] = [x - 3, x + 3].map((at) => timeAt(layout, range, at)) as [number, number];
  if (from >= painted.singly.to || to < painted.singly.from) return undefined;
  const [begin, end] = rowsWithin(lane, process, from, to);
  let best: { row: number; far: number } | undefined;
  for (let row = begin; row < end; ++row) {
    if (lane.end[row]! < from) continue;
    const box = barBox(scene, lane, process, row);
    if (y < box.top || y > box.bottom) continue;
    const far = Math.max(0, box.left - x, x - box.right) + (isChosen(scene, lane, process, row) ? 0 : 0.5);
    if (!best || far <= best.far) best = { row, far };
  }
  return best && { kind: 'operation' as const, process, layer, row: best.row };
}

function isChosen({ view }: Scene, lane: LayerDetails, process: number, row: number): boolean {
  return counts(view.alongTime.choice, lane.layer, process, lane.key[row]!);
}

/** The selected operation of a lane that is nearest to an instant; else the bin. */
export function nearest(drawing: Drawing, at: Lane, time: number): LaneTarget {
  const { scene, painted } = drawing;
  if (!isWithin(painted.singly, time) || !isSingle(scene.layout, at.process)) return binAt(drawing, at, time);
  const { process, layer } = at;
  const lane = scene.singles.details.layers[layer]!;
  let best = -1;
  let far = Infinity;
  for (let row = lane.first[process]!; row < lane.first[process + 1]!; ++row) {
    const gap = Math.max(0, lane.start[row]! - time, time - lane.end[row]!);
    if (gap < far && isChosen(scene, lane, process, row)) [best, far] = [row, gap];
  }
  return best < 0 ? binAt(drawing, at, time) : { kind: 'operation', process, layer, row: best };
}

/** The processes that share the lane of a process. */
export function processesOf({ layout: { lanes } }: Scene, process: number): readonly number[] {
  return lanes.rows[lanes.rowOf[process]!]?.processes ?? [process];
}

/** The next thing in the same lane; at its end, the same one. */
export function nextAlong(drawing: Drawing, aim: LaneTarget, step: number): LaneTarget {
  const { scene, painted } = drawing;
  if (aim.kind === 'operation') {
    const lane = scene.singles.details.layers[aim.layer]!;
    const { process } = aim;
    for (let row = aim.row + step; ; row += step) {
      if (row < lane.first[process]! || row >= lane.first[process + 1]!) return aim;
      if (isChosen(scene, lane, process, row)) return { ...aim, row };
    }
  }
  const { bins, values } = scene.view.alongTime.activity.busy.levels[painted.level]!;
  const lanes = processesOf(scene, aim.process).map((process) => laneOf(process, aim.layer) * bins);
  const here = binAt(drawing, aim, timeOf(scene, aim));
  for (let bin = here.bin + step; bin >= 0 && bin < bins; bin += step) {
    if (lanes.some((lane) => values[lane + bin]! > 0)) return { ...here, bin };
  }
  return here;
}

/** The thing at the same time in the lane above or below. */
export function nextAcross(drawing: Drawing, aim: LaneTarget, step: number): LaneTarget {
  const { scene } = drawing;
  const { range, layout } = scene;
  const { rows, rowOf } = layout.lanes;
  const count = layout.layers.length;
  const lane = rowOf[aim.process]! * count + Math.max(0, layout.layers.indexOf(aim.layer)) + step;
  if (lane < 0 || lane >= rows.length * count) return aim;
  const middle = Math.min(range.to, Math.max(range.from, timeOf(scene, aim)));
  const at = { process: rows[Math.floor(lane / count)]!.processes[0]!, layer: layout.layers[lane % count]! };
  return nearest(drawing, at, middle);
}

function distance({ x0, y0, x1, y1 }: Arrow, x: number, y: number): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / length));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}
