// The data contract of docs/page-data.md: its types, and a reader that refuses anything else.

import { DataError } from './error';
import type { Packed, PackedColumn, PackedTable } from './packed';

export { DataError } from './error';

export type Role = 'data' | 'control' | 'staging';
export type Match = 'exact' | 'inferred' | 'ambiguous' | 'unmatched' | 'outside_window';

export interface Run {
  id: string;
  command: string;
  started: string;
  duration_ns: number;
  mpi: string | null;
  ucx: string | null;
  tool: string;
  complete: boolean;
}

export interface Process {
  rank: number | null;
  host: string;
  pid: number;
  label: string;
  complete: boolean;
  exit: string;
}

/** One hop of a data path, aggregated over fragments. */
export interface Step {
  hop: number;
  transport: string;
  device: string;
  op: string;
  role: Role;
  issued_by: 'src' | 'dst';
}

/** Everything that a filter can ask of a message. */
export interface TrafficClass {
  /** Which UCP interface carried it: tag, put, ... */
  kind: string | null;
  mpi: string | null;
  comm: string | null;
  protocol: string | null;
  /** Bits of the payload's length: 2^(size - 1) <= bytes < 2^size. */
  size: number | null;
  match: Match | null;
  /** null for messages; why these transfers serve no message otherwise. */
  reason: string | null;
  path: Step[];
}

export interface TransferTotals {
  count: number;
  bytes: number;
  wire_bytes: number;
}

/** Totals of one class between two processes; `transfers[i]` belongs to `path[i]` of the class. */
export interface Cell {
  src: number;
  dst: number;
  class: number;
  messages: number;
  bytes: number;
  transfers: TransferTotals[];
}

export interface Identity {
  name: string;
  scope: string;
  statement: string;
  left: number | null;
  right: number | null;
  result: 'holds' | 'violated' | 'incomplete';
}

/** What stands between the packed tables and a clock. */
export interface TimeData {
  from_ns: number;
  /** The end of the span, within the last slab. */
  to_ns: number;
  slab_ns: number;
  slabs: number;
  /** The page shows a span of the run only. */
  is_part: boolean;
  clock_error_ns: number | null;
  messages_without_time: number;
  events: number;
  embedded: number;
  /** Every operation that begins before is embedded. */
  details_to_ns: number;
  call_kinds: { mpi: string | null; comm: string | null }[];
}

export interface PageData {
  schema: 1;
  run: Run;
  processes: Process[];
  /** What the command line calls sources and destinations that are no recorded process. */
  unrecorded: { src: string[]; dst: string[] };
  classes: TrafficClass[];
  cells: Cell[];
  identities: Identity[];
  notes: string[];
  texts: string[];
  time: TimeData;
  packed: Packed;
}

/** `src` or `dst` of a cell whose process is not known. */
export const kUnknownProcess = -1;

/** Returns the value with its type, or throws a DataError that says where and what is wrong. */
type Check<T> = (value: unknown) => T;

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function primitive<T>(what: string, accepts: (value: unknown) => boolean): Check<T> {
  return (value) => {
    if (!accepts(value)) throw new DataError(`: expected ${what}, found ${show(value)}`);
    return value as T;
  };
}

const text = primitive<string>('text', (v) => typeof v === 'string');
const flag = primitive<boolean>('true or false', (v) => typeof v === 'boolean');
const integer = primitive<number>('a whole number below 2^53', (v) => Number.isSafeInteger(v));
const count = primitive<number>(
  'a whole number from 0 to 2^53',
  (v) => Number.isSafeInteger(v) && (v as number) >= 0,
);

function nullable<T>(check: Check<T>): Check<T | null> {
  return (value) => (value === null ? null : check(value));
}

function oneOf<T extends string | number>(...allowed: T[]): Check<T> {
  return primitive<T>(allowed.join(' or '), (v) => allowed.includes(v as T));
}

/** Puts where the fault lies in front of its message. */
function located(where: string, error: unknown): unknown {
  return error instanceof DataError ? new DataError(where + error.message) : error;
}

