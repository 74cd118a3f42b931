// GPUs and network cards: the device graph, the tables of memories and cards, and the words for
// them, compared with plain definitions.

import { describe, expect, it } from 'vitest';

import { makeColumns } from '../src/columns';
import { selectionCommand } from '../src/command';
import type { Place, Step } from '../src/data';
import { readWritten } from './read_written';
import { describeMessage } from '../src/describe';
import { makeDetails } from '../src/details';
import { makeDeviceEdges, makeDeviceLayout, movedBytes } from '../src/devices';
import { cellValues, select, totals, type Filter } from '../src/filter';
import { stopsOf, wayText } from '../src/legs';
import { makeCardFacts, makeCardTable, makeMemoryMatrix, type Memory } from '../src/memories';
import { checkTables } from '../src/check_tables';
import { endOf, makeTimeAxis } from '../src/slabs';
import { makeChoices } from '../src/choices';
import { fromHash, kInitialState, toHash } from '../src/state';
import { describeEdges } from '../src/views/graph_words';
import { describe as describeView } from '../src/words';
import { cellsOf, columnsOf, pageDataOf, type Cell } from './cells';
import { makeRun, written } from './make_run.mjs';

const { data, tables } = await readWritten(written(makeRun({ ranks: 10, gpus: 2, slabs: 64, limit: 600 })));
const columns = makeColumns(data);
const cells = cellsOf(data.cells);
const [gpu0, gpu1] = data.devices.gpus.map(({ label }) => label) as [string, string];
const filters: Filter[] = [
  {},
  { src_memory: 'gpu' },
  { dst_memory: 'host', withoutMessage: true },
  { gpu: gpu1 },
  { src_memory: 'managed', role: 'staging' },
  { withoutMessage: true },
];
const samples = filters.map((filter) => ({ filter, selection: select(columns, filter) }));

const hostOf = (process: number) => data.processes[process]?.host ?? null;
const nameOf = (place: Place, process: number) =>
  `${place.kind} ${place.gpu} ${data.devices.gpus[place.gpu]?.host ?? hostOf(process)}`;

/** Each selected transfer total with its cell, step and number. */
function chosen(selection: { transfers: Uint8Array }): { cell: Cell; step: Step; t: number }[] {
  return cells
    .flatMap((cell) => data.classes[cell.class]!.path.map((step) => ({ cell, step })))
    .map((part, t) => ({ ...part, t }))
    .filter(({ t }) => selection.transfers[t]);
}

