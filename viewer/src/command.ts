// The command that selects on the command line what is selected on the page.

import { kUnknownProcess, type PageData } from './data';
import type { Filter } from './filter';

/** As a POSIX shell reads it back. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** 1234567890 -> "1.23456789s"; exact. */
export function timeWord(ns: number): string {
  const digits = String(ns).padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return `${digits.slice(0, -9)}${fraction && `.${fraction}`}s`;
}

/** The least and the greatest length of a size (TrafficClass.size). */
export function leastBytes(size: number): number {
  return size === 0 ? 0 : 2 ** (size - 1);
}
export function mostBytes(size: number): number {
  return 2 ** size - 1;
}

function processWord(data: PageData, process: number): string {
  return process === kUnknownProcess ? 'unknown' : data.processes[process]!.label;
}

function spanOptions({ from, to }: Filter): string[] {
  return [
    ...(from === undefined ? [] : [`--from ${timeWord(from)}`]),
    ...(to === undefined ? [] : [`--to ${timeWord(to)}`]),
  ];
}

export function selectionCommand(data: PageData, filter: Filter): string {
  const options: string[] = [];
  const add = (name: string, value: string | null | undefined) => {
    if (value !== undefined) options.push(`--${name} ${quote(value ?? 'unknown')}`);
  };
  const process = (index: number | undefined) =>
    index === undefined ? undefined : processWord(data, index);
  add('kind', filter.kind);
  add('mpi', filter.mpi);
  add('comm', filter.comm);
  add('protocol', filter.protocol);
  if (filter.min_size !== undefined) add('min-bytes', String(leastBytes(filter.min_size)));
  if (filter.max_size !== undefined) add('max-bytes', String(mostBytes(filter.max_size)));
  add('src', process(filter.src));
  add('dst', process(filter.dst));
  add('rank', process(filter.rank));
  add('host', filter.host);
  add('transport', filter.transport);
  add('op', filter.op);
  add('role', filter.role);
  options.push(...spanOptions(filter));
  const verb = filter.withoutMessage ? 'report --internal' : 'messages';
  return ['uctrace', verb, ...options].join(' ');
}

/** A page of the span alone, which has room for its details. */
export function viewCommand(from: number, to: number): string {
  return ['uctrace view', ...spanOptions({ from, to })].join(' ');
}

