// The view of the timeline: the part of the run that it shows, and the operation whose details are kept. It is in the
// page's address, so that anyone who opens that sees the same.

import type { PageData } from './data';
import type { LayerDetails } from './details';
import { endOf, kLayers, lowerBound, type Layer, type TimeAxis } from './slabs';
import { inside, type Range } from './time_range';

/**
 * An operation, named by properties that are the same in every page of the run. Operations of a process with the same
 * start and the same end are loaded together, so its place among them is always the same. Its place among operations
 * that only have the same start is not.
 */
export interface Kept {
  readonly layer: Layer;
  readonly process: number;
  readonly start: number;
  /** As in the tables: -1 for no end. */
  readonly duration: number;
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
  // The same values in another run are other operations.
  if (kept) fields.push(['operation', [kept.layer, kept.process, kept.start, kept.duration, kept.place, run].join('.')]);
  return fields;
}

/** Drops values that this run does not have. */
export function lookFromFields(fields: URLSearchParams, axis: TimeAxis, data: PageData): Look {
  const zoom = zoomOf(fields.get('zoom') ?? '', { from: axis.from, to: endOf(axis) });
  const kept = keptOf(fields.get('operation') ?? '', data);
  return { ...(zoom && { zoom }), ...(kept && { kept }) };
}

function keptOf(text: string, data: PageData): Kept | undefined {
  const pattern = /^(\w+)\.(\d{1,9})\.(\d{1,16})\.(-?\d{1,16})\.(\d{1,9})\.(.*)$/s;
  const [, name, process, start, duration, place, run] = pattern.exec(text) ?? [];
  const layer = kLayers.find((known) => known === name);
  if (layer === undefined || run !== data.run.id || Number(process) >= data.processes.length) return undefined;
  return { layer, process: Number(process), start: Number(start), duration: Number(duration), place: Number(place) };
}

/** The name of an operation in an address. */
export function keptOfRow(details: LayerDetails, row: number): Kept {
  const { layer, table, start } = details;
  const of = { layer, process: table.column('process')[row]!, start: start[row]!, duration: table.column('duration_ns')[row]! };
  return { ...of, place: rowsAlike(details, of).indexOf(row) };
}

/** The operation with this name; undefined if it is not loaded. */
export function rowOfKept(details: LayerDetails, kept: Kept): number | undefined {
  return rowsAlike(details, kept)[kept.place];
}

/** The operations of one process with the same start and the same end. */
function rowsAlike({ table, start, first }: LayerDetails, { process, start: at, duration }: Omit<Kept, 'place'>): number[] {
  const durations = table.column('duration_ns');
  const end = first[process + 1]!;
  const rows: number[] = [];
  for (let row = lowerBound(start, at, first[process]!, end); row < end && start[row] === at; ++row) {
    if (durations[row] === duration) rows.push(row);
  }
  return rows;
}

function zoomOf(text: string, whole: Range): Range | undefined {
  const [, from, to] = /^(\d{1,18})-(\d{1,18})$/.exec(text) ?? [];
  const asked = { from: Number(from), to: Number(to) };
  if (!(asked.from < asked.to) || asked.from >= whole.to || asked.to <= whole.from) return undefined;
  const zoom = inside(asked, whole);
  return zoom.from <= whole.from && zoom.to >= whole.to ? undefined : zoom;
}
