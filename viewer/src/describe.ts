// Everything that is recorded of one operation or message, as names and values for the reader.

import type { PageData, Place, Role } from './data';
import { instant, type Details, type LayerDetails } from './details';
import { formatBytes, formatCount, formatDuration, formatExactBytes } from './format';
import { wayText, type Moving } from './legs';
import { fullPlaceText, isDeviceMemory, placeOf, placeText } from './memory';
import type { Table } from './packed';
import { processLabel } from './choices';
import { kNotKnown } from './words';

export type Line = readonly [name: string, value: string];

export interface Description {
  readonly title: string;
  readonly lines: readonly Line[];
  /** A message's path, one line a hop. */
  readonly path?: readonly string[];
  readonly notes?: readonly string[];
}

const kKinds = ['tag', 'am', 'stream', 'put', 'get', 'atomic'];
const kMatches = ['exact', 'inferred', 'ambiguous', 'unmatched', 'outside_window'];
const kSides = ['src', 'dst'];
const kRoles: readonly Role[] = ['data', 'control', 'staging'];
const kProtocolFrom = ['', 'named by UCX', 'derived from what was done'];
const kLinks = ['exact', 'inferred', 'ambiguous', 'reason', 'unattributed'];
/** Which instant replaces a start that was not read from the clock: the order of `start_from`. */
const kTimeFrom = ['', 'of the MPI call around it', 'of the arrival', 'not timed: short'];
const kPost = 3;
const kNoPeer = -(2 ** 31);

/** Seconds with nine digits: `--from` takes this form, too. */
export function formatInstant(ns: number): string {
  const digits = String(Math.round(ns)).padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)} s`;
}

function bytesText(bytes: number): string {
  return bytes < 1024 ? formatExactBytes(bytes) : `${formatExactBytes(bytes)} (${formatBytes(bytes)})`;
}

function peerText(peer: number): string | undefined {
  if (peer === kNoPeer) return undefined;
  if (peer === -1) return 'any';
  return peer === -2 ? 'MPI_PROC_NULL' : String(peer);
}

class Reader {
  readonly lines: Line[] = [];

  constructor(
    readonly data: PageData,
    readonly table: Table,
    private readonly row: number,
  ) {}

  number(column: string): number {
    return this.table.column(column)[this.row]!;
  }
  text(column: string): string {
    return this.data.texts[this.number(column)] ?? '';
  }
  wide(column: string): string {
    return this.table.wide(column, this.row);
  }

  /** Adds nothing for values that are missing. */
  add(name: string, value: string | undefined): void {
    if (value !== undefined && value !== '') this.lines.push([name, value]);
  }
  addText(name: string, column: string): void {
    this.add(name, this.text(column));
  }
  addWide(name: string, column: string): void {
    const value = this.wide(column);
    if (value !== '0x0') this.add(name, value);
  }
  place(memory: string, gpu: string): Place {
    return placeOf(this.number(memory), this.number(gpu));
  }
  /** Source and destination, if memory of a device is involved. */
  addWay(name: string): void {
    const [from, to] = [this.place('from_memory', 'from_gpu'), this.place('to_memory', 'to_gpu')];
    this.add(name, deviceWay(this.data, from, to));
  }
  addProcess(name: string, column: string): void {
    const process = this.number(column);
    if (process >= 0) this.add(name, describeProcess(this.data, process));
    else this.add(name, kNotKnown);
  }
  addTimes(start: number, startFrom = 0, endFrom = 0): void {
    const end = instant(start, this.number('duration_ns'));
    this.add('start', noted(formatInstant(start), startFrom));
    if (end === undefined) this.add('end', 'not recorded');
    else this.add('end', endFrom === kPost ? kTimeFrom[kPost] : noted(formatInstant(end), endFrom));
    if (end === undefined || endFrom === kPost) return;
    const about = startFrom > 0 || endFrom > 0 ? 'about ' : '';
    this.add('duration', about + durationText(start, end));
  }
}

/** "GPU 0000:10:00.0 to host memory"; undefined if no device is involved. */
function deviceWay({ devices }: PageData, from: Place, to: Place): string | undefined {
  if (!isDeviceMemory(from) && !isDeviceMemory(to)) return undefined;
  return `${placeText(devices, from)} to ${placeText(devices, to)}`;
}

function noted(instant: string, from: number): string {
  return from > 0 ? `${instant}, ${kTimeFrom[from]}` : instant;
}

function durationText(start: number, end: number): string {
  if (end < start) return 'below the clock error';
  const exact = `${formatCount(end - start)} ns`;
  const short = formatDuration(end - start);
  return exact === short ? exact : `${short} (${exact})`;
}

export function describeProcess(data: PageData, process: number): string {
  const { host, pid } = data.processes[process]!;
  return `rank ${processLabel(data, process)} (${host}, pid ${pid})`;
}

export function describeOperation(
  data: PageData,
  { layer, table, start }: LayerDetails,
  row: number,
): Description {
  const reader = new Reader(data, table, row);
  const describe = { mpi: describeCall, ucp: describeUcp, uct: describeTransfer }[layer];
  const title = describe(reader);
  reader.lines.unshift(['process', describeProcess(data, reader.number('process'))]);
  reader.addTimes(
    start[row]!,
    layer === 'ucp' ? reader.number('start_from') : 0,
    layer === 'mpi' ? 0 : reader.number('end_from'),
  );
  if (layer === 'uct' && reader.number('end_from') !== kPost) {
    const posted = reader.number('posted_ns');
    if (posted >= 0) reader.add('posting call', `${formatDuration(posted)}`);
  }
  return { title, lines: reader.lines };
}

function describeCall(reader: Reader): string {
  reader.addText('communicator', 'comm');
  reader.add('peer', peerText(reader.number('peer')));
  reader.add('tag', peerText(reader.number('tag')));
  if (reader.number('bytes') > 0) reader.add('bytes', bytesText(reader.number('bytes')));
  reader.add('receives from', peerText(reader.number('recv_peer')));
  reader.add('receive tag', peerText(reader.number('recv_tag')));
  if (reader.number('recv_bytes') > 0) {
    reader.add('bytes received', bytesText(reader.number('recv_bytes')));
  }
  reader.addText('call site', 'site');
  reader.add('status', reader.number('status') === 0 ? 'MPI_SUCCESS' : String(reader.number('status')));
  reader.add('thread', String(reader.number('thread')));
  return reader.text('function') || 'MPI call';
}

function describeUcp(reader: Reader): string {
  reader.addProcess('peer', 'peer');
  reader.addText('protocol', 'protocol');
  reader.add('bytes', bytesText(reader.number('bytes')));
  if (reader.number('received_bytes') > 0) {
    reader.add('bytes arrived', bytesText(reader.number('received_bytes')));
  }
  reader.addText('status', 'status');
  reader.addText('asked by', 'asked_by');
  reader.addText('call site', 'site');
  reader.addText('progressed in', 'progressed_in');
  reader.addWide('UCP tag', 'tag');
  reader.addWide('tag mask', 'tag_mask');
  reader.addWide('sender tag', 'sender_tag');
  reader.addWide('buffer', 'buffer');
  reader.addWide('endpoint', 'endpoint');
  reader.addWide('worker', 'worker');
  describeBuffer(reader);
  const message = reader.number('message');
  reader.add('message', message < 0 ? 'none' : `#${message}`);
  return reader.text('function') || 'UCP operation';
}

