// The way of data from memory to memory, and over which network cards: what log-merger/summaries/legs.cpp says
// of a message, of what the page knows.

import type { PageData, Place, Step } from './data';
import { placeText } from './memory';

/** Where data is on its way: memory, or a network card, of the host of a process. */
export interface Stop {
  /** null: a network card. */
  readonly place: Place | null;
  /** The card as UCT names it; null where that is not known, and for memory. */
  readonly card: string | null;
  /** Index of the process, -1 where it is not known. */
  readonly process: number;
}

/** What of a step its stops are told by. */
export type Moving = Pick<
  Step,
  'role' | 'issued_by' | 'network' | 'device' | 'remote_device' | 'from' | 'to'
>;

/**
 * From where to where a step leads, stop by stop: what goes over a network passes the card of the
 * source and that of the destination. Copies of a side stay with its process. Empty for what moves
 * nothing, as a flush.
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
 * "GPU 0000:10:00.0 of node1 → eth0 of node1 → eth0 of node2 → host memory of node2"; parts that do
 * not follow each other stand apart. Of what carried data or copied it.
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
