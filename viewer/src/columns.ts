// The cells with the steps of their transfers, so that a filter is one scan of typed arrays.

import type { Cells, PageData, Step } from './data';

export interface Columns extends Cells {
  readonly data: PageData;
  /** The paths of all classes, one after the other. */
  readonly steps: readonly Step[];
  /** One value for each transfer total. */
  readonly transferStep: Int32Array;
}

export function makeColumns(data: PageData): Columns {
  const { cells, classes } = data;
  const { cellClass, firstTransfer } = cells;
  const steps: Step[] = [];
  const firstStep = classes.map(({ path }) => steps.push(...path) - path.length);
  const transferStep = new Int32Array(cells.transferCount.length);
  for (let c = 0; c < cellClass.length; ++c) {
    const first = firstTransfer[c]!;
    const step = firstStep[cellClass[c]!]!;
    for (let t = first; t < firstTransfer[c + 1]!; ++t) transferStep[t] = step + t - first;
  }
  return { ...cells, data, steps, transferStep };
}
