// A panel at the foot of the window with the details of what the reader chose to keep: it covers no data,
// as the page ends above it, scrolls, can be selected and copied, and stays until it is closed.

import { button, element } from '../dom';
import { copyButton } from './copy_button';

/** An event at an owner whose details are no longer in the panel. */
export const kDetailsGone = 'detailsgone';

export interface DetailsDock {
  readonly root: HTMLElement;
  /** Where the focus goes at the end; nothing while it is closed. */
  readonly owner: HTMLElement | undefined;
  /** Shows these, instead of others if it is open; parts that an <hr> parts stand beside each other. */
  open(owner: HTMLElement, children: readonly Node[]): void;
  /** Whether it was open. */
  close(): boolean;
  focus(): void;
}

export function makeDetailsDock(): DetailsDock {
  const content = element('div', { class: 'dock-content', tabindex: 0, 'data-testid': 'details-content' });
  const tools = element(
    'div',
    { class: 'tools' },
    copyButton('Copy', () => content.innerText),
    button('Close', { 'data-testid': 'details-close' }, () => dock.close()),
  );
  const root = element(
    'aside',
    { class: 'dock', 'aria-label': 'Details', hidden: true, 'data-testid': 'details' },
    tools,
    content,
  );
  let owner: HTMLElement | undefined;
  const dock: DetailsDock = {
    root,
    get owner() {
      return owner;
    },
    open(behind, children) {
      const before = owner;
      owner = behind;
      if (before && before !== behind) before.dispatchEvent(new Event(kDetailsGone));
      root.hidden = false;
      document.documentElement.dataset['dock'] = 'open';
      content.replaceChildren(...partsOf(children));
      content.scrollTop = 0;
    },
    close() {
      if (!owner) return false;
      const last = owner;
      owner = undefined;
      root.hidden = true;
      delete document.documentElement.dataset['dock'];
      last.dispatchEvent(new Event(kDetailsGone));
      last.focus({ preventScroll: true });
      return true;
    },
    focus: () => content.focus({ preventScroll: true }),
  };
  root.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    dock.close();
    event.stopPropagation();
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
