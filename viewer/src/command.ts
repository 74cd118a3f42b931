// The command that selects on the command line what is selected on the page.

import { choiceName, kChoices, optionWords, valueLabel } from './choices';
import type { PageData } from './data';
import type { Filter } from './filter';

/** Quoted so that a POSIX shell reads the text back. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** 1234567890 -> "1.23456789s"; exact. */
export function timeWord(ns: number): string {
  const digits = String(ns).padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return `${digits.slice(0, -9)}${fraction && `.${fraction}`}s`;
}

/** The part of the page's span that the filter leaves; nothing if both are the whole run. */
function spanOptions({ time }: PageData, { from, to }: Filter): string[] {
  const first = time.is_part ? Math.max(time.from_ns, from ?? 0) : from;
  const last = time.is_part ? Math.min(time.to_ns, to ?? Infinity) : to;
  return [
    ...(first === undefined ? [] : [`--from ${timeWord(first)}`]),
    ...(last === undefined ? [] : [`--to ${timeWord(last)}`]),
  ];
}

/** Why `uctrace report` refuses the filter, in its words; nothing if it accepts it. */
export function refusalOf(data: PageData, { min_size, max_size }: Filter): string | undefined {
  if (min_size === undefined || max_size === undefined || min_size <= max_size) return undefined;
  const sizes = ([['min_size', min_size], ['max_size', max_size]] as const).map(
    ([choice, size]) => `${choiceName(choice)} ${valueLabel(data, choice, size)}`,
  );
  return `${sizes.join(', ')}: the least is greater than the greatest: no message has such a length; swap them, or leave one out`;
}

/** `uctrace report` then has the sums of the page, unless it refuses the filter. */
export function selectionCommand(data: PageData, filter: Filter): string {
  return commandOf(data, 'report', [...(filter.withoutMessage ? ['--internal'] : []), ...optionsOf(data, filter)]);
}

/** `uctrace messages` then lists the messages that are chosen. */
export function messagesCommand(data: PageData, filter: Filter): string {
  return commandOf(data, 'messages', optionsOf(data, filter));
}

function optionsOf(data: PageData, filter: Filter): string[] {
  const options: string[] = [];
  for (const choice of kChoices) {
    const value = filter[choice];
    if (value === undefined) continue;
    const [option, argument] = optionWords(data, choice, value);
    options.push(`${option} ${quote(argument)}`);
  }
  return [...options, ...spanOptions(data, filter)];
}

function commandOf({ folder }: PageData, verb: string, options: readonly string[]): string {
  return ['uctrace', verb, ...(folder === '' ? [] : [folder]), ...options].join(' ');
}

/** A page of this span alone: then its details fit. */
export function viewCommand(data: PageData, from: number, to: number): string {
  return commandOf(data, 'view', [`--from ${timeWord(from)}`, `--to ${timeWord(to)}`]);
}
