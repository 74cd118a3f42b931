// The first of very many rows, in an order. tests/messages.test.ts compares it with a plain sort.

/**
 * The first `count` of these rows by their keys, equal ones in their own order; rows whose key is NaN come last, either
 * way. Costs a look at each key, and sorts of twice `count` rows at a time.
 */
export function firstRows(rows: Int32Array, keyOf: ArrayLike<number>, falling: boolean, count: number): number[] {
  const way = falling ? -1 : 1;
  const found: number[] = [];
  const unknown: number[] = [];
  /** Once `count` rows are found, a later row with this key or a later key is not among the first. */
  let last = Infinity;
  const keepFirst = () => {
    found.sort((a, b) => way * (keyOf[a]! - keyOf[b]!) || a - b);
    if (found.length > count) found.length = count;
    if (found.length === count && count > 0) last = way * keyOf[found[count - 1]!]!;
  };
  for (let at = 0; at < rows.length; ++at) {
    const row = rows[at]!;
    const key = way * keyOf[row]!;
    if (key < last) {
      if (found.push(row) >= 2 * count) keepFirst();
    } else if (Number.isNaN(key) && unknown.length < count) unknown.push(row);
  }
  keepFirst();
  return [...found, ...unknown].slice(0, count);
}
