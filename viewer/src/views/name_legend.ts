// The colours of names: swatches in the order of the slots, which is the same in every page.

import { element } from '../dom';
import { categoryColour, css, layerColour, type Theme } from '../palette';
import { kLayers } from '../slabs';

export function swatchKey(colour: string, name: string): HTMLElement {
  const swatch = element('span', { class: 'swatch', style: `background: ${colour}`, 'aria-hidden': 'true' });
  return element('span', { class: 'key' }, swatch, name);
}

/** For the names that are in use. */
export function nameKeys(theme: Theme, slots: ReadonlyMap<string, number>, isUsed: (name: string) => boolean = () => true): HTMLElement[] {
  return [...slots]
    .filter(([name]) => isUsed(name))
    .sort(([, a], [, b]) => a - b)
    .map(([name, slot]) => swatchKey(css(categoryColour(theme, slot)), name));
}

/** For the UCT lanes of the timeline. */
export function makeTransportLegend(slots: ReadonlyMap<string, number>) {
  const root = element('p', { class: 'legend', 'data-testid': 'timeline-transports', hidden: true });
  let shown: Theme | undefined;
  return {
    root,
    /** `isDrawn`: the timeline has lanes of UCT. */
    show(theme: Theme, isDrawn: boolean): void {
      root.hidden = !isDrawn || slots.size === 0;
      if (root.hidden || shown === theme) return;
      shown = theme;
      const together = swatchKey(css(layerColour(theme, kLayers.indexOf('uct'))), 'together, in bins');
      root.replaceChildren(element('span', {}, 'UCT transfers, one by one:'), ...nameKeys(theme, slots), together);
    },
  };
}
