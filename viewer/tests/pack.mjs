// Packs tables as docs/page-data.md says; the counterpart of src/packed.ts.

import { deflateSync, inflateSync } from 'node:zlib';

/** `differences` names the columns stored as differences. Columns are lists of whole numbers. */
export function packTable(name, columns, differences = []) {
  return { name, columns, differences };
}

function code(values, differences) {
  const coded = differences ? values.map((value, i) => value - (values[i - 1] ?? 0)) : values;
  const signed = coded.some((value) => value < 0);
  return {
    signed,
    values: signed ? coded.map((value) => (value < 0 ? -2 * value - 1 : 2 * value)) : coded,
  };
}

export function pack(tables) {
  const parts = [];
  const described = tables.map(({ name, columns, differences }) => {
    const rows = Object.values(columns)[0].length;
    return {
      name,
      rows,
      columns: Object.entries(columns).map(([column, list]) => {
        const { signed, values } = code(list, differences.includes(column));
        const most = values.reduce((a, b) => Math.max(a, b), 0);
        let bytes = 0;
        for (let left = most; left > 0; left = Math.floor(left / 256)) ++bytes;
        for (let plane = 0; plane < bytes; ++plane) {
          parts.push(Uint8Array.from(values, (v) => Math.floor(v / 256 ** plane) % 256));
        }
        return { name: column, bytes, signed, differences: differences.includes(column) };
      }),
    };
  });
  const whole = Buffer.concat(parts);
  const deflated = deflateSync(whole);
  const adler32 = deflated.readUInt32BE(deflated.length - 4);
  return { tables: described, bytes: whole.length, adler32, deflated: deflated.toString('base64') };
}

/** {table: {column: [numbers]}} for the named tables, read without the code of the page. */
export function unpackTables({ tables, deflated }, names) {
  const bytes = inflateSync(Buffer.from(deflated, 'base64'));
  const found = {};
  let next = 0;
  for (const { name, rows, columns } of tables) {
    const read = {};
    for (const column of columns) {
      const first = next;
      next += rows * column.bytes;
      if (!names.includes(name)) continue;
      let before = 0;
      read[column.name] = Array.from({ length: rows }, (_, row) => {
        let value = 0;
        for (let plane = column.bytes - 1; plane >= 0; --plane) value = value * 256 + bytes[first + plane * rows + row];
        if (column.signed) value = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
        if (column.differences) value = before += value;
        return value;
      });
    }
    if (names.includes(name)) found[name] = read;
  }
  return found;
}
