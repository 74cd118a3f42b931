// Sums over the messages of a run with GPUs, made here on purpose without the code of the page. Used by gpus.mjs and
// device_matrices.mjs.

export function add(sums, key, value) {
  if (value > 0) sums.set(key, (sums.get(key) ?? 0) + value);
}

export const sorted = (sums) => [...sums].sort(([a], [b]) => (a < b ? -1 : 1));

/** Messages of the page: one object may represent many. Memory as { kind, gpu: index }. */
export function messagesOfPage(data) {
  return data.cells
    .filter((cell) => data.classes[cell.class].reason === null)
    .map((cell) => {
      const { src_memory, dst_memory, path } = data.classes[cell.class];
      const steps = path.map((step, hop) => ({ ...step, ...cell.transfers[hop] }));
      return { ...cell, src_memory, dst_memory, path: steps };
    });
}

/** The same from `uctrace messages --format json`. */
export function messagesOfCommand(data, messages) {
  const labels = data.devices.gpus.map(({ label }) => label);
  const place = (memory) =>
    memory === null
      ? { kind: 'unknown', gpu: -1 }
      : { kind: memory.kind, gpu: memory.gpu === null ? -1 : labels.indexOf(memory.gpu) };
  const process = (rank) => data.processes.findIndex((each) => each.rank === rank);
  const cards = new Set(data.devices.nics.map(({ device }) => device));
  return messages.map((message) => ({
    ...message,
    messages: 1,
    src: process(message.src),
    dst: process(message.dst),
    src_memory: place(message.src_memory),
    dst_memory: place(message.dst_memory),
    path: message.path.map((step) => ({
      ...step,
      network: cards.has(step.device),
      from: place(step.from),
      to: place(step.to),
    })),
  }));
}

function makeNames({ devices, processes }) {
  const hostOf = (process) => processes[process]?.host ?? null;
  return {
    hostOf,
    memory: ({ kind, gpu }, process) => `${kind} ${gpu} ${devices.gpus[gpu]?.host ?? hostOf(process)}`,
    node({ kind, gpu }, process) {
      if (gpu >= 0) return `gpu ${gpu}`;
      if (process < 0) return 'unknown';
      if (kind === 'host') return `process ${process}`;
      return `${kind === 'unknown' ? 'unknown memory' : 'a GPU'} of ${hostOf(process)}`;
    },
    card: (device, process) => (process < 0 ? 'unknown' : `card ${device} of ${hostOf(process)}`),
  };
}

/** "from > to" -> sum over the legs of all steps. */
export function expectedEdges(data, messages, field) {
  const names = makeNames(data);
  const sums = new Map();
  for (const { src, dst, path } of messages) {
    for (const step of path) {
      const { role, from, to, issued_by } = step;
      if (role === 'control' && from.kind === 'unknown' && to.kind === 'unknown') continue;
      const bySource = issued_by === 'src';
      const own = bySource ? src : dst;
      const sides = role === 'staging' ? [own, own] : [src, dst];
      const nodes = [names.node(from, sides[0]), names.node(to, sides[1])];
      if (step.network && role !== 'staging') {
        const [left, entered] = bySource
          ? [step.device, step.remote_device]
          : [step.remote_device, step.device];
        nodes.splice(1, 0, names.card(left, src), names.card(entered, dst));
      }
      nodes.slice(1).forEach((node, i) => {
        const value = field === 'bytes' && role === 'staging' ? step.wire_bytes : step[field];
        if (node !== 'unknown' || nodes[i] !== 'unknown') add(sums, `${nodes[i]} > ${node}`, value);
      });
    }
  }
  return sums;
}

export function expectedMemories(data, messages, field) {
  const names = makeNames(data);
  const sums = new Map();
  for (const message of messages) {
    const { src, dst, src_memory, dst_memory } = message;
    add(sums, `${names.memory(src_memory, src)} > ${names.memory(dst_memory, dst)}`, message[field]);
  }
  return sums;
}

export function expectedCards(data, messages, field) {
  const names = makeNames(data);
  const sums = new Map();
  for (const { src, dst, src_memory, dst_memory, path } of messages) {
    const copied = new Set(path.flatMap((step) => (step.role === 'staging' ? [step.issued_by] : [])));
    for (const step of path) {
      if (!step.network) continue;
      if (step.from.kind === 'unknown' && step.role === 'control') continue;
      const [left, entered] =
        step.issued_by === 'src' ? [step.device, step.remote_device] : [step.remote_device, step.device];
      add(sums, `${names.memory(step.from, src)} out ${left}`, step[field]);
      add(sums, `${names.memory(step.to, dst)} in ${entered}`, step[field]);
      if (step.role !== 'data') continue;
      if (src_memory.gpu >= 0 && step.from.kind === 'host' && copied.has('src')) {
        add(sums, `${names.memory(src_memory, src)} staged out ${left}`, step[field]);
      }
      if (dst_memory.gpu >= 0 && step.to.kind === 'host' && copied.has('dst')) {
        add(sums, `${names.memory(dst_memory, dst)} staged in ${entered}`, step[field]);
      }
    }
  }
  return sums;
}
