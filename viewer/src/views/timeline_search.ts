// Finds operations in the timeline: a field, and the way to the next and the previous one.

import { button, element } from '../dom';
import { formatCount } from '../format';
import type { Context } from '../page';
import type { Findings, Found } from '../search';

const kAfterTyping_ms = 200;

export interface SearchActions {
  /** The operations shown that match the words. */
  search(query: string): Findings;
  /** The position of the reader. */
  here(): Found | undefined;
  /** Selects it, and brings it into view. */
  jump(found: Found): void;
}

export interface TimelineSearch {
  readonly root: HTMLElement;
  focus(): void;
  step(direction: 1 | -1): void;
  /** The operations shown have changed. */
  forget(): void;
}

export function makeTimelineSearch({ operations }: Context, actions: SearchActions): TimelineSearch {
  let known: { query: string; findings: Findings } | undefined;
  let waiting = 0;
  const field = element('input', {
    type: 'search',
    size: 26,
    placeholder: 'Find: MPI_Send, peer:3, transport:rc ...',
    'aria-label':
      'Find operations by function, protocol, transport or call site; function: protocol: transport: site: peer: ' +
      'and rank: look at that alone. Enter goes to the next one',
    'data-testid': 'timeline-find',
  });
  const said = element('span', { class: 'faint', role: 'status', 'data-testid': 'timeline-found' });
  const findings = () => {
    const query = field.value;
    if (known?.query !== query) known = { query, findings: actions.search(query) };
    return known.findings;
  };
  const among = () => (operations.searched === '' ? '' : ` among ${operations.searched}`);
  const tell = (at?: Found) => {
    const { count } = findings();
    if (field.value.trim() === '') said.textContent = '';
    else if (count === 0) said.textContent = `not found${among()}`;
    else if (at) said.textContent = `${formatCount(findings().placeOf(at))} of ${formatCount(count)}`;
    else said.textContent = `${formatCount(count)} found${among()}`;
  };
  const step = (direction: 1 | -1) => {
    const next = findings().next(actions.here(), direction);
    if (next) actions.jump(next);
    // The jump may have changed the lanes; the search then reports that later.
    clearTimeout(waiting);
    tell(next && actions.here());
  };
  field.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(tell, kAfterTyping_ms);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  });
  return {
    root: element(
      'span',
      { class: 'find' },
      field,
      button('↑', { 'aria-label': 'Previous operation found', 'data-testid': 'timeline-find-previous' }, () => step(-1)),
      button('↓', { 'aria-label': 'Next operation found', 'data-testid': 'timeline-find-next' }, () => step(1)),
      said,
    ),
    focus: () => field.focus(),
    step,
    forget() {
      known = undefined;
      if (field.value !== '') {
        clearTimeout(waiting);
        waiting = window.setTimeout(tell, kAfterTyping_ms);
      }
    },
  };
}