/** Where the buffer is, and what kind of memory UCX took it for; without a GPU it is in host memory. */
function describeBuffer(reader: Reader): void {
  const { devices } = reader.data;
  if (devices.gpus.length === 0) return;
  reader.add('memory', placeText(devices, reader.place('memory', 'gpu')));
  reader.addText('UCX took it for', 'believed');
}

/** The possible return values of a post that was accepted. */
function postStatus(status: number): string {
  if (status === 0) return 'UCS_OK';
  return status === 1 ? 'UCS_INPROGRESS' : `ucs_status ${status}`;
}

function describeTransfer(reader: Reader): string {
  reader.addProcess('peer', 'peer');
  const device = reader.text('device');
  reader.add('interface', `${reader.text('transport')}${device && `/${device}`}`);
  reader.addText('memory domain', 'memory_domain');
  reader.add('role', kRoles[reader.number('role')]);
  reader.add('payload', bytesText(reader.number('bytes')));
  reader.add('wire bytes', bytesText(reader.number('wire_bytes')));
  reader.add('status', postStatus(reader.number('status')));
  if (reader.number('am_id') > 0) reader.add('AM id', String(reader.number('am_id')));
  reader.addWide('local address', 'local_address');
  reader.addWide('remote address', 'remote_address');
  reader.addWay('memory');
  const message = reader.number('message');
  reader.add('message', message < 0 ? 'none' : `#${message}`);
  reader.add('tied', kLinks[reader.number('link')]);
  reader.addText('reason', 'reason');
  reader.addText('progressed in', 'progressed_in');
  return reader.text('op') || 'UCT operation';
}

