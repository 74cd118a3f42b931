// Packs tables as docs/page-data.md says; the counterpart of src/packed.ts.

import { deflateSync } from 'node:zlib';

/** `differences` names the columns that are kept so. Columns are lists of whole numbers. */
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
  return { tables: described, bytes: whole.length, deflated: deflateSync(whole).toString('base64') };
}
