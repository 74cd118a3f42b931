// The bar that stays at the top of the page and leads to each of its sections. The address keeps
// the selection, so these are buttons, not links.

import { button, element } from '../dom';

/** Makes a part of the page ready to take the focus. */
export type Reveal = (section: Element) => void;

/** Brings a part of the page into view. */
export function goTo(section: HTMLElement, reveal: Reveal): void {
  reveal(section);
  section.scrollIntoView({ block: 'start' });
  // So that Tab continues from there.
  section.tabIndex = -1;
  section.focus({ preventScroll: true });
}

/** `sections`: in the order of the page, each with a heading. */
export function makeSectionBar(sections: HTMLElement[], reveal: Reveal): HTMLElement {
  const buttons = sections.map((section) => {
    const heading = section.querySelector('h2');
    return button(heading?.textContent ?? section.id, { 'data-section': section.id }, () => goTo(section, reveal));
  });
  return element(
    'nav',
    { class: 'sections', 'aria-label': 'Sections of this page', 'data-testid': 'section-bar' },
    ...buttons,
  );
}
