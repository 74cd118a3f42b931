// What changed since an earlier run: settings, numbers and protocols of both, side by side.

import type { Change, ComparedProtocol, Comparison, SizeTotals } from '../comparison';
import type { RunData } from '../data';
import { columnHead, element, numberCell, rowHead, section } from '../dom';
import { formatBytes, formatCount, formatDuration, formatExactBytes } from '../format';
import { sortedTable } from '../table';
import { durationCell, noneCell, sizesCell } from './cells';

const kVerdictWords = {
  change: 'change',
  noise: 'noise',
  small: 'below 1 %',
  not_told: 'too few to tell',
} as const;

/** Nothing if the page has no comparison. */
export function makeComparison({ comparison }: RunData): HTMLElement[] {
  if (comparison === null) return [];
  return [
    section(
      'comparison',
      'Compared with an earlier run',
      makeRuns(comparison),
      makeVerdict(comparison),
      ...makeSettings(comparison),
      ...makeChanges(comparison),
      makeOthers(comparison),
      makeProtocols(comparison),
      ...comparison.notes.map((note) => element('p', { class: 'faint' }, `Note: ${note}`)),
    ),
  ];
}

function makeRuns({ a, b }: Comparison): HTMLElement {
  const ranks = (count: number) => `${formatCount(count)} rank${count === 1 ? '' : 's'}`;
  const line = (name: string, { folder, command, ranks: count }: Comparison['a']) => [
    element('dt', {}, name),
    element('dd', {}, `${folder}, ${ranks(count)}: `, element('code', {}, command)),
  ];
  return element(
    'dl',
    { class: 'compared' },
    ...line('A, the earlier run', a),
    ...line('B, this run', b),
  );
}

function makeVerdict({ changes, left_out }: Comparison): HTMLElement {
  const number = changes.length + left_out.changes;
  const [most] = changes;
  const said =
    most === undefined
      ? 'No change beyond noise.'
      : `${formatCount(number)} change${number === 1 ? '' : 's'} beyond noise; most: ${most.what}.`;
  return element('p', { class: 'verdict', 'data-testid': 'comparison-verdict' }, said);
}

function makeSettings({ settings }: Comparison): HTMLElement[] {
  if (settings.length === 0) return [element('p', {}, 'No setting differs.')];
  const head = [columnHead('setting'), columnHead('A'), columnHead('B'), columnHead('ranks')];
  const rows = settings.map(({ name, a, b, ranks }) =>
    element(
      'tr',
      {},
      rowHead(name),
      element('td', {}, a ?? 'not set'),
      element('td', {}, b ?? 'not set'),
      element('td', {}, ranks ?? 'whole run'),
    ),
  );
  return [
    element('h3', {}, 'Settings that differ'),
    sortedTable({ 'data-testid': 'comparison-settings' }, head, rows),
  ];
}

function makeChanges({ changes, left_out }: Comparison): HTMLElement[] {
  if (changes.length === 0) return [];
  return [
    element('h3', {}, 'What changed, the most first'),
    element(
      'p',
      { class: 'faint' },
      'Share: what the difference is of all time, payload, messages or calls. Times are called ' +
        'changed if the middle halves of both runs do not meet: a heuristic. Each: the median of ' +
        'one call, wait or message.',
    ),
    makeChangeTable('comparison-changes', changes, false),
    ...makeRest(left_out.changes),
  ];
}

function makeOthers({ others, left_out, equal }: Comparison): HTMLElement {
  const number = others.length + left_out.others;
  return element(
    'details',
    { 'data-testid': 'comparison-others' },
    element(
      'summary',
      {},
      `${formatCount(number)} more numbers differ, and are no change; ${formatCount(equal)} are equal`,
    ),
    makeChangeTable('comparison-no-changes', others, true),
    ...makeRest(left_out.others),
  );
}

function makeRest(number: number): HTMLElement[] {
  if (number === 0) return [];
  return [
    element('p', { class: 'faint' }, `${formatCount(number)} more are told by uctrace diff --all.`),
  ];
}

function makeChangeTable(testId: string, changes: Change[], withVerdict: boolean): HTMLElement {
  const head = [
    columnHead('what'),
    columnHead('A', true),
    columnHead('B', true),
    columnHead('A and B'),
    columnHead('share', true),
    columnHead('each, A', true),
    columnHead('each, B', true),
    ...(withVerdict ? [columnHead('verdict')] : []),
  ];
  const row = (change: Change) =>
    element(
      'tr',
      {},
      rowHead(change.what),
      valueCell(change.a, change),
      valueCell(change.b, change),
      element('td', {}, makeBars(change)),
      numberCell(`${(100 * change.share).toFixed(1)} %`, String(change.share), change.share),
      durationCell(change.each_a?.median_ns ?? null),
      durationCell(change.each_b?.median_ns ?? null),
      ...(withVerdict ? [element('td', {}, kVerdictWords[change.verdict])] : []),
    );
  return sortedTable({ 'data-testid': testId }, head, changes.map(row));
}

function valueCell(value: number, { unit }: Change): HTMLElement {
  switch (unit) {
    case 'bytes':
      return numberCell(formatBytes(value), formatExactBytes(value), value);
    case 'ns':
      return numberCell(formatDuration(Math.round(value)), `${value} ns`, value);
    case 'percent':
      return numberCell(`${value.toFixed(1)} %`, `${value} %`, value);
    case 'count':
      return numberCell(
        Number.isInteger(value) ? formatCount(value) : value.toFixed(1),
        String(value),
        value,
      );
  }
}

/** Both values on one scale; the cells beside show the digits. */
function makeBars({ a, b }: Change): HTMLElement {
  const most = Math.max(a, b);
  const bar = (value: number, which: string) => {
    const made = element('span', { class: `bar ${which}` });
    made.style.width = `${most === 0 ? 0 : (100 * value) / most}%`;
    return made;
  };
  return element('div', { class: 'bars', 'aria-hidden': 'true' }, bar(a, 'a'), bar(b, 'b'));
}

function makeProtocols({ protocols }: Comparison): HTMLElement {
  const head = ['protocol', 'size'].map((name) => columnHead(name));
  for (const name of ['messages', 'median latency', '99 %']) {
    head.push(columnHead(`${name}, A`, true), columnHead(`${name}, B`, true));
  }
  const both = (
    { a, b }: ComparedProtocol,
    cell: (totals: SizeTotals) => HTMLElement,
  ): HTMLElement[] =>
    [a, b].map((totals) =>
      totals === null ? noneCell() : cell(totals),
    );
  const rows = protocols.map((row) =>
    element(
      'tr',
      {},
      rowHead(row.protocol),
      sizesCell(row.from_bytes, row.below_bytes),
      ...both(row, ({ messages }) => numberCell(formatCount(messages), '', messages)),
      ...both(row, ({ median_ns }) => durationCell(median_ns)),
      ...both(row, ({ p99_ns }) => durationCell(p99_ns)),
    ),
  );
  return element(
    'details',
    {},
    element('summary', {}, 'Protocols by size, of both runs'),
    sortedTable({ 'data-testid': 'comparison-protocols' }, head, rows),
  );
}
