// The command of the run as the title of the page. Launcher lines can be long: words stay whole if
// they fit, and lines beyond the second are shown on demand.

import { button, element } from '../dom';

export function makeCommandLine(command: string): HTMLElement {
  const words = command
    .split(/(\s+)/)
    .map((part) => (/^\s*$/.test(part) ? part : element('span', {}, part)));
  const title = element('h1', { id: 'command', 'data-testid': 'command' }, ...words);
  const more = button(
    'Whole command',
    { class: 'link', hidden: true, 'aria-controls': title.id, 'data-testid': 'command-more' },
    () => {
      const open = title.classList.toggle('open');
      more.setAttribute('aria-expanded', String(open));
      more.textContent = open ? 'Less' : 'Whole command';
    },
  );
  more.setAttribute('aria-expanded', 'false');
  new ResizeObserver(() => {
    if (title.classList.contains('open')) return;
    more.hidden = title.scrollHeight <= title.clientHeight + 1;
  }).observe(title);
  return element('div', { class: 'command' }, title, more);
}
