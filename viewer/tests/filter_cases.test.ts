// The filters of the page, compared with tests/filter-cases/cases.json, which the command line's test also reads.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { kChoices, makeChoices, optionWords, type Choice } from '../src/choices';
import { makeColumns } from '../src/columns';
import { refusalOf, selectionCommand } from '../src/command';
import type { MemoryKind, Place, Role, TrafficClass } from '../src/data';
import { cellValues, type Filter } from '../src/filter';
import type { PackedTable } from '../src/packed';
import { makeTimeAxis } from '../src/slabs';
import { kInitialState, withChoice, withSpan, type State } from '../src/state';
import { makeView } from '../src/view';
import { emptyRun, written } from './make_run.mjs';
import { pack, packTable } from './pack.mjs';
import { readWritten } from './read_written';

interface Step {
  transport: string;
  op: string;
  role: Role;
}
interface MessageRow extends Pick<TrafficClass, 'kind' | 'mpi' | 'comm' | 'protocol' | 'match'> {
  id: string;
  src: string;
  dst: string;
  bytes: number;
  start_ns: number | null;
  end_ns: number | null;
  posted_ns: number | null;
  src_memory: [MemoryKind, number];
  dst_memory: [MemoryKind, number];
  path: Step[];
}
interface TransferRow {
  id: string;
  src: string;
  dst: string;
  reason: string;
  start_ns: number;
  step: Step;
}
type Options = Record<string, string | string[] | true>;
interface Case {
  name: string;
  options: Options;
  only?: 'command' | 'page';
  kept?: string[];
  refused?: string;
}
interface Cases {
  filters: { option: string; sides: string[] }[];
  processes: { rank: number; host: string }[];
  gpus: { host: string; uuid: string; bus: string }[];
  slab_ns: number;
  slabs: number;
  messages: MessageRow[];
  without_message: TransferRow[];
  cases: Case[];
}
const cases = JSON.parse(readFileSync(new URL('filter_cases.json', import.meta.url), 'utf8')) as Cases;

/** Properties that select rows without being a choice from a list. A new one is a type error until it is named here. */
const kOtherOptions: Record<Exclude<keyof Filter, Choice>, string> = {
  from: 'from',
  to: 'to',
  withoutMessage: 'internal',
};

// ---- a page of the rows: each has a class and a cell of its own, in the order of the file ----

const kRows = [...cases.messages, ...cases.without_message];
const place = ([kind, gpu]: [MemoryKind, number]): Place => ({ kind, gpu });
const step = ({ transport, op, role }: Step, hop: number) => ({
  ...{ hop, transport, op, role, device: 'memory', remote_device: null, network: false, issued_by: 'src' as const },
  ...{ from: place(['unknown', -1]), to: place(['unknown', -1]) },
});
const processOf = (end: string) => cases.processes.findIndex(({ rank }) => String(rank) === end);
const pathOf = (row: MessageRow | TransferRow) => ('path' in row ? row.path : [row.step]);

function classOf(row: MessageRow | TransferRow): TrafficClass {
  const path = pathOf(row).map(step);
  if ('step' in row) {
    const none = { kind: null, mpi: null, comm: null, protocol: null, size: null, match: null };
    return { ...none, reason: row.reason, src_memory: null, dst_memory: null, path };
  }
  const { kind, mpi, comm, protocol, match, bytes } = row;
  const size = bytes === 0 ? 0 : Math.floor(Math.log2(bytes)) + 1;
  const memories = { src_memory: place(row.src_memory), dst_memory: place(row.dst_memory) };
  return { kind, mpi, comm, protocol, match, size, reason: null, ...memories, path };
}

/** Where a message belongs, as docs/page-data.md defines it. */
const timeOf = (row: MessageRow | TransferRow) =>
  row.start_ns ?? ('path' in row ? (row.end_ns ?? row.posted_ns) : null);

function tablesOf() {
  const bytesOf = (row: MessageRow | TransferRow) => ('path' in row ? row.bytes : 0);
  const slabRows = kRows
    .map((row, cell) => ({ row, cell, at: timeOf(row) }))
    .filter(({ at }) => at !== null)
    .map(({ at, ...others }) => ({ ...others, slab: Math.floor(at! / cases.slab_ns) }))
    .sort((a, b) => a.slab - b.slab || a.cell - b.cell);
  const messageRows = slabRows.filter(({ row }) => 'path' in row);
  let total = 0;
  const firstTotal = kRows.map((row) => (total += pathOf(row).length) - pathOf(row).length);
  const totals = slabRows.flatMap(({ row, cell, slab }) =>
    pathOf(row).map((_, at) => ({ slab, total: firstTotal[cell]! + at })),
  );
  const ones = Array<number>(total).fill(1);
  const zeros = <T>(rows: readonly T[]) => rows.map(() => 0);
  return {
    cells: {
      src: kRows.map(({ src }) => processOf(src)),
      dst: kRows.map(({ dst }) => processOf(dst)),
      class: [...kRows.keys()],
      messages: kRows.map((row) => Number('path' in row)),
      bytes: kRows.map(bytesOf),
      timed: zeros(kRows),
      ns: zeros(kRows),
    },
    cell_transfers: { count: ones, bytes: zeros(ones), wire_bytes: ones },
    slab_cells: {
      slab: messageRows.map(({ slab }) => slab),
      cell: messageRows.map(({ cell }) => cell),
      messages: messageRows.map(() => 1),
      bytes: messageRows.map(({ row }) => bytesOf(row)),
      timed: zeros(messageRows),
      ns: zeros(messageRows),
    },
    slab_transfers: {
      slab: totals.map(({ slab }) => slab),
      total: totals.map(({ total }) => total),
      count: totals.map(() => 1),
      bytes: zeros(totals),
      wire_bytes: totals.map(() => 1),
    },
  };
}

