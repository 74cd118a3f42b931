// Whether a graph shows processes, or each host as one node: at first as there are many processes or few, then as the
// reader chooses.

import type { PageData } from '../data';
import { button, element } from '../dom';
import type { Filter } from '../filter';
import { formatCount } from '../format';
import { choiceAtFirst, hostNode, kMostProcesses, type GraphLayout, type HostChoice } from '../graph';

export interface HostControl {
  readonly root: HTMLElement;
  choice(): HostChoice;
  /** Opens a host alone, or closes it. */
  toggle(host: string): void;
  /** What is to be known of it; nothing where processes are shown. */
  describe(): string;
}

/** `changed`: there is another choice. */
export function makeHostControl(id: string, data: PageData, changed: () => void): HostControl {
  const atFirst = choiceAtFirst(data);
  const hosts = new Set(data.processes.map(({ host }) => host)).size;
  let choice = atFirst;
  const set = (next: HostChoice) => {
    choice = next;
    showButtons();
    changed();
  };
  const whole = button('', { 'data-testid': `${id}-hosts` }, () => set({ collapsed: !choice.collapsed, opened: new Set() }));
  const close = button('', { 'data-testid': `${id}-close-hosts` }, () => {
    set({ ...choice, opened: new Set() });
    // The button is gone, and with it the focus.
    whole.focus();
  });
  const showButtons = () => {
    const { collapsed, opened } = choice;
    whole.textContent = collapsed ? 'Show processes' : 'Collapse to hosts';
    close.textContent = `Close ${formatCount(opened.size)} opened ${opened.size === 1 ? 'host' : 'hosts'}`;
    close.hidden = opened.size === 0;
  };
  showButtons();
  return {
    root: element('span', { class: 'tools', hidden: hosts < 2 }, whole, close),
    choice: () => choice,
    toggle(host) {
      const opened = new Set(choice.opened);
      if (!opened.delete(host)) opened.add(host);
      set({ ...choice, opened });
    },
    describe() {
      if (!choice.collapsed) return '';
      const why = atFirst.collapsed ? `, as there are more than ${formatCount(kMostProcesses)} processes` : '';
      return (
        `Each host is one node${why}; the number of its processes is in brackets. ` +
        'A double click or Enter opens a host. A double click on one of its processes, or the key o, closes it.'
      );
    },
  };
}

/** Nodes of hosts that the filter names. */
export function hostsChosen({ host, src_host, dst_host }: Filter, { closed }: GraphLayout): string[] {
  return [host, src_host, dst_host].flatMap((name) => (typeof name === 'string' && closed.has(name) ? [hostNode(name)] : []));
}
