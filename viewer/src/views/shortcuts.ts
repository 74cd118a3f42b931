// The keys of the page, and the box that lists them.

import { button, element } from '../dom';
import type { DetailsDock } from './details_dock';

const kKeys: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Everywhere',
    [
      ['?', 'these keys'],
      ['/', 'go to the filters'],
      ['m, t, g', 'go to the matrix, the timeline, the graph'],
      ['f', 'find operations in the timeline'],
      ['r', 'reset the filters'],
      ['p', 'keep the details that are shown below, and go there'],
      ['Esc', 'close the details that are kept; leave the square, operation or node'],
    ],
  ],
  [
    'Matrix',
    [
      ['arrows', 'next square'],
      ['Enter', 'show only this pair, or all again; of waits, and where no filter tells, keep the details'],
    ],
  ],
  [
    'Timeline',
    [
      ['← →', 'previous or next operation, or bin of time'],
      ['↑ ↓', 'previous or next layer or rank'],
      ['+ −', 'zoom in, out'],
      ['Shift + ← →', 'move in time'],
      ['w, s; a, d', 'zoom in, out; earlier, later'],
      ['drag', 'zoom into a span'],
      ['Shift + drag', 'choose a span, which filters every view'],
      ['double click, wheel', 'zoom; the wheel once the timeline was clicked'],
      ['Home, End', 'start, end of the run'],
      ['0', 'the whole run'],
      ['b', 'choose the time that is visible, or all again'],
      ['Enter', 'keep the details in view; arrows then change them'],
      ['n, Shift + n', 'next or previous operation found'],
      ['i', 'pin the lane on top, or no longer'],
      ['h', 'one lane a host, or one a rank'],
      ['o', 'open the lane of a host, or close it'],
      ['l', 'low lanes of MPI alone, or all layers'],
      ['in the strip by rank: arrows, Enter', 'next rank or time; choose that time, or all again'],
    ],
  ],
  [
    'Graph',
    [
      ['← →', 'previous or next node'],
      ['↑ ↓', 'its edges, by falling value'],
      ['Enter', 'show only this node or edge, or all again; open a host'],
      ['o, double click', 'open a host, or close it, where hosts are single nodes'],
      ['+ −', 'zoom in, out'],
      ['0', 'fit all'],
    ],
  ],
];

const kGpuKeys = ['In a run with GPUs', [['d', 'go to the device graph']]] as const;

function makeHelp(hasGpus: boolean): HTMLDialogElement {
  const groups = [...kKeys, ...(hasGpus ? [kGpuKeys] : [])].map(([title, keys]) =>
    element(
      'div',
      {},
      element('h3', {}, title),
      element(
        'dl',
        { class: 'keys' },
        ...keys.flatMap(([key, meaning]) => [
          element('dt', {}, element('kbd', {}, key)),
          element('dd', {}, meaning),
        ]),
      ),
    ),
  );
  const dialog = element(
    'dialog',
    { class: 'help', 'aria-label': 'Keys', 'data-testid': 'help' },
    element('h2', {}, 'Keys'),
    element('div', { class: 'key-groups' }, ...groups),
    button('Close', {}, () => dialog.close()),
  ) as HTMLDialogElement;
  return dialog;
}

/** Typing in a field is no command; lists also find their entries by letters. */
function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !['radio', 'checkbox'].includes(target.type);
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

/** `reveal`: makes an element ready to take the focus. */
export function addShortcuts(dock: DetailsDock, hasGpus: boolean, reveal: (element: Element) => void): void {
  const focus = (testId: string) => {
    const found = document.querySelector<HTMLElement>(`[data-testid="${testId}"]`);
    if (!found) return;
    reveal(found);
    found.focus();
    found.scrollIntoView({ block: 'nearest' });
  };
  const help = makeHelp(hasGpus);
  document.body.append(help);
  const actions: Record<string, () => void> = {
    '?': () => (help.open ? help.close() : help.showModal()),
    '/': () => document.querySelector<HTMLElement>('.choices select')?.focus(),
    m: () => focus('matrix-canvas'),
    t: () => focus('timeline-canvas'),
    g: () => focus('graph-canvas'),
    f: () => focus('timeline-find'),
    d: () => focus('devices-canvas'),
    p: () => {
      dock.keep();
      dock.enter();
    },
    r: () => document.querySelector<HTMLElement>('[data-testid="filter-reset"]')?.click(),
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && !help.open && dock.close()) return;
    const action = actions[event.key];
    if (!action || isTyping(event.target) || (help.open && event.key !== '?')) return;
    event.preventDefault();
    action();
  });
  document
    .querySelector('[data-testid="show-keys"]')
    ?.addEventListener('click', () => help.showModal());
}
