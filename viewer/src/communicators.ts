// The communicators of the run, with the selected traffic on each. tests/communicators.test.ts compares it with plain sums.

import type { Columns } from './columns';
import type { Communicator } from './data';
import { addCell, noLoad, type CellLoad, type Selection } from './filter';

export interface CommunicatorRow {
  /** The name in messages and filters; null: not known. */
  readonly called: string | null;
  /** What is known of it in the whole run; nothing for traffic that is not separated by communicator. */
  readonly of?: Communicator;
  /** Its selected traffic; nothing if messages use a name that several communicators share. */
  readonly load?: CellLoad;
}

/** The name by which messages know it: the program's, else its own. */
export function calledInMessages({ called, name }: Communicator): string | null {
  return called ?? name;
}

/** The selected messages, by the name of their communicator. One pass over the cells. */
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
 * Each communicator in the order of the data; then a row for each name in messages that does not belong to exactly one
 * of them, if any such message is selected. So each selected message counts in one row.
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
