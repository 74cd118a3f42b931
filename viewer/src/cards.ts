// What each network card of each host carried to and from other hosts, of what is selected. tests/cards.test.ts holds it
// to plain sums.

import type { Columns } from './columns';
import type { Selection } from './filter';

export interface CardRow {
  readonly host: string;
  readonly card: string;
  /** Wire bytes to and from other hosts, and to processes of the same host. */
  sent: number;
  received: number;
  inside: number;
  /** What all cards of its host sent and received. */
  readonly ofHost: number;
  /** With most bytes first. */
  readonly transports: readonly string[];
}

export interface Cards {
  /** By host, as the processes are, then by name. */
  readonly rows: readonly CardRow[];
  /** Bytes whose other end is not known: they are in no row. */
  readonly unknown: number;
}

interface Sum extends Pick<CardRow, 'host' | 'card' | 'sent' | 'received' | 'inside'> {
  readonly by: Map<string, number>;
}

/**
 * Of each selected transfer total over a network with wire bytes, without copies of a side: its bytes are sent by the card
 * where the data left, and received by that where it arrived. Control transfers go from who issued them to the other side. Within
 * a host they are counted once, at the card of who issued them. All cards of the run are there.
 */
export function makeCards(columns: Columns, selection: Selection): Cards {
  const { data, src, dst, firstTransfer, transferStep, transferWireBytes, steps } = columns;
  const sums = new Map<string, Sum>();
  const sumOf = (host: string, card: string) => {
    const key = JSON.stringify([host, card]);
    const sum = sums.get(key) ?? { host, card, sent: 0, received: 0, inside: 0, by: new Map<string, number>() };
    sums.set(key, sum);
    return sum;
  };
  for (const { host, device } of data.devices.nics) sumOf(host, device);
  let unknown = 0;
  for (let c = 0; c < src.length; ++c) {
    for (let t = firstTransfer[c]!; t < firstTransfer[c + 1]!; ++t) {
      const step = steps[transferStep[t]!]!;
      const bytes = selection.transfers[t] ? transferWireBytes[t]! : 0;
      if (!step.network || step.role === 'staging' || bytes === 0) continue;
      const bySource = step.issued_by === 'src';
      const side = (source: boolean) => ({
        host: data.processes[(source ? src : dst)[c]!]?.host,
        card: source === bySource ? step.device : step.remote_device,
      });
      const forward = step.role === 'data' || bySource;
      const [from, to] = [side(forward), side(!forward)];
      const add = ({ host, card }: typeof from, way: 'sent' | 'received' | 'inside') => {
        if (host === undefined || card === null) return;
        const sum = sumOf(host, card);
        sum[way] += bytes;
        sum.by.set(step.transport, (sum.by.get(step.transport) ?? 0) + bytes);
      };
      if (from.host === undefined || to.host === undefined) unknown += bytes;
      else if (from.host === to.host) add(side(bySource), 'inside');
      else {
        add(from, 'sent');
        add(to, 'received');
      }
    }
  }
  return { rows: inOrder(columns, [...sums.values()]), unknown };
}

function inOrder({ data }: Columns, sums: readonly Sum[]): CardRow[] {
  const hosts = [...new Set([...data.processes, ...data.devices.nics].map(({ host }) => host))];
  const place = new Map(hosts.map((host, at) => [host, at]));
  const ofHost = new Map<string, number>();
  for (const { host, sent, received } of sums) ofHost.set(host, (ofHost.get(host) ?? 0) + sent + received);
  const rows = sums.map(({ by, ...sum }) => ({
    ...sum,
    ofHost: ofHost.get(sum.host)!,
    transports: [...by].sort(([, a], [, b]) => b - a).map(([transport]) => transport),
  }));
  return rows.sort(
    (a, b) => place.get(a.host)! - place.get(b.host)! || a.card.localeCompare(b.card, 'en', { numeric: true }),
  );
}
