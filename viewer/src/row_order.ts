// The first rows of very many in an order. tests/messages.test.ts holds it to a plain sort.

/**
 * The first `count` of these rows by their keys, equal ones in their own order; those whose key is NaN come last, either way.
 * Costs a sort of numbers alone, which browsers do natively, and one of the rows that it returns.
 */
export function firstRows(rows: Int32Array, keyOf: ArrayLike<number>, falling: boolean, count: number): number[] {
  const known = Float64Array.from(rows, (row) => keyOf[row]!).filter((key) => !Number.isNaN(key)).sort();
  const wanted = Math.min(count, known.length);
  const found = wanted === 0 ? [] : upTo(rows, keyOf, falling, known[falling ? known.length - wanted : wanted - 1]!, wanted);
  const way = falling ? -1 : 1;
  found.sort((a, b) => way * (keyOf[a]! - keyOf[b]!) || a - b);
  for (let at = 0; at < rows.length && found.length < count; ++at) {
    if (Number.isNaN(keyOf[rows[at]!]!)) found.push(rows[at]!);
  }
  return found;
}

/** `count` rows whose keys are no further than `last`; of those that are equal to it, the first ones. */
function upTo(rows: Int32Array, keyOf: ArrayLike<number>, falling: boolean, last: number, count: number): number[] {
  const before: number[] = [];
  const equal: number[] = [];
  for (const row of rows) {
    const key = keyOf[row]!;
    if (falling ? key > last : key < last) before.push(row);
    else if (key === last && equal.length < count) equal.push(row);
  }
  return [...before, ...equal.slice(0, count - before.length)];
}
