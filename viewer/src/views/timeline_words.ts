// The texts of the timeline: the cards of the things that the reader looks at, what is drawn, and
// how far times can be trusted.

import { viewCommand } from '../command';
import { describeMessage, describeOperation, formatInstant, type Description } from '../describe';
import { describeWaits } from '../describe_waits';
import type { LayerDetails } from '../details';
import { element } from '../dom';
import { formatCount, formatDuration } from '../format';
import type { Context, View } from '../page';
import { endOf, laneOf } from '../slabs';
import { describeRange, type Range } from '../time_range';
import { processLabel } from '../choices';
import { kMeasureNames } from '../words';
import { processesToldBy } from '../waits';
import { makeCard } from './card';
import type { BinTarget, Drawing, Target } from './timeline_target';
import { copyButton } from './copy_button';
import { common } from './timeline_scene';

/** All that is known about the target; for an operation, also the message that it serves. */
export function explainTarget(
  context: Context,
  view: View,
  aim: Target,
  /** For its lane. */
  processes: readonly number[],
): HTMLElement[] {
  const { data } = context;
  const { details, waits } = context.operations.singles;
  if (aim.kind === 'bin') return makeCard(describeBin(context, view, aim, processes));
  if (aim.kind === 'message') return makeCard(describeMessage(data, details, aim.row));
  const layer = details.layers[aim.layer]!;
  const cards = makeCard(describeOperation(data, layer, aim.row));
  if (layer.layer === 'mpi') {
    const described = describeWaits(data, waits, layer, aim.row);
    return described ? [...cards, element('hr'), ...makeCard(described)] : cards;
  }
  const message = details.rowOfMessage.get(layer.table.column('message')[aim.row]!);
  if (message === undefined) return cards;
  return [...cards, element('hr'), ...makeCard(describeMessage(data, details, message))];
}

function describeBin(
  { data, axis, waits }: Context,
  view: View,
  { process, layer, bin, level }: BinTarget,
  processes: readonly number[],
): Description {
  const { busy, starts } = view.alongTime.activity;
  const at = (pyramid: typeof busy) => {
    const { bins, values } = pyramid.levels[level]!;
    return processes.reduce((sum, each) => sum + values[laneOf(each, layer) * bins + bin]!, 0);
  };
  const { bins, values } = waits.busy.levels[level]!;
  const told = processesToldBy(view.filter, view.alongTime.choice, processes);
  const waited = told.reduce((sum, each) => sum + values[each * bins + bin]!, 0);
  const whose =
    processes.length > 1
      ? `${formatCount(processes.length)} ranks of ${data.processes[process]!.host}`
      : `rank ${processLabel(data, process)}`;
  const length = axis.slab * 2 ** level;
  const start = axis.from + bin * length;
  const what = ['MPI calls', 'UCP operations', 'UCT transfers'][layer]!;
  return {
    title: `${what} of ${whose}`,
    lines: [
      ['from', formatInstant(start)],
      ['to', formatInstant(start + length)],
      ['begin here', formatCount(at(starts))],
      ['in progress', `${formatDuration(at(busy))} together`],
      ['at a time', (at(busy) / length).toFixed(3)],
      ...(layer === 0 && told.length > 0 ? [['of it waiting', formatDuration(waited)] as const] : []),
    ],
  };
}

/** The text on the bar of an operation. */
export function nameOf({ data }: Context, { layer, table }: LayerDetails, row: number): string {
  const text = (column: string) => data.texts[table.column(column)[row]!] ?? '';
  if (layer === 'mpi') return text('function');
  if (layer === 'ucp') return text('protocol') || text('function');
  return `${text('op')} ${text('transport')}`;
}

