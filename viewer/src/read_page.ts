// Reads the data of a page (docs/page-data.md), and refuses anything else.

import { readCells } from './cells';
import { count, flag, integer, list, located, nullable, oneOf, primitive, record, text } from './checks';
import { comparison } from './comparison';
import {
  DataError,
  kDistances,
  kMemoryKinds,
  type CallSite,
  type Communicator,
  type Delay,
  type Devices,
  type Distance,
  type Finding,
  type Gpu,
  type GpuNic,
  type Identity,
  type Match,
  type MemoryKind,
  type Nic,
  type Page,
  type PageData,
  type Place,
  type Process,
  type ProtocolSize,
  type Reach,
  type Role,
  type Run,
  type RunData,
  type Step,
  type TilesData,
  type TimeData,
  type TrafficClass,
  type WrittenClass,
  type WrittenData,
} from './data';
import { unpack, type Packed, type PackedColumn, type PackedTable } from './packed';
import { parsePlain } from './plain';

const place = record<Place>({ kind: oneOf<MemoryKind>(...kMemoryKinds), gpu: integer });

/** A sum of times, which can have any length if a log is damaged; exact up to 2^53. */
const length = primitive<number>('a time', (v) => Number.isFinite(v) && (v as number) >= 0);

const packed = record<Packed>({
  tables: list(
    record<PackedTable>({
      name: text,
      rows: count,
      columns: list(record<PackedColumn>({ name: text, bytes: count, signed: flag, differences: flag })),
    }),
  ),
  bytes: count,
  adler32: count,
  deflated: text,
});

const writtenData = record<WrittenData>({
  schema: oneOf(7),
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
    setting_lines: list(text),
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
  tiles: nullable(record<TilesData>({ from_ns: list(count), operations: list(count), adler32: nullable(list(count)) })),
  waits: record<PageData['waits']>({ kinds: list(text), unknown: list(text) }),
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
      ucx_least_ns: nullable(count),
      ucx_most_ns: nullable(count),
    }),
  ),
  call_sites: record<RunData['call_sites']>({
    rows: list(
      record<CallSite>({ site: nullable(text), mpi: nullable(text), calls: count, ns: length, waiting_ns: length, ranks: count }),
    ),
    left_out: count,
  }),
  delays: record<RunData['delays']>({
    rows: list(
      record<Delay>({
        process: count,
        mpi: nullable(text),
        site: nullable(text),
        waits: count,
        direct_ns: length,
        passed_on_ns: length,
      }),
    ),
    left_out: count,
    ns: length,
  }),
  communicators: record<RunData['communicators']>({
    rows: list(
      record<Communicator>({
        name: nullable(text),
        called: nullable(text),
        made_by: nullable(text),
        parent: nullable(text),
        size: count,
        remote_size: count,
        shares_name: flag,
        calls: count,
        ns: length,
        waiting_ns: length,
      }),
    ),
    left_out: count,
    ns: length,
  }),
  comparison: nullable(comparison),
  served: flag,
  folder: text,
});

function checkDevices({ classes, devices: { gpus, nics, gpu_nic } }: RunData): void {
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

function checkTiles({ tiles, time }: RunData): void {
  if (tiles === null) return;
  const { from_ns, operations, adler32 } = tiles;
  const isInOrder = from_ns.every((from, i) => (i === 0 ? from === time.from_ns : from > from_ns[i - 1]!));
  const count = from_ns.length;
  if (count > 0 && isInOrder && operations.length === count && (adler32 === null || adler32.length === count)) return;
  throw new DataError('.tiles: they do not follow each other');
}

/** The contents of a tile's file. */
export interface WrittenTile {
  schema: 7;
  run: string;
  tile: number;
  packed: Packed;
}
/** Throws a DataError. */
export const writtenTile = record<WrittenTile>({ schema: oneOf(7), run: text, tile: count, packed });

/** Why the server could not make a tile. */
export function failedTile(value: unknown): string | undefined {
  const { failure } = (value ?? {}) as { failure?: unknown };
  return typeof failure === 'string' ? failure : undefined;
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

/** `what`: in a reader's words; `name`: as in docs/page-data.md. */
function parse<T>(
  json: string,
  what: string,
  name: string,
  read: (value: unknown) => T,
  parseJson: (json: string) => unknown = JSON.parse,
): T {
  let value: unknown;
  try {
    value = parseJson(json);
  } catch (error) {
    throw new DataError(`${what} not JSON: ${(error as Error).message}`);
  }
  try {
    return read(value);
  } catch (error) {
    throw located(name, error);
  }
}

/** Reads the parts of a page that need no tables. Throws a DataError. */
export function readRun(json: string): RunData {
  const read = (value: unknown) => {
    const { steps, ...written } = writtenData(value);
    const data = { ...written, classes: withPaths({ ...written, steps }) };
    checkDevices(data);
    checkTiles(data);
    return data;
  };
  return parse(json, 'The data is', 'data', read, parsePlain);
}

/** Also reads the tables of a page. Throws a DataError; costs one pass over the data. */
export async function readPage(run: RunData, json: string): Promise<Page> {
  const read = parse(json, 'The tables are', 'data.packed', packed);
  try {
    const tables = await unpack(read);
    return { data: { ...run, packed: read, cells: readCells(tables, run.classes, run.processes.length) }, tables };
  } catch (error) {
    throw located('data', error);
  }
}
