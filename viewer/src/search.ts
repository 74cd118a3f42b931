// Finds operations by their known properties. tests/search.test.ts compares it with a plain search.

import { processLabel } from './choices';
import type { PageData } from './data';
import type { Details, LayerDetails } from './details';
import type { Numbers } from './packed';
import type { Layer } from './slabs';

const kFields = ['function', 'protocol', 'transport', 'site', 'peer', 'rank'] as const;
type Field = (typeof kFields)[number];

interface Term {
  /** Undefined: any text of the operation. */
  readonly field: Field | undefined;
  readonly text: string;
}

/** Words that an operation must all have, ignoring case; "transport:rc" searches that property alone. */
export function parseQuery(text: string): Term[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const field = kFields.find((name) => word.startsWith(`${name}:`));
      return field ? { field, text: word.slice(field.length + 1) } : { field: undefined, text: word };
    });
}

/** Columns that name texts. */
const kTexts: Record<Layer, Partial<Record<Field, readonly string[]>>> = {
  mpi: { function: ['function'], site: ['site'] },
  ucp: { function: ['function', 'asked_by'], protocol: ['protocol'], site: ['site'] },
  uct: { function: ['op'], transport: ['transport', 'device'] },
};
const kOtherTexts: Record<Layer, readonly string[]> = { mpi: ['comm'], ucp: ['status'], uct: ['reason', 'memory_domain'] };
/** Columns of peers: ranks of MPI_COMM_WORLD, or processes. */
const kPeerRanks: Record<Layer, readonly string[]> = { mpi: ['peer', 'recv_peer'], ucp: [], uct: [] };
const kPeerProcesses: Record<Layer, readonly string[]> = { mpi: [], ucp: ['peer'], uct: ['peer'] };

type Test = (row: number) => boolean;

function makeTest(data: PageData, { layer, table }: LayerDetails, { field, text }: Term): Test {
  const any = (columns: readonly Numbers[], accepts: (value: number) => boolean): Test =>
    columns.length === 1
      ? (row) => accepts(columns[0]![row]!)
      : (row) => columns.some((column) => accepts(column[row]!));
  const of = (names: readonly string[]) => names.map((name) => table.column(name));
  if (field === 'rank') return any(of(['process']), (process) => processLabel(data, process).toLowerCase() === text);
  if (field === 'peer') {
    const byRank = any(of(kPeerRanks[layer]), (rank) => String(rank) === text);
    const byProcess = any(of(kPeerProcesses[layer]), (process) => process >= 0 && processLabel(data, process).toLowerCase() === text);
    return (row) => byRank(row) || byProcess(row);
  }
  const own = kTexts[layer];
  const names = field ? (own[field] ?? []) : [...Object.values(own).flat(), ...kOtherTexts[layer]];
  const has = Uint8Array.from(data.texts, (each) => Number(each.toLowerCase().includes(text)));
  return any(of(names), (id) => id > 0 && has[id] === 1);
}

export interface Found {
  /** Into Details.layers. */
  readonly layer: number;
  readonly row: number;
}

/** The operations that a query found, to step through in time. */
export interface Findings {
  readonly count: number;
  /** The next or previous one in time, around the ends. Without a start: the first one, backwards the last one. */
  next(from: Found | undefined, step: 1 | -1): Found | undefined;
  /** How many are at or before this one. */
  placeOf(found: Found): number;
}

/** Searches the operations that `accepts` admits; no words find nothing. Costs a pass over the operations. */
export function search(
  data: PageData,
  details: Details,
  query: string,
  accepts: (layer: LayerDetails, process: number, row: number) => boolean,
): Findings {
  const terms = parseQuery(query);
  const found: Found[] = [];
  if (terms.length > 0) {
    details.layers.forEach((layer, index) => {
      const tests = terms.map((term) => makeTest(data, layer, term));
      const process = layer.table.column('process');
      for (let row = 0; row < layer.table.rows; ++row) {
        if (tests.every((test) => test(row)) && accepts(layer, process[row]!, row)) found.push({ layer: index, row });
      }
    });
  }
  const startOf = ({ layer, row }: Found) => details.layers[layer]!.start[row]!;
  // By time; at the same instant by layer, then by row.
  const compare = (a: Found, b: Found) => startOf(a) - startOf(b) || a.layer - b.layer || a.row - b.row;
  const extreme = (from: Found | undefined, step: 1 | -1) => {
    let best: Found | undefined;
    for (const each of found) {
      if (from && compare(each, from) * step <= 0) continue;
      if (!best || compare(each, best) * step < 0) best = each;
    }
    return best;
  };
  return {
    count: found.length,
    next: (from, step) => extreme(from, step) ?? extreme(undefined, step),
    placeOf: (here) => found.reduce((sum, each) => sum + Number(compare(each, here) <= 0), 0),
  };
}
