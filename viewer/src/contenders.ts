// Which transports, devices and operations, and which MPI functions, carry the traffic.

import type { Columns } from './columns';
import type { Step } from './data';
import { addCell, kMeasures, noLoad, type CellLoad, type Selection } from './filter';

export interface Load {
  count: number;
  bytes: number;
  wire_bytes: number;
}

export interface Contender extends Load {
  transport: string;
  device: string;
  op: string;
}

/** Rows are UCT operations, columns are transports; both in order of falling bytes, then count. */
export interface ContenderTable {
  readonly operations: string[];
  readonly transports: string[];
  readonly total: Load;
  operation(op: string): Load;
  transport(transport: string): Load;
  at(op: string, transport: string): Load | undefined;
}

export interface FunctionLoad extends CellLoad {
  mpi: string | null;
}

/** One entry for each key: the sum over the selected transfer totals whose step has it. */
function sumBy(
  columns: Columns,
  selection: Selection,
  keyOf: (step: Step) => string,
): Map<string, Load & { step: Step }> {
  const { steps, transferStep, transferCount, transferBytes, transferWireBytes } = columns;
  const perStep = steps.map(() => ({ count: 0, bytes: 0, wire_bytes: 0 }));
  for (let t = 0; t < transferStep.length; ++t) {
    if (!selection.transfers[t]) continue;
    const load = perStep[transferStep[t]!]!;
    load.count += transferCount[t]!;
    load.bytes += transferBytes[t]!;
    load.wire_bytes += transferWireBytes[t]!;
  }
  const sums = new Map<string, Load & { step: Step }>();
  steps.forEach((step, index) => {
    const part = perStep[index]!;
    if (part.count === 0) return;
    const key = keyOf(step);
    const sum = sums.get(key);
    if (sum) add(sum, part);
    else sums.set(key, { ...part, step });
  });
  return sums;
}

function add(sum: Load, part: Load): void {
  sum.count += part.count;
  sum.bytes += part.bytes;
  sum.wire_bytes += part.wire_bytes;
}

const heavierFirst = (a: Load, b: Load) => b.bytes - a.bytes || b.count - a.count;

function keysByLoad(loads: Map<string, Load>): string[] {
  return [...loads].sort(([, a], [, b]) => heavierFirst(a, b)).map(([key]) => key);
}

const pairKey = (op: string, transport: string) => JSON.stringify([op, transport]);

/** Sums of the selected transfer totals per operation, per transport, and per pair of them. */
export function tabulate(columns: Columns, selection: Selection): ContenderTable {
  const operations = sumBy(columns, selection, (step) => step.op);
  const transports = sumBy(columns, selection, (step) => step.transport);
  const pairs = sumBy(columns, selection, (step) => pairKey(step.op, step.transport));
  const total: Load = { count: 0, bytes: 0, wire_bytes: 0 };
  for (const load of pairs.values()) add(total, load);
  return {
    operations: keysByLoad(operations),
    transports: keysByLoad(transports),
    total,
    operation: (op) => operations.get(op)!,
    transport: (transport) => transports.get(transport)!,
    at: (op, transport) => pairs.get(pairKey(op, transport)),
  };
}

/** Sums of the selected transfer totals per transport, device and operation. */
export function listContenders(columns: Columns, selection: Selection): Contender[] {
  const key = (step: Step) => JSON.stringify([step.transport, step.device, step.op]);
  return [...sumBy(columns, selection, key).values()]
    .map(({ step: { transport, device, op }, count, bytes, wire_bytes }) => ({
      transport,
      device,
      op,
      count,
      bytes,
      wire_bytes,
    }))
    .sort(heavierFirst);
}

/**
 * Sums of all measures per MPI function over `cells` (all when left out). Transfers that serve no
 * message have no function and count under null.
 */
export function listFunctions(
  columns: Columns,
  selection: Selection,
  cells?: readonly number[],
): FunctionLoad[] {
  const { cellClass, data } = columns;
  const ofClasses = data.classes.map(noLoad);
  const visit = (c: number) => addCell(ofClasses[cellClass[c]!]!, columns, selection, c);
  if (cells) cells.forEach(visit);
  else for (let c = 0; c < cellClass.length; ++c) visit(c);
  const loads = new Map<string | null, FunctionLoad>();
  ofClasses.forEach((ofClass, index) => {
    if (ofClass.messages === 0 && ofClass.transfers === 0) return;
    const { mpi } = data.classes[index]!;
    const load = loads.get(mpi) ?? { mpi, ...noLoad() };
    for (const measure of kMeasures) load[measure] += ofClass[measure];
    load.timed += ofClass.timed;
    loads.set(mpi, load);
  });
  return [...loads.values()].sort((a, b) => b.bytes - a.bytes || b.messages - a.messages);
}

/** Sums of the selected transfer totals of `cells` per transport. */
export function listTransports(
  columns: Columns,
  selection: Selection,
  cells: readonly number[],
): (Load & { transport: string })[] {
  const { firstTransfer, steps, transferStep } = columns;
  const loads = new Map<string, Load & { transport: string }>();
  for (const c of cells) {
    for (let t = firstTransfer[c]!; t < firstTransfer[c + 1]!; ++t) {
      const count = columns.transferCount[t]!;
      if (!selection.transfers[t] || count === 0) continue;
      const { transport } = steps[transferStep[t]!]!;
      const load = loads.get(transport) ?? { transport, count: 0, bytes: 0, wire_bytes: 0 };
      const bytes = columns.transferBytes[t]!;
      add(load, { count, bytes, wire_bytes: columns.transferWireBytes[t]! });
      loads.set(transport, load);
    }
  }
  return [...loads.values()].sort(heavierFirst);
}
