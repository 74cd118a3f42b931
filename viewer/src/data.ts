// The data contract of docs/page-data.md as types; read_page.ts reads the data.

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
  /** Variables that were set, and for which processes, in short; empty for none. */
  settings: string;
  /** All settings, limits, and what UCX opened and left out: a line each. */
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

/** Where memory is. `gpu`: index of the GPU; -1 if it is none, or not known. */
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

/** All properties of a message that a filter can select by. */
export interface TrafficClass {
  /** Which UCP interface carried it: tag, put, ... */
  kind: string | null;
  mpi: string | null;
  comm: string | null;
  protocol: string | null;
  /** Length of the payload in bits: 2^(size - 1) <= bytes < 2^size. */
  size: number | null;
  match: Match | null;
  /** null for messages; else why these transfers serve no message. */
  reason: string | null;
  /** Memory where the data of the messages lay, and where it went; null if there is no message. */
  src_memory: Place | null;
  dst_memory: Place | null;
  path: Step[];
}

export interface Gpu {
  host: string;
  uuid: string;
  bus: string;
  name: string | null;
  /** Its name in options. */
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
  /** Messages whose start and end are known, and the nanoseconds from start to end of all of these together. */
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
  /** The part of the page that shows it. */
  command: string;
  /** The share of the time of all ranks, or of the payload, that it is about: 0 to 1. */
  share: number;
  /** The records themselves are doubtful. */
  doubts_records: boolean;
}

export type Reach = 'unknown' | 'process' | 'host' | 'network';

/** Messages of one protocol, reach and class of sizes; latencies within 1/64. */
export interface ProtocolSize {
  protocol: string | null;
  /** Where the two ends are: in one process, on one host, or on two hosts. */
  reach: Reach;
  /** As in a TrafficClass. */
  size: number;
  messages: number;
  bytes: number;
  untimed: number;
  median_ns: number | null;
  p99_ns: number | null;
  per_second_bytes: number | null;
  /** The least and the greatest time that UCX expects for them. */
  ucx_least_ns: number | null;
  ucx_most_ns: number | null;
}

/** A calling line of the program, and what its calls of one function cost on all ranks. */
export interface CallSite {
  /** null: not known, or not a line of the program. */
  site: string | null;
  mpi: string | null;
  calls: number;
  ns: number;
  /** The part of it spent waiting for other processes. */
  waiting_ns: number;
  ranks: number;
}

/** Waits caused by work of one process before calls at one place (docs/waits.md). */
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
  /** Its own name, as commands know it; null: these calls are on no communicator. */
  name: string | null;
  /** The name that the program, or MPI, gave it. */
  called: string | null;
  /** The MPI function that made it. */
  made_by: string | null;
  /** The own name of the communicator that it was made from. */
  parent: string | null;
  /** Processes; for an intercommunicator also those of the remote group. */
  size: number;
  remote_size: number;
  /** Another communicator has the name that messages use for it. */
  shares_name: boolean;
  calls: number;
  ns: number;
  /** The part of it spent waiting for other processes. */
  waiting_ns: number;
}

/** How the times of the packed tables relate to a clock. */
export interface TimeData {
  from_ns: number;
  /** The end of the span, within the last slab. */
  to_ns: number;
  slab_ns: number;
  slabs: number;
  /** The page shows only a span of the run. */
  is_part: boolean;
  clock_error_ns: number | null;
  messages_without_time: number;
  events: number;
  embedded: number;
  /** Every operation that begins before this instant is embedded. */
  details_to_ns: number;
  call_kinds: { mpi: string | null; comm: string | null }[];
}

/** What is known about the tiles of a page; tile i ends where the next one begins. */
export interface TilesData {
  from_ns: number[];
  operations: number[];
  /** Checksums of what each tile packs; null if tiles are made on request. */
  adler32: number[] | null;
}

/** All data but the tables. */
export interface RunData {
  schema: 7;
  run: Run;
  processes: Process[];
  devices: Devices;
  /** Names on the command line for sources and destinations that are not recorded processes. */
  unrecorded: { src: string[]; dst: string[] };
  classes: TrafficClass[];
  identities: Identity[];
  notes: string[];
  texts: string[];
  time: TimeData;
  /** All operations, in files that the page loads; null: the page itself has its operations. */
  tiles: TilesData | null;
  /** Names for the numbers in the tables of waits, as in docs/waits.md. */
  waits: { kinds: string[]; unknown: string[] };
  findings: Finding[];
  protocols: ProtocolSize[];
  /** The first rows, and how many others there are. */
  call_sites: { rows: CallSite[]; left_out: number };
  delays: { rows: Delay[]; left_out: number; ns: number };
  communicators: { rows: Communicator[]; left_out: number; ns: number };
  /** With an earlier run; null: with none. */
  comparison: Comparison | null;
  /** The page comes from `uctrace view --serve`, which also makes it for other spans. */
  served: boolean;
  /** The name of the run in a command, as a shell reads it; empty: commands need none. */
  folder: string;
}

export interface PageData extends RunData {
  cells: Cells;
  packed: Packed;
}

/** The form in the page: each step once, paths as indexes. */
export type WrittenData = Omit<RunData, 'classes'> & { steps: Step[]; classes: WrittenClass[] };
export type WrittenClass = Omit<TrafficClass, 'path'> & { path: number[] };

/** A page as it is read: its data, and its packed tables. */
export interface Page {
  readonly data: PageData;
  readonly tables: Tables;
}

/** `src` or `dst` of a cell whose process is not known. */
export const kUnknownProcess = -1;
