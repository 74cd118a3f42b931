// Shows what is chosen in the panels of the page. Where there are many cells, what the reader does not see waits for a
// pause or for the reader to come there: a graph of thousands of edges would hold up each choice.

import type { Panel, View } from './page';

/** With more cells, panels out of view wait. */
const kManyCells = 20_000;
/** After the last choice. */
const kPause_ms = 500;
/** As many pixels above and below the window are as good as in view. */
const kMargin = 150;

/** A turn of the browser in which it paints; it delays the timers of a page that nobody sees. */
export async function paint(): Promise<void> {
  if (!document.hidden) await new Promise((done) => setTimeout(done));
}

function isNear({ root }: Panel): boolean {
  const { top, bottom } = root.getBoundingClientRect();
  return bottom >= -kMargin && top <= window.innerHeight + kMargin;
}

export class PanelShow {
  private view: View | undefined;
  private timer = 0;
  private readonly waiting = new Set<Panel>();

  /** `panels` are in the document, in their order. */
  constructor(
    private readonly panels: readonly Panel[],
    private readonly cells: number,
  ) {
    if (cells <= kManyCells) return;
    const watch = new IntersectionObserver(
      (entries) => {
        for (const panel of panels) {
          if (entries.some(({ target, isIntersecting }) => isIntersecting && target === panel.root)) this.showWaiting(panel);
        }
      },
      { rootMargin: `${kMargin}px` },
    );
    for (const { root } of panels) watch.observe(root);
    window.addEventListener('beforeprint', () => panels.forEach((panel) => this.showWaiting(panel)));
  }

  /** What is above is there before what is below; until it ends, nothing can be chosen. */
  async open(view: View): Promise<void> {
    this.view = view;
    for (const { root } of this.panels) root.inert = true;
    for (const panel of this.panels) {
      if (this.mayWait(panel)) {
        this.leaveWaiting(panel);
        continue;
      }
      panel.show(view);
      await paint();
    }
    for (const panel of this.panels) panel.root.inert = this.waiting.has(panel);
    this.showLater();
  }

  show(view: View, changed: readonly Panel[] = this.panels): void {
    this.view = view;
    for (const panel of changed) {
      if (this.mayWait(panel)) {
        this.leaveWaiting(panel);
      } else {
        this.waiting.add(panel);
        this.showWaiting(panel);
      }
    }
    this.showLater();
  }

  private mayWait(panel: Panel): boolean {
    return this.cells > kManyCells && !isNear(panel);
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

  /** One panel in a turn, so that the reader can go on in between. */
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
