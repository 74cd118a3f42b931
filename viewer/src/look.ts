// What the timeline is turned to: the part of the run that it shows, and the operation of which the
// details are kept. In the page's address, so that who opens it sees the same.

import type { PageData } from './data';
import { endOf, kLayers, type Layer, type TimeAxis } from './slabs';
import { inside, type Range } from './time_range';

/** A row of the operations that the page holds one by one. */
export interface Kept {
  readonly layer: Layer;
  readonly row: number;
}

export interface Look {
  /** Nothing: the whole run. */
  readonly zoom?: Range;
  readonly kept?: Kept;
}

export function lookToFields({ zoom, kept }: Look, run: string): [string, string][] {
  const fields: [string, string][] = [];
  if (zoom) fields.push(['zoom', `${Math.round(zoom.from)}-${Math.round(zoom.to)}`]);
  // The rows of another run are other operations.
  if (kept) fields.push(['operation', `${kept.layer}.${kept.row}.${run}`]);
  return fields;
}

/** Leaves out what this run does not have. */
export function lookFromFields(fields: URLSearchParams, axis: TimeAxis, data: PageData): Look {
  const zoom = zoomOf(fields.get('zoom') ?? '', { from: axis.from, to: endOf(axis) });
  const [, name, row, run] = /^(\w+)\.(\d{1,9})\.(.*)$/s.exec(fields.get('operation') ?? '') ?? [];
  const layer = kLayers.find((known) => known === name);
  const kept = layer !== undefined && run === data.run.id ? { layer, row: Number(row) } : undefined;
  return { ...(zoom && { zoom }), ...(kept && { kept }) };
}

function zoomOf(text: string, whole: Range): Range | undefined {
  const [, from, to] = /^(\d{1,18})-(\d{1,18})$/.exec(text) ?? [];
  const asked = { from: Number(from), to: Number(to) };
  if (!(asked.from < asked.to) || asked.from >= whole.to || asked.to <= whole.from) return undefined;
  const zoom = inside(asked, whole);
  return zoom.from <= whole.from && zoom.to >= whole.to ? undefined : zoom;
}
