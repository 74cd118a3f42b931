// What the timeline is turned to: the part of the run that it shows, and the operation of which the
// details are kept. In the page's address, so that who opens it sees the same.

import type { PageData } from './data';
import type { LayerDetails } from './details';
import { endOf, kLayers, lowerBound, type Layer, type TimeAxis } from './slabs';
import { inside, type Range } from './time_range';

/** An operation, by what it is in every page of the run: which one of those of its process that begin at one instant. */
export interface Kept {
  readonly layer: Layer;
  readonly process: number;
  readonly start: number;
  readonly place: number;
}

export interface Look {
  /** Nothing: the whole run. */
  readonly zoom?: Range;
  readonly kept?: Kept;
}

export function lookToFields({ zoom, kept }: Look, run: string): [string, string][] {
  const fields: [string, string][] = [];
  if (zoom) fields.push(['zoom', `${Math.round(zoom.from)}-${Math.round(zoom.to)}`]);
  // Those of another run are other operations.
  if (kept) fields.push(['operation', [kept.layer, kept.process, kept.start, kept.place, run].join('.')]);
  return fields;
}

/** Leaves out what this run does not have. */
export function lookFromFields(fields: URLSearchParams, axis: TimeAxis, data: PageData): Look {
  const zoom = zoomOf(fields.get('zoom') ?? '', { from: axis.from, to: endOf(axis) });
  const kept = keptOf(fields.get('operation') ?? '', data);
  return { ...(zoom && { zoom }), ...(kept && { kept }) };
}

function keptOf(text: string, data: PageData): Kept | undefined {
  const [, name, process, start, place, run] = /^(\w+)\.(\d{1,9})\.(\d{1,16})\.(\d{1,9})\.(.*)$/s.exec(text) ?? [];
  const layer = kLayers.find((known) => known === name);
  if (layer === undefined || run !== data.run.id || Number(process) >= data.processes.length) return undefined;
  return { layer, process: Number(process), start: Number(start), place: Number(place) };
}

/** What an operation is called in an address. */
export function keptOfRow({ layer, table, start, first }: LayerDetails, row: number): Kept {
  const process = table.column('process')[row]!;
  const at = start[row]!;
  return { layer, process, start: at, place: row - lowerBound(start, at, first[process]!, row) };
}

/** The other way round; undefined where it is not loaded. */
export function rowOfKept({ start, first }: LayerDetails, { process, start: at, place }: Kept): number | undefined {
  const row = lowerBound(start, at, first[process]!, first[process + 1]!) + place;
  return row < first[process + 1]! && start[row] === at ? row : undefined;
}

function zoomOf(text: string, whole: Range): Range | undefined {
  const [, from, to] = /^(\d{1,18})-(\d{1,18})$/.exec(text) ?? [];
  const asked = { from: Number(from), to: Number(to) };
  if (!(asked.from < asked.to) || asked.from >= whole.to || asked.to <= whole.from) return undefined;
  const zoom = inside(asked, whole);
  return zoom.from <= whole.from && zoom.to >= whole.to ? undefined : zoom;
}
