// What the timeline draws, and where on the canvas it lies.

import type { Details, LayerDetails } from '../details';
import type { FunctionGroups } from '../mpi_bins';
import type { Table } from '../packed';
import type { View } from '../page';
import type { Theme } from '../palette';
import { kLayers, type TimeAxis } from '../slabs';
import type { Range } from '../time_range';

/** CSS pixels: where time starts, and how tall the lanes are. */
export interface LaneLayout {
  readonly left: number;
  readonly width: number;
  readonly height: number;
  readonly top: number;
  readonly rowHeight: number;
  readonly processes: number;
}

export interface Scene {
  readonly layout: LaneLayout;
  readonly range: Range;
  readonly axis: TimeAxis;
  readonly detailsTo: number;
  readonly details: Details;
  readonly view: View;
  readonly theme: Theme;
  readonly label: (process: number) => string;
  /** What is written on a bar. */
  readonly name: (layer: LayerDetails, row: number) => string;
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
export const kGap = 3;

export function xOf({ layout, range }: Scene, time: number): number {
  return layout.left + ((time - range.from) / (range.to - range.from)) * layout.width;
}

export function timeAt(layout: LaneLayout, range: Range, x: number): number {
  return range.from + ((x - layout.left) / layout.width) * (range.to - range.from);
}

/** Of one layer of a process, from the top of the canvas. */
export function laneBox({ rowHeight, top }: LaneLayout, process: number, layer: number) {
  const inner = rowHeight - kGap;
  const y = kRulerHeight + process * rowHeight - top;
  return { top: y + (layer * inner) / 3, bottom: y + ((layer + 1) * inner) / 3 - 1 };
}

export function barBox(scene: Scene, layer: LayerDetails, process: number, row: number): Box {
  const lane = laneBox(scene.layout, process, kLayers.indexOf(layer.layer));
  const height = (lane.bottom - lane.top) / layer.tracks[process]!;
  const top = lane.top + layer.track[row]! * height;
  const left = xOf(scene, layer.start[row]!);
  return { left, right: Math.max(left + 1, xOf(scene, layer.end[row]!)), top, bottom: top + height };
}

export function visibleProcesses({ top, height, rowHeight, processes }: LaneLayout) {
  const first = Math.max(0, Math.floor(top / rowHeight));
  const last = Math.min(processes, Math.ceil((top + height - kRulerHeight) / rowHeight));
  return { first, last: Math.max(first, last) };
}
