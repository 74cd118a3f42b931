// The first rows of very many in an order. tests/messages.test.ts holds it to a plain sort.

/**
 * The first `count` of these rows by their keys, equal ones in their own order; those whose key is NaN come last, either way.
 * Costs a look at each key, and sorts of twice `count` rows at a time.
 */
export function firstRows(rows: Int32Array, keyOf: ArrayLike<number>, falling: boolean, count: number): number[] {
  const way = falling ? -1 : 1;
  const found: number[] = [];
  const unknown: number[] = [];
  /** With as many rows as are wanted, no later one of this key, or of one behind it, is among them. */
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
