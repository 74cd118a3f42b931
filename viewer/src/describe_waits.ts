// What is known about the waits of an MPI call: how long, for which process, and what ended each.

import { processLabel } from './choices';
import type { PageData } from './data';
import { formatInstant, type Description, type Line } from './describe';
import type { LayerDetails } from './details';
import { formatCount, formatDuration } from './format';
import { callThatEnded, waitsOfCall, type SingleWaits, type Wait } from './waits';

/** Nothing for a call that did not wait. Kinds are those of docs/waits.md. */
export function describeWaits(
  data: PageData,
  waits: SingleWaits,
  calls: LayerDetails,
  row: number,
): Description | undefined {
  const all = waitsOfCall(waits, calls, row);
  if (all.length === 0) return undefined;
  const sum = (unknown: boolean) =>
    all.reduce((total, { from, to, unknown: why }) => total + (why !== 0 === unknown ? to - from : 0), 0);
  const lines: Line[] = [];
  for (const [name, ns] of [['waited', sum(false)], ['may have waited', sum(true)]] as const) {
    if (ns > 0) lines.push([name, `${formatDuration(ns)} (${formatCount(ns)} ns)`]);
  }
  for (const wait of all) lines.push([data.waits.kinds[wait.kind]!, waitText(data, calls, wait)]);
  return { title: 'Waits of this call', lines };
}

function waitText(data: PageData, calls: LayerDetails, wait: Wait): string {
  const { from, to, cause, unknown } = wait;
  const whom = cause < 0 ? '' : ` for rank ${processLabel(data, cause)}`;
  const length = `${formatDuration(to - from)} from ${formatInstant(from)}`;
  if (unknown !== 0) return `perhaps ${length}${whom}: not known (${data.waits.unknown[unknown]})`;
  const ended = callThatEnded(calls, wait);
  if (ended === undefined) return `${length}${whom}`;
  const name = (column: string) => data.texts[calls.table.column(column)[ended]!] ?? '';
  const site = name('site') && ` at ${name('site')}`;
  return `${length}${whom}, until rank ${processLabel(data, cause)} called ${name('function')}${site}`;
}
