// The stage of the timeline: a canvas in a window that scrolls over all lanes, and a mark above it.

import { element } from '../dom';

/** `said`: the id of the text that describes the drawing. */
export function makeTimelineStage(said: string) {
  const canvas = element('canvas', {
    tabindex: 0,
    role: 'application',
    'aria-label':
      'Timeline: arrow keys move between operations and lanes, plus and minus zoom, Enter keeps ' +
      'the details in view',
    'aria-describedby': said,
    'data-testid': 'timeline-canvas',
  });
  const marker = element('div', { class: 'marker', hidden: true, 'data-testid': 'timeline-marker' });
  const spacer = element('div', { class: 'spacer' });
  const stage = element('div', { class: 'timeline-stage' }, canvas, marker);
  const scroll = element('div', { class: 'timeline-scroll' }, spacer, stage);
  return { canvas, marker, spacer, stage, scroll };
}
