// The operation that an address names, until it is loaded: where to look for it, and when to give up.

import { rowOfKept, type Kept } from './look';
import type { Operations } from './singles';
import { kLayers } from './slabs';
import type { Range } from './time_range';

export interface Awaited {
  readonly kept: Kept;
  /** The timeline has moved to it. Once is enough: an operation that is not there then does not come later. */
  readonly isSought: boolean;
}

export type NextStep = { readonly row: number } | { readonly turnTo: Range } | 'wait' | 'give up';

export function nextStep({ kept, isSought }: Awaited, operations: Operations): NextStep {
  const { from, to, details } = operations.singles;
  const row = rowOfKept(details.layers[kLayers.indexOf(kept.layer)]!, kept);
  if (row !== undefined) return { row };
  if (operations.loading !== '') return 'wait';
  const span = operations.spanAt(kept.start);
  const isLoaded = kept.start >= from && kept.start < to;
  return span && !isSought && !isLoaded ? { turnTo: span } : 'give up';
}
