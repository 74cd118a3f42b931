// Spreads the messages of an invented run over time: slabs, activity, and single operations up to a limit. Every
// message of a cell starts at its own instant, evenly through the run.

import { pack, packTable } from './pack.mjs';

const kMpiNs = 3000;
const kUcpNs = 9000;
const kUctNs = 4000;

/** The end of the k-th message of a cell: for every fifth it is not known. */
const durationOf = (k) => (k % 5 === 4 ? -1 : kUcpNs);
/** The time data of a cell with this many messages. */
export const timesOf = (messages) => {
  const timed = messages - Math.floor(messages / 5);
  return { timed, ns: timed * kUcpNs };
};
const kKinds = ['tag', 'am', 'stream', 'put', 'get', 'atomic'];
const kMatches = ['exact', 'inferred', 'ambiguous', 'unmatched'];
const kRoles = ['data', 'control', 'staging'];
const kMemory = ['unknown', 'host', 'gpu', 'managed'];
const kWay = ['network', 'from_memory', 'from_gpu', 'to_memory', 'to_gpu'];

/** Possible debug information of a program, with a name that is markup elsewhere. */
const kSite = 'exchange<b> (heat.c:88)';

const table = (names) => Object.fromEntries(names.map((name) => [name, []]));

function append(columns, row) {
  for (const [name, values] of Object.entries(columns)) values.push(row[name] ?? 0);
}

function sortedRows(columns, keys) {
  const rows = columns[keys[0]].map((_, row) => row);
  rows.sort((a, b) => {
    for (const key of keys) if (columns[key][a] !== columns[key][b]) return columns[key][a] - columns[key][b];
    return a - b;
  });
  return Object.fromEntries(
    Object.entries(columns).map(([name, values]) => [name, rows.map((row) => values[row])]),
  );
}

/** Sums rows of equal keys. */
class Sums {
  rows = new Map();
  constructor(keys, values) {
    this.keys = keys;
    this.values = values;
  }
  add(key, values) {
    const text = key.join();
    const row = this.rows.get(text);
    if (row) values.forEach((value, i) => (row[this.keys.length + i] += value));
    else this.rows.set(text, [...key, ...values]);
  }
  columns() {
    const names = [...this.keys, ...this.values];
    const all = [...this.rows.values()];
    const columns = Object.fromEntries(names.map((name, i) => [name, all.map((row) => row[i])]));
    return sortedRows(columns, this.keys);
  }
}

const kActivity = [
  ['process', 'key', 'slab', 'length'],
  ['busy_ns', 'starts'],
];

export function makeTime({ classes, cells, duration, slabs, limit, processes }) {
  const slab_ns = Math.ceil(duration / slabs);
  const texts = [''];
  const id = (text) => {
    if (text === null || text === undefined) return 0;
    if (!texts.includes(text)) texts.push(text);
    return texts.indexOf(text);
  };
  const callKinds = [];
  const kindOf = (mpi, comm) => {
    const found = callKinds.findIndex((kind) => kind.mpi === mpi && kind.comm === comm);
    return found < 0 ? callKinds.push({ mpi, comm }) - 1 : found;
  };
  const slabCells = new Sums(['slab', 'cell'], ['messages', 'bytes', 'timed', 'ns']);
  const slabTransfers = new Sums(['slab', 'total'], ['count', 'bytes', 'wire_bytes']);
  const activity = { mpi: new Sums(...kActivity), ucp: new Sums(...kActivity), uct: new Sums(...kActivity) };
  const busy = (layer, process, key, slab, ns) =>
    activity[layer].add([process, key, slab, 1], [Math.round(ns), 1]);

  const events = []; // { at, message or transfer }
  let total = 0;
  cells.forEach((cell, index) => {
    const kind = classes[cell.class];
    const count = cell.messages || cell.transfers[0].count;
    const shift = ((index * 7919) % 997) / 997;
    const part = (value, k) => Math.floor(((k + 1) * value) / count) - Math.floor((k * value) / count);
    const call = kindOf(kind.mpi, kind.comm);
    for (let k = 0; k < count; ++k) {
      const at = Math.floor(((k + shift) / count) * duration * 0.9 + 0.05 * duration);
      const slab = Math.floor(at / slab_ns);
      if (cell.messages) {
        const ns = durationOf(k);
        slabCells.add([slab, index], [1, part(cell.bytes, k), Number(ns >= 0), Math.max(0, ns)]);
      }
      cell.transfers.forEach((sums, step) => {
        const values = [sums.count, sums.bytes, sums.wire_bytes].map((value) => part(value, k));
        if (values[0] > 0) slabTransfers.add([slab, total + step], values);
        const issuer = kind.path[step].issued_by === 'src' ? cell.src : cell.dst;
        if (issuer >= 0) busy('uct', issuer, total + step, slab, kUctNs);
      });
      for (const end of new Set([cell.src, cell.dst])) {
        if (end < 0 || !cell.messages) continue;
        busy('mpi', end, call, slab, kMpiNs);
        busy('ucp', end, index, slab, kUcpNs);
      }
      events.push({ at, index, k, part, total });
    }
    total += cell.transfers.length;
  });
  events.sort((a, b) => a.at - b.at);
  const embedded = events.slice(0, limit);
  const detailsTo = embedded.length < events.length ? events[limit].at : slab_ns * slabs;
  const details = makeDetails(embedded.filter(({ at }) => at < detailsTo), classes, cells, id);
  const differences = ['slab', 'process', 'key', 'start_ns', 'id', 'message', 'call'];
  const packed = pack(
    Object.entries({
      ...cellTables(cells),
      slab_cells: slabCells.columns(),
      slab_transfers: slabTransfers.columns(),
      mpi_activity: activity.mpi.columns(),
      ucp_activity: activity.ucp.columns(),
      uct_activity: activity.uct.columns(),
      ...makeWaits(details.mpi_calls, processes, slab_ns, slabs),
      ...details,
    }).map(([name, columns]) =>
      packTable(name, columns, differences.filter((column) => column in columns)),
    ),
  );
  return {
    texts,
    time: {
      from_ns: 0,
      to_ns: duration,
      slab_ns,
      slabs,
      is_part: false,
      clock_error_ns: null,
      messages_without_time: 0,
      events: events.length,
      embedded: embedded.length,
      details_to_ns: detailsTo,
      call_kinds: callKinds,
    },
    packed,
  };
}

