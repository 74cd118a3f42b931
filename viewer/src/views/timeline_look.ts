// The part of the timeline that is in the page's address: the part of the run in view, and the operation whose details
// are kept.

import type { Kept, Look } from '../look';
import type { Note } from '../page';
import type { Range } from '../time_range';

export interface TimelineLook {
  /** The reader moved to this part of the run, or keeps this operation, or none any more. */
  turnTo(range: Range): void;
  keep(kept: Kept | undefined): void;
  /** Takes what the page must show; returns which parts of it are new. */
  take(look: Look): { readonly range?: Range; readonly kept?: Kept; readonly keepsNoMore: boolean };
}

export function makeTimelineLook(whole: Range, note: Note): TimelineLook {
  let look: Look = {};
  const set = (zoom: Range | undefined, kept: Kept | undefined) => {
    look = { ...(zoom && { zoom }), ...(kept && { kept }) };
    note(look);
  };
  return {
    turnTo(range) {
      set(range.from <= whole.from && range.to >= whole.to ? undefined : range, look.kept);
    },
    keep(kept) {
      if (kept !== look.kept) set(look.zoom, kept);
    },
    take(next) {
      const before = look;
      look = next;
      return {
        ...(next.zoom !== before.zoom && { range: next.zoom ?? whole }),
        ...(next.kept && next.kept !== before.kept && { kept: next.kept }),
        keepsNoMore: before.kept !== undefined && next.kept === undefined,
      };
    },
  };
}
