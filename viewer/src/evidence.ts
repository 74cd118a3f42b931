// Where the page shows the evidence of a finding, and which choices it makes there: those that the finding's command
// names.

import { kChoices, optionWords, type Choice, type ChoiceValue, type Choices } from './choices';
import type { Finding, PageData } from './data';
import { kInitialState, withChoice, type MatrixOf, type State, type Wanted } from './state';

export interface Evidence {
  /** The id of a part of the page. */
  readonly section: string;
  readonly matrix?: MatrixOf;
  readonly wanted: Wanted;
}

/** By the rules of docs/findings.md. */
const kPlaces: Readonly<Record<string, Omit<Evidence, 'wanted'>>> = {
  // The log has nothing but the cost of its calls.
  'job-without-ucx': { section: 'communicators' },
  'identities-violated': { section: 'identities' },
  'records-dropped': { section: 'head' },
  'messages-unmatched': { section: 'head' },
  'clocks-contradict': { section: 'head' },
  'settings-differ': { section: 'head' },
  'transports-differ': { section: 'head' },
  'tcp-within-host': { section: 'matrix', matrix: 'traffic' },
  'no-single-copy': { section: 'contenders' },
  'staged-through-host': { section: 'contenders' },
  'memory-mistaken': { section: 'memory' },
  'one-card-carries-most': { section: 'network' },
  'card-far-from-gpu': { section: 'memory' },
  'switch-is-costly': { section: 'protocols' },
  'first-messages-late': { section: 'timeline' },
  'connections-are-long': { section: 'timeline' },
  'many-tiny-messages': { section: 'call-sites' },
  'ranks-unbalanced': { section: 'matrix', matrix: 'waits' },
  'rank-makes-others-wait': { section: 'matrix', matrix: 'waits' },
};

/**
 * Rules for which the page shows nothing more than the command. Registrations are made between operations: neither sums
 * nor timeline have them, and `report --by registration` has a table of theirs.
 */
const kNowhere: readonly string[] = ['registration-is-long'];

/** Whether the place on the page is known for a rule. */
export function knowsRule(rule: string): boolean {
  return Object.hasOwn(kPlaces, rule) || kNowhere.includes(rule);
}

/** The words of a command line, as a POSIX shell reads them. */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  for (const [, parts] of line.matchAll(/((?:'[^']*'|\\.|[^\s'\\])+)/gs)) {
    words.push(parts!.replace(/'([^']*)'|\\(.)/gs, (_, quoted?: string, single?: string) => quoted ?? single ?? ''));
  }
  return words;
}

/** The choices in the options of a command that the page also offers. A list of values is not a choice of the page. */
export function wantedBy(data: PageData, choices: Choices, command: string): Wanted {
  const words = shellWords(command);
  const wanted: Partial<Record<Choice, ChoiceValue>> = {};
  for (const choice of kChoices) {
    for (const value of choices[choice]) {
      const [option, argument] = optionWords(data, choice, value);
      if (words.some((word, at) => word === option && words[at + 1] === argument)) wanted[choice] = value;
    }
  }
  return wanted;
}

/** Undefined: the page has nothing to show for it. */
export function evidenceOf(data: PageData, choices: Choices, { rule, command }: Finding): Evidence | undefined {
  const place = Object.hasOwn(kPlaces, rule) ? kPlaces[rule] : undefined;
  return place && { ...place, wanted: wantedBy(data, choices, command) };
}

/** A finding is about the whole run: earlier choices would hide a part of it. */
export function withEvidence(state: State, { matrix, wanted }: Evidence): State {
  const start: State = { ...state, matrix: matrix ?? state.matrix, filter: kInitialState.filter };
  const chosen = Object.entries(wanted) as [Choice, ChoiceValue][];
  return chosen.reduce((next, [choice, value]) => withChoice(next, choice, value), start);
}
