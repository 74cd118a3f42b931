// The calling lines of the program: what they cost, and which rank came late to which of them.

import type { CallSite, Delay, RunData } from '../data';
import { columnHead, element, numberCell, rowHead, section } from '../dom';
import { formatCount, formatShare } from '../format';
import { moreToldBy, sortedTable } from '../table';
import { kNotKnown } from '../words';
import { durationCell } from './cells';

export function makeCallSites({ call_sites, delays, processes }: RunData): HTMLElement {
  const labels = processes.map(({ label }) => label);
  return section(
    'call-sites',
    'Call sites',
    element(
      'p',
      {},
      'The lines of the program that call, those first whose calls waited longest for other ranks, then those that ' +
        'took longest. Both tables are about the whole run; filters do not change them.',
    ),
    ...(call_sites.rows.length > 0 ? [makeSites(call_sites.rows)] : [element('p', {}, 'No call was recorded.')]),
    ...moreToldBy(call_sites.left_out, 'uctrace comms --by call-site,op'),
    element('h3', {}, 'Who comes late'),
    element(
      'p',
      {},
      'Whose work the waits come from: work before the call that the others waited for. Passed on is what those waited ' +
        'who waited for a rank that waited.',
    ),
    ...(delays.rows.length > 0
      ? [makeDelays(delays.rows, delays.ns, labels)]
      : [element('p', {}, 'No rank is known to have waited for the work of another one.')]),
    ...moreToldBy(delays.left_out, 'uctrace waits --limit 1000'),
  );
}

function makeSites(rows: readonly CallSite[]): HTMLElement {
  const head = [
    columnHead('call site'),
    columnHead('function'),
    columnHead('calls', true),
    columnHead('time, all ranks', true),
    columnHead('of it waiting', true),
    columnHead('ranks', true),
  ];
  const row = ({ site, mpi, calls, ns, waiting_ns, ranks }: CallSite) =>
    element(
      'tr',
      {},
      rowHead(site ?? kNotKnown),
      element('td', {}, mpi ?? kNotKnown),
      numberCell(formatCount(calls), '', calls),
      durationCell(ns),
      durationCell(waiting_ns),
      numberCell(formatCount(ranks), '', ranks),
    );
  return sortedTable({ 'data-testid': 'call-sites-table' }, head, rows.map(row));
}

function makeDelays(rows: readonly Delay[], whole: number, labels: readonly string[]): HTMLElement {
  const head = [
    columnHead('rank'),
    columnHead('came late to'),
    columnHead('call site'),
    columnHead('waits for it', true),
    columnHead('directly', true),
    columnHead('passed on', true),
    columnHead('share', true),
  ];
  const row = ({ process, mpi, site, waits, direct_ns, passed_on_ns }: Delay) => {
    const part = direct_ns + passed_on_ns;
    return element(
      'tr',
      {},
      rowHead(labels[process] ?? kNotKnown),
      element('td', {}, mpi ?? kNotKnown),
      element('td', {}, site ?? kNotKnown),
      numberCell(formatCount(waits), '', waits),
      durationCell(direct_ns),
      durationCell(passed_on_ns),
      numberCell(formatShare(part, whole), '', whole === 0 ? 0 : part / whole),
    );
  };
  return sortedTable({ 'data-testid': 'delays-table' }, head, rows.map(row));
}