const kWide = (name) => [`${name}_low`, `${name}_high`];

function makeDetails(events, classes, cells, id) {
  const calls = table([
    'process', 'start_ns', 'duration_ns', 'thread', 'function', 'comm', 'peer', 'tag', 'bytes',
    'recv_peer', 'recv_tag', 'recv_bytes', 'status', 'site',
  ]);
  const operations = table([
    'process', 'start_ns', 'duration_ns', 'start_from', 'end_from', 'cell', 'peer', 'message',
    'function', 'protocol',
    'asked_by', 'progressed_in', 'status', 'bytes', 'received_bytes',
    ...['tag', 'tag_mask', 'sender_tag', 'buffer', 'endpoint', 'worker'].flatMap(kWide),
    'memory', 'gpu', 'believed', 'site',
  ]);
  const transfers = table([
    'process', 'start_ns', 'duration_ns', 'posted_ns', 'end_from', 'total', 'peer', 'message', 'transport',
    'device', 'memory_domain', 'op', 'reason', 'link', 'role', 'am_id', 'status', 'wire_bytes',
    'bytes', ...['local_address', 'remote_address'].flatMap(kWide), 'progressed_in', ...kWay,
  ]);
  const messages = table([
    'id', 'start_ns', 'duration_ns', 'start_from', 'end_from', 'error_ns', 'sent',
    'receive_posted_ns', 'cell', 'src_process', 'dst_process', 'src', 'dst', 'kind', 'match', 'initiator', 'protocol_from', 'src_memory',
    'dst_memory', 'src_gpu', 'dst_gpu', 'bytes', 'has_tag', 'tag', ...kWide('ucp_tag'), 'status', 'comm', 'mpi',
    'mpi_recv', 'asked_library', 'asked_function', 'progressed_in', 'protocol', 'wait_ns', 'hops', 'site', 'recv_site',
  ]);
  const hops = table([
    'hop', 'issued_by', 'role', 'exact', 'transport', 'device', 'remote_device', 'op', 'count',
    'bytes', 'wire_bytes', 'first_ns', 'last_ns', 'last_from', ...kWay,
  ]);
  let next = 0;
  for (const { at, index, k, part, total } of events) {
    const cell = cells[index];
    const kind = classes[cell.class];
    const message = cell.messages ? next++ : -1;
    if (message >= 0) {
      const common = { start_ns: at, bytes: part(cell.bytes, k), comm: id(kind.comm) };
      append(messages, {
        ...common,
        id: message,
        duration_ns: durationOf(k),
        sent: 1,
        receive_posted_ns: -2 - kUcpNs,
        wait_ns: 100 * (k % 7),
        cell: index,
        // For pairs of hosts whose clocks were measured, and for the others.
        error_ns: k % 2 === 0 ? 700 : -1,
        src_process: cell.src,
        dst_process: cell.dst,
        src: cell.src,
        dst: cell.dst,
        kind: kKinds.indexOf(kind.kind),
        match: kMatches.indexOf(kind.match),
        protocol_from: kind.protocol ? 2 : 0,
        src_memory: kMemory.indexOf(kind.src_memory.kind),
        dst_memory: kMemory.indexOf(kind.dst_memory.kind),
        src_gpu: kind.src_memory.gpu,
        dst_gpu: kind.dst_memory.gpu,
        has_tag: 1,
        tag: 7,
        ucp_tag_low: 0x700,
        ucp_tag_high: 1,
        status: id('UCS_OK'),
        mpi: id(kind.mpi),
        mpi_recv: id('MPI_Irecv'),
        // One of two was asked for by another library.
        asked_library: message % 2 === 0 ? id('OpenSHMEM') : 0,
        asked_function: message % 2 === 0 ? id('shmem_putmem') : 0,
        protocol: id(kind.protocol),
        site: id(kSite),
        hops: kind.path.length,
      });
      for (const [end, peer, call, memory] of [
        [cell.src, cell.dst, kind.mpi, kind.src_memory],
        [cell.dst, cell.src, 'MPI_Irecv', kind.dst_memory],
      ]) {
        if (end < 0) continue;
        const none = { peer: -(2 ** 31), recv_peer: -(2 ** 31), recv_tag: -(2 ** 31), tag: 7 };
        append(calls, {
          ...none, ...common, process: end, duration_ns: kMpiNs,
          function: id(kind.mpi ?? ''), thread: 0, site: id(kSite),
        });
        append(operations, {
          ...common, process: end, duration_ns: kUcpNs, cell: index, peer, message,
          function: id(end === cell.src ? 'ucp_tag_send_nbx' : 'ucp_tag_recv_nbx'),
          protocol: id(kind.protocol), asked_by: id(call), status: id('UCS_OK'), site: id(kSite),
          buffer_low: 0x1000, buffer_high: 0x7f,
          memory: kMemory.indexOf(memory.kind), gpu: memory.gpu,
          believed: memory.gpu < 0 ? 0 : id('cuda'),
        });
      }
    }
    kind.path.forEach((step, i) => {
      const issuer = step.issued_by === 'src' ? cell.src : cell.dst;
      const sums = cell.transfers[i];
      const [count, bytes, wire_bytes] = [sums.count, sums.bytes, sums.wire_bytes].map((v) => part(v, k));
      const facts = {
        transport: id(step.transport), device: id(step.device), op: id(step.op),
        role: kRoles.indexOf(step.role), bytes, wire_bytes, network: Number(step.network),
        from_memory: kMemory.indexOf(step.from.kind), from_gpu: step.from.gpu,
        to_memory: kMemory.indexOf(step.to.kind), to_gpu: step.to.gpu,
      };
      if (message >= 0) {
        append(hops, {
          ...facts, hop: step.hop, issued_by: step.issued_by === 'src' ? 0 : 1, exact: 1, count,
          remote_device: id(step.remote_device),
          first_ns: 500 + 800 * i, last_ns: 500 + 800 * i + kUctNs,
        });
      }
      if (issuer < 0) return;
      append(transfers, {
        ...facts, process: issuer, start_ns: at + 500 + 800 * i, duration_ns: kUctNs,
        posted_ns: 300, total: total + i, peer: issuer === cell.src ? cell.dst : cell.src,
        message, memory_domain: id('sysv'), reason: id(kind.reason), link: kind.reason ? 3 : 0,
      });
    });
  }
  return {
    mpi_calls: sortedRows(calls, ['process', 'start_ns']),
    ucp_operations: sortedRows(operations, ['process', 'start_ns']),
    transfers: sortedRows(transfers, ['process', 'start_ns']),
    messages,
    hops,
  };
}

