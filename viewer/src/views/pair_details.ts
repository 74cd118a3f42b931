// What one square of the matrix stands for: its sums, and what each MPI function and each transport
// adds to them.

import { listFunctions, listTransports } from '../contenders';
import { columnHead, element, numberCell, rowHead } from '../dom';
import { formatBytes, formatCount, formatExactBytes } from '../format';
import { cellsAt, processesOf, type Axis, type Square } from '../matrix';
import type { Context, View } from '../page';
import { describeUntimed, kNotKnown, rowLabel } from '../words';
import { timeCells, type MessageTimes } from './time_cells';

interface Line {
  readonly name: string;
  /** Null where a sum would count a message more than once. */
  readonly ofMessages: MessageTimes | null;
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

/** `squares`: that of each cell. Of each breakdown the `limit` largest lines are listed, and the sum of the others. */
export function describePair(
  context: Context,
  view: View,
  axis: Axis,
  squares: Int32Array,
  square: Square,
  limit = Infinity,
): HTMLElement[] {
  const { columns } = view;
  const cells = cellsAt(squares, axis, square);
  const functions = listFunctions(columns, view.selection, cells).map(
    ({ mpi, messages, timed, time, ...load }): Line => ({
      name: mpi ?? kNotKnown,
      ofMessages: { messages, timed, time },
      ...load,
    }),
  );
  const transports = listTransports(columns, view.selection, cells).map(
    ({ transport, count, bytes, wire_bytes }): Line => ({
      name: transport,
      ofMessages: null,
      bytes,
      transfers: count,
      wire_bytes,
    }),
  );
  const title = element('strong', {}, describeEnds(context, axis, square));
  if (functions.length === 0) return [title, element('div', {}, 'nothing that the filter selects')];
  const all = addUp('all', functions);
  const { messages, timed } = all.ofMessages!;
  return [
    title,
    element(
      'table',
      { class: 'details' },
      element('thead', {}, element('tr', {}, ...kHead.map((text) => columnHead(text, true)))),
      element('tbody', {}, makeLine('all', all)),
      ...makeGroup('mpi', 'by MPI function', functions, limit),
      ...makeGroup('transport', 'by UCT transport (the payload it carried)', transports, limit),
    ),
    ...(messages > timed ? [element('div', {}, describeUntimed(messages - timed))] : []),
  ];
}

const kHead = ['', 'messages', 'payload', 'transfers', 'wire bytes', 'time', 'mean time'];

function addUp(name: string, lines: readonly Line[]): Line {
  const sum = (of: (line: Line) => number) => lines.reduce((total, line) => total + of(line), 0);
  const ofMessages = lines.some((line) => line.ofMessages === null)
    ? null
    : {
        messages: sum((line) => line.ofMessages!.messages),
        timed: sum((line) => line.ofMessages!.timed),
        time: sum((line) => line.ofMessages!.time),
      };
  return {
    name,
    ofMessages,
    bytes: sum((line) => line.bytes),
    transfers: sum((line) => line.transfers),
    wire_bytes: sum((line) => line.wire_bytes),
  };
}

function makeGroup(part: string, title: string, lines: Line[], limit: number): HTMLElement[] {
  if (lines.length === 0) return [];
  // A line that stands for a single other one would only hide its name.
  const listed = lines.length <= limit + 1 ? lines : lines.slice(0, limit);
  const others = lines.slice(listed.length);
  const heading = element('th', { scope: 'rowgroup', colspan: kHead.length }, title);
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
  const { ofMessages, bytes, transfers, wire_bytes } = line;
  return element(
    'tr',
    { 'data-part': part, 'data-name': line.name },
    rowHead(line.name),
    ofMessages ? numberCell(formatCount(ofMessages.messages), '', ofMessages.messages) : element('td'),
    numberCell(formatBytes(bytes), formatExactBytes(bytes), bytes),
    numberCell(formatCount(transfers), '', transfers),
    numberCell(formatBytes(wire_bytes), formatExactBytes(wire_bytes), wire_bytes),
    ...(ofMessages ? timeCells(ofMessages) : [element('td'), element('td')]),
  );
}
