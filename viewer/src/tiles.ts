// The tiles of a page: files beside it with all operations, each for a span of time. The page loads those that the
// reader looks at (docs/page-data.md#tiles). It keeps few, because a run may have more than fit a browser.

import { checkSingles } from './check_tables';
import type { Columns } from './columns';
import { formatInstant } from './describe';
import type { PageData, TilesData } from './data';
import { DataError } from './error';
import { mergeTiles } from './merge_tiles';
import { tableOf, unpack, type Tables } from './packed';
import { plainText } from './plain';
import { failedTile, writtenTile } from './read_page';
import { describeLoaded, makeSingles, type Operations, type Singles } from './singles';
import { endOf, lowerBound, type TimeAxis } from './slabs';
import type { Range } from './time_range';

/** With more tiles in view, none is loaded: the reader sees bins. */
const kMostInView = 3;
const kKept = 8;

/** The contents of a tile's file. Throws a DataError if they are not available. */
export type LoadTile = (number: number) => Promise<unknown>;

export function tileFile(number: number): string {
  return `tiles/${number}.js`;
}

const kSingleTables = ['mpi_calls', 'ucp_operations', 'transfers', 'messages'];

/** Checks that this is the tile with this number, written together with the page. Throws a DataError. */
export async function readTile(columns: Columns, number: number, value: unknown): Promise<Tables> {
  const { data } = columns;
  const { operations, adler32 } = data.tiles!;
  const failure = failedTile(value);
  if (failure !== undefined) throw new DataError(failure);
  const tile = writtenTile(value);
  if (tile.run !== data.run.id) throw new DataError(`it is of run ${tile.run}, and the page is of run ${data.run.id}`);
  if (tile.tile !== number) throw new DataError(`it is tile ${tile.tile}, under another name`);
  // A server makes tiles later than the page.
  if (adler32 !== null && tile.packed.adler32 !== adler32[number]) throw new DataError('it was not written together with the page');
  const tables = await unpack(tile.packed);
  const rows = kSingleTables.reduce((sum, name) => sum + tableOf(tables, name).rows, 0);
  if (rows !== operations[number]) throw new DataError(`it has ${rows} of ${operations[number]} operations`);
  checkSingles(columns, tables);
  return tables;
}

type Kept = { readonly tables: Tables } | { readonly trouble: string } | 'loading';

/** The tiles that were requested last, and any errors. */
class TileShelf {
  private readonly kept = new Map<number, Kept>();

  constructor(
    private readonly columns: Columns,
    private readonly load: LoadTile,
    private readonly changed: () => void,
  ) {}

  /** These tiles are in view: loads those that are missing. */
  ask(numbers: readonly number[]): void {
    // A failed tile is tried again once the reader comes back to it.
    for (const [number, known] of this.kept) {
      if (typeof known === 'object' && 'trouble' in known && !numbers.includes(number)) this.kept.delete(number);
    }
    for (const number of numbers) {
      const known = this.kept.get(number);
      this.kept.delete(number);
      this.kept.set(number, known ?? 'loading');
      if (!known) void this.fetch(number);
    }
    // The tiles in view were requested last, and are far fewer.
    const here = [...this.kept.keys()].filter((number) => this.tables(number) !== undefined);
    for (const number of here.slice(0, -kKept)) this.kept.delete(number);
  }

  tables(number: number): Tables | undefined {
    const known = this.kept.get(number);
    return typeof known === 'object' && 'tables' in known ? known.tables : undefined;
  }
  trouble(number: number): string | undefined {
    const known = this.kept.get(number);
    return typeof known === 'object' && 'trouble' in known ? known.trouble : undefined;
  }
  isLoading(number: number): boolean {
    return this.kept.get(number) === 'loading';
  }

  private async fetch(number: number): Promise<void> {
    let known: Kept;
    try {
      known = { tables: await readTile(this.columns, number, await this.load(number)) };
    } catch (error) {
      // Catches any error: nothing else would end the loading.
      const why = plainText(error instanceof Error ? error.message : String(error));
      known = { trouble: `${tileFile(number)} cannot be shown: ${why}` };
    }
    this.kept.set(number, known);
    this.changed();
  }
}

/** Where tiles lie in time. */
class TileSpans {
  private readonly from: number[];
  private readonly end: number;

  constructor({ from_ns }: TilesData, axis: TimeAxis) {
    this.from = from_ns;
    this.end = endOf(axis);
  }

  of(number: number): Range {
    return { from: this.from[number]!, to: this.from[number + 1] ?? this.end };
  }

  /** The tiles in view, in their order. */
  within({ from, to }: Range): number[] {
    const first = Math.max(0, lowerBound(this.from, Math.floor(from) + 1) - 1);
    const end = Math.max(first + 1, lowerBound(this.from, Math.ceil(to)));
    return Array.from({ length: end - first }, (_, index) => first + index);
  }
}

/** The longest run of successive numbers whose tiles are all here. */
function longestRun(numbers: readonly number[], isHere: (number: number) => boolean): number[] {
  let [best, here]: [number[], number[]] = [[], []];
  for (const number of numbers) {
    here = isHere(number) ? [...here, number] : [];
    if (here.length > best.length) best = here;
  }
  return best;
}

export function makeTiledOperations(columns: Columns, tables: Tables, axis: TimeAxis, load: LoadTile): Operations {
  const data: PageData = columns.data;
  const spans = new TileSpans(data.tiles!, axis);
  const nothing: Range = { from: axis.from, to: axis.from };
  const listeners: (() => void)[] = [];
  let inView: readonly number[] = [];
  let shown: readonly number[] = [];
  let singles: Singles = makeSingles(data, tables, axis, nothing);

  /** Returns whether the operations changed. */
  const assemble = (): boolean => {
    const numbers = longestRun(inView, (number) => shelf.tables(number) !== undefined);
    // Combining tiles takes longer than a frame. So they stay until others are needed, also for the search.
    if (numbers.every((number) => shown.includes(number))) return false;
    shown = numbers;
    const parts = numbers.map((number) => ({ from: spans.of(number).from, tables: shelf.tables(number)! }));
    const range = { from: parts[0]!.from, to: spans.of(numbers[numbers.length - 1]!).to };
    singles = makeSingles(data, mergeTiles(parts, data.processes.length), axis, range);
    return true;
  };
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const shelf = new TileShelf(columns, load, () => {
    assemble();
    notify();
  });

  return {
    get singles() {
      return singles;
    },
    get drawn() {
      return inView.length > 0 ? singles : nothing;
    },
    get trouble() {
      return inView.flatMap((number) => shelf.trouble(number) ?? []).join(' ');
    },
    get loading() {
      const numbers = inView.filter((number) => shelf.isLoading(number));
      if (numbers.length === 0) return '';
      const [from, to] = [spans.of(numbers[0]!).from, spans.of(numbers[numbers.length - 1]!).to];
      return `Loading the operations from ${formatInstant(from)} to ${formatInstant(to)} …`;
    },
    get searched() {
      return describeLoaded(singles);
    },
    lookAt(range) {
      const numbers = spans.within(range);
      inView = numbers.length > kMostInView ? [] : numbers;
      shelf.ask(inView);
      // Later, because the caller is still drawing.
      if (assemble()) queueMicrotask(notify);
    },
    spanAt(time) {
      return time >= axis.from && time < endOf(axis) ? spans.of(spans.within({ from: time, to: time })[0]!) : undefined;
    },
    whenChanged: (listener) => void listeners.push(listener),
  };
}
