// The traffic of the selection that each network card of each host carried to and from other hosts. tests/cards.test.ts
// compares it with plain sums.

import type { Columns } from './columns';
import type { Selection } from './filter';

export interface CardRow {
  readonly host: string;
  readonly card: string;
  /** Wire bytes to and from other hosts, and to processes of the same host. */
  sent: number;
  received: number;
  inside: number;
  /** All bytes that the cards of its host sent and received. */
  readonly ofHost: number;
  /** Those with most bytes first. */
  readonly transports: readonly string[];
}

export interface Cards {
  /** By host, as the processes are, then by name. */
  readonly rows: readonly CardRow[];
  /** Bytes whose other end is not known: no row has them. */
  readonly unknown: number;
}

interface Sum extends Pick<CardRow, 'host' | 'card' | 'sent' | 'received' | 'inside'> {
  readonly by: Map<string, number>;
}

/**
 * Adds up each selected transfer total over a network with wire bytes, without copies on one side: the card where the
 * data left sends its bytes, and the card where it arrived receives them. Control transfers go from the side that
 * issued them to the other. Transfers within a host count once, at the card of the side that issued them. All cards of
 * the run have a row.
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