/** The cells as a page has them: `cell_transfers` has the steps of each, one cell after the other. */
function cellTables(cells) {
  const columns = (rows, names) =>
    Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]));
  return {
    cells: columns(cells, ['src', 'dst', 'class', 'messages', 'bytes', 'timed', 'ns']),
    cell_transfers: columns(
      cells.flatMap(({ transfers }) => transfers),
      ['count', 'bytes', 'wire_bytes'],
    ),
  };
}

const kWaitKinds = ['late_sender', 'late_receiver', 'wait_<nxn>', 'wait_finalize'];

/** Names of waits, one of which is markup elsewhere. */
export const kWaitNames = { kinds: kWaitKinds, unknown: ['none', 'below_clock_bound'] };

/**
 * Every third call waits for the process before its own through its first half; for every ninth this is not known.
 * `waits` has those of the calls that are listed one by one; the sums are of the same waits, without `wait_finalize`.
 */
function makeWaits(calls, processes, slab_ns, slabs) {
  const waits = table(['call', 'since_start_ns', 'ns', 'cause', 'kind', 'unknown']);
  const sums = new Sums(['process', 'cause', 'kind'], ['waits', 'ns']);
  const activity = new Sums(['process', 'slab', 'length'], ['busy_ns']);
  calls.process.forEach((process, call) => {
    if (call % 3 !== 0) return;
    const cause = (process + processes - 1) % processes;
    const kind = (call / 3) % kWaitKinds.length;
    const unknown = Number(call % 9 === 0);
    const ns = calls.duration_ns[call] >> 1;
    append(waits, { call, ns, cause, kind, unknown });
    if (unknown || kWaitKinds[kind] === 'wait_finalize') return;
    sums.add([process, cause, kind], [1, ns]);
    activity.add([process, Math.min(slabs - 1, Math.floor(calls.start_ns[call] / slab_ns)), 1], [ns]);
  });
  return { wait_sums: sums.columns(), wait_activity: activity.columns(), waits };
}
