// Paints bins of time where there are too many operations to show each: one bar a bin, and in the lane
// of MPI a part for each function.

import { functionBins, type Bins, type FunctionGroups } from '../mpi_bins';
import { categoryColour, layerColour, otherBar, pixel, setUpBar, type Rgb, type Theme } from '../palette';
import { kLayers, laneOf, levelFor } from '../slabs';
import type { PixelCanvas } from './pixel_canvas';
import { laneBox, visibleProcesses, xOf, type Scene } from './timeline_scene';

/**
 * Bars as tall as the share of the bin in which something was in progress, from an instant on. Returns
 * the level of the bins.
 */
export function paintBins(scene: Scene, pixels: PixelCanvas, from: number): number {
  const { axis, layout, range, theme, view } = scene;
  const { busy } = view.alongTime.activity;
  const level = levelFor(busy, (range.to - range.from) / axis.slab / layout.width);
  const length = axis.slab * 2 ** level;
  if (range.to <= from) return level;
  const { bins, values } = busy.levels[level]!;
  const begin = Math.max(0, Math.floor((Math.max(range.from, from) - axis.from) / length));
  const end = Math.min(bins, Math.ceil((range.to - axis.from) / length));
  const { first, last } = visibleProcesses(layout);
  for (let process = first; process < last; ++process) {
    paintFunctionBins(scene, pixels, process, { level, begin, end }, from);
    for (let layer = 1; layer < kLayers.length; ++layer) {
      const lane = laneBox(layout, process, layer);
      const colour = pixel(layerColour(theme, layer));
      const offset = laneOf(process, layer) * bins;
      for (let bin = begin; bin < end; ++bin) {
        const value = values[offset + bin]!;
        if (value === 0) continue;
        const share = Math.min(1, value / length);
        const start = axis.from + bin * length;
        const top = lane.bottom - Math.max(1, share * (lane.bottom - lane.top));
        const left = Math.max(xOf(scene, start), xOf(scene, from));
        pixels.fill(left, top, xOf(scene, start + length), lane.bottom, colour);
      }
    }
  }
  return level;
}

/** The lane of MPI: bars of which each part is the time in one function, the greatest at the bottom. */
function paintFunctionBins(scene: Scene, pixels: PixelCanvas, process: number, bins: Bins, from: number): void {
  const { axis, layout, functions, view, mpiActivity } = scene;
  const lane = laneBox(layout, process, 0);
  const colours = functionColours(scene);
  const length = axis.slab * 2 ** bins.level;
  const sums = functionBins(mpiActivity, functions, view.alongTime.choice, process, bins);
  for (let bin = bins.begin; bin < bins.end; ++bin) {
    const parts = sums.subarray((bin - bins.begin) * colours.length, (bin - bins.begin + 1) * colours.length);
    const total = parts.reduce((sum, part) => sum + part, 0);
    if (total === 0) continue;
    // Of several threads together no more than the lane is tall.
    const scale = (lane.bottom - lane.top) / Math.max(length, total);
    const start = axis.from + bin * length;
    const left = Math.max(xOf(scene, start), xOf(scene, from));
    const fill = (height: number, group: number) =>
      pixels.fill(left, lane.bottom - height, xOf(scene, start + length), lane.bottom, colours[group]!);
    // The whole bar in the colour of what has most of it, then each part that can be seen, from the top.
    fill(Math.max(1, total * scale), parts.indexOf(parts.reduce((a, b) => Math.max(a, b), 0)));
    if (total * scale < 1) continue;
    let above = total;
    for (let group = colours.length - 1; group >= 0; --group) {
      if (parts[group]! * scale >= 0.5) fill(above * scale, group);
      above -= parts[group]!;
    }
  }
}

/** Of each group of functions, as pixels. */
export function functionColours({ functions, theme }: Scene): number[] {
  return functions.names.map((_, group) => pixel(functionColour(theme, functions, group)));
}

export function functionColour(theme: Theme, { others, setUp }: FunctionGroups, group: number): Rgb {
  if (group === setUp) return setUpBar(theme);
  return group === others ? otherBar(theme) : categoryColour(theme, group);
}
