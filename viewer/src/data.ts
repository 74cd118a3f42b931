// The data contract of docs/page-data.md as types; read_page.ts reads it.

import type { Comparison } from './comparison';
import type { Packed, Tables } from './packed';

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
  /** All of them, limits, and what UCX opened and left out: a line each. */
  setting_lines: string[];
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

/**
 * Totals of one class between two processes each, as columns. Cell `c` owns the transfer totals `firstTransfer[c]` to
 * `firstTransfer[c + 1]`, in the order of the path of its class. Counts, bytes and nanoseconds are exact up to 2^53.
 */
export interface Cells {
  readonly src: Int32Array;
  readonly dst: Int32Array;
  readonly cellClass: Int32Array;
  readonly messages: Float64Array;
  readonly bytes: Float64Array;
  /** Messages of which start and end are known, and nanoseconds from one to the other, of all of these. */
  readonly timed: Float64Array;
  readonly time: Float64Array;
  readonly firstTransfer: Int32Array;

  readonly transferCount: Float64Array;
  readonly transferBytes: Float64Array;
  readonly transferWireBytes: Float64Array;
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
  /** What UCX expects of them, at least and at most. */
  ucx_least_ns: number | null;
  ucx_most_ns: number | null;
}

/** A line of the program that calls, and what its calls of one function cost on all ranks. */
export interface CallSite {
  /** null: it is not known, or none of the program. */
  site: string | null;
  mpi: string | null;
  calls: number;
  ns: number;
  /** Of it, for other processes. */
  waiting_ns: number;
  ranks: number;
}

/** Waits that come from work of one process before calls of one place (docs/waits.md). */
export interface Delay {
  process: number;
  mpi: string | null;
  site: string | null;
  waits: number;
  direct_ns: number;
  passed_on_ns: number;
}

/** What calls on a communicator cost on all ranks, without the start and the end of MPI. */
export interface Communicator {
  /** Its own, as commands know it; null: these calls are on none. */
  name: string | null;
  /** By the program, or MPI. */
  called: string | null;
  /** The MPI function. */
  made_by: string | null;
  /** The own name of the one that it was made from. */
  parent: string | null;
  /** Processes; of an intercommunicator also those of the other side. */
  size: number;
  remote_size: number;
  /** Another one has the name by which messages know it. */
  shares_name: boolean;
  calls: number;
  ns: number;
  /** Of it, for other processes. */
  waiting_ns: number;
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

/** What is known of the tiles of a page; tile i ends where the next one begins. */
export interface TilesData {
  from_ns: number[];
  operations: number[];
  /** Of what each packs; null where they are made when they are asked for. */
  adler32: number[] | null;
}

/** All but the tables. */
export interface RunData {
  schema: 6;
  run: Run;
  processes: Process[];
  devices: Devices;
  /** What the command line calls sources and destinations that are no recorded process. */
  unrecorded: { src: string[]; dst: string[] };
  classes: TrafficClass[];
  identities: Identity[];
  notes: string[];
  texts: string[];
  time: TimeData;
  /** All operations, in files that the page loads; null: it has its operations in itself. */
  tiles: TilesData | null;
  /** Names of what the tables of waits number, as docs/waits.md has them. */
  waits: { kinds: string[]; unknown: string[] };
  findings: Finding[];
  protocols: ProtocolSize[];
  /** The first ones, and how many there are besides. */
  call_sites: { rows: CallSite[]; left_out: number };
  delays: { rows: Delay[]; left_out: number; ns: number };
  communicators: { rows: Communicator[]; left_out: number; ns: number };
  /** With an earlier run; null: with none. */
  comparison: Comparison | null;
  /** The page comes from `uctrace view --serve`, which makes it of other spans, too. */
  served: boolean;
  /** What names the run in a command, as a shell reads it; empty: nothing has to. */
  folder: string;
}

export interface PageData extends RunData {
  cells: Cells;
  packed: Packed;
}

/** As it is in the page: each step once, paths as indexes. */
export type WrittenData = Omit<RunData, 'classes'> & { steps: Step[]; classes: WrittenClass[] };
export type WrittenClass = Omit<TrafficClass, 'path'> & { path: number[] };

/** A page as it is read: its data, and its packed tables. */
export interface Page {
  readonly data: PageData;
  readonly tables: Tables;
}

/** `src` or `dst` of a cell whose process is not known. */
export const kUnknownProcess = -1;
