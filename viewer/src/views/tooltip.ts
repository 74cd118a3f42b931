// A box above everything else on the page that explains one element of it. It can be pinned: then
// it stays, scrolls, and its text can be selected and copied.

import { button, element } from '../dom';
import { placeBeside } from '../placement';

export interface Anchor {
  getBoundingClientRect(): DOMRect;
}

export interface Tooltip {
  readonly root: HTMLElement;
  /** Does nothing while a box is pinned. */
  show(anchor: Anchor, ...children: Node[]): void;
  hide(): void;
  /** Pins what is shown; the focus goes back to `owner` when it is closed. */
  pin(owner: HTMLElement): void;
  /** Whether there was something to close. */
  unpin(): boolean;
  readonly pinned: boolean;
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page from disk may not be allowed to: copy what is selected, as a reader would.
    const area = element('textarea', { 'aria-hidden': 'true', class: 'offscreen' });
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

/** A button that copies a text and says whether that worked. */
export function copyButton(title: string, text: () => string): HTMLButtonElement {
  const made: HTMLButtonElement = button(title, { class: 'copy', 'data-testid': 'copy' }, () => {
    void copyText(text()).then((copied) => {
      made.textContent = copied ? 'Copied' : 'Cannot copy here';
      made.dataset['copied'] = String(copied);
    });
  });
  return made;
}

/** Is fixed to the window, so that no scrolling part of the page cuts it. */
export function makeTooltip(): Tooltip {
  const content = element('div', { class: 'tooltip-content' });
  const root = element(
    'div',
    { class: 'tooltip', role: 'status', hidden: true, 'data-testid': 'tooltip' },
    content,
  );
  let anchor: Anchor | undefined;
  let owner: HTMLElement | undefined;

  const place = () => {
    if (!anchor) return;
    const { clientWidth, clientHeight } = document.documentElement;
    const around = anchor.getBoundingClientRect();
    const outside =
      around.right <= 0 ||
      around.bottom <= 0 ||
      around.left >= clientWidth ||
      around.top >= clientHeight;
    root.hidden = outside && !owner;
    if (root.hidden) return;
    const room = { width: clientWidth, height: clientHeight };
    const { left, top } = placeBeside(around, root.getBoundingClientRect(), room);
    root.style.left = `${left}px`;
    root.style.top = `${top}px`;
  };
  // Scroll events of inner parts do not bubble; those of the box itself move nothing.
  const follow = (event: Event) => !owner && event.target !== root && place();
  document.addEventListener('scroll', follow, { capture: true, passive: true });
  window.addEventListener('resize', place);

  const tooltip: Tooltip = {
    root,
    get pinned() {
      return owner !== undefined;
    },
    show(next, ...children) {
      if (owner) return;
      anchor = next;
      content.replaceChildren(...children);
      root.hidden = false;
      place();
    },
    hide() {
      if (owner) return;
      anchor = undefined;
      root.hidden = true;
    },
    pin(next) {
      if (root.hidden) return;
      owner = next;
      root.classList.add('pinned');
      root.setAttribute('role', 'dialog');
      root.setAttribute('aria-label', 'Details');
      const close = button('Close', { 'data-testid': 'tooltip-close' }, () => tooltip.unpin());
      const tools = element('div', { class: 'tools' }, copyButton('Copy', () => text), close);
      const text = content.innerText;
      root.prepend(tools);
      place();
      close.focus({ preventScroll: true });
    },
    unpin() {
      if (!owner) return false;
      const last = owner;
      owner = undefined;
      root.querySelector('.tools')?.remove();
      root.classList.remove('pinned');
      root.setAttribute('role', 'status');
      root.removeAttribute('aria-label');
      tooltip.hide();
      last.focus({ preventScroll: true });
      return true;
    },
  };
  root.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    tooltip.unpin();
    event.stopPropagation();
  });
  return tooltip;
}
