// The details of a square in the matrix of devices: its sums, and the part of each transport and each operation.

import { kLegMeasures, legValues, movedBy, type LegMeasure, type Legs } from '../device_matrix';
import { columnHead, element, numberCell, rowHead } from '../dom';
import type { Square } from '../matrix';
import type { View } from '../page';
import { formatExactValue, formatValue } from '../words';

type Sums = Record<LegMeasure, number>;
const none = (): Sums => ({ bytes: 0, transfers: 0, wire_bytes: 0 });

function add(sums: Sums, other: Sums): void {
  for (const measure of kLegMeasures) sums[measure] += other[measure];
}

/** By name, those with most bytes first. */
function sumsBy(view: View, legs: Legs, { row, column }: Square, nameOf: (t: number) => string): [string, Sums][] {
  const values = kLegMeasures.map((measure) => legValues(legs, view.selection, movedBy(view.columns, measure)));
  const wanted = row * legs.devices.length + column;
  const sums = new Map<string, Sums>();
  legs.squares.forEach((square, leg) => {
    const t = legs.transfer[leg]!;
    if (square !== wanted || !view.selection.transfers[t]) return;
    const own = none();
    kLegMeasures.forEach((measure, at) => (own[measure] = values[at]![leg]!));
    const sum = sums.get(nameOf(t)) ?? none();
    add(sum, own);
    sums.set(nameOf(t), sum);
  });
  const used = [...sums].filter(([, { transfers }]) => transfers > 0);
  return used.sort(([, a], [, b]) => b.bytes - a.bytes || b.transfers - a.transfers);
}

/** A title and a table. */
export function describeLegs(view: View, title: string, legs: Legs, square: Square): HTMLElement[] {
  const { steps, transferStep } = view.columns;
  const head = element('strong', {}, title);
  const lines = sumsBy(view, legs, square, (t) => {
    const { transport, op } = steps[transferStep[t]!]!;
    return `${transport} ${op}`;
  });
  if (lines.length === 0) return [head, element('div', {}, 'nothing that the filter selects')];
  const all = none();
  for (const [, sums] of lines) add(all, sums);
  const columns = ['', 'moved bytes', 'transfers', 'wire bytes'];
  return [
    head,
    element(
      'table',
      { class: 'details' },
      element('thead', {}, element('tr', {}, ...columns.map((text) => columnHead(text, true)))),
      element(
        'tbody',
        {},
        makeLine('all', 'all', all),
        ...lines.map(([name, sums]) => makeLine('operation', name, sums)),
      ),
    ),
  ];
}

function makeLine(part: string, name: string, sums: Sums): HTMLElement {
  return element(
    'tr',
    { 'data-part': part, 'data-name': name },
    rowHead(name),
    ...kLegMeasures.map((measure) =>
      numberCell(formatValue(measure, sums[measure]), formatExactValue(measure, sums[measure]), sums[measure]),
    ),
  );
}
