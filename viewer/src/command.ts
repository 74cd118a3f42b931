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

/** The span that the filter leaves of that of the page; nothing where both are the whole run. */
function spanOptions({ time }: PageData, { from, to }: Filter): string[] {
  const first = time.is_part ? Math.max(time.from_ns, from ?? 0) : from;
  const last = time.is_part ? Math.min(time.to_ns, to ?? Infinity) : to;
  return [
    ...(first === undefined ? [] : [`--from ${timeWord(first)}`]),
    ...(last === undefined ? [] : [`--to ${timeWord(last)}`]),
  ];
}

/** `uctrace report` then has the sums of the page. */
export function selectionCommand(data: PageData, filter: Filter): string {
  const options: string[] = [];
  const add = (name: string, value: string | null | undefined) => {
    if (value !== undefined) options.push(`--${name} ${quote(value ?? 'unknown')}`);
  };
  const addProcess = (name: string, index: number | undefined, unrecorded: readonly string[]) => {
    if (index === undefined) return;
    add(name, index === kUnknownProcess ? unrecorded.join(',') : data.processes[index]!.label);
  };
  add('kind', filter.kind);
  add('mpi', filter.mpi);
  add('comm', filter.comm);
  add('protocol', filter.protocol);
  if (filter.min_size !== undefined) add('min-bytes', String(leastBytes(filter.min_size)));
  if (filter.max_size !== undefined) add('max-bytes', String(mostBytes(filter.max_size)));
  addProcess('src', filter.src, data.unrecorded.src);
  addProcess('dst', filter.dst, data.unrecorded.dst);
  addProcess('rank', filter.rank, []);
  add('host', filter.host);
  add('src-host', filter.src_host);
  add('dst-host', filter.dst_host);
  add('src-memory', filter.src_memory);
  add('dst-memory', filter.dst_memory);
  add('gpu', filter.gpu);
  add('transport', filter.transport);
  add('op', filter.op);
  add('role', filter.role);
  options.push(...spanOptions(data, filter));
  const verb = filter.withoutMessage ? 'report --internal' : 'report';
  return ['uctrace', verb, ...options].join(' ');
}

/** A page of the span alone, which has room for its details. */
export function viewCommand(from: number, to: number): string {
  return `uctrace view --from ${timeWord(from)} --to ${timeWord(to)}`;
}