/** Which time is drawn, and how. */
export function describeDrawing({ scene, painted }: Drawing, hasTiles: boolean): string {
  const { layout, range, axis, drawn, singles, view } = scene;
  const px = formatDuration(Math.max(1, Math.round((range.to - range.from) / layout.width)));
  const parts = [`${describeRange(range)} from ${formatInstant(range.from)}, 1 px = ${px}.`];
  if (painted.singly.from >= painted.singly.to) {
    const bins = formatDuration(axis.slab * 2 ** painted.level);
    parts.push(`Height: share of each ${bins} in which something is in progress.`);
    const isSingle = layout.lanes.rows.some(({ host }) => host === null);
    const mayBeSingly = common(range, common(drawn, singles));
    if (isSingle && (hasTiles || mayBeSingly.from < mayBeSingly.to)) parts.push('Zoom in for single operations.');
  } else {
    parts.push('Single operations; grey ones are not chosen.');
    if (painted.arrowsLeftOut) parts.push('Zoom in for messages as arrows.');
  }
  if (layout.lanes.rows.some(({ host }) => host !== null)) {
    parts.push('The lane of a host shows the mean of its ranks, in bins.');
  }
  const measure = kMeasureNames[view.measure];
  parts.push(`The strip shows when the ${measure} start; drag in it to choose a time.`);
  return parts.join(' ');
}

/** Says which operations the page lacks and how to get them; hidden if it has all. */
export function makeMissingNote({ data, axis }: Context) {
  const { events, embedded, details_to_ns } = data.time;
  const command = element('code');
  const text =
    `Of ${formatCount(events)} operations and messages the first ${formatCount(embedded)} are in ` +
    `this page singly, up to ${formatInstant(details_to_ns)} (dashed line); all are in the sums ` +
    'and bins. “uctrace view --tiles -o DIR” makes a page with all. Those of the visible time are in the page of ';
  const copy = copyButton('Copy', () => command.textContent ?? '');
  const link = element('a', { 'data-testid': 'timeline-span' }, 'open it here');
  const served = element('span', {}, ' or ', link);
  const root = element(
    'p',
    { 'data-testid': 'timeline-missing', hidden: embedded === events || data.tiles !== null },
    text,
    command,
    ' ',
    copy,
    ...(data.served ? [served] : []),
  );
  const show = (range: Range) => {
    const from = Math.floor(Math.max(range.from, axis.from));
    const to = Math.ceil(range.to);
    command.textContent = viewCommand(data, from, to);
    link.href = `./${from}-${to}`;
    // For the whole time of the page it would be the same page.
    served.hidden = from <= axis.from && to >= endOf(axis);
  };
  return { root, show };
}

/** The part of the visible time that is being loaded, or cannot be. */
export function makeTileNote({ data, operations }: Pick<Context, 'data' | 'operations'>) {
  // A server makes tiles later than the page, which then has no checksums of them.
  const how =
    data.tiles?.adler32 === null
      ? '“uctrace view --serve” makes the tiles, while it runs.'
      : 'Write the folder again with “uctrace view --tiles”.';
  const root = element('p', { role: 'status', hidden: true, 'data-testid': 'timeline-tiles' });
  const show = () => {
    const { trouble, loading } = operations;
    root.hidden = trouble === '' && loading === '';
    root.className = trouble === '' ? '' : 'banner bad';
    const advice = trouble === '' ? '' : `All is in the sums and bins. ${how}`;
    root.textContent = [trouble, advice, loading].filter(Boolean).join(' ');
  };
  return { root, show };
}

/** Lanes of different processes stand on one time axis: how far that can be trusted. */
export function makeClockNote({ data }: Context): HTMLElement {
  const { clock_error_ns: error, messages_without_time: lost } = data.time;
  const clock =
    error === null
      ? 'The hosts are set against each other by their wall clocks: between lanes of different ' +
        'hosts, times may be off by an amount that is not known.'
      : `Times of different ranks can be compared to ${formatDuration(Math.ceil(2 * error))}.`;
  const without =
    lost > 0 ? ` ${formatCount(lost)} messages have no known time and count only for all times.` : '';
  return element('p', { class: 'faint', 'data-testid': 'timeline-clock' }, clock + without);
}

/** Text id of each transport -> the slot of its colour. */
export function numberTransports({ data }: Context, slots: ReadonlyMap<string, number>): Map<number, number> {
  return new Map([...slots].map(([name, slot]) => [data.texts.indexOf(name), slot] as const));
}
