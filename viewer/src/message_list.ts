// The messages that the page lists one by one, as rows of a table: which are chosen, the text of each cell, and the sort
// keys. tests/messages.test.ts compares it with plain definitions.

import { processLabel } from './choices';
import type { Columns } from './columns';
import type { TrafficClass } from './data';
import { formatInstant } from './describe';
import { instant, type Details } from './details';
import { formatBytes, formatCount, formatDuration, formatExactBytes } from './format';
import { once } from './once';
import type { View } from './page';
import type { Numbers } from './packed';
import { firstRows } from './row_order';
import type { Found } from './search';
import { kLayers, lowerBound } from './slabs';
import type { Range } from './time_range';
import { kNotKnown } from './words';

/** The sort key; a cell shows it as `shown`, CSV has it as a number or as text. */
export interface MessageColumn {
  readonly name: string;
  readonly numeric: boolean;
  /** NaN: not known. */
  readonly keys: () => ArrayLike<number>;
  readonly shown: (row: number) => string;
  /** On hover. */
  readonly exact?: (row: number) => string;
}

/** Float64Array.from() takes several times as long. */
function numbersOf(values: Numbers, of: (value: number, row: number) => number): Float64Array {
  const numbers = new Float64Array(values.length);
  for (let row = 0; row < numbers.length; ++row) numbers[row] = of(values[row]!, row);
  return numbers;
}

/** The place of each text among the different ones in order; NaN: none. */
function placesOf(texts: readonly (string | null)[]): number[] {
  const places = new Map([...new Set(texts.filter((text) => text !== null))].sort().map((text, place) => [text, place]));
  return texts.map((text) => (text === null ? NaN : places.get(text)!));
}

/**
 * "cma", "rc_mlx5 + cuda_copy": the transports that moved its data; if a message moved none, the transports that
 * carried it.
 */
export function pathInShort({ path }: Pick<TrafficClass, 'path'>): string | null {
  const moving = path.filter(({ role }) => role !== 'control');
  const names = (moving.length > 0 ? moving : path).map(({ transport }) => transport);
  return names.length === 0 ? null : [...new Set(names)].join(' + ');
}

export class MessageList {
  readonly columns: readonly MessageColumn[];

  constructor(
    private readonly traffic: Columns,
    private readonly details: Details,
  ) {
    const ids = details.messages.column('id');
    const bytes = details.messages.column('bytes');
    this.columns = [
      { name: 'message', numeric: true, keys: () => ids, shown: (row) => `#${ids[row]}` },
      { name: 'start', numeric: true, keys: () => details.messageStart, shown: (row) => formatInstant(details.messageStart[row]!) },
      this.ofEnd('from', 'src'),
      this.ofEnd('to', 'dst'),
      { name: 'bytes', numeric: true, keys: () => bytes, shown: (row) => formatBytes(bytes[row]!), exact: (row) => formatExactBytes(bytes[row]!) },
      this.ofCall(),
      this.ofClass('communicator', ({ comm }) => comm),
      this.ofClass('protocol', ({ protocol }) => protocol),
      this.ofClass('path', pathInShort),
      this.ofTime('took', () => this.timesTaken()),
      this.ofTime('waited', () => details.messages.column('wait_ns')),
    ];
  }

  /** The messages that the view selects, in order: the cell of each is selected, and it starts in the chosen time. */
  chosen({ filter: { from, to }, alongTime }: Pick<View, 'filter' | 'alongTime'>): Int32Array {
    const start = this.details.messageStart;
    const { cells } = alongTime.selection;
    const cell = this.details.messages.column('cell');
    const [begin, end] = [lowerBound(start, from ?? -Infinity), lowerBound(start, to ?? Infinity)];
    const rows = new Int32Array(end - begin);
    let count = 0;
    for (let row = begin; row < end; ++row) if (cells[cell[row]!]) rows[count++] = row;
    return rows.subarray(0, count);
  }

  /** The first ones in the order of a column. */
  first(rows: Int32Array, column: number, falling: boolean, count: number): number[] {
    return firstRows(rows, this.columns[column]!.keys(), falling, count);
  }

  /** Its operation in the timeline: on the side that requested it, else on the other side. */
  operationOf(row: number): Found | undefined {
    const { messages, layers } = this.details;
    const of = (column: string) => messages.column(column)[row]!;
    const asked = of('initiator') === 0 ? of('src_process') : of('dst_process');
    const layer = kLayers.indexOf('ucp');
    const { table } = layers[layer]!;
    const [message, process] = [table.column('message'), table.column('process')];
    let found: Found | undefined;
    for (let at = message.indexOf(of('id')); at >= 0; at = message.indexOf(of('id'), at + 1)) {
      if (process[at] === asked) return { layer, row: at };
      found ??= { layer, row: at };
    }
    return found;
  }

  spanOf(row: number): Range {
    return { from: this.details.messageStart[row]!, to: this.details.messageEnd[row]! };
  }

  private ofEnd(name: string, end: 'src' | 'dst'): MessageColumn {
    const process = this.details.messages.column(`${end}_process`);
    const rank = this.details.messages.column(end);
    return {
      name,
      numeric: false,
      keys: once(() => numbersOf(process, (index) => (index < 0 ? NaN : index))),
      shown: (row) => {
        if (process[row]! >= 0) return processLabel(this.traffic.data, process[row]!);
        return rank[row]! < 0 ? kNotKnown : String(rank[row]);
      },
    };
  }

  /** The program's call: of MPI; if MPI was not asked, of another library above UCX. */
  private ofCall(): MessageColumn {
    const { texts } = this.traffic.data;
    const [mpi, library] = ['mpi', 'asked_function'].map((column) => this.details.messages.column(column));
    const textAt = (row: number) => mpi![row]! || library![row]!;
    return {
      name: 'call',
      numeric: false,
      keys: once(() => {
        const places = placesOf(texts);
        return numbersOf(mpi!, (_, row) => (textAt(row) ? places[textAt(row)]! : NaN));
      }),
      shown: (row) => (textAt(row) ? texts[textAt(row)]! : kNotKnown),
    };
  }

  /** What all messages of a class have in common. */
  private ofClass(name: string, textOf: (kind: TrafficClass) => string | null): MessageColumn {
    const { data, cellClass } = this.traffic;
    const cell = this.details.messages.column('cell');
    const texts = data.classes.map(textOf);
    return {
      name,
      numeric: false,
      keys: once(() => {
        const places = placesOf(texts);
        return numbersOf(cell, (c) => places[cellClass[c]!] ?? NaN);
      }),
      shown: (row) => texts[cellClass[cell[row]!]!] ?? kNotKnown,
    };
  }

  private ofTime(name: string, make: () => ArrayLike<number>): MessageColumn {
    const keys = once(make);
    return {
      name,
      numeric: true,
      keys,
      shown: (row) => formatDuration(keys()[row]!),
      exact: (row) => `${formatCount(keys()[row]!)} ns`,
    };
  }

  /** Time from start to end if both are known; 0 for an end before the start, as two clocks can make it. */
  private timesTaken(): Float64Array {
    const { messages } = this.details;
    const sent = messages.column('sent');
    return numbersOf(messages.column('duration_ns'), (duration, row) => {
      const end = sent[row] ? instant(0, duration) : undefined;
      return end === undefined ? NaN : Math.max(0, end);
    });
  }
}
