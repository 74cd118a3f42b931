// The strip at the foot of the window that explains what the reader points at or reaches by keys. The reader can keep
// that: then the strip grows to a panel with all details. The panel scrolls, its text can be selected and copied, and it
// stays until it is closed. It covers no data, because the page ends above it.

import { button, element } from '../dom';
import type { Panel, Update } from '../page';
import { copyButton } from './copy_button';

/** An event at an owner when its details are kept, or no longer kept. */
export const kKeptChange = 'keptchange';

export interface Explanation {
  /** The part of the page that explains something. */
  readonly owner: HTMLElement;
  /** Gets the focus when the details are closed, instead of the owner, if it is still in the page. */
  readonly from?: HTMLElement;
  /** The place in the window of the thing that it explains. */
  readonly box: () => DOMRect;
  /** An <hr> separates parts; once kept, they stand beside each other. */
  readonly content: readonly Node[];
}

export interface DetailsDock extends Panel {
  /** Explains the thing under the pointer; does nothing while details are kept. */
  point(explanation: Explanation): void;
  /**
   * Explains the thing that keys reached, and scrolls it out from under the dock. If details are kept, these replace
   * them.
   */
  reach(explanation: Explanation): void;
  /** The pointer is no longer at anything of this owner. */
  leave(owner: HTMLElement): void;
  /** Keeps this explanation in place of any other; without one, keeps the current one if nothing is kept. */
  keep(explanation?: Explanation): void;
  /** Moves the focus into the kept details. */
  enter(): void;
  /** Returns whether something was kept. */
  close(): boolean;
  readonly isKept: boolean;
  /** Whether it explains something of this owner without keeping it. */
  explains(owner: HTMLElement): boolean;
  /** Whether details of this owner are kept. */
  keeps(owner: HTMLElement): boolean;
}

const kHint =
  'What you point at in the matrix, the timeline or a graph, or reach there with the arrow keys, is explained here. ' +
  'p keeps that, and shows all of it; in the timeline, so do a click and Enter.';
const kRoomBelow = 12;
const kDoubleClick_ms = 400;

export function makeDetailsDock(update: Update): DetailsDock {
  const hint = element('p', {}, kHint);
  const content = element('div', { class: 'dock-content', role: 'status', 'data-testid': 'details-content' });
  const fold = button('', { 'data-testid': 'details-fold' }, () =>
    update((state) => ({ ...state, dock: state.dock === 'open' ? 'folded' : 'open' })),
  );
  const copy = copyButton('Copy', () => content.innerText);
  const shut = button('Close', { 'data-testid': 'details-close' }, () => dock.close());
  const way = element('span', { class: 'faint' }, 'p: all of it');
  const root = element(
    'aside',
    { class: 'dock', 'aria-label': 'Details', 'data-testid': 'details' },
    element('div', { class: 'tools' }, copy, shut, fold, way),
    content,
  );
  let shown: Explanation | undefined;
  let isKept = false;
  let isFolded = false;
  let uncoverLater = 0;

  const fill = (next: Explanation | undefined) => {
    shown = next;
    content.replaceChildren(...(next ? partsOf(next.content) : [hint]));
    way.style.visibility = next ? '' : 'hidden';
    if (isKept) content.scrollTop = 0;
  };
  /** Only this changes the size of the dock, never its contents. */
  const resize = () => {
    document.documentElement.dataset['dock'] = isKept ? 'kept' : isFolded ? 'folded' : 'open';
    copy.hidden = shut.hidden = !isKept;
    fold.hidden = isKept;
    way.hidden = isKept || isFolded;
    fold.textContent = isFolded ? 'Show details' : 'Hide';
    fold.setAttribute('aria-expanded', String(!isFolded));
    if (isKept) content.tabIndex = 0;
    else content.removeAttribute('tabindex');
  };
  const uncover = () => {
    if (!shown) return;
    const covered = shown.box().bottom + kRoomBelow - root.getBoundingClientRect().top;
    if (covered > 0) window.scrollBy({ top: covered });
  };

  const dock: DetailsDock = {
    root,
    neverWaits: true,
    show(view) {
      isFolded = view.dock === 'folded';
      resize();
    },
    get isKept() {
      return isKept;
    },
    explains: (owner) => !isKept && shown?.owner === owner,
    keeps: (owner) => isKept && shown?.owner === owner,
    point(explanation) {
      if (!isKept) fill(explanation);
    },
    reach(explanation) {
      if (isKept) dock.keep(explanation);
      else fill(explanation);
      uncover();
    },
    leave(owner) {
      if (dock.explains(owner)) fill(undefined);
    },
    keep(explanation) {
      const next = explanation ?? (isKept ? undefined : shown);
      if (!next) return;
      const before = isKept ? shown!.owner : next.owner;
      isKept = true;
      if (next !== shown) fill(next);
      resize();
      for (const owner of new Set([before, next.owner])) owner.dispatchEvent(new Event(kKeptChange));
      clearTimeout(uncoverLater);
      // The page stays in place until the second click of a double click would have come.
      uncoverLater = window.setTimeout(() => isKept && uncover(), kDoubleClick_ms);
    },
    enter: () => isKept && content.focus({ preventScroll: true }),
    close() {
      if (!isKept) return false;
      const { owner, from } = shown!;
      fill(undefined);
      isKept = false;
      resize();
      owner.dispatchEvent(new Event(kKeptChange));
      (from?.isConnected ? from : owner).focus({ preventScroll: true });
      return true;
    },
  };
  fill(undefined);
  root.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && dock.close()) event.stopPropagation();
  });
  return dock;
}

function partsOf(children: readonly Node[]): HTMLElement[] {
  const parts = [element('div', { class: 'dock-part' })];
  for (const child of children) {
    if (child instanceof HTMLHRElement) parts.push(element('div', { class: 'dock-part' }));
    else parts[parts.length - 1]!.append(child);
  }
  return parts;
}
