// The data contract of docs/page-data.md: its types, and a reader that refuses anything else.

import { count, flag, integer, list, located, nullable, oneOf, primitive, record, text } from './checks';
import { comparison, type Comparison } from './comparison';
import { DataError } from './error';
import { readCells } from './cells';
import { unpack, type Packed, type PackedColumn, type PackedTable, type Tables } from './packed';

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
  /** Variables that were set, and for whom, in short; empty for none. */
  settings: string;
}

export interface Process {
  rank: number | null;
  host: string;
  pid: number;
  label: string;
  complete: boolean;
  exit: string;
}

export const kMemoryKinds = ['unknown', 'host', 'gpu', 'managed'] as const;
export type MemoryKind = (typeof kMemoryKinds)[number];

/** Where memory is. `gpu`: into the GPUs, -1 for none, or where it is not known. */
export interface Place {
  kind: MemoryKind;
  gpu: number;
}

/** One hop of a data path, aggregated over fragments. */
export interface Step {
  hop: number;
  transport: string;
  device: string;
  remote_device: string | null;
  /** The devices are network cards. */
  network: boolean;
  op: string;
  role: Role;
  issued_by: 'src' | 'dst';
  from: Place;
  to: Place;
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
  /** Where the data of the messages lay, and where it went; null where there is no message. */
  src_memory: Place | null;
  dst_memory: Place | null;
  path: Step[];
}

export interface Gpu {
  host: string;
  uuid: string;
  bus: string;
  name: string | null;
  /** What it is called in options. */
  label: string;
  numa: number | null;
}

/** A network card of a host, or a port of one, as UCT names it. */
export interface Nic {
  host: string;
  device: string;
  bus: string | null;
  numa: number | null;
}

export const kDistances = ['unknown', 'PIX', 'PXB', 'PHB', 'NODE', 'SYS'] as const;
export type Distance = (typeof kDistances)[number];

/** How far a GPU is from a network card of its host. */
export interface GpuNic {
  gpu: number;
  nic: number;
  distance: Distance;
  numa_distance: number | null;
}

