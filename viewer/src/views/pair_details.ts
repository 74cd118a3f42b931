// What one square of the matrix stands for: its sums, and what each MPI function and each transport
// adds to them.

import { listFunctions, listTransports } from '../contenders';
import { columnHead, element, numberCell, rowHead } from '../dom';
import { kMeasures, type Measure } from '../filter';
import { formatBytes, formatCount, formatExactBytes } from '../format';
import { cellsAt, processesOf, type Axis, type Square } from '../matrix';
import type { Context, View } from '../page';
import { kNotKnown, rowLabel } from '../words';

interface Line {
  readonly name: string;
  /** Null where a sum would count a message more than once. */
  readonly messages: number | null;
  readonly bytes: number;
  readonly transfers: number;
  readonly wire_bytes: number;
}

/** "Source 0 (node1) → destination 5 (node2)" */
export function describeEnds({ data }: Context, axis: Axis, { row, column }: Square): string {
  const [source, destination] = [row, column].map((index) => {
    const { first, last } = processesOf(axis, index);
    const host = last - first === 1 && data.processes[first]?.host;
    return `${rowLabel(data, axis, index)}${host ? ` (${host})` : ''}`;
  });
  return `Source ${source} → destination ${destination}`;
}

/** Of each breakdown the `limit` largest lines are listed, and the sum of the others. */
export function describePair(
  context: Context,
  view: View,
  axis: Axis,
  square: Square,
  limit = Infinity,
): HTMLElement[] {
  const { columns } = view;
  const cells = cellsAt(columns, axis, square.row, square.column);
  const functions = listFunctions(columns, view.selection, cells).map(({ mpi, ...load }): Line => ({
    name: mpi ?? kNotKnown,
    ...load,
  }));
  const transports = listTransports(columns, view.selection, cells).map(
    ({ transport, count, bytes, wire_bytes }): Line => ({
      name: transport,
      messages: null,
      bytes,
      transfers: count,
      wire_bytes,
    }),
  );
  const title = element('strong', {}, describeEnds(context, axis, square));
  if (functions.length === 0) return [title, element('div', {}, 'nothing that the filter selects')];
  const head = ['', 'messages', 'payload', 'transfers', 'wire bytes'];
  return [
    title,
    element(
      'table',
      { class: 'details' },
      element('thead', {}, element('tr', {}, ...head.map((text) => columnHead(text, true)))),
      element('tbody', {}, makeLine('all', addUp('all', functions))),
      ...makeGroup('mpi', 'by MPI function', functions, limit),
      ...makeGroup('transport', 'by UCT transport (the payload it carried)', transports, limit),
    ),
  ];
}

function addUp(name: string, lines: readonly Line[]): Line {
  const sum = (measure: Measure) => lines.reduce((total, line) => total + (line[measure] ?? 0), 0);
  const messages = lines.some((line) => line.messages === null) ? null : sum('messages');
  const [bytes, transfers, wire_bytes] = [sum('bytes'), sum('transfers'), sum('wire_bytes')];
  return { name, messages, bytes, transfers, wire_bytes };
}

function makeGroup(part: string, title: string, lines: Line[], limit: number): HTMLElement[] {
  if (lines.length === 0) return [];
  // A line that stands for a single other one would only hide its name.
  const listed = lines.length <= limit + 1 ? lines : lines.slice(0, limit);
  const others = lines.slice(listed.length);
  const heading = element('th', { scope: 'rowgroup', colspan: kMeasures.length + 1 }, title);
  return [
    element(
      'tbody',
      {},
      element('tr', { class: 'group' }, heading),
      ...listed.map((line) => makeLine(part, line)),
      ...(others.length > 0
        ? [makeLine('others', addUp(`${formatCount(others.length)} others`, others))]
        : []),
    ),
  ];
}

function makeLine(part: string, line: Line): HTMLElement {
  const { messages, bytes, transfers, wire_bytes } = line;
  return element(
    'tr',
    { 'data-part': part, 'data-name': line.name },
    rowHead(line.name),
    messages === null ? element('td') : numberCell(formatCount(messages), '', messages),
    numberCell(formatBytes(bytes), formatExactBytes(bytes), bytes),
    numberCell(formatCount(transfers), '', transfers),
    numberCell(formatBytes(wire_bytes), formatExactBytes(wire_bytes), wire_bytes),
  );
}
