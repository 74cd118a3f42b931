// Findings about the run, in words: the first section of the page.

import type { Finding, RunData } from '../data';
import { button, element, section } from '../dom';

/** The link to the evidence of a finding. */
export interface FindingLink {
  /** The address, for another window or to be copied. */
  readonly address: string;
  follow(): void;
}

/** Nothing if there is none. */
export function makeFindings({ findings }: RunData): HTMLElement[] {
  if (findings.length === 0) return [];
  return [
    section(
      'findings',
      'Findings',
      element(
        'p',
        { class: 'faint' },
        'What is in doubt comes first, then what is about most of the time or payload. Findings ' +
          'are about the whole run; filters do not change them.',
      ),
      element('ol', { class: 'findings', 'data-testid': 'findings' }, ...findings.map(makeItem)),
    ),
  ];
}

function makeItem({ rule, finding, advice, command, doubts_records }: Finding): HTMLElement {
  const copy = button(
    'Copy',
    { class: 'link', title: 'Copy the command that shows it', 'aria-label': `Copy: ${command}` },
    () => {
      void navigator.clipboard?.writeText(command);
    },
  );
  return element(
    'li',
    { 'data-rule': rule, class: doubts_records && 'doubt' },
    element('div', { class: 'said' }, finding),
    element('div', { class: 'faint' }, `Try: ${advice}`),
    element('div', { class: 'faint' }, 'See: ', element('code', {}, command), ' ', copy),
  );
}

/** Turns the sentences for which the page shows more into links. */
export function linkFindings(
  sections: readonly HTMLElement[],
  { findings }: RunData,
  linkOf: (finding: Finding) => FindingLink | undefined,
): void {
  const said = sections.flatMap((section) => [...section.querySelectorAll<HTMLElement>('.findings .said')]);
  said.forEach((place, at) => {
    const link = linkOf(findings[at]!);
    if (!link) return;
    const anchor = element('a', { href: link.address, title: 'Go to what shows it' }, findings[at]!.finding);
    anchor.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      link.follow();
    });
    place.replaceChildren(anchor);
  });
}
