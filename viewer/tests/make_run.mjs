// Makes the page data of an invented but believable run: a stencil code with a few collectives,
// four ranks on each host. Used by the tests; as a program it writes JSON:
//   node make_run.mjs RANKS [SEED [GPUS]] > run.json

import { pathToFileURL } from 'node:url';

import { gpuRoute, kNoDevices, makeGpuNode } from './make_gpus.mjs';
import { kFindings, makeSites } from './make_sites.mjs';
import { kWaitNames, makeTime, timesOf } from './make_time.mjs';
import { unpackTables } from './pack.mjs';

/** A small generator of repeatable random numbers in [0, 1) (an LCG modulo 2^32). */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const kRanksPerHost = 4;
const kHeader = { am_short: 8, am_bcopy: 24, am_zcopy: 24, get_zcopy: 0, put_zcopy: 0, get_short: 0, put_short: 0 };
const kHostMemory = { kind: 'host', gpu: -1 };
const kMovesNothing = { from: { kind: 'unknown', gpu: -1 }, to: { kind: 'unknown', gpu: -1 } };

const step = (transport, device, op, role, issued_by = 'src', hop = 0) => ({
  hop,
  transport,
  device,
  remote_device: device,
  network: transport === 'tcp',
  op,
  role,
  issued_by,
  from: kHostMemory,
  to: kHostMemory,
});

/** A path moves a message of `bytes` in transfers of at most `fragment` bytes of payload. */
const kPaths = {
  localShort: { protocol: 'eager/short', path: [step('sysv', 'memory', 'am_short', 'data')] },
  localBcopy: {
    protocol: 'eager/bcopy',
    fragment: 8256,
    path: [step('sysv', 'memory', 'am_bcopy', 'data')],
  },
  localRendezvous: {
    protocol: 'rndv/get/zcopy',
    path: [
      step('sysv', 'memory', 'am_bcopy', 'control'),
      step('cma', 'memory', 'get_zcopy', 'data', 'dst'),
      step('sysv', 'memory', 'am_short', 'control', 'dst'),
    ],
  },
  remoteShort: { protocol: 'eager/short', path: [step('tcp', 'eth0', 'am_short', 'data')] },
  remoteBcopy: {
    protocol: 'eager/bcopy',
    fragment: 8192,
    path: [step('tcp', 'eth0', 'am_bcopy', 'data')],
  },
  remoteRendezvous: {
    protocol: 'rndv/put/zcopy',
    fragment: 1 << 20,
    path: [
      step('tcp', 'eth0', 'am_bcopy', 'control'),
      step('tcp', 'eth0', 'am_short', 'control', 'dst'),
      step('tcp', 'eth0', 'put_zcopy', 'data'),
      step('tcp', 'eth0', 'am_short', 'control'),
    ],
  },
};

function choosePath(local, size) {
  const reach = local ? 'local' : 'remote';
  if (size <= 92) return kPaths[`${reach}Short`];
  return kPaths[`${reach}${size <= 65536 ? 'Bcopy' : 'Rendezvous'}`];
}

function totalsOf(step, { fragment }, messages, size) {
  const moves = step.role !== 'control';
  const each = moves && fragment ? Math.ceil(size / fragment) : 1;
  const count = messages * each;
  const moved = moves ? messages * size : 0;
  const wire_bytes = moved + count * (kHeader[step.op] + (moves ? 0 : 32));
  // Copies on one side are not counted as payload: another step carries it.
  return { count, bytes: step.role === 'staging' ? 0 : moved, wire_bytes };
}

const bitsOf = (size) => (size === 0 ? 0 : Math.floor(Math.log2(size)) + 1);

class RunMaker {
  classes = [];
  cells = [];
  #known = new Map();

  /** `gpus`: the number on each host. */
  constructor(gpus) {
    this.gpus = gpus;
  }

  #classOf(description) {
    const key = JSON.stringify(description);
    if (!this.#known.has(key)) this.#known.set(key, this.classes.push(description) - 1);
    return this.#known.get(key);
  }

  messages(ends, call, messages, size, match = 'exact') {
    const local = Math.floor(ends.src / kRanksPerHost) === Math.floor(ends.dst / kRanksPerHost);
    const route = this.#route(ends, local, size);
    const { protocol, path, src_memory = kHostMemory, dst_memory = kHostMemory } = route;
    this.cells.push({
      ...ends,
      class: this.#classOf({
        kind: 'tag',
        ...call,
        protocol,
        size: bitsOf(size),
        match,
        reason: null,
        src_memory,
        dst_memory,
        path,
      }),
      messages,
      bytes: messages * size,
      ...timesOf(messages),
      transfers: path.map((hop) => totalsOf(hop, route, messages, size)),
    });
  }

  /** Short messages are in host memory, and so are messages without a sender. */
  #route({ src, dst }, local, size) {
    if (this.gpus === 0 || size <= 92 || src < 0) return choosePath(local, size);
    return gpuRoute({ local, size, src, dst, perHost: this.gpus, ranksPerHost: kRanksPerHost });
  }

  withoutMessage(ends, reason, hop, count) {
    const none = {
      ...{ kind: null, mpi: null, comm: null, protocol: null, size: null, match: null },
      ...{ src_memory: null, dst_memory: null },
    };
    this.cells.push({
      ...ends,
      class: this.#classOf({ ...none, reason, path: [hop] }),
      messages: 0,
      bytes: 0,
      ...timesOf(0),
      transfers: [{ count, bytes: 0, wire_bytes: 40 * count }],
    });
  }
}

