// Where a box that floats above the page goes: near what it explains, inside the window.

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Box extends Size {
  readonly left: number;
  readonly top: number;
}

const kGap = 14;
const kMargin = 8;

/**
 * The corner of a box of `size`: right of the anchor, else left of it, else below, else above. If
 * it fits nowhere, it covers the anchor rather than leave the window.
 */
export function placeBeside(anchor: Box, size: Size, room: Size): { left: number; top: number } {
  const fit = (start: number, length: number, whole: number) =>
    Math.max(kMargin, Math.min(start, whole - length - kMargin));
  const left = fit(anchor.left, size.width, room.width);
  const top = fit(anchor.top, size.height, room.height);
  const right = anchor.left + anchor.width + kGap;
  const below = anchor.top + anchor.height + kGap;
  const leftOf = anchor.left - kGap - size.width;
  const above = anchor.top - kGap - size.height;
  if (right + size.width + kMargin <= room.width) return { left: Math.max(kMargin, right), top };
  if (leftOf >= kMargin) return { left: Math.min(leftOf, room.width - size.width - kMargin), top };
  if (below + size.height + kMargin <= room.height) return { left, top: Math.max(kMargin, below) };
  if (above >= kMargin) return { left, top: Math.min(above, room.height - size.height - kMargin) };
  return { left, top };
}
