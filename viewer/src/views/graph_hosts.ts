// The buttons by which the reader chooses whether a graph shows processes, or each host as one node.

import type { PageData } from '../data';
import { button, element } from '../dom';
import type { Filter } from '../filter';
import { formatCount } from '../format';
import { choiceAtFirst, hostNode, kMostProcesses, type GraphLayout, type HostChoice } from '../graph';
import { withHosts, type GraphId } from '../host_choices';
import type { Update, View } from '../page';

export interface HostControl {
  readonly root: HTMLElement;
  choice(): HostChoice;
  /** Takes the choice; returns whether it has changed. */
  take(view: View): boolean;
  /** Opens only this host, or closes it. */
  toggle(host: string): void;
  /** A note for the reader; nothing if processes are shown. */
  describe(): string;
}

export function makeHostControl(id: GraphId, data: PageData, update: Update): HostControl {
  const atFirst = choiceAtFirst(data);
  const hosts = new Set(data.processes.map(({ host }) => host)).size;
  let choice = atFirst;
  const set = (next: HostChoice) => update((state) => ({ ...state, hosts: withHosts(state.hosts, id, data, next) }));
  const whole = button('', { 'data-testid': `${id}-hosts` }, () => set({ collapsed: !choice.collapsed, opened: new Set() }));
  const close = button('', { 'data-testid': `${id}-close-hosts` }, () => {
    set({ ...choice, opened: new Set() });
    // The button is gone, and the focus with it.
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
    take({ hosts }) {
      const before = choice;
      choice = hosts[id] ?? atFirst;
      showButtons();
      return choice !== before;
    },
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

/** Nodes of the hosts in the filter. */
export function hostsChosen({ host, src_host, dst_host }: Filter, { closed }: GraphLayout): string[] {
  return [host, src_host, dst_host].flatMap((name) => (typeof name === 'string' && closed.has(name) ? [hostNode(name)] : []));
}
