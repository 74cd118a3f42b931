// The colours of the matrix, and the choice of their scale.

import { button, element } from '../dom';
import { valueAt, type Extent, type Matrix, type Scale } from '../matrix';
import { gradient, type Theme } from '../palette';
import type { Update, View } from '../page';
import type { ValueWords } from '../words';

export function showLegend(
  legend: HTMLElement,
  matrix: Matrix,
  view: View,
  words: ValueWords,
  theme: Theme,
  update: Update,
): void {
  const scales = (['log', 'linear'] as const).map((scale) =>
    button(
      scale,
      { 'aria-pressed': String(view.scale === scale), 'data-testid': `scale-${scale}` },
      () => update((state) => ({ ...state, scale })),
    ),
  );
  const focused = (legend.contains(document.activeElement) && document.activeElement) as
    HTMLElement | false;
  legend.replaceChildren(
    element('span', {}, `${words.name} per pair:`),
    element('span', { class: 'swatch' }),
    element('span', {}, 'none'),
    ...(matrix.max > 0 ? [makeRamp(matrix, view.scale, words, theme)] : []),
    element('span', { class: 'segments', role: 'group', 'aria-label': 'Colour scale' }, ...scales),
  );
  if (focused)
    legend.querySelector<HTMLElement>(`[data-testid="${focused.dataset['testid']}"]`)?.focus();
}

/** On a logarithmic scale, values that are all equal have one colour and no range. */
export function makeRamp(extent: Extent, scale: Scale, words: ValueWords, theme: Theme): HTMLElement {
  const noRange = scale === 'log' && extent.max === extent.minPositive;
  const ticks = (noRange ? [1] : [0, 0.25, 0.5, 0.75, 1]).map((at) => {
    const value = Math.round(valueAt(extent, scale, at));
    return element(
      'span',
      { title: words.exact(value) },
      words.short(value),
    );
  });
  return element(
    'div',
    { class: 'ramp' },
    element('div', { style: `background: ${gradient(theme)}` }),
    element('div', { class: `ticks${noRange ? ' single' : ''}` }, ...ticks),
  );
}