export interface Devices {
  gpus: Gpu[];
  nics: Nic[];
  gpu_nic: GpuNic[];
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

/** What is worth looking at, by a rule of docs/findings.md; the most important one first. */
export interface Finding {
  rule: string;
  finding: string;
  advice: string;
  /** What shows it. */
  command: string;
  /** How much it is about, of the time of all ranks, or of the payload: 0 to 1. */
  share: number;
  /** The records themselves are in doubt. */
  doubts_records: boolean;
}

export type Reach = 'unknown' | 'process' | 'host' | 'network';

/** Messages of one protocol, reach and class of sizes; latencies within 1/64. */
export interface ProtocolSize {
  protocol: string | null;
  /** Where the two ends are: within a process, or a host, or on two hosts. */
  reach: Reach;
  /** As of a TrafficClass. */
  size: number;
  messages: number;
  bytes: number;
  untimed: number;
  median_ns: number | null;
  p99_ns: number | null;
  per_second_bytes: number | null;
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
  schema: 3;
  run: Run;
  processes: Process[];
  devices: Devices;
  /** What the command line calls sources and destinations that are no recorded process. */
  unrecorded: { src: string[]; dst: string[] };
  classes: TrafficClass[];
  cells: Cell[];
  identities: Identity[];
  notes: string[];
  texts: string[];
  time: TimeData;
  packed: Packed;
  findings: Finding[];
  protocols: ProtocolSize[];
  /** With an earlier run; null: with none. */
  comparison: Comparison | null;
  /** The page comes from `uctrace view --serve`, which makes it of other spans, too. */
  served: boolean;
}

/** As it is in the page: each step once, paths as indexes, cells in packed tables. */
export type WrittenData = Omit<PageData, 'classes' | 'cells'> & { steps: Step[]; classes: WrittenClass[] };
type WrittenClass = Omit<TrafficClass, 'path'> & { path: number[] };

/** `src` or `dst` of a cell whose process is not known. */
export const kUnknownProcess = -1;

const place = record<Place>({ kind: oneOf<MemoryKind>(...kMemoryKinds), gpu: integer });

const writtenData = record<WrittenData>({
  schema: oneOf(3),
  run: record<Run>({
    id: text,
    command: text,
    started: text,
    duration_ns: count,
    mpi: nullable(text),
    ucx: nullable(text),
    tool: text,
    complete: flag,
    settings: text,
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
  devices: record<Devices>({
    gpus: list(
      record<Gpu>({
        host: text,
        uuid: text,
        bus: text,
        name: nullable(text),
        label: text,
        numa: nullable(integer),
      }),
    ),
    nics: list(
      record<Nic>({ host: text, device: text, bus: nullable(text), numa: nullable(integer) }),
    ),
    gpu_nic: list(
      record<GpuNic>({
        gpu: count,
        nic: count,
        distance: oneOf<Distance>(...kDistances),
        numa_distance: nullable(integer),
      }),
    ),
  }),
  unrecorded: record<PageData['unrecorded']>({ src: list(text), dst: list(text) }),
  steps: list(
    record<Step>({
      hop: count,
      transport: text,
      device: text,
      remote_device: nullable(text),
      network: flag,
      op: text,
      role: oneOf<Role>('data', 'control', 'staging'),
      issued_by: oneOf('src', 'dst'),
      from: place,
      to: place,
    }),
  ),
  classes: list(
    record<WrittenClass>({
      kind: nullable(text),
      mpi: nullable(text),
      comm: nullable(text),
      protocol: nullable(text),
      size: nullable(count),
      match: nullable(oneOf<Match>('exact', 'inferred', 'ambiguous', 'unmatched', 'outside_window')),
      reason: nullable(text),
      src_memory: nullable(place),
      dst_memory: nullable(place),
      path: list(count),
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
  findings: list(
    record<Finding>({
      rule: text,
      finding: text,
      advice: text,
      command: text,
      share: primitive<number>('a number', (v) => Number.isFinite(v)),
      doubts_records: flag,
    }),
  ),
  protocols: list(
    record<ProtocolSize>({
      protocol: nullable(text),
      reach: oneOf<Reach>('unknown', 'process', 'host', 'network'),
      size: count,
      messages: count,
      bytes: count,
      untimed: count,
      median_ns: nullable(count),
      p99_ns: nullable(count),
      per_second_bytes: nullable(count),
    }),
  ),
  comparison: nullable(comparison),
  served: flag,
});

function checkDevices({ classes, devices: { gpus, nics, gpu_nic } }: PageData): void {
  classes.forEach(({ src_memory, dst_memory, path }, index) => {
    for (const place of [src_memory, dst_memory, ...path.flatMap(({ from, to }) => [from, to])]) {
      if (place === null || (place.gpu >= -1 && place.gpu < gpus.length)) continue;
      throw new DataError(`.classes[${index}]: there is no GPU ${place.gpu}`);
    }
  });
  gpu_nic.forEach(({ gpu, nic }, index) => {
    if (gpu < gpus.length && nic < nics.length) return;
    throw new DataError(`.devices.gpu_nic[${index}]: there is no GPU ${gpu} or card ${nic}`);
  });
}

/** Puts the steps into the paths of the classes, which share them. */
function withPaths({ steps, classes }: WrittenData): TrafficClass[] {
  return classes.map((each, index) => ({
    ...each,
    path: each.path.map((number) => {
      const step = steps[number];
      if (!step) throw new DataError(`.classes[${index}].path: there is no step ${number}`);
      return step;
    }),
  }));
}

/** A page as it is read: its data, and its packed tables. */
export interface Page {
  readonly data: PageData;
  readonly tables: Tables;
}

/** Reads the JSON text of a page. Throws a DataError; costs one pass over the data. */
export async function readPage(json: string): Promise<Page> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new DataError(`The data is not JSON: ${(error as Error).message}`);
  }
  try {
    const { steps: _steps, ...written } = writtenData(value);
    const classes = withPaths({ ...written, steps: _steps });
    const tables = await unpack(written.packed);
    const data = { ...written, classes, cells: readCells(tables, classes, written.processes.length) };
    checkDevices(data);
    return { data, tables };
  } catch (error) {
    throw located('data', error);
  }
}
