// The words of the page: names of measures and processes, and the sentence that says what the
// numbers on the page are.

import { leastBytes, mostBytes } from './command';
import { kUnknownProcess, type PageData } from './data';
import { filtersPath, filtersTime, type Filter, type Measure } from './filter';
import { formatBytes, formatCount, formatExactBytes, formatShortCount } from './format';
import type { Axis } from './matrix';
import { processesOf } from './matrix';

export const kMeasureNames: Record<Measure, string> = {
  bytes: 'payload bytes',
  messages: 'messages',
  transfers: 'transfers',
  wire_bytes: 'wire bytes',
};

export const kNotKnown = 'not known';

export function countsBytes(measure: Measure): boolean {
  return measure === 'bytes' || measure === 'wire_bytes';
}

function nounFor(measure: Measure, value: number): string {
  const noun = measure === 'messages' ? 'message' : 'transfer';
  return value === 1 ? noun : `${noun}s`;
}

/** "1.50 KiB", "1,234" */
export function formatValue(measure: Measure, value: number): string {
  return countsBytes(measure) ? formatBytes(value) : formatCount(value);
}

/** "1.50 KiB", "1.23 k" */
export function formatShortValue(measure: Measure, value: number): string {
  return countsBytes(measure) ? formatBytes(value) : formatShortCount(value);
}

/** "1,536 B", "1,234 messages" */
export function formatExactValue(measure: Measure, value: number): string {
  if (countsBytes(measure)) return formatExactBytes(value);
  return `${formatCount(value)} ${nounFor(measure, value)}`;
}

export function processLabel(data: PageData, process: number): string {
  return data.processes[process]?.label ?? 'unknown';
}

/** "GPU 0000:10:00.0 of node1", by its label. */
export function gpuLabel(data: PageData, label: string): string {
  const gpu = data.devices.gpus.find((candidate) => candidate.label === label);
  return gpu ? `GPU ${gpu.bus} of ${gpu.host}` : `GPU ${label}`;
}

/** "3", "8–11" where ranks share a row, "unknown" */
export function rowLabel(data: PageData, axis: Axis, row: number): string {
  const { first, last } = processesOf(axis, row);
  if (first === kUnknownProcess || last - first === 1) return processLabel(data, first);
  return `${processLabel(data, first)}–${processLabel(data, last - 1)}`;
}

function pathWords(filter: Filter, article: string): string {
  const words = [article, filter.role, filter.op, 'transfer'].filter(Boolean).join(' ');
  return filter.transport === undefined ? words : `${words} over ${filter.transport}`;
}

function messageWords(data: PageData, filter: Filter): string {
  const words: string[] = [];
  const add = (value: string | null | undefined, known: string, unknown: string) => {
    if (value !== undefined) words.push(value === null ? unknown : `${known} ${value}`);
  };
  add(filter.kind, 'of kind', 'of no kind');
  add(filter.mpi, 'asked for by', 'of no known MPI function');
  add(filter.comm, 'on', 'of no known communicator');
  add(filter.protocol, 'sent by protocol', 'of no known protocol');
  if (filter.min_size !== undefined) words.push(`of ${formatBytes(leastBytes(filter.min_size))} or more`);
  if (filter.max_size !== undefined) {
    words.push(`of less than ${formatBytes(mostBytes(filter.max_size) + 1)}`);
  }
  if (filter.src !== undefined) words.push(`from rank ${processLabel(data, filter.src)}`);
  if (filter.dst !== undefined) words.push(`to rank ${processLabel(data, filter.dst)}`);
  if (filter.rank !== undefined) words.push(`with an end at rank ${processLabel(data, filter.rank)}`);
  if (filter.host !== undefined) words.push(`with an end on host ${filter.host}`);
  if (filter.src_host !== undefined) words.push(`from host ${filter.src_host}`);
  if (filter.dst_host !== undefined) words.push(`to host ${filter.dst_host}`);
  add(filter.src_memory, 'from memory of kind', '');
  add(filter.dst_memory, 'to memory of kind', '');
  if (filter.gpu !== undefined) words.push(`with an end on ${gpuLabel(data, filter.gpu)}`);
  if (filtersTime(filter)) words.push('that start in the chosen time');
  return words.length === 0 ? '' : ` ${words.join(', ')}`;
}

/** Says in one sentence what the measure adds up under the filter. */
export function describe(data: PageData, filter: Filter, measure: Measure): string {
  const which = messageWords(data, filter);
  const qualified = which || (filtersPath(filter) ? '' : ' of the run');
  if (measure === 'bytes' || measure === 'messages') {
    const what = measure === 'bytes' ? 'Payload of the messages' : 'Number of messages';
    const path = filtersPath(filter)
      ? `${which ? ',' : ''} whose path uses ${pathWords(filter, 'at least one')}`
      : '';
    const once = measure === 'bytes' ? '; each message counts once' : '';
    return `${what}${qualified}${path}${once}.`;
  }
  const transfers = filtersPath(filter) ? `${pathWords(filter, 'each')}` : 'every transfer';
  const what =
    measure === 'transfers'
      ? `Number of UCT transfers: ${transfers}`
      : `Payload and headers above UCT: ${transfers}`;
  const orNone = filter.withoutMessage ? ', or no message at all' : '';
  return `${what} that serves a message${qualified}${orNone}.`;
}