/** Sources, or destinations, that are not processes of the run, by their names on the command line. */
const unrecorded = (end: 'src' | 'dst') =>
  [...new Set(kRows.map((row) => row[end]))].filter((name) => processOf(name) < 0).sort();

const kEmpty = emptyRun();

/** With the other tables of a page, empty. */
function packOf(filled: Record<string, Record<string, number[]>>) {
  const others = (kEmpty.packed.tables as PackedTable[]).filter(({ name }) => !(name in filled));
  const empty = Object.fromEntries(
    others.map(({ name, columns }) => [
      name,
      Object.fromEntries(columns.map((column) => [column.name, [] as number[]])),
    ]),
  );
  return pack(Object.entries({ ...filled, ...empty }).map(([name, columns]) => packTable(name, columns)));
}

const { data, tables } = await readWritten({
  ...written({ ...kEmpty, classes: kRows.map(classOf) }),
  processes: cases.processes.map(({ rank, host }) => ({
    ...{ rank, host, pid: 100 + rank, label: String(rank), complete: true, exit: 'finalized' },
  })),
  devices: {
    gpus: cases.gpus.map((gpu) => ({ ...gpu, name: null, label: `${gpu.host}/${gpu.uuid}`, numa: null })),
    nics: [],
    gpu_nic: [],
  },
  unrecorded: { src: unrecorded('src'), dst: unrecorded('dst') },
  time: {
    ...kEmpty.time,
    ...{ from_ns: 0, to_ns: cases.slab_ns * cases.slabs, slab_ns: cases.slab_ns, slabs: cases.slabs },
  },
  packed: packOf(tablesOf()),
});

// ---- a reader's choices ----

const context = { data, columns: makeColumns(data), tables, axis: makeTimeAxis(data.time) };
const choices = makeChoices(data);
const optionOf = (choice: Choice) => optionWords(data, choice, choices[choice][0] ?? null)[0].slice(2);

/** As a reader would choose it from the lists; nothing if a list lacks the value. */
function stateOf({ from, to, internal, ...options }: Options): State | undefined {
  let state: State = { ...kInitialState, filter: internal ? { withoutMessage: true } : {} };
  for (const [option, wanted] of Object.entries(options)) {
    const choice = kChoices.find((one) => optionOf(one) === option);
    if (choice === undefined) throw new Error(`the page has no choice for --${option}`);
    const value = choices[choice].find((offered) => optionWords(data, choice, offered)[1] === wanted);
    if (value === undefined) return undefined;
    state = withChoice(state, choice, value);
  }
  const edge = (text: Options[string] | undefined) => {
    const found = /^(\d+)ns$/.exec(String(text));
    if (text !== undefined && !found) throw new Error(`the page has no edge at ${text}`);
    return found ? Number(found[1]) : undefined;
  };
  return withSpan(state, context.axis, edge(from), edge(to));
}

function kept(state: State): string[] {
  const { columns, selection } = makeView(context, state);
  const messages = cellValues(columns, selection, 'messages');
  const transfers = cellValues(columns, selection, 'transfers');
  return kRows.filter((row, cell) => ('path' in row ? messages : transfers)[cell]! > 0).map(({ id }) => id);
}

describe('filter cases', () => {
  for (const { name, options, only, kept: wanted, refused } of cases.cases) {
    if (only === 'command') continue;
    it(name, () => {
      const state = stateOf(options);
      if (refused !== undefined) {
        expect(state === undefined ? [] : kept(state)).toEqual([]);
        if (state !== undefined) expect(refusalOf(data, state.filter)).toMatch(/: no message has such a length; swap them/);
        return;
      }
      expect(state).toBeDefined();
      expect(kept(state!)).toEqual(wanted);
      expect(refusalOf(data, state!.filter)).toBeUndefined();
      const shown = selectionCommand(data, state!.filter);
      for (const option of Object.keys(options)) expect(shown).toContain(` --${option}`);
    });
  }

  it('are there for each filter of the page, which the file names', () => {
    const have = [...kChoices.map(optionOf), ...Object.values(kOtherOptions)].sort();
    const named = cases.filters.filter(({ sides }) => sides.includes('page')).map(({ option }) => option);
    expect(have).toEqual([...named].sort());
    const asked = new Set(cases.cases.filter(({ only }) => only !== 'command').flatMap((one) => Object.keys(one.options)));
    expect(named.filter((option) => !asked.has(option))).toEqual([]);
  });
});
