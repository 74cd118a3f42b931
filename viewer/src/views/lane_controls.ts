// Above the lanes of the timeline: their order, which of them are shown, and how tall they are.

import { processLabel } from '../choices';
import type { PageData } from '../data';
import { button, element } from '../dom';
import { formatCount } from '../format';
import { kLaneSorts, kMostPinned, type LaneChoice, type Lanes, type LaneSort } from '../lanes';
import type { Update, View } from '../page';

const kSortNames: Record<LaneSort, string> = {
  rank: 'rank',
  waited: 'time waited',
  caused: 'time others waited for it',
  bytes: 'payload sent and received',
};

export interface LaneControls {
  readonly root: HTMLElement;
  show(view: View, rows: number): void;
  /** Keeps a process on top, or no longer. */
  togglePin(process: number): void;
  /** Shows a lane for each process of the host, or one for all. */
  toggleHost(host: string): void;
  toggleHosts(): void;
  toggleCompact(): void;
}

export function makeLaneControls(update: Update, processes: number): LaneControls {
  const change = (next: (lanes: LaneChoice) => Partial<LaneChoice>) =>
    update((state) => ({ ...state, lanes: { ...state.lanes, ...next(state.lanes) } }));
  const sort = element(
    'select',
    { 'data-testid': 'lanes-sort' },
    ...kLaneSorts.map((value) => element('option', { value }, kSortNames[value])),
  );
  sort.addEventListener('change', () => {
    const chosen = kLaneSorts.find((value) => value === sort.value) ?? 'rank';
    change(() => ({ sort: chosen }));
  });
  const only = element('input', {
    type: 'search',
    size: 16,
    placeholder: 'ranks 0-15,32 or host',
    'aria-label': 'Only these lanes: ranks, as 0-15,32, or a part of the name of a host',
    'data-testid': 'lanes-only',
  });
  only.addEventListener('input', () => change(() => ({ only: only.value })));
  const toggleHosts = () => change(({ byHost }) => ({ byHost: !byHost, opened: [] }));
  const toggleCompact = () => change(({ compact }) => ({ compact: !compact }));
  const byHost = button('One lane a host', { 'data-testid': 'lanes-hosts' }, toggleHosts);
  const compact = button('Low lanes', { 'data-testid': 'lanes-compact', title: 'MPI alone, so that more lanes are in view' }, toggleCompact);
  const unpin = button('Unpin', { 'data-testid': 'lanes-unpin' }, () => change(() => ({ pinned: [] })));
  const said = element('span', { class: 'faint', 'data-testid': 'lanes-said' });
  const root = element(
    'div',
    { class: 'tools', hidden: processes < 2 },
    element('label', { class: 'check' }, 'Lanes by', sort),
    only,
    byHost,
    compact,
    unpin,
    said,
  );
  return {
    root,
    show({ lanes }, rows) {
      sort.value = lanes.sort;
      if (only.value !== lanes.only) only.value = lanes.only;
      byHost.setAttribute('aria-pressed', String(lanes.byHost));
      compact.setAttribute('aria-pressed', String(lanes.compact));
      unpin.hidden = lanes.pinned.length === 0;
      const noun = rows === 1 ? 'lane' : 'lanes';
      said.textContent = rows === 0 ? 'no lane matches' : `${formatCount(rows)} ${noun}; click a name to pin it${lanes.byHost ? ', or to open a host' : ''}`;
    },
    togglePin: (process) =>
      change(({ pinned }) => ({
        pinned: pinned.includes(process) ? pinned.filter((other) => other !== process) : [...pinned, process].slice(-kMostPinned),
      })),
    toggleHost: (host) =>
      change(({ opened }) => ({
        opened: opened.includes(host) ? opened.filter((other) => other !== host) : [...opened, host],
      })),
    toggleHosts,
    toggleCompact,
  };
}

/** "rank 3"; for a lane of several processes, the host with their number. */
export function laneLabel(data: PageData, lanes: Lanes, row: number): string {
  const { host, processes } = lanes.rows[row]!;
  return host === null ? `rank ${processLabel(data, processes[0]!)}` : `${host} (${processes.length})`;
}
