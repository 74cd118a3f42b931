// The details of a square in the matrix: its sums, and the part of each MPI function and each
// transport.

import { listFunctions, listTransports } from '../contenders';
import { columnHead, element, numberCell, rowHead } from '../dom';
import { formatBytes, formatCount, formatExactBytes } from '../format';
import { cellsAt, processesOf, type Axis, type Side, type Square } from '../matrix';
import type { Context, View } from '../page';
import { describeUntimed, kNotKnown, rowLabel } from '../words';
import { timeCells, type MessageTimes } from './time_cells';

interface Line {
  readonly name: string;
  /** Left out if a sum would count a message more than once. */
  readonly ofMessages?: MessageTimes;
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

/** For the cells in one square. `squares`: the square of each cell. */
interface InSquare {
  readonly squares: Int32Array;
  readonly axis: Side;
  readonly square: Square;
}

/** A title and tables beside each other. */
export function describeCells(view: View, name: string, { squares, axis, square }: InSquare): HTMLElement[] {
  const { columns } = view;
  const cells = cellsAt(squares, axis, square);
  const functions = listFunctions(columns, view.selection, cells).map(
    ({ mpi, messages, timed, time, ...load }) => ({
      name: mpi ?? kNotKnown,
      ofMessages: { messages, timed, time },
      ...load,
    }),
  );
  const transports = listTransports(columns, view.selection, cells).map(
    ({ transport, count, bytes, wire_bytes }): Line => ({
      name: transport,
      bytes,
      transfers: count,
      wire_bytes,
    }),
  );
  const title = element('strong', {}, name);
  if (functions.length === 0) return [title, element('div', {}, 'nothing that the filter selects')];
  const all = addUp('all', functions);
  const { messages, timed } = all.ofMessages;
  return [
    title,
    element(
      'div',
      { class: 'tables' },
      makeTable('by MPI function', kOfMessages, [['all', all], ...functions.map((line) => ['mpi', line] as const)]),
      ...(transports.length > 0
        ? [makeTable('by UCT transport', kOfTransfers, transports.map((line) => ['transport', line] as const))]
        : []),
    ),
    ...(messages > timed ? [element('div', {}, describeUntimed(messages - timed))] : []),
  ];
}

const kOfTransfers = ['payload carried', 'transfers', 'wire bytes'];
const kOfMessages = ['messages', 'payload', 'transfers', 'wire bytes', 'time', 'mean time'];

function addUp(name: string, lines: readonly (Line & { ofMessages: MessageTimes })[]) {
  const sum = (of: (line: Line & { ofMessages: MessageTimes }) => number) => lines.reduce((total, line) => total + of(line), 0);
  return {
    name,
    ofMessages: {
      messages: sum(({ ofMessages }) => ofMessages.messages),
      timed: sum(({ ofMessages }) => ofMessages.timed),
      time: sum(({ ofMessages }) => ofMessages.time),
    },
    bytes: sum((line) => line.bytes),
    transfers: sum((line) => line.transfers),
    wire_bytes: sum((line) => line.wire_bytes),
  };
}

function makeTable(title: string, head: readonly string[], lines: readonly (readonly [part: string, line: Line])[]): HTMLElement {
  return element(
    'table',
    { class: 'details' },
    element('thead', {}, element('tr', {}, columnHead(title), ...head.map((text) => columnHead(text, true)))),
    element('tbody', {}, ...lines.map(([part, line]) => makeLine(part, line))),
  );
}

function makeLine(part: string, line: Line): HTMLElement {
  const { ofMessages, bytes, transfers, wire_bytes } = line;
  return element(
    'tr',
    { 'data-part': part, 'data-name': line.name },
    rowHead(line.name),
    ...(ofMessages ? [numberCell(formatCount(ofMessages.messages), '', ofMessages.messages)] : []),
    numberCell(formatBytes(bytes), formatExactBytes(bytes), bytes),
    numberCell(formatCount(transfers), '', transfers),
    numberCell(formatBytes(wire_bytes), formatExactBytes(wire_bytes), wire_bytes),
    ...(ofMessages ? timeCells(ofMessages) : []),
  );
}
