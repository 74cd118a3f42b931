// Tables of whole numbers, packed as docs/page-data.md says: byte planes, deflated, in base64.

import { DataError } from './error';

export interface PackedColumn {
  name: string;
  bytes: number;
  signed: boolean;
  differences: boolean;
}

export interface PackedTable {
  name: string;
  rows: number;
  columns: PackedColumn[];
}

export interface Packed {
  tables: PackedTable[];
  bytes: number;
  /** Of these bytes, as zlib's streams end with it. */
  adler32: number;
  deflated: string;
}

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

export class Table {
  constructor(
    readonly name: string,
    readonly rows: number,
    private readonly columns: ReadonlyMap<string, Numbers>,
  ) {}

  column(name: string): Numbers {
    const found = this.columns.get(name);
    if (!found) throw new DataError(`.packed: table ${this.name} has no column ${name}`);
    return found;
  }

  names(): Iterable<string> {
    return this.columns.keys();
  }

  /** Two columns that hold the halves of a number of 64 bits, which is told in hexadecimal. */
  wide(name: string, row: number): string {
    const high = this.column(`${name}_high`)[row]!;
    const low = this.column(`${name}_low`)[row]!;
    return high === 0
      ? `0x${low.toString(16)}`
      : `0x${high.toString(16)}${low.toString(16).padStart(8, '0')}`;
  }
}

export type Tables = ReadonlyMap<string, Table>;

/** The browser refuses a stream whose bytes have not the checksum at its end. */
async function inflate({ deflated, adler32 }: Packed): Promise<Uint8Array> {
  const characters = atob(deflated);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = characters.charCodeAt(i);
  const checksum = bytes.length < 4 ? -1 : new DataView(bytes.buffer).getUint32(bytes.length - 4);
  if (checksum !== adler32) throw new DataError(`its checksum is ${checksum}, not ${adler32}`);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The bytes of each row as one number, the least plane first. Each width has a loop of its own, as these see every byte of a page. */
function readPlanes(bytes: number, rows: number, planes: Uint8Array): Uint8Array | Uint16Array | Uint32Array | Float64Array {
  // A copy, as a part of it would keep all that was unpacked.
  if (bytes <= 1) return bytes === 1 ? planes.slice() : new Uint8Array(rows);
  if (bytes === 2) {
    const sums = new Uint16Array(rows);
    for (let row = 0; row < rows; ++row) sums[row] = planes[row]! | (planes[rows + row]! << 8);
    return sums;
  }
  if (bytes === 3 || bytes === 4) {
    const sums = new Uint32Array(rows);
    for (let row = 0; row < rows; ++row) {
      const low = planes[row]! | (planes[rows + row]! << 8) | (planes[2 * rows + row]! << 16);
      sums[row] = bytes === 3 ? low : low | (planes[3 * rows + row]! << 24);
    }
    return sums;
  }
  const sums = new Float64Array(rows);
  for (let plane = bytes - 1; plane >= 0; --plane) {
    const first = plane * rows;
    for (let row = 0; row < rows; ++row) sums[row] = sums[row]! * 256 + planes[first + row]!;
  }
  return sums;
}

/** As the least type that holds every value of the column. */
function readColumn({ bytes, signed, differences }: PackedColumn, rows: number, planes: Uint8Array): Numbers {
  const sums = readPlanes(bytes, rows, planes);
  if (!signed && !differences) return sums;
  const values = differences || bytes > 3 ? new Float64Array(rows) : new Int32Array(rows);
  let before = 0;
  for (let row = 0; row < rows; ++row) {
    const sum = sums[row]!;
    const value = !signed ? sum : sum % 2 === 0 ? sum / 2 : -(sum + 1) / 2;
    before = differences ? before + value : value;
    values[row] = before;
  }
  return values;
}

/** Costs one pass over every byte. Throws a DataError. */
export async function unpack(packed: Packed): Promise<Tables> {
  let bytes: Uint8Array;
  try {
    bytes = await inflate(packed);
  } catch (error) {
    throw new DataError(`.packed: cannot be inflated: ${(error as Error).message}`);
  }
  const wanted = packed.tables.reduce(
    (sum, { rows, columns }) => sum + rows * columns.reduce((width, c) => width + c.bytes, 0),
    0,
  );
  if (bytes.length !== packed.bytes || bytes.length !== wanted) {
    throw new DataError(`.packed: ${bytes.length} bytes for ${wanted} that are described`);
  }
  let next = 0;
  const tables = packed.tables.map(({ name, rows, columns }) => {
    const read = columns.map((column): [string, Numbers] => {
      const planes = bytes.subarray(next, next + rows * column.bytes);
      next += planes.length;
      return [column.name, readColumn(column, rows, planes)];
    });
    return new Table(name, rows, new Map(read));
  });
  return new Map(tables.map((table) => [table.name, table]));
}

/** The table, or a DataError. */
export function tableOf(tables: Tables, name: string): Table {
  const table = tables.get(name);
  if (!table) throw new DataError(`.packed: there is no table ${name}`);
  return table;
}