describe('the device graph', () => {
  it('has GPUs, cards and processes in the boxes of their hosts', () => {
    const { nodes, hosts } = makeDeviceLayout(columns);
    const count = (kind: string) => nodes.filter((node) => node.kind === kind).length;
    expect(hosts).toEqual(['node1', 'node2', 'node3']);
    // Besides the cards of GPUs, each host has the one for messages in host memory.
    expect([count('process'), count('gpu'), count('card')]).toEqual([10, 6, 9]);
    expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
    for (const { kind, index, host } of nodes) {
      if (kind === 'gpu') expect(host).toBe(data.devices.gpus[index]!.host);
      if (kind === 'process') expect(host).toBe(data.processes[index]!.host);
    }
  });

  it.each(['transport', 'operation', 'pair'] as const)('adds up what passes: by %s', (by) => {
    for (const { selection } of samples) {
      const layout = makeDeviceLayout(columns);
      const known = new Set(layout.nodes.map(({ id }) => id));
      const values = columns.transferCount;
      const { edges, total, still } = makeDeviceEdges(columns, selection, layout, by, values);
      const sum = (some: { t: number }[]) => some.reduce((all, { t }) => all + values[t]!, 0);
      const counted = chosen(selection);
      expect(total).toBe(sum(counted));
      const all = counted.filter(({ cell }) => data.classes[cell.class]!.reason === null);
      expect(still).toBe(total - sum(all));
      for (const { source, target } of edges) {
        expect(known.has(source) && known.has(target)).toBe(true);
      }
      const named = (step: Step) => (by === 'transport' ? step.transport : step.op);
      // Into each GPU: all traffic to its memory.
      data.devices.gpus.forEach((_, gpu) => {
        for (const name of by === 'pair' ? [null] : new Set(columns.steps.map(named))) {
          const into = edges.filter((edge) => edge.target === `gpu ${gpu}` && edge.name === name);
          const expected = all.filter(
            ({ step }) => step.to.gpu === gpu && (name === null || named(step) === name),
          );
          expect(into.reduce((all, { value }) => all + value, 0)).toBe(sum(expected));
        }
      });
      // From card to card: all traffic over a network.
      const between = edges.filter(
        ({ source, target }) => source.startsWith('card') && target.startsWith('card'),
      );
      const over = all.filter(({ cell, step }) => step.network && cell.src >= 0 && cell.dst >= 0);
      expect(between.reduce((all, { value }) => all + value, 0)).toBe(sum(over));
    }
  });

  it('says what share the arrows have that are not drawn', () => {
    const { selection } = samples[0]!;
    const layout = makeDeviceLayout(columns);
    const values = columns.transferCount;
    const said = (limit: number) => {
      const made = makeDeviceEdges(columns, selection, layout, 'pair', values, limit);
      return describeEdges({ ...made, by: 'pair', measure: 'transfers' });
    };
    const all = makeDeviceEdges(columns, selection, layout, 'pair', values);
    const sum = (some: readonly { value: number }[]) => some.reduce((sofar, { value }) => sofar + value, 0);
    expect(all.hidden).toBe(0);
    expect(all.arrows).toBe(sum(all.edges));
    // Traffic over a network is three arrows.
    expect(all.arrows).toBeGreaterThan(all.total);
    expect(said(0)).toMatch(/ smaller ones carry 100 % of what all add up to\.$/);
    const rest = (100 * sum(all.edges.slice(5))) / sum(all.edges);
    expect(said(5)).toContain(` smaller ones carry ${rest.toFixed(1)} % of what all add up to.`);
    expect(said(all.edges.length)).not.toContain('smaller');
  });

  it('shows what copies move', () => {
    const moved = movedBytes(columns);
    for (const { step, t } of chosen(samples[0]!.selection)) {
      const { transferBytes, transferWireBytes } = columns;
      expect(moved[t]).toBe(step.role === 'staging' ? transferWireBytes[t] : transferBytes[t]);
    }
  });

  it('draws hosts as one node, but for those that are open', () => {
    const { selection } = samples[0]!;
    const layout = makeDeviceLayout(columns, { collapsed: true, opened: new Set(['node2']) });
    expect(layout.nodes.filter(({ kind }) => kind === 'closed').map(({ label }) => label)).toEqual([
      'node1 (4)',
      'node3 (2)',
    ]);
    const known = new Set(layout.nodes.map(({ id }) => id));
    const { edges } = makeDeviceEdges(columns, selection, layout, 'pair', columns.transferCount);
    for (const { source, target } of edges) expect(known.has(source) && known.has(target)).toBe(true);
  });
});