function list<T>(check: Check<T>): Check<T[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new DataError(`: expected a list, found ${show(value)}`);
    let index = 0;
    try {
      for (; index < value.length; ++index) check(value[index]);
    } catch (error) {
      throw located(`[${index}]`, error);
    }
    return value as T[];
  };
}

function record<T extends object>(fields: { [K in keyof T]: Check<T[K]> }): Check<T> {
  const checks = Object.entries(fields) as [string, Check<unknown>][];
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new DataError(`: expected an object, found ${show(value)}`);
    }
    let field = '';
    try {
      for (const [name, check] of checks) {
        field = name;
        check((value as Record<string, unknown>)[name]);
      }
    } catch (error) {
      throw located(`.${field}`, error);
    }
    return value as T;
  };
}

const pageData = record<PageData>({
  schema: oneOf(1),
  run: record<Run>({
    id: text,
    command: text,
    started: text,
    duration_ns: count,
    mpi: nullable(text),
    ucx: nullable(text),
    tool: text,
    complete: flag,
  }),
  processes: list(
    record<Process>({
      rank: nullable(integer),
      host: text,
      pid: count,
      label: text,
      complete: flag,
      exit: text,
    }),
  ),
  unrecorded: record<PageData['unrecorded']>({ src: list(text), dst: list(text) }),
  classes: list(
    record<TrafficClass>({
      kind: nullable(text),
      mpi: nullable(text),
      comm: nullable(text),
      protocol: nullable(text),
      size: nullable(count),
      match: nullable(oneOf<Match>('exact', 'inferred', 'ambiguous', 'unmatched', 'outside_window')),
      reason: nullable(text),
      path: list(
        record<Step>({
          hop: count,
          transport: text,
          device: text,
          op: text,
          role: oneOf<Role>('data', 'control', 'staging'),
          issued_by: oneOf('src', 'dst'),
        }),
      ),
    }),
  ),
  cells: list(
    record<Cell>({
      src: integer,
      dst: integer,
      class: count,
      messages: count,
      bytes: count,
      transfers: list(record<TransferTotals>({ count: count, bytes: count, wire_bytes: count })),
    }),
  ),
  identities: list(
    record<Identity>({
      name: text,
      scope: text,
      statement: text,
      left: nullable(integer),
      right: nullable(integer),
      result: oneOf('holds', 'violated', 'incomplete'),
    }),
  ),
  notes: list(text),
  texts: list(text),
  time: record<TimeData>({
    from_ns: count,
    to_ns: count,
    slab_ns: count,
    slabs: count,
    is_part: flag,
    clock_error_ns: nullable(primitive<number>('a number', (v) => Number.isFinite(v))),
    messages_without_time: count,
    events: count,
    embedded: count,
    details_to_ns: count,
    call_kinds: list(record({ mpi: nullable(text), comm: nullable(text) })),
  }),
  packed: record<Packed>({
    tables: list(
      record<PackedTable>({
        name: text,
        rows: count,
        columns: list(
          record<PackedColumn>({ name: text, bytes: count, signed: flag, differences: flag }),
        ),
      }),
    ),
    bytes: count,
    deflated: text,
  }),
});

/** Checks what the shape cannot say: that indexes point at something. */
function checkReferences(data: PageData): void {
  const fail = (index: number, problem: string): never => {
    throw new DataError(`.cells[${index}]${problem}`);
  };
  const isProcess = (index: number) => index >= kUnknownProcess && index < data.processes.length;
  data.cells.forEach((cell, index) => {
    if (!isProcess(cell.src)) fail(index, `.src: there is no process ${cell.src}`);
    if (!isProcess(cell.dst)) fail(index, `.dst: there is no process ${cell.dst}`);
    const path = data.classes[cell.class]?.path ?? fail(index, `.class: no class ${cell.class}`);
    if (cell.transfers.length !== path.length) {
      fail(index, `.transfers: ${cell.transfers.length} totals for ${path.length} steps`);
    }
  });
}

/** Reads the JSON text of a page. Throws a DataError; costs one pass over the data. */
export function parsePageData(json: string): PageData {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new DataError(`The data is not JSON: ${(error as Error).message}`);
  }
  try {
    const data = pageData(value);
    checkReferences(data);
    return data;
  } catch (error) {
    throw located('data', error);
  }
}
