// The matrix of devices: a row is a device that data left on its way, a column the device that it went to next. The ways
// are those of the device graph, but the memory of all ranks of a host is one row. tests/device_matrix.test.ts compares
// it with plain sums.

import type { Columns } from './columns';
import type { PageData } from './data';
import { allGpus, legsOf, movedBytes, wayOf, type Placed } from './devices';
import type { Measure, Selection } from './filter';
import type { NodeKind } from './graph';
import { kMaxSide } from './matrix';
import { adder, byRank, heaviest, placeOfHosts } from './memories';

/** A GPU, the memory of a host, or a network card. */
export interface Device {
  readonly key: string;
  readonly label: string;
  readonly kind: NodeKind;
  /** null if not known. */
  readonly host: string | null;
  /** Index of a GPU, else -1. */
  readonly gpu: number;
}

export interface Legs {
  /** By host in the order of the processes; within a host, GPUs first. */
  readonly devices: readonly Device[];
  /** For each leg: the transfer total that takes it, and its square in the matrix of the devices. */
  readonly transfer: Int32Array;
  readonly squares: Int32Array;
  /** For each transfer total: whether it has a leg. */
  readonly moves: Uint8Array;
}

const kOthers: Device = { key: 'others', label: 'others', kind: 'unknown', host: null, gpu: -1 };

function deviceOf({ member: { id, kind, label, index }, host }: Placed): Device {
  const there = host === null ? '' : ` of ${host}`;
  if (kind === 'process') return { key: `host memory${there}`, label: `host memory${there}`, kind, host, gpu: -1 };
  return { key: id, label: `${label}${there}`, kind, host, gpu: kind === 'gpu' ? index : -1 };
}

const kOrder: readonly NodeKind[] = ['gpu', 'process', 'memory', 'card', 'unknown'];

function inOrder(data: PageData, devices: Iterable<Device>): Device[] {
  const places = placeOfHosts(data);
  const rank = ({ host, kind, gpu }: Device) => [places(host), kOrder.indexOf(kind), gpu];
  return [...devices].sort(
    (a, b) => byRank(rank(a), rank(b)) || a.label.localeCompare(b.label, 'en', { numeric: true }),
  );
}

/** The devices that each transfer total passes, by their keys. A step has one way between the same two hosts. */
class Ways {
  readonly known = new Map<string, Device>();
  private readonly ways = new Map<string, readonly string[]>();

  constructor(private readonly columns: Columns) {
    allGpus(columns.data).forEach((part) => this.keyOf(part));
  }

  of(cell: number, t: number): readonly string[] {
    const { data, src, dst, transferStep } = this.columns;
    const host = (process: number) => data.processes[process]?.host ?? '';
    const name = `${transferStep[t]!}\n${host(src[cell]!)}\n${host(dst[cell]!)}`;
    const way = this.ways.get(name) ?? wayOf(this.columns, cell, t).map((part) => this.keyOf(part));
    this.ways.set(name, way);
    return way;
  }

  private keyOf(part: Placed): string {
    const device = deviceOf(part);
    this.known.set(device.key, device);
    return device.key;
  }
}

/**
 * The legs of all transfer totals of the run. They do not depend on a selection. With more than `most` devices, those
 * that moved the least share a row.
 */
export function makeLegs(columns: Columns, most = kMaxSide): Legs {
  const { data, src, firstTransfer } = columns;
  const ways = new Ways(columns);
  const moved = movedBytes(columns);
  const moves = new Uint8Array(moved.length);
  const legs: { readonly t: number; readonly ends: readonly [string, string] }[] = [];
  const weights = new Map<string, number>();
  const weigh = adder(weights);
  const isUnknown = (key: string) => ways.known.get(key)!.kind === 'unknown';
  for (let cell = 0; cell < src.length; ++cell) {
    for (let t = firstTransfer[cell]!; t < firstTransfer[cell + 1]!; ++t) {
      const way = ways.of(cell, t);
      moves[t] = Number(way.length > 0);
      for (const ends of legsOf(way, isUnknown)) {
        legs.push({ t, ends });
        for (const key of ends) weigh(key, moved[t]!);
      }
    }
  }
  const devices = heaviest(ways.known, weights, most, (some) => inOrder(data, some), kOthers);
  const index = new Map(devices.map(({ key }, at) => [key, at]));
  const at = (key: string) => index.get(key) ?? devices.length - 1;
  return {
    devices,
    transfer: Int32Array.from(legs, ({ t }) => t),
    squares: Int32Array.from(legs, ({ ends: [from, to] }) => at(from) * devices.length + at(to)),
    moves,
  };
}

/** What a device passes on; each transfer counts on every leg that it takes. */
export type LegMeasure = Extract<Measure, 'bytes' | 'transfers' | 'wire_bytes'>;
export const kLegMeasures: readonly LegMeasure[] = ['bytes', 'transfers', 'wire_bytes'];

/** One value for each transfer total. */
export function movedBy(columns: Columns, measure: LegMeasure): Float64Array {
  if (measure === 'bytes') return movedBytes(columns);
  return measure === 'transfers' ? columns.transferCount : columns.transferWireBytes;
}

/** For each leg: the value of its transfer total if that is selected, else 0. */
export function legValues({ transfer }: Legs, selection: Selection, values: Float64Array): Float64Array {
  return Float64Array.from(transfer, (t) => (selection.transfers[t] ? values[t]! : 0));
}

/** Counts each selected transfer total once: `moved` for those with legs, `still` for the others. */
export function legTotals({ moves }: Legs, selection: Selection, values: Float64Array): { moved: number; still: number } {
  let [moved, still] = [0, 0];
  values.forEach((value, t) => {
    if (!selection.transfers[t]) return;
    if (moves[t]) moved += value;
    else still += value;
  });
  return { moved, still };
}
