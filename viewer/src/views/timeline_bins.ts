// Paints bins of time if there are too many operations to show each, and if processes share a lane: one bar per bin. In
// the lane of MPI, a bar has a part for each function, and its waiting time is hatched.

import { functionBins, type Bins, type FunctionGroups } from '../mpi_bins';
import { categoryColour, layerColour, otherBar, pixel, setUpBar, kWaitMark, type Rgb, type Theme } from '../palette';
import { laneOf, levelFor } from '../slabs';
import type { Range } from '../time_range';
import { processesToldBy } from '../waits';
import type { Bars } from './drawing';
import { laneBox, visibleRows, xOf, type Scene } from './timeline_scene';

/** Device-independent pixels between the stripes of waiting time, and of time that may be waiting. */
export const kWaitPeriod = 4;
export const kUnknownPeriod = 8;

/**
 * The height of a bar is the share of the bin in which something was in progress. Bars are drawn before and after the
 * time of single operations; in a lane of several processes at all times, as their mean. Returns the level of the bins.
 */
export function paintBins(scene: Scene, bars: Bars, singly: Range): number {
  const { axis, layout, range, view } = scene;
  const { busy } = view.alongTime.activity;
  const level = levelFor(busy, (range.to - range.from) / axis.slab / layout.width);
  const length = axis.slab * 2 ** level;
  const { bins } = busy.levels[level]!;
  const parts =
    singly.from < singly.to
      ? [{ from: range.from, to: singly.from }, { from: singly.to, to: range.to }].filter(({ from, to }) => from < to)
      : [range];
  for (const row of visibleRows(layout)) {
    const { host, processes } = layout.lanes.rows[row]!;
    for (const { from, to } of host === null ? parts : [range]) {
      const begin = Math.max(0, Math.floor((from - axis.from) / length));
      const end = Math.min(bins, Math.ceil((to - axis.from) / length));
      const lane = { row, processes, level, begin, end, from, to };
      for (const layer of layout.layers) {
        if (layer === 0) paintFunctionBins(scene, bars, lane);
        else paintLayerBins(scene, bars, lane, layer);
      }
    }
  }
  return level;
}

interface BinLane extends Bins {
  readonly row: number;
  readonly processes: readonly number[];
  /** Nothing is painted before or after this. */
  readonly from: number;
  readonly to: number;
}

function sidesOf(scene: Scene, lane: BinLane, from: number, to: number): [number, number] {
  return [xOf(scene, Math.max(from, lane.from)), xOf(scene, Math.min(to, lane.to))];
}

function paintLayerBins(scene: Scene, bars: Bars, lane: BinLane, layer: number): void {
  const { axis, layout, theme, view } = scene;
  const { bins, values } = view.alongTime.activity.busy.levels[lane.level]!;
  const length = axis.slab * 2 ** lane.level;
  const { top, bottom } = laneBox(layout, lane.row, layer);
  const colour = pixel(layerColour(theme, layer));
  for (let bin = lane.begin; bin < lane.end; ++bin) {
    let value = 0;
    for (const process of lane.processes) value += values[laneOf(process, layer) * bins + bin]!;
    if (value === 0) continue;
    const share = Math.min(1, value / length / lane.processes.length);
    const height = Math.max(1, share * (bottom - top));
    const start = axis.from + bin * length;
    const [left, right] = sidesOf(scene, lane, start, start + length);
    bars.bar(left, bottom - height, right, bottom, colour);
  }
}

/** The lane of MPI: bars with a part for the time in each function, the greatest at the bottom. */
function paintFunctionBins(scene: Scene, bars: Bars, lane: BinLane): void {
  const { axis, layout, functions, view, mpiActivity, waits } = scene;
  const { top, bottom } = laneBox(layout, lane.row, 0);
  const colours = functionColours(scene);
  const length = axis.slab * 2 ** lane.level;
  const groups = colours.length;
  const sums = new Float64Array(Math.max(0, lane.end - lane.begin) * groups);
  for (const process of lane.processes) {
    functionBins(mpiActivity, functions, view.alongTime.choice, process, lane, sums);
  }
  const { bins, values: waiting } = waits.busy.levels[lane.level]!;
  const told = processesToldBy(view.filter, view.alongTime.choice, lane.processes);
  const mark = pixel(kWaitMark);
  for (let bin = lane.begin; bin < lane.end; ++bin) {
    const parts = sums.subarray((bin - lane.begin) * groups, (bin - lane.begin + 1) * groups);
    let total = 0;
    let most = 0;
    for (let group = 0; group < groups; ++group) {
      total += parts[group]!;
      if (parts[group]! > parts[most]!) most = group;
    }
    if (total === 0) continue;
    // Several threads together are no taller than the lane.
    const scale = (bottom - top) / Math.max(length * lane.processes.length, total);
    const start = axis.from + bin * length;
    const [left, right] = sidesOf(scene, lane, start, start + length);
    const fill = (height: number, group: number) =>
      bars.bar(left, bottom - height, right, bottom, colours[group]!);
    // First the whole bar in the colour of its largest part, then each part that is visible, from the top.
    fill(Math.max(1, total * scale), most);
    if (total * scale < 1) continue;
    let above = total;
    for (let group = groups - 1; group >= 0; --group) {
      if (parts[group]! * scale >= 0.5) fill(above * scale, group);
      above -= parts[group]!;
    }
    let waited = 0;
    for (const process of told) waited += waiting[process * bins + bin]!;
    const height = Math.min(waited, total) * scale;
    if (height >= 1) bars.hatch(left, bottom - height, right, bottom, mark, kWaitPeriod);
  }
}

/** The bar colour of each group of functions. */
export function functionColours({ functions, theme }: Scene): number[] {
  return functions.names.map((_, group) => pixel(functionColour(theme, functions, group)));
}

export function functionColour(theme: Theme, { others, setUp, slots }: FunctionGroups, group: number): Rgb {
  if (group === setUp) return setUpBar(theme);
  return group === others ? otherBar(theme) : categoryColour(theme, slots[group]!);
}
