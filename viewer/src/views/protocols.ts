// Messages, payload and latencies by protocol and size.

import type { RunData, ProtocolSize, Reach } from '../data';
import { columnHead, element, numberCell, rowHead, section } from '../dom';
import { formatBytes, formatCount, formatExactBytes } from '../format';
import { kNotKnown } from '../words';
import { sortedTable } from '../table';
import { durationCell, noneCell, sizesCell } from './cells';

const kReachWords: Record<Reach, string> = {
  unknown: 'not known',
  process: 'process',
  host: 'host',
  network: 'network',
};

function makeRow(row: ProtocolSize): HTMLElement {
  const rate = row.per_second_bytes;
  return element(
    'tr',
    {},
    rowHead(row.protocol ?? kNotKnown),
    element('td', {}, kReachWords[row.reach]),
    sizesCell(row.size === 0 ? 0 : 2 ** (row.size - 1), 2 ** row.size),
    numberCell(formatCount(row.messages), '', row.messages),
    numberCell(formatBytes(row.bytes), formatExactBytes(row.bytes), row.bytes),
    durationCell(row.median_ns),
    durationCell(row.p99_ns),
    rate === null
      ? noneCell()
      : numberCell(`${formatBytes(rate)}/s`, `${formatExactBytes(rate)} a second`, rate),
    durationCell(row.ucx_least_ns),
    durationCell(row.ucx_most_ns),
  );
}

export function makeProtocols({ protocols }: RunData): HTMLElement {
  const head = [
    columnHead('protocol'),
    columnHead('within'),
    columnHead('size'),
    columnHead('messages', true),
    columnHead('payload', true),
    columnHead('median latency', true),
    columnHead('99 %', true),
    columnHead('payload/s', true),
    columnHead('UCX expects', true),
    columnHead('at most', true),
  ];
  return section(
    'protocols',
    'Protocols by size',
    element(
      'p',
      {},
      'Latency is the time from when both sides of a message were there until it had arrived, ' +
        'within 1/64. UCX expects: its own estimate for a message of the mean length, over all endpoints that ' +
        'are as far apart. The table is about the whole run; filters do not change it.',
    ),
    sortedTable({ 'data-testid': 'protocols-table' }, head, protocols.map(makeRow)),
  );
}