const call = (mpi, comm) => ({ mpi, comm });

function addHaloExchange(run, ranks, steps, random) {
  const width = Math.max(1, Math.round(Math.sqrt(ranks)));
  for (let src = 0; src < ranks; ++src) {
    for (const [offset, size] of [
      [1, 12288],
      [-1, 12288],
      [width, 196608],
      [-width, 196608],
    ]) {
      const dst = (src + offset + ranks) % ranks;
      if (dst === src) continue;
      const sent = steps + Math.floor(20 * random());
      run.messages({ src, dst }, call('MPI_Isend', 'cart 4x4'), sent, size);
      run.messages({ src, dst }, call('MPI_Start', 'cart 4x4'), Math.max(1, sent >> 2), 64);
    }
  }
}

function addCollectives(run, ranks, steps, random) {
  // With many ranks, only near ones.
  const farthest = ranks > 256 ? 8 : ranks;
  for (let src = 0; src < ranks; ++src) {
    for (let distance = 1; distance < farthest; distance *= 2) {
      const dst = src ^ distance;
      if (dst < ranks)
        run.messages({ src, dst }, call('MPI_Allreduce', 'MPI_COMM_WORLD'), 3 * steps, 16);
    }
    for (let dst = 0; dst < Math.min(ranks, 64); ++dst) {
      if (dst !== src && src < 64) {
        const size = 2048 + Math.floor(6000 * random());
        run.messages({ src, dst }, call('MPI_Alltoall', 'dup of MPI_COMM_WORLD'), Math.max(1, steps >> 4), size);
      }
    }
    if (src > 0) run.messages({ src, dst: 0 }, call('MPI_Gather', 'MPI_COMM_WORLD'), 4, 524288);
  }
}

function addOddities(run, ranks) {
  run.messages({ src: 0, dst: Math.min(1, ranks - 1) }, call(null, null), 3, 4096, 'ambiguous');
  run.messages({ src: -1, dst: ranks - 1 }, call('MPI_Recv', 'MPI_COMM_WORLD'), 2, 40, 'unmatched');
  for (let src = 0; src < ranks; ++src) {
    const wireup = step('tcp', 'eth0', 'am_bcopy', 'control');
    run.withoutMessage({ src, dst: (src + 1) % ranks }, 'wireup', wireup, 2);
    run.withoutMessage(
      { src, dst: -1 },
      'internal_flush',
      { ...step('tcp', 'eth0', 'flush', 'control'), ...kMovesNothing },
      1,
    );
  }
}

/** Each message is an object while a run is made, so runs with many ranks are short. */
const stepsOf = (ranks) => Math.max(4, Math.floor(400 * Math.min(1, (64 / ranks) ** 2)));

/**
 * `steps`: of the stencil code. `limit`: how many messages, and transfers without one, are listed one by one. `copies`:
 * how many times each cell occurs.
 */