describe('the tables of memories and cards', () => {
  it('hold every selected message once', () => {
    for (const { selection } of samples) {
      for (const measure of ['bytes', 'messages', 'transfers', 'wire_bytes'] as const) {
        const values = cellValues(columns, selection, measure);
        const matrix = makeMemoryMatrix(columns, values);
        const side = matrix.memories.length;
        expect(matrix.values.reduce((sum, value) => sum + value, 0)).toBe(
          totals(columns, selection)[measure],
        );
        matrix.memories.forEach((from, row) =>
          matrix.memories.forEach((to, column) => {
            const expected = cells.reduce((sum, cell, index) => {
              const { src_memory, dst_memory } = data.classes[cell.class]!;
              const ends = [
                src_memory ? nameOf(src_memory, cell.src) : 'none',
                dst_memory ? nameOf(dst_memory, cell.dst) : 'none',
              ];
              return ends[0] === from.key && ends[1] === to.key ? sum + values[index]! : sum;
            }, 0);
            expect(matrix.values[row * side + column]).toBe(expected);
          }),
        );
        expect(matrix.memories.filter(({ key }) => key.startsWith('gpu'))).toHaveLength(6);
      }
    }
  });

  it('put the smallest together', () => {
    const values = cellValues(columns, samples[0]!.selection, 'bytes');
    const { memories, values: sums } = makeMemoryMatrix(columns, values, 4);
    expect(memories).toHaveLength(4);
    expect(memories[3]!.label).toBe('others');
    expect(sums.reduce((sum, value) => sum + value, 0)).toBe(
      totals(columns, samples[0]!.selection).bytes,
    );
  });

  it('hold what goes out over a card and comes in', () => {
    for (const { selection } of samples) {
      const values = columns.transferBytes;
      const found = makeCardTable(columns, selection, values);
      const expected = new Map<string, number>();
      const add = (way: string, place: Place, process: number, card: string | null, value: number) => {
        const key = `${way} ${nameOf(place, process)} ${card ?? 'unknown'}`;
        expected.set(key, (expected.get(key) ?? 0) + value);
      };
      for (const { cell, step, t } of chosen(selection)) {
        if (!step.network || step.op === 'flush') continue;
        const [own, other] = [step.device, step.remote_device];
        const bySource = step.issued_by === 'src';
        add('out', step.from, cell.src, bySource ? own : other, values[t]!);
        add('in', step.to, cell.dst, bySource ? other : own, values[t]!);
        const { src_memory, dst_memory, path } = data.classes[cell.class]!;
        if (step.role !== 'data') continue;
        const copies = path.filter(({ role }) => role === 'staging').map(({ issued_by }) => issued_by);
        if (src_memory!.gpu >= 0 && step.from.kind === 'host' && copies.includes('src')) {
          add('stagedOut', src_memory!, cell.src, bySource ? own : other, values[t]!);
        }
        if (dst_memory!.gpu >= 0 && step.to.kind === 'host' && copies.includes('dst')) {
          add('stagedIn', dst_memory!, cell.dst, bySource ? other : own, values[t]!);
        }
      }
      let sum = 0;
      for (const memory of found.memories) {
        for (const card of found.cards) {
          const none = { out: 0, in: 0, stagedOut: 0, stagedIn: 0 };
          for (const [way, value] of Object.entries(found.at(memory, card) ?? none)) {
            expect(value).toBe(expected.get(`${way} ${memory.key} ${card}`) ?? 0);
            sum += value;
          }
        }
      }
      expect(sum).toBe([...expected.values()].reduce((all, value) => all + value, 0));
    }
  });

  it('take a header on the host for staged only where data beside it was copied', () => {
    const run = structuredClone(data);
    const index = run.classes.findIndex(({ protocol }) => protocol === 'eager/zcopy');
    const { path, src_memory, dst_memory } = run.classes[index]!;
    const cell = structuredClone(cells.find((each) => each.class === index)!);
    // The data goes directly from the GPU of the source, and is copied at the destination.
    const header = { ...path[0]!, from: { kind: 'host', gpu: -1 } as const };
    path.unshift(header);
    cell.transfers.unshift({ count: 1, bytes: 24, wire_bytes: 24 });
    run.cells = columnsOf([cell], run.classes);
    const made = makeColumns(run);
    const table = makeCardTable(made, select(made, {}), made.transferBytes);
    const sums = (place: Place, process: number) =>
      table.memories
        .filter(({ key }) => key === nameOf(place, process))
        .flatMap((memory) => table.cards.flatMap((card) => table.at(memory, card) ?? []));
    const carried = cell.transfers[1]!.bytes;
    expect(sums(src_memory!, cell.src)).toEqual([{ out: carried, in: 0, stagedOut: 0, stagedIn: 0 }]);
    expect(sums(header.from, cell.src)).toEqual([{ out: 24, in: 0, stagedOut: 0, stagedIn: 0 }]);
    expect(sums(dst_memory!, cell.dst)).toEqual([
      { out: 0, in: 0, stagedOut: 0, stagedIn: carried + 24 },
    ]);
  });

  it('tell how far they are', () => {
    const { distanceOf, lacks } = makeCardFacts(data);
    const memory: Memory = { key: '', label: '', short: '', host: 'node2', gpu: 2 };
    expect(distanceOf(memory, 'mlx5_0:1')).toMatchObject({ distance: 'PIX', numa_distance: 10 });
    expect(distanceOf(memory, 'mlx5_1:1')).toMatchObject({ distance: 'SYS', numa_distance: 21 });
    expect(distanceOf({ ...memory, host: 'node1' }, 'mlx5_0:1')).toBeUndefined();
    expect(lacks(memory, 'mlx5_0:1')).toBe(false);
    expect(lacks(memory, 'mlx5_7:1')).toBe(true);
    expect(lacks({ ...memory, host: 'node9' }, 'mlx5_0:1')).toBe(true);
    // The others may be on any host.
    expect(lacks({ ...memory, host: null }, 'mlx5_7:1')).toBe(false);
  });

  it('look at the distances once, not for each cell', () => {
    let reads = 0;
    const counted = <Row extends object>(rows: Row[]) =>
      new Proxy(rows, {
        get: (all, key, self) => {
          if (typeof key === 'string' && /^\d+$/.test(key)) ++reads;
          return Reflect.get(all, key, self) as unknown;
        },
      });
    const { nics, gpu_nic } = data.devices;
    const devices = { ...data.devices, nics: counted(nics), gpu_nic: counted(gpu_nic) };
    const facts = makeCardFacts({ ...data, devices });
    for (const { host, label } of data.devices.gpus) {
      for (const { device } of nics) {
        const memory: Memory = { key: label, label, short: label, host, gpu: 0 };
        facts.distanceOf(memory, device);
        facts.lacks(memory, device);
      }
    }
    expect(reads).toBe(nics.length + gpu_nic.length);
  });

  it('put the smallest rows of cards together', () => {
    const ways = ['out', 'in', 'stagedOut', 'stagedIn'] as const;
    for (const { selection } of samples) {
      const all = makeCardTable(columns, selection, columns.transferCount);
      const few = makeCardTable(columns, selection, columns.transferCount, 4);
      expect(few.memories).toHaveLength(4);
      expect(few.memories[3]!.label).toBe('others');
      expect(few.cards).toEqual(all.cards);
      const loads = (table: typeof all, memories: readonly Memory[], way: (typeof ways)[number]) =>
        table.cards.map((card) =>
          memories.reduce((sum, memory) => sum + (table.at(memory, card)?.[way] ?? 0), 0),
        );
      const kept = few.memories.slice(0, 3);
      const rest = all.memories.filter(({ key }) => kept.every((memory) => memory.key !== key));
      expect(rest).toHaveLength(all.memories.length - 3);
      for (const way of ways) {
        for (const memory of kept) expect(loads(few, [memory], way)).toEqual(loads(all, [memory], way));
        expect(loads(few, few.memories.slice(3), way)).toEqual(loads(all, rest, way));
      }
      const weight = (memory: Memory) =>
        ways.flatMap((way) => loads(all, [memory], way)).reduce((sum, value) => sum + value, 0);
      const least = Math.min(...kept.map(weight));
      for (const memory of rest) expect(weight(memory)).toBeLessThanOrEqual(least);
      const largest = few.memories.flatMap((memory) =>
        few.cards.map((card) => {
          const load = few.at(memory, card);
          return load ? load.out + load.in : 0;
        }),
      );
      expect(few.most).toBe(Math.max(...largest));
    }
  });
});

