// The way of data from memory to memory, and the network cards on it: like log-merger/summaries/legs.cpp for a message,
// from the data of the page.

import type { PageData, Place, Step } from './data';
import { placeText } from './memory';

/** A stop of data on its way: memory, or a network card, of the host of a process. */
export interface Stop {
  /** null: a network card. */
  readonly place: Place | null;
  /** The card's name in UCT; null if not known, and for memory. */
  readonly card: string | null;
  /** Index of the process, -1 if not known. */
  readonly process: number;
}

/** The fields of a step that decide its stops. */
export type Moving = Pick<
  Step,
  'role' | 'issued_by' | 'network' | 'device' | 'remote_device' | 'from' | 'to'
>;

/**
 * The stops of a step, in order: transfers over a network pass the cards of the source and of the destination. Copies
 * on one side stay with its process. Empty for steps that move nothing, such as a flush.
 */
export function stopsOf(step: Moving, src: number, dst: number): Stop[] {
  const { role, from, to } = step;
  if (role === 'control' && from.kind === 'unknown' && to.kind === 'unknown') return [];
  const memory = (place: Place, process: number): Stop => ({ place, card: null, process });
  const bySource = step.issued_by === 'src';
  if (role === 'staging') {
    const process = bySource ? src : dst;
    return [memory(from, process), memory(to, process)];
  }
  const ends = [memory(from, src), memory(to, dst)] as const;
  if (!step.network) return [...ends];
  const card = (name: string | null, process: number): Stop => ({ place: null, card: name, process });
  const device = step.device === 'unknown' ? null : step.device;
  const remote = step.remote_device;
  return [
    ends[0],
    card(bySource ? device : remote, src),
    card(bySource ? remote : device, dst),
    ends[1],
  ];
}

export function hostOf(data: PageData, { process }: Stop): string | null {
  return data.processes[process]?.host ?? null;
}

function stopText(data: PageData, stop: Stop): string {
  const what = stop.place ? placeText(data.devices, stop.place) : (stop.card ?? 'a network card');
  const host = hostOf(data, stop);
  return host === null ? what : `${what} of ${host}`;
}

/**
 * "GPU 0000:10:00.0 of node1 → eth0 of node1 → eth0 of node2 → host memory of node2"; parts that are not connected
 * stand apart. Only for steps that carried or copied data.
 */
export function wayText(data: PageData, steps: readonly Moving[], src: number, dst: number): string {
  const told = new Set<string>();
  let text = '';
  let last: string | undefined;
  for (const step of steps) {
    if (step.role === 'control') continue;
    const stops = stopsOf(step, src, dst).map((stop) => stopText(data, stop));
    stops.slice(1).forEach((to, index) => {
      const from = stops[index]!;
      if (told.has(`${from}\n${to}`)) return;
      told.add(`${from}\n${to}`);
      if (last !== from) text += `${text && '; '}${from}`;
      text += ` → ${to}`;
      last = to;
    });
  }
  return text;
}
