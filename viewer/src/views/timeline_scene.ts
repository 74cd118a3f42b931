// The contents of the timeline, and their places on the canvas.

import type { LayerDetails } from '../details';
import type { Lanes } from '../lanes';
import type { FunctionGroups } from '../mpi_bins';
import type { Table } from '../packed';
import type { View } from '../page';
import type { Theme } from '../palette';
import type { Singles } from '../singles';
import { kLayers, type TimeAxis } from '../slabs';
import type { Range } from '../time_range';
import type { Waits } from '../waits';

/** CSS pixels: where time starts, and how tall the lanes are. */
export interface LaneLayout {
  readonly left: number;
  readonly width: number;
  readonly height: number;
  readonly top: number;
  readonly rowHeight: number;
  readonly lanes: Lanes;
  /** Layers that are drawn, of kLayers. */
  readonly layers: readonly number[];
}

export interface Scene {
  readonly layout: LaneLayout;
  readonly range: Range;
  readonly axis: TimeAxis;
  readonly singles: Singles;
  /** The time in which operations may be drawn one by one. */
  readonly drawn: Range;
  readonly waits: Waits;
  readonly view: View;
  readonly theme: Theme;
  /** The name of a row of the lanes. */
  readonly label: (row: number) => string;
  /** The text on a bar. */
  readonly name: (layer: LayerDetails, row: number) => string;
  /** The slot of the colour of each transport, by the transport's text. */
  readonly transports: ReadonlyMap<number, number>;
  readonly functions: FunctionGroups;
  /** `mpi_activity` of the page. */
  readonly mpiActivity: Table;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export const kRulerHeight = 20;
/** Left of the lanes. */
export const kNameRoom = 92;
const kMostHeight = 520;
const kLowLane = 7;
const kAllLayers = kLayers.map((_, layer) => layer);
export const kGap = 3;

/** The common part of two ranges; if there is none, it ends where it begins, or before. */
export function common(a: Range, b: Range): Range {
  return { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
}

/** Also how tall the lanes would be without a window to scroll in. */
export function layOutLanes(lanes: Lanes, compact: boolean, room: number, scrolled: number): { layout: LaneLayout; full: number } {
  const rows = lanes.rows.length;
  const fitting = Math.floor((kMostHeight - kRulerHeight) / Math.max(1, rows));
  const rowHeight = compact ? Math.min(24, Math.max(kLowLane, fitting)) : Math.min(112, Math.max(24, fitting));
  const full = kRulerHeight + rowHeight * rows;
  // Whole lanes scroll under the pinned ones.
  const top = lanes.pinned > 0 ? Math.round(scrolled / rowHeight) * rowHeight : scrolled;
  const layers = compact ? [0] : kAllLayers;
  const width = Math.max(1, room - kNameRoom);
  return { layout: { left: kNameRoom, width, height: Math.min(kMostHeight, full), top, rowHeight, lanes, layers }, full };
}

export function xOf({ layout, range }: Scene, time: number): number {
  return layout.left + ((time - range.from) / (range.to - range.from)) * layout.width;
}

export function timeAt(layout: LaneLayout, range: Range, x: number): number {
  return range.from + ((x - layout.left) / layout.width) * (range.to - range.from);
}

/** For a row, from the top of the canvas: pinned rows do not scroll. */
export function rowTop({ rowHeight, top, lanes }: LaneLayout, row: number): number {
  return kRulerHeight + row * rowHeight - (row < lanes.pinned ? 0 : top);
}

/** Whether it has scrolled under the pinned lanes. */
export function isCovered(layout: LaneLayout, row: number): boolean {
  const { pinned } = layout.lanes;
  return pinned > 0 && row >= pinned && rowTop(layout, row) < kRulerHeight + pinned * layout.rowHeight;
}

/** For one layer of a row, from the top of the canvas; the whole row if that layer is not drawn. */
export function laneBox(layout: LaneLayout, row: number, layer: number) {
  const { rowHeight, layers } = layout;
  const inner = rowHeight - (rowHeight > 3 * kGap ? kGap : 1);
  const y = rowTop(layout, row);
  const at = layers.indexOf(layer);
  if (at < 0) return { top: y, bottom: y + inner };
  const last = layers.length === 1 ? 0 : 1;
  return { top: y + (at * inner) / layers.length, bottom: y + ((at + 1) * inner) / layers.length - last };
}

/** The same for a process; its lane may be that of its host. */
export function processBox(layout: LaneLayout, process: number, layer: number) {
  return laneBox(layout, layout.lanes.rowOf[process]!, layer);
}

/** Whether a process has a lane of its own. */
export function isSingle({ lanes }: LaneLayout, process: number): boolean {
  const row = lanes.rowOf[process]!;
  return row >= 0 && lanes.rows[row]!.host === null;
}

export function barBox(scene: Scene, layer: LayerDetails, process: number, row: number): Box {
  const lane = processBox(scene.layout, process, kLayers.indexOf(layer.layer));
  const height = (lane.bottom - lane.top) / layer.tracks[process]!;
  const top = lane.top + layer.track[row]! * height;
  const left = xOf(scene, layer.start[row]!);
  return { left, right: Math.max(left + 1, xOf(scene, layer.end[row]!)), top, bottom: top + height };
}

/** The rows in view: the pinned ones, and as many others as there is room for. */
export function visibleRows({ top, height, rowHeight, lanes }: LaneLayout): number[] {
  const { pinned } = lanes;
  const first = pinned + Math.max(0, Math.floor(top / rowHeight));
  const last = Math.min(lanes.rows.length, Math.ceil((top + height - kRulerHeight) / rowHeight));
  const rows = Array.from({ length: pinned }, (_, row) => row);
  for (let row = first; row < last; ++row) rows.push(row);
  return rows;
}

/** The row at a height of the canvas. */
export function rowAt(layout: LaneLayout, y: number): number | undefined {
  const { rowHeight, top, lanes } = layout;
  const onScreen = Math.floor((y - kRulerHeight) / rowHeight);
  const row = onScreen < lanes.pinned ? onScreen : Math.floor((y - kRulerHeight + top) / rowHeight);
  return row >= 0 && row < lanes.rows.length ? row : undefined;
}
