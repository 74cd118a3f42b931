// The buttons above the timeline.

import { button, element } from '../dom';

export interface TimelineActions {
  /** Above 1: shows more time. */
  zoom(factor: number): void;
  /** Moves by this share of the visible time. */
  pan(share: number): void;
  showWhole(): void;
  chooseVisible(): void;
  savePng(): void;
  saveSvg(): void;
}

export function makeTimelineTools(actions: TimelineActions): HTMLElement {
  return element(
    'div',
    { class: 'tools' },
    button('+', { 'aria-label': 'Zoom in', 'data-testid': 'timeline-in' }, () => actions.zoom(0.5)),
    button('−', { 'aria-label': 'Zoom out', 'data-testid': 'timeline-out' }, () => actions.zoom(2)),
    button('◀', { 'aria-label': 'Earlier' }, () => actions.pan(-0.5)),
    button('▶', { 'aria-label': 'Later' }, () => actions.pan(0.5)),
    button('Whole run', { 'data-testid': 'timeline-whole' }, actions.showWhole),
    button('Choose visible time', { 'data-testid': 'timeline-choose' }, actions.chooseVisible),
    button('PNG', { title: 'Save the lanes in view as a picture', 'data-testid': 'timeline-png' }, actions.savePng),
    button('SVG', { title: 'Save the lanes in view as shapes and text', 'data-testid': 'timeline-svg' }, actions.saveSvg),
  );
}