/** The receipt of a message: the fields of `uctrace messages`, and its times. */
export function describeMessage(data: PageData, details: Details, row: number): Description {
  const reader = new Reader(data, details.messages, row);
  const rank = (process: string, rank: string) => {
    const index = reader.number(process);
    if (index >= 0) return describeProcess(data, index);
    return reader.number(rank) >= 0 ? `rank ${reader.number(rank)}` : kNotKnown;
  };
  const start = details.messageStart[row]!;
  reader.add('from', rank('src_process', 'src'));
  reader.add('to', rank('dst_process', 'dst'));
  reader.add('kind', kKinds[reader.number('kind')]);
  reader.add('payload', bytesText(reader.number('bytes')));
  if (reader.number('has_tag')) reader.add('tag', String(reader.number('tag')));
  if (reader.number('kind') === 0) reader.add('UCP tag', reader.wide('ucp_tag'));
  const library = reader.text('asked_library');
  const called = library && `${reader.text('asked_function')} of ${library}`;
  reader.add('asked by', [reader.text('mpi'), called].filter(Boolean).join(', within it ') || 'no MPI call');
  reader.addText('at', 'site');
  reader.addText('received by', 'mpi_recv');
  reader.addText('received at', 'recv_site');
  reader.addText('communicator', 'comm');
  const from = kProtocolFrom[reader.number('protocol_from')];
  reader.add('protocol', reader.text('protocol') && `${reader.text('protocol')}, ${from}`);
  reader.addText('status', 'status');
  reader.addText('started in', 'progressed_in');
  reader.add('initiator', kSides[reader.number('initiator')]);
  const source = reader.place('src_memory', 'src_gpu');
  const target = reader.place('dst_memory', 'dst_gpu');
  if (isDeviceMemory(source) || isDeviceMemory(target)) {
    reader.add('memory at the source', fullPlaceText(data.devices, source));
    reader.add('memory at the destination', fullPlaceText(data.devices, target));
  } else {
    reader.add('memory', `${source.kind} to ${target.kind}`);
  }
  reader.add('way', describeWay(data, details, row));
  reader.add('match', kMatches[reader.number('match')]);
  const posted = instant(start, reader.number('receive_posted_ns'));
  if (posted !== undefined) reader.add('receive posted', formatInstant(posted));
  if (reader.number('wait_ns') > 0) reader.add('calls waited', formatDuration(reader.number('wait_ns')));
  reader.addTimes(start, reader.number('start_from'), reader.number('end_from'));
  return {
    title: `Message #${reader.number('id')}`,
    lines: reader.lines,
    path: describePath(data, details, row, start),
    notes: describeClock(reader),
  };
}

/** Times of two processes are compared: the possible error. */
function describeClock(reader: Reader): string[] {
  const [src, dst] = [reader.number('src_process'), reader.number('dst_process')];
  if (src < 0 || dst < 0 || src === dst) return [];
  const error = reader.number('error_ns');
  if (error >= 0) return [`The clocks of the two processes agree to ${formatDuration(error)}.`];
  return ['The hosts are set against each other by their wall clocks; the error is not known.'];
}

/** The steps of the path, as far as they show where it leads. */
function stepsOf({ texts }: PageData, { hops, firstHop }: Details, row: number): Moving[] {
  return Array.from({ length: firstHop[row + 1]! - firstHop[row]! }, (_, index) => {
    const of = (column: string) => hops.column(column)[firstHop[row]! + index]!;
    return {
      role: kRoles[of('role')]!,
      issued_by: of('issued_by') === 0 ? 'src' : 'dst',
      network: of('network') === 1,
      device: texts[of('device')] || 'unknown',
      remote_device: texts[of('remote_device')] || null,
      from: placeOf(of('from_memory'), of('from_gpu')),
      to: placeOf(of('to_memory'), of('to_gpu')),
    };
  });
}

/** For data that is, or was on its way, in a GPU. */
function describeWay(data: PageData, details: Details, row: number): string | undefined {
  const steps = stepsOf(data, details, row);
  if (!steps.some(({ from, to }) => isDeviceMemory(from) || isDeviceMemory(to))) return undefined;
  const end = (column: string) => details.messages.column(column)[row]!;
  return wayText(data, steps, end('src_process'), end('dst_process'));
}

function describePath(data: PageData, details: Details, row: number, start: number): string[] {
  const { hops, firstHop } = details;
  const lines: string[] = [];
  for (let hop = firstHop[row]!; hop < firstHop[row + 1]!; ++hop) {
    const of = (column: string) => hops.column(column)[hop]!;
    const text = (column: string) => data.texts[of(column)] || 'unknown';
    const to = of('remote_device') > 0 && of('remote_device') !== of('device');
    const wire = of('wire_bytes');
    const first = instant(start, of('first_ns'));
    const last = instant(start, of('last_ns'));
    const cost = first !== undefined && last !== undefined && last > first ? `, for ${formatDuration(last - first)}` : '';
    const when = [first, last].map((at) => (at === undefined ? '?' : formatInstant(at)));
    const memory = deviceWay(
      data,
      placeOf(of('from_memory'), of('from_gpu')),
      placeOf(of('to_memory'), of('to_gpu')),
    );
    const later = of('last_from') === kPost ? ' or a little later' : '';
    lines.push(
      [
        `${formatCount(of('count'))} × ${text('op')} over ${text('transport')}/${text('device')}` +
          (to ? ` to ${text('remote_device')}` : ''),
        kRoles[of('role')],
        ...(memory === undefined ? [] : [memory]),
        `payload ${bytesText(of('bytes'))}`,
        `wire ${bytesText(wire)}`,
        `issued by ${of('issued_by') === 0 ? 'the source' : 'the destination'}`,
        of('exact') ? 'tied by id' : 'tied by content',
        `${when[0]} to ${when[1]}${later}${cost}`,
      ].join(', '),
    );
  }
  return lines;
}
