// The communicators of the run: who made them, what was sent on them, and what calls on them cost.

import { listCommunicators, type CommunicatorRow } from '../communicators';
import type { Communicator } from '../data';
import { button, columnHead, element, numberCell, rowHead, section } from '../dom';
import type { CellLoad, Measure } from '../filter';
import { formatBytes, formatCount, formatExactBytes, formatShare } from '../format';
import type { Context, Panel, Update } from '../page';
import { withChoice } from '../state';
import { moreToldBy, sortedTable } from '../table';
import { kNotKnown } from '../words';
import { durationCell, kNone, noneCell } from './cells';

export function makeCommunicatorsPanel({ data, choices }: Context, update: Update): Panel {
  const { left_out, ns } = data.communicators;
  const listing = element('div');
  const root = section(
    'communicators',
    'Communicators',
    element(
      'p',
      {},
      'Messages, payload and its share are of what is chosen. Processes, calls and their times are of the whole run, without ' +
        'MPI_Init and MPI_Finalize; filters do not change them.',
    ),
    listing,
    ...moreToldBy(left_out, 'uctrace comms --by comm'),
  );
  const head = [
    columnHead('communicator'),
    columnHead('called'),
    columnHead('kind'),
    columnHead('made by'),
    columnHead('processes', true),
    columnHead('messages', true),
    columnHead('payload', true),
    columnHead('share', true),
    columnHead('calls', true),
    columnHead('time, all ranks', true),
    columnHead('of MPI', true),
    columnHead('of it waiting', true),
  ];
  const choose = (called: string | null) => update((state) => withChoice(state, 'comm', called));
  return {
    root,
    show({ columns, selection, totals }) {
      const rows = listCommunicators(columns, selection).map((row) =>
        element('tr', {}, ...nameCells(row, choices.comm.includes(row.called) ? choose : undefined), ...loadCells(row, totals), ...callCells(row, ns)),
      );
      listing.replaceChildren(
        rows.length > 0
          ? sortedTable({ 'data-testid': 'communicators-table' }, head, rows)
          : element('p', {}, 'No communicator was recorded.'),
      );
    },
  };
}

/** Its name and description. A click on the name chooses it, if any message is on it. */
function nameCells({ called, of }: CommunicatorRow, choose?: (called: string | null) => void): HTMLElement[] {
  const name = (of ? of.name : called) ?? kNotKnown;
  const title = `Show only messages ${called === null ? 'of no known communicator' : `on ${called}`}`;
  const shown = choose ? button(name, { class: 'link', title }, () => choose(called)) : name;
  if (!of || of.name === null) return [rowHead(shown), element('td', {}, kNone), element('td', {}, kNone), element('td', {}, kNone), noneCell()];
  const { size, remote_size } = of;
  return [
    rowHead(shown),
    element('td', {}, of.called ?? kNone),
    element('td', {}, remote_size > 0 ? 'inter' : 'intra'),
    element('td', {}, madeBy(of)),
    numberCell(remote_size > 0 ? `${formatCount(size)} + ${formatCount(remote_size)}` : formatCount(size), '', size + remote_size),
  ];
}

/** "MPI_Comm_split of W0.0" */
function madeBy({ made_by, parent }: Communicator): string {
  if (made_by === null) return parent === null ? kNone : `of ${parent}`;
  return parent === null ? made_by : `${made_by} of ${parent}`;
}

function loadCells({ called, load }: CommunicatorRow, totals: Record<Measure, number>): HTMLElement[] {
  if (!load) return Array.from({ length: 3 }, () => sharedCell(called));
  return sumCells(load, totals);
}

function sharedCell(called: string | null): HTMLElement {
  const cell = noneCell();
  cell.title = `Several communicators are called ${called}; their messages are in a row of that name`;
  return cell;
}

function sumCells({ messages, bytes }: CellLoad, totals: Record<Measure, number>): HTMLElement[] {
  const exact = formatExactBytes(bytes);
  return [
    numberCell(formatCount(messages), '', messages),
    numberCell(formatBytes(bytes), exact, bytes),
    numberCell(formatShare(bytes, totals.bytes), exact, totals.bytes === 0 ? 0 : bytes / totals.bytes),
  ];
}

/** `whole`: the time of the calls of all communicators. */
function callCells({ of }: CommunicatorRow, whole: number): HTMLElement[] {
  if (!of) return Array.from({ length: 4 }, noneCell);
  const { calls, ns, waiting_ns } = of;
  return [
    numberCell(formatCount(calls), '', calls),
    durationCell(ns),
    numberCell(formatShare(ns, whole), '', whole === 0 ? 0 : ns / whole),
    durationCell(waiting_ns),
  ];
}
