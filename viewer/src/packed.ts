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

/** The least type that holds every value of a column. */
function makeNumbers({ bytes, signed, differences }: PackedColumn, rows: number): Numbers {
  if (differences || bytes > 4 || (signed && bytes > 3)) return new Float64Array(rows);
  if (signed) return new Int32Array(rows);
  if (bytes > 2) return new Uint32Array(rows);
  return bytes > 1 ? new Uint16Array(rows) : new Uint8Array(rows);
}

function readColumn(column: PackedColumn, rows: number, planes: Uint8Array): Numbers {
  const sums = makeNumbers({ ...column, signed: false, differences: column.bytes > 4 }, rows);
  let scale = 1;
  for (let plane = 0; plane < column.bytes; ++plane, scale *= 256) {
    const first = plane * rows;
    for (let row = 0; row < rows; ++row) sums[row]! += planes[first + row]! * scale;
  }
  if (!column.signed && !column.differences) return sums;
  const values = makeNumbers(column, rows);
  let before = 0;
  for (let row = 0; row < rows; ++row) {
    const sum = sums[row]!;
    const value = !column.signed ? sum : sum % 2 === 0 ? sum / 2 : -(sum + 1) / 2;
    before = column.differences ? before + value : value;
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