describe('bad data', () => {
  it('of a GPU that is not there is refused', async () => {
    checkTables(columns, tables);
    const without = { ...data, devices: { ...data.devices, gpus: data.devices.gpus.slice(0, 3) } };
    expect(() => checkTables({ ...columns, data: without }, tables)).toThrow(
      /ucp_operations\.gpu is \d, of 3/,
    );
  });
});

describe('words for memory', () => {
  it('tell the way, stop by stop', () => {
    const eager = data.classes.find(({ protocol }) => protocol === 'eager/zcopy')!;
    const cell = cells.find((c) => data.classes[c.class] === eager)!;
    const [from, to] = [hostOf(cell.src), hostOf(cell.dst)];
    const bus = (place: Place | null) => data.devices.gpus[place!.gpu]!.bus;
    const [first] = eager.path;
    expect(wayText(data, eager.path, cell.src, cell.dst)).toBe(
      `GPU ${bus(eager.src_memory)} of ${from} → ${first!.device} of ${from} → ` +
        `${first!.remote_device} of ${to} → host memory of ${to} → GPU ${bus(eager.dst_memory)} of ${to}`,
    );
    expect(stopsOf({ ...first!, remote_device: null }, 0, -1)[2]).toEqual({
      place: null,
      card: null,
      process: -1,
    });
  });

  it('are in the receipt of a message', async () => {
    const details = makeDetails(data, tables, endOf(makeTimeAxis(data.time)));
    const receipts = Array.from({ length: details.messages.rows }, (_, row) =>
      describeMessage(data, details, row),
    );
    const ofGpu = receipts.find(({ path }) => path!.some((line) => /cuda_ipc/.test(line)))!;
    const lines = new Map(ofGpu.lines);
    expect(lines.get('memory at the source')).toMatch(/^GPU 0000:\d0:00\.0 of node\d \(GPU-.*, Invented GPU\)$/);
    expect(lines.get('way')).toMatch(/^GPU \S+ of node(\d) → GPU \S+ of node\1$/);
    expect(ofGpu.path!.join('\n')).toMatch(/data, GPU \S+ to GPU \S+, payload/);
    const ofHost = receipts.find(({ lines: all }) => all.some(([name]) => name === 'memory'))!;
    expect(new Map(ofHost.lines).get('memory')).toBe('host to host');
    expect(ofHost.lines.some(([name]) => name === 'way')).toBe(false);
  });

  it('names who asked: MPI, and another library within it or alone', () => {
    const details = makeDetails(data, tables, endOf(makeTimeAxis(data.time)));
    const asked = Array.from({ length: details.messages.rows }, (_, row) =>
      new Map(describeMessage(data, details, row).lines).get('asked by')!,
    );
    expect(asked.some((text) => /^MPI_\w+, within it shmem_putmem of OpenSHMEM$/.test(text))).toBe(true);
    expect(asked.some((text) => /^MPI_\w+$/.test(text))).toBe(true);
    expect(asked.filter((text) => !/^(MPI_\w+)?(, within it )?(shmem_putmem of OpenSHMEM)?$|^no MPI call$/.test(text))).toEqual([]);
  });

  it('are in filters, addresses and commands', () => {
    const filter: Filter = { src_memory: 'gpu', dst_memory: 'host', gpu: gpu0 };
    expect(selectionCommand(data, filter)).toBe(
      `uctrace report --src-memory gpu --dst-memory host --gpu ${gpu0}`,
    );
    const state = { ...kInitialState, filter };
    const axis = { from: 0, slab: 1, slabs: 1 };
    expect(fromHash(`#${toHash(state, data.run.id)}`, makeChoices(data), axis, data)).toEqual(state);
    expect(describeView(data, filter, 'messages')).toBe(
      'Number of messages from memory of kind gpu, to memory of kind host, with an end on GPU ' +
        '0000:10:00.0 of node1.',
    );
    const choices = makeChoices(data);
    expect(choices.src_memory).toEqual(['gpu', 'host', 'managed']);
    const without = makeChoices(pageDataOf(makeRun({ ranks: 2 })));
    expect([without.src_memory, without.gpu]).toEqual([[], []]);
  });
});
