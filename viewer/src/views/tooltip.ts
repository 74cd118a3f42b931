// A box above everything else on the page that explains one element of it, while the reader points there.
// What it says can be kept: then it moves into the panel of details.

import { element } from '../dom';
import { placeBeside } from '../placement';
import { makeDetailsDock } from './details_dock';

export interface Anchor {
  getBoundingClientRect(): DOMRect;
}

export interface Tooltip {
  readonly root: HTMLElement;
  /** The panel of details. */
  readonly dock: HTMLElement;
  /** Does nothing while the panel of details is open. */
  show(anchor: Anchor, ...children: Node[]): void;
  hide(): void;
  /** Moves what is shown into the panel of details; the focus goes back to `owner` when that is closed. */
  pin(owner: HTMLElement): void;
  /** The same for what is not shown; in an open panel, instead of what is there, whoever kept that. */
  keep(owner: HTMLElement, anchor: Anchor, ...children: Node[]): void;
  /** Puts the focus into the panel of details, if it is open. */
  enter(): void;
  /** Whether there was something to close. */
  unpin(): boolean;
  readonly pinned: boolean;
  /** Whether the panel of details is open with what this one kept. */
  owns(owner: HTMLElement): boolean;
}

const kRoomBelow = 12;
const kDoubleClickMs = 400;

/** Is fixed to the window, so that no scrolling part of the page cuts it. */
export function makeTooltip(): Tooltip {
  const content = element('div', { class: 'tooltip-content' });
  const root = element(
    'div',
    { class: 'tooltip', role: 'status', hidden: true, 'data-testid': 'tooltip' },
    content,
  );
  const dock = makeDetailsDock();
  let anchor: Anchor | undefined;

  const place = () => {
    if (!anchor) return;
    const { clientWidth, clientHeight } = document.documentElement;
    const around = anchor.getBoundingClientRect();
    root.hidden =
      around.right <= 0 ||
      around.bottom <= 0 ||
      around.left >= clientWidth ||
      around.top >= clientHeight;
    if (root.hidden) return;
    const room = { width: clientWidth, height: clientHeight };
    const { left, top } = placeBeside(around, root.getBoundingClientRect(), room);
    root.style.left = `${left}px`;
    root.style.top = `${top}px`;
  };
  // Scroll events of inner parts do not bubble; those of the box itself move nothing.
  const follow = (event: Event) => event.target !== root && place();
  document.addEventListener('scroll', follow, { capture: true, passive: true });
  window.addEventListener('resize', place);

  let reveal = 0;
  /** Once the second click of a double click would have come. */
  const revealLater = (what: Anchor) => {
    clearTimeout(reveal);
    reveal = window.setTimeout(() => {
      if (!tooltip.pinned) return;
      const covered = what.getBoundingClientRect().bottom + kRoomBelow - dock.root.getBoundingClientRect().top;
      if (covered > 0) window.scrollBy({ top: covered });
    }, kDoubleClickMs);
  };

  const tooltip: Tooltip = {
    root,
    dock: dock.root,
    get pinned() {
      return dock.owner !== undefined;
    },
    owns: (owner) => dock.owner === owner,
    show(next, ...children) {
      if (tooltip.pinned) return;
      anchor = next;
      content.replaceChildren(...children);
      root.hidden = false;
      place();
    },
    hide() {
      anchor = undefined;
      root.hidden = true;
    },
    pin(owner) {
      if (tooltip.pinned) return;
      if (root.hidden || !anchor) return;
      tooltip.keep(owner, anchor, ...content.childNodes);
    },
    keep(owner, what, ...children) {
      tooltip.hide();
      dock.open(owner, children);
      revealLater(what);
    },
    enter: () => tooltip.pinned && dock.focus(),
    unpin: () => dock.close(),
  };
  return tooltip;
}
