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
  /** Checksum of these bytes, as at the end of a zlib stream. */
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

  /** Two columns with the halves of a number of 64 bits, which is shown in hexadecimal. */
  wide(name: string, row: number): string {
    const high = this.column(`${name}_high`)[row]!;
    const low = this.column(`${name}_low`)[row]!;
    return high === 0
      ? `0x${low.toString(16)}`
      : `0x${high.toString(16)}${low.toString(16).padStart(8, '0')}`;
  }
}

export type Tables = ReadonlyMap<string, Table>;

/**
 * Inflates into one array: a Response made of the stream takes twice the time. The browser refuses a stream if its
 * bytes do not match the checksum at its end.
 */
async function inflate({ deflated, adler32, bytes: size }: Packed): Promise<Uint8Array> {
  const characters = atob(deflated);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = characters.charCodeAt(i);
  const checksum = bytes.length < 4 ? -1 : new DataView(bytes.buffer).getUint32(bytes.length - 4);
  if (checksum !== adler32) throw new DataError(`its checksum is ${checksum}, not ${adler32}`);
  const { readable, writable } = new DecompressionStream('deflate');
  const inflated = new Uint8Array(size);
  await Promise.all([feed(writable, bytes), drain(readable, inflated)]);
  return inflated;
}

async function feed(stream: WritableStream<BufferSource>, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const writer = stream.getWriter();
  await writer.write(bytes);
  await writer.close();
}

/** Fills `bytes`. */
async function drain(stream: ReadableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const reader = stream.getReader();
  let filled = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (filled + value.length > bytes.length) throw new DataError(`more than ${bytes.length} bytes`);
    bytes.set(value, filled);
    filled += value.length;
  }
  if (filled < bytes.length) throw new DataError(`${filled} bytes for ${bytes.length}`);
}

/**
 * Combines the bytes of each row into one number, the least significant plane first. Each width has its own loop,
 * because these loops see every byte of a page.
 */
function readPlanes(bytes: number, rows: number, planes: Uint8Array): Uint8Array | Uint16Array | Uint32Array | Float64Array {
  // A copy, because a slice of it would keep everything that was unpacked in memory.
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

type Written = Pick<PackedColumn, 'signed' | 'differences'>;

/** Fills `values`; false: a value does not fit its type. For signed columns, 0, 1, 2, 3 ... stand for 0, -1, 1, -2 .... */
function decode(sums: Uint8Array | Uint16Array | Uint32Array, { signed, differences }: Written, values: Int32Array | Float64Array): boolean {
  let value = 0;
  for (let row = 0; row < sums.length; ++row) {
    const sum = sums[row]!;
    const one = signed ? (sum >>> 1) ^ -(sum & 1) : sum;
    value = differences ? value + one : one;
    values[row] = value;
    if (values[row] !== value) return false;
  }
  return true;
}

function decodeWide(sums: Float64Array, { signed, differences }: Written): Float64Array {
  let value = 0;
  return sums.map((sum) => {
    const one = !signed ? sum : sum % 2 === 0 ? sum / 2 : -(sum + 1) / 2;
    value = differences ? value + one : one;
    return value;
  });
}

function readColumn(column: PackedColumn, rows: number, planes: Uint8Array): Numbers {
  const sums = readPlanes(column.bytes, rows, planes);
  if (!column.signed && !column.differences) return sums;
  if (sums instanceof Float64Array) return decodeWide(sums, column);
  const narrow = new Int32Array(rows);
  if (decode(sums, column, narrow)) return narrow;
  const wide = new Float64Array(rows);
  decode(sums, column, wide);
  return wide;
}

/** Costs one pass over every byte. Throws a DataError. */
export async function unpack(packed: Packed): Promise<Tables> {
  const wanted = packed.tables.reduce(
    (sum, { rows, columns }) => sum + rows * columns.reduce((width, c) => width + c.bytes, 0),
    0,
  );
  if (packed.bytes !== wanted) throw new DataError(`.packed: ${packed.bytes} bytes for ${wanted} that are described`);
  let bytes: Uint8Array;
  try {
    bytes = await inflate(packed);
  } catch (error) {
    throw new DataError(`.packed: cannot be inflated: ${(error as Error).message}`);
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
