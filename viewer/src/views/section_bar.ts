// The bar that stays at the top of the page and leads to each of its sections. The address keeps
// what is chosen, so that these are buttons and no links.

import { button, element } from '../dom';

/** `sections`: in the order of the page, each with a heading. `reveal`: makes one ready to take the focus. */
export function makeSectionBar(sections: HTMLElement[], reveal: (section: Element) => void): HTMLElement {
  const buttons = sections.map((section) => {
    const heading = section.querySelector('h2');
    return button(heading?.textContent ?? section.id, { 'data-section': section.id }, () => {
      reveal(section);
      section.scrollIntoView({ block: 'start' });
      // So that Tab goes on from there.
      section.tabIndex = -1;
      section.focus({ preventScroll: true });
    });
  });
  return element(
    'nav',
    { class: 'sections', 'aria-label': 'Sections of this page', 'data-testid': 'section-bar' },
    ...buttons,
  );
}