export function makeRun({ ranks, seed = 1, steps = stepsOf(ranks), slabs = 256, limit = 1500, gpus = 0, copies = 1 }) {
  const random = makeRandom(seed);
  const run = new RunMaker(gpus);
  const hostOf = (rank) => `node${1 + Math.floor(rank / kRanksPerHost)}`;
  const hosts = [...new Set(Array.from({ length: ranks }, (_, rank) => hostOf(rank)))];
  addHaloExchange(run, ranks, steps, random);
  addCollectives(run, ranks, steps, random);
  addOddities(run, ranks);
  const { classes } = run;
  const cells = Array(copies).fill(run.cells).flat();
  const sum = (of) => cells.reduce((total, cell) => total + of(cell), 0);
  const posted = sum((cell) => cell.transfers.reduce((total, t) => total + t.count, 0));
  const messages = sum((cell) => cell.messages);
  const duration = 8412345678;
  return {
    schema: 7,
    run: {
      id: '5f0c2a91e7d34b68',
      command: `mpirun -np ${ranks} ./heat --grid 2048x2048 --steps 400`,
      started: '2026-11-21T01:02:03Z',
      duration_ns: duration,
      mpi: 'Open MPI v4.1.4',
      ucx: '1.13.1',
      tool: '0.1.0',
      complete: true,
      settings: 'UCX_TLS=tcp (rank 1)',
      setting_lines: ['UCX_TLS=tcp  rank 1 only', 'memlock=8.0 MiB', 'UCX opened <b>tcp</b> on eth0'],
    },
    processes: Array.from({ length: ranks }, (_, rank) => ({
      rank,
      host: hostOf(rank),
      pid: 4711 + rank,
      label: String(rank),
      complete: true,
      exit: 'finalized',
    })),
    devices: gpus > 0 ? makeGpuNode(hosts, gpus) : kNoDevices,
    unrecorded: { src: ['unknown'], dst: ['unknown'] },
    classes,
    cells,
    identities: [
      {
        name: 'uct',
        scope: 'job',
        statement: 'posted = attributed to UCP + reasons + unattributed',
        left: posted,
        right: posted,
        result: 'holds',
      },
      {
        name: 'completions',
        scope: 'job',
        statement: 'in progress = completed + outstanding + without handle',
        left: posted >> 1,
        right: posted >> 1,
        result: 'holds',
      },
      {
        name: 'tag messages',
        scope: 'MPI_COMM_WORLD',
        statement: 'sends = receives matched + unmatched + ambiguous',
        left: messages,
        right: messages - 2,
        result: 'incomplete',
      },
    ],
    notes: ['2 receives have no sender in the recording; their source is shown as unknown.'],
    findings: kFindings,
    protocols: [
      {
        protocol: 'rndv/get/zcopy',
        reach: 'host',
        size: 17,
        messages: 12,
        bytes: 12 * 65536,
        untimed: 0,
        median_ns: 41000,
        p99_ns: 96000,
        per_second_bytes: 1500000000,
        ucx_least_ns: 7100,
        ucx_most_ns: 9300,
      },
    ],
    ...makeSites(ranks),
    comparison: makeComparison(ranks),
    served: false,
    folder: '',
    tiles: null,
    waits: kWaitNames,
    ...makeTime({ classes, cells, duration, slabs, limit, processes: ranks }),
  };
}

/** The output of `uctrace diff` with an earlier run, with names that are markup elsewhere. */
function makeComparison(ranks) {
  const each = (ns) => ({ quarter_ns: ns, median_ns: ns + 1000, three_quarters_ns: ns + 2000 });
  const run = (folder) => ({ folder, command: './heat <b>', ranks });
  const change = (what, a, b, share, unit, verdict = 'change') => ({
    ...{ what, a, b, share, unit, verdict },
    ...{ each_a: unit === 'ns' ? each(5000) : null, each_b: unit === 'ns' ? each(9000) : null },
  });
  return {
    a: run('before'),
    b: run('after'),
    settings: [{ name: 'UCX_TLS', a: null, b: 'tcp<i>', ranks: '1' }],
    changes: [
      change('transport tcp: payload', 0, 52428800, 1, 'bytes'),
      change('run: length', 8e9, 16e9, 0.5, 'ns'),
    ],
    others: [change('function MPI_Wait: calls', 400.5, 403, 0.01, 'count', 'small')],
    left_out: { changes: 1, others: 7 },
    equal: 12,
    protocols: [
      {
        protocol: 'eager/bcopy',
        from_bytes: 8192,
        below_bytes: 16384,
        a: { messages: 40, bytes: 400000, median_ns: 5000, p99_ns: 9000 },
        b: null,
      },
    ],
    notes: [],
  };
}

/** The run as a page has it: each step once, paths as indexes, cells only in its packed tables. */
export function written({ cells: _cells, ...run }) {
  const known = new Map();
  const numberOf = (step) => {
    const key = JSON.stringify(step);
    if (!known.has(key)) known.set(key, known.size);
    return known.get(key);
  };
  const classes = run.classes.map(({ path, ...others }) => ({ ...others, path: path.map(numberOf) }));
  return { ...run, steps: [...known.keys()].map((key) => JSON.parse(key)), classes };
}

/** The inverse. */
export function resolved({ steps, ...run }) {
  const classes = run.classes.map(({ path, ...others }) => ({
    ...others,
    path: path.map((number) => steps[number]),
  }));
  const tables = unpackTables(run.packed, ['cells', 'cell_transfers']);
  const transfers = rowsOf(tables.cell_transfers);
  let next = 0;
  const cells = rowsOf(tables.cells).map((cell) => ({
    ...cell,
    transfers: transfers.slice(next, (next += classes[cell.class].path.length)),
  }));
  return { ...run, classes, cells };
}

function rowsOf(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, row) =>
    Object.fromEntries(names.map((name) => [name, columns[name][row]])),
  );
}

/** A recording in which nothing happened. */
export function emptyRun() {
  const run = makeRun({ ranks: 1, steps: 1, limit: 0, slabs: 16 });
  const time = makeTime({ classes: [], cells: [], duration: 1, slabs: 16, limit: 0, processes: 0 });
  return { ...run, processes: [], classes: [], cells: [], identities: [], notes: [], ...makeSites(0), ...time };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [ranks, seed, gpus] = process.argv.slice(2).map(Number);
  process.stdout.write(`${JSON.stringify(written(makeRun({ ranks: ranks ?? 16, seed, gpus })))}\n`);
}
