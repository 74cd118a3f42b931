// The colours of MPI functions in the timeline.

import { element } from '../dom';
import type { FunctionGroups } from '../mpi_bins';
import { css, kWaitMark, type Theme } from '../palette';
import { functionColour } from './timeline_bins';

export function makeFunctionLegend(groups: FunctionGroups) {
  const keys = groups.names.map((name, group) => {
    const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
    const isUsed = groups.ofKind.includes(group);
    return { group, swatch, root: element('span', { class: 'key', hidden: !isUsed }, swatch, name) };
  });
  const root = element(
    'p',
    { class: 'legend', 'data-testid': 'timeline-functions', hidden: groups.ofKind.length === 0 },
    ...keys.map((key) => key.root),
    element('span', { class: 'key' }, element('span', { class: 'swatch waits', 'aria-hidden': 'true' }), 'waiting'),
    element('span', { class: 'key' }, element('span', { class: 'swatch waits perhaps', 'aria-hidden': 'true' }), 'perhaps waiting'),
  );
  root.style.setProperty('--wait-mark', css(kWaitMark));
  const show = (theme: Theme) => {
    root.style.setProperty('--wait-bar', css(functionColour(theme, groups, 0)));
    for (const { group, swatch } of keys) {
      swatch.style.background = css(functionColour(theme, groups, group));
    }
  };
  return { root, show };
}
