// The communicators of the run, with what was sent on each of what is chosen. tests/communicators.test.ts holds it to plain sums.

import type { Columns } from './columns';
import type { Communicator } from './data';
import { addCell, noLoad, type CellLoad, type Selection } from './filter';

export interface CommunicatorRow {
  /** As messages and filters have it; null: none that is known. */
  readonly called: string | null;
  /** What is known of it in the whole run; nothing of traffic that is not told apart by communicator. */
  readonly of?: Communicator;
  /** What of it is chosen; nothing where messages have the name that others have, too. */
  readonly load?: CellLoad;
}

/** The name by which messages know it: the program's, else its own. */
export function calledInMessages({ called, name }: Communicator): string | null {
  return called ?? name;
}

/** By the name of their communicator, the selected messages. One pass over the cells. */
function loadsByName(columns: Columns, selection: Selection): Map<string | null, CellLoad> {
  const { classes } = columns.data;
  const loads = new Map<string | null, CellLoad>();
  for (const { comm, reason } of classes) if (reason === null && !loads.has(comm)) loads.set(comm, noLoad());
  for (let c = 0; c < columns.src.length; ++c) {
    if (selection.cells[c]) addCell(loads.get(classes[columns.cellClass[c]!]!.comm)!, columns, selection, c);
  }
  return loads;
}

/**
 * Each communicator in the order of the data; then a row for each name of messages that is of none of them alone, if any such
 * message is selected. So each selected message counts in one row.
 */
export function listCommunicators(columns: Columns, selection: Selection): CommunicatorRow[] {
  const { rows } = columns.data.communicators;
  const loads = loadsByName(columns, selection);
  const alone = new Set(rows.filter(({ shares_name }) => !shares_name).map(calledInMessages));
  const told = rows.map((of): CommunicatorRow => {
    const called = calledInMessages(of);
    return { called, of, ...((alone.has(called) || !loads.has(called)) && { load: loads.get(called) ?? noLoad() }) };
  });
  const others = [...loads].filter(([called, { messages }]) => !alone.has(called) && messages > 0);
  return [...told, ...others.map(([called, load]): CommunicatorRow => ({ called, load }))];
}
