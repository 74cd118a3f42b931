// A box above everything else on the page that explains one element of it.

import { element } from '../dom';
import { placeBeside } from '../placement';

export interface Tooltip {
  readonly root: HTMLElement;
  show(anchor: Element, ...children: Node[]): void;
  hide(): void;
}

/** Is fixed to the window, so that no scrolling part of the page cuts it. */
export function makeTooltip(): Tooltip {
  const root = element('div', {
    class: 'tooltip',
    role: 'status',
    hidden: true,
    'data-testid': 'tooltip',
  });
  let anchor: Element | undefined;

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
  // Scroll events of inner parts do not bubble.
  document.addEventListener('scroll', place, { capture: true, passive: true });
  window.addEventListener('resize', place);

  return {
    root,
    show(next, ...children) {
      anchor = next;
      root.replaceChildren(...children);
      root.hidden = false;
      place();
    },
    hide() {
      anchor = undefined;
      root.hidden = true;
    },
  };
}
