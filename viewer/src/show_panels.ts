// Shows the selection in the panels of the page. In a page of many cells, panels out of view wait for a pause, or until
// the reader gets there: a graph of thousands of edges would delay each choice.

import type { Panel, View } from './page';

/** With more cells, panels out of view wait. */
const kManyCells = 20_000;
/** After the last choice. */
const kPause_ms = 500;
/** This many pixels above and below the window count as in view. */
const kMargin = 150;
/** A frame may never come: if nobody sees the page, or if it is hidden in the meantime. */
const kLongestFrame_ms = 100;

/** Waits until the browser has painted all changes so far, if it paints at all. */
export function untilPainted(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, kLongestFrame_ms);
  });
}

function isNear({ root }: Panel): boolean {
  const { top, bottom } = root.getBoundingClientRect();
  return bottom >= -kMargin && top <= window.innerHeight + kMargin;
}

export class PanelShow {
  private isOpen = false;
  private view: View | undefined;
  private timer = 0;
  private readonly waiting = new Set<Panel>();

  /** `panels` are in the document, in their order. */
  constructor(
    private readonly panels: readonly Panel[],
    private readonly cells: number,
  ) {
    window.addEventListener('beforeprint', () => {
      for (const panel of panels) {
        this.showWaiting(panel);
        panel.finish?.();
      }
    });
    if (cells <= kManyCells) return;
    const watch = new IntersectionObserver(() => this.isOpen && panels.filter(isNear).forEach((panel) => this.showWaiting(panel)), {
      rootMargin: `${kMargin}px`,
    });
    for (const { root } of panels) watch.observe(root);
  }

  /** Shows panels from top to bottom; until it ends, nothing can be chosen. */
  async open(view: View): Promise<void> {
    this.view = view;
    for (const { root } of this.panels) root.inert = true;
    for (const panel of this.panels) {
      if (this.mayWait(panel)) {
        this.leaveWaiting(panel);
        continue;
      }
      // The section bar may have led to a panel that waited, and the reader may have chosen something else there.
      panel.show(this.view);
      await untilPainted();
    }
    for (const panel of this.panels) panel.root.inert = this.waiting.has(panel);
    this.isOpen = true;
    this.showLater();
  }

  show(view: View, changed: readonly Panel[]): void {
    this.view = view;
    // Asked before the first panel is shown: afterwards, the browser would lay out the page for each answer.
    const far = changed.filter((panel) => this.mayWait(panel));
    far.forEach((panel) => this.leaveWaiting(panel));
    for (const panel of changed) {
      if (far.includes(panel)) continue;
      this.waiting.add(panel);
      this.showWaiting(panel);
    }
    this.showLater();
  }

  /** The panel around this element shows the selection, and can take the focus. */
  readonly reveal = (element: Element): void => {
    for (const panel of this.panels) if (panel.root.contains(element)) this.showWaiting(panel);
  };

  private mayWait(panel: Panel): boolean {
    return this.cells > kManyCells && !panel.neverWaits && !isNear(panel);
  }

  private leaveWaiting(panel: Panel): void {
    this.waiting.add(panel);
    panel.root.setAttribute('aria-busy', 'true');
  }

  private showWaiting(panel: Panel): void {
    if (!this.view || !this.waiting.delete(panel)) return;
    panel.show(this.view);
    panel.root.removeAttribute('aria-busy');
    panel.root.inert = false;
  }

  /** One panel per turn of the event loop, so that the reader can continue in between. */
  private showLater(pause_ms = kPause_ms): void {
    clearTimeout(this.timer);
    if (this.waiting.size === 0) return;
    this.timer = window.setTimeout(() => {
      const next = this.panels.find((panel) => this.waiting.has(panel));
      if (next) this.showWaiting(next);
      this.showLater(0);
    }, pause_ms);
  }
}
