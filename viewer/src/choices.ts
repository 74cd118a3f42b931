// Everything that a reader chooses from a list, declared once: its name on the page and on the command line, its
// possible values in a run, and how a chosen value reads. The bar, the page's address, the command and the sentence
// about the numbers are made from these.

import { kUnknownProcess, type PageData, type Place, type Role } from './data';
import { formatBytes } from './format';

export type ChoiceValue = string | number | null;

interface Declaration {
  readonly name: string;
  /** The option of `uctrace report`, without its dashes. */
  readonly option: string;
  /** What has this property: only messages, the ends of all traffic, or the transfers on a path. */
  readonly of: 'message' | 'end' | 'path';
  /** Why it is not offered in every run. */
  readonly needs?: 'gpus' | 'several hosts';
  readonly values: (data: PageData) => readonly ChoiceValue[];
  /** A known value in a list; left out: its own text. */
  readonly label?: (data: PageData, value: ChoiceValue) => string;
  /** A value as the option takes it; left out: its own text, "unknown" for null. */
  readonly argument?: (data: PageData, value: ChoiceValue) => string;
  /** How messages with this value are called, after "messages"; for a `path` words.ts has the words. */
  readonly words?: (data: PageData, value: ChoiceValue) => string;
}

// --- values -----------------------------------------------------------------------------------

const messagesOf = (data: PageData) => data.classes.filter((c) => c.reason === null);
const stepsOf = (data: PageData) => data.classes.flatMap((c) => c.path);
const hostsOf = (data: PageData) => distinct(data.processes.map((p) => p.host));

function processesOf(data: PageData): number[] {
  const { src, dst } = data.cells;
  const hasUnknown = src.includes(kUnknownProcess) || dst.includes(kUnknownProcess);
  return [...data.processes.keys(), ...(hasUnknown ? [kUnknownProcess] : [])];
}

function sizesOf(data: PageData): number[] {
  return [...new Set(messagesOf(data).map((c) => c.size ?? 0))].sort((a, b) => a - b);
}

/** Without a GPU all memory is the host's. */
function memoriesOf(data: PageData, end: 'src_memory' | 'dst_memory'): ChoiceValue[] {
  if (data.devices.gpus.length === 0) return [];
  const places = messagesOf(data).map((c) => c[end]);
  return distinct(places.filter((place): place is Place => place !== null).map(({ kind }) => kind));
}

/** Sorted, with null ("not known") last. */
function distinct(values: (string | null)[]): (string | null)[] {
  return [...new Set(values)].sort((a, b) => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return a.localeCompare(b, 'en', { numeric: true });
  });
}

// --- how values read --------------------------------------------------------------------------

/** The least and the greatest length that a size stands for (TrafficClass.size). */
export function leastBytes(size: number): number {
  return size === 0 ? 0 : 2 ** (size - 1);
}
export function mostBytes(size: number): number {
  return 2 ** size - 1;
}

export function processLabel(data: PageData, process: number): string {
  return data.processes[process]?.label ?? 'unknown';
}

/** "GPU 0000:10:00.0 of node1", by its label. */
export function gpuLabel(data: PageData, label: string): string {
  const gpu = data.devices.gpus.find((candidate) => candidate.label === label);
  return gpu ? `GPU ${gpu.bus} of ${gpu.host}` : `GPU ${label}`;
}

function listedProcess(data: PageData, value: ChoiceValue): string {
  const process = Number(value);
  const label = processLabel(data, process);
  return process === kUnknownProcess ? label : `${label} (${data.processes[process]!.host})`;
}

/** The name of a process on the command line; for one that was not recorded, all such names that occur there. */
function processArgument(data: PageData, value: ChoiceValue, unrecorded: readonly string[]): string {
  const process = Number(value);
  return process === kUnknownProcess ? unrecorded.join(',') : data.processes[process]!.label;
}

function known(words: string, unknown = '') {
  return (_: PageData, value: ChoiceValue) => (value === null ? unknown : `${words} ${value}`);
}

function ofRank(words: string) {
  return (data: PageData, value: ChoiceValue) => `${words} ${processLabel(data, Number(value))}`;
}

// --- the list ---------------------------------------------------------------------------------

/** By the properties of Filter, in the order in which the page offers them. */
const kDeclared = {
  kind: {
    name: 'Kind',
    option: 'kind',
    of: 'message',
    values: (data) => distinct(messagesOf(data).map((c) => c.kind)),
    words: known('of kind', 'of no kind'),
  },
  mpi: {
    name: 'MPI function',
    option: 'mpi',
    of: 'message',
    values: (data) => distinct(messagesOf(data).map((c) => c.mpi)),
    words: known('asked for by', 'of no known MPI function'),
  },
  comm: {
    name: 'Communicator',
    option: 'comm',
    of: 'message',
    values: (data) => distinct(messagesOf(data).map((c) => c.comm)),
    words: known('on', 'of no known communicator'),
  },
  protocol: {
    name: 'Protocol',
    option: 'protocol',
    of: 'message',
    values: (data) => distinct(messagesOf(data).map((c) => c.protocol)),
    words: known('sent by protocol', 'of no known protocol'),
  },
  min_size: {
    name: 'Size from',
    option: 'min-bytes',
    of: 'message',
    values: sizesOf,
    label: (_, size) => formatBytes(leastBytes(Number(size))),
    argument: (_, size) => String(leastBytes(Number(size))),
    words: (_, size) => `of ${formatBytes(leastBytes(Number(size)))} or more`,
  },
  max_size: {
    name: 'Size to',
    option: 'max-bytes',
    of: 'message',
    values: sizesOf,
    label: (_, size) => `below ${formatBytes(mostBytes(Number(size)) + 1)}`,
    argument: (_, size) => String(mostBytes(Number(size))),
    words: (_, size) => `of less than ${formatBytes(mostBytes(Number(size)) + 1)}`,
  },
  src: {
    name: 'Source rank',
    option: 'src',
    of: 'end',
    values: processesOf,
    label: listedProcess,
    argument: (data, process) => processArgument(data, process, data.unrecorded.src),
    words: ofRank('from rank'),
  },
  dst: {
    name: 'Destination rank',
    option: 'dst',
    of: 'end',
    values: processesOf,
    label: listedProcess,
    argument: (data, process) => processArgument(data, process, data.unrecorded.dst),
    words: ofRank('to rank'),
  },
  rank: {
    name: 'Rank, either end',
    option: 'rank',
    of: 'end',
    values: (data) => [...data.processes.keys()],
    label: listedProcess,
    argument: (data, process) => processArgument(data, process, []),
    words: ofRank('with an end at rank'),
  },
  host: {
    name: 'Host, either end',
    option: 'host',
    of: 'end',
    values: hostsOf,
    words: known('with an end on host'),
  },
  src_host: {
    name: 'Source host',
    option: 'src-host',
    of: 'end',
    needs: 'several hosts',
    values: hostsOf,
    words: known('from host'),
  },
  dst_host: {
    name: 'Destination host',
    option: 'dst-host',
    of: 'end',
    needs: 'several hosts',
    values: hostsOf,
    words: known('to host'),
  },
  src_memory: {
    name: 'Source memory',
    option: 'src-memory',
    of: 'message',
    needs: 'gpus',
    values: (data) => memoriesOf(data, 'src_memory'),
    words: known('from memory of kind'),
  },
  dst_memory: {
    name: 'Destination memory',
    option: 'dst-memory',
    of: 'message',
    needs: 'gpus',
    values: (data) => memoriesOf(data, 'dst_memory'),
    words: known('to memory of kind'),
  },
  gpu: {
    name: 'GPU, either end',
    option: 'gpu',
    of: 'message',
    needs: 'gpus',
    values: (data) => data.devices.gpus.map(({ label }) => label),
    label: (data, gpu) => gpuLabel(data, String(gpu)),
    words: (data, gpu) => `with an end on ${gpuLabel(data, String(gpu))}`,
  },
  transport: {
    name: 'UCT transport',
    option: 'transport',
    of: 'path',
    values: (data) => distinct(stepsOf(data).map((s) => s.transport)),
  },
  op: {
    name: 'UCT operation',
    option: 'op',
    of: 'path',
    values: (data) => distinct(stepsOf(data).map((s) => s.op)),
  },
  role: {
    name: 'Role',
    option: 'role',
    of: 'path',
    values: (data) =>
      (['data', 'control', 'staging'] satisfies Role[]).filter((role) =>
        stepsOf(data).some((s) => s.role === role),
      ),
  },
} satisfies Record<string, Declaration>;

export type Choice = keyof typeof kDeclared;
export const kChoices = Object.keys(kDeclared) as Choice[];
const kDeclarations: Readonly<Record<Choice, Declaration>> = kDeclared;

/** The possible values of each choice in this run, in the order in which the page offers them. */
export type Choices = { readonly [K in Choice]: readonly ChoiceValue[] };

export function makeChoices(data: PageData): Choices {
  const entries = kChoices.map((choice) => [choice, kDeclarations[choice].values(data)]);
  return Object.fromEntries(entries) as Choices;
}

export function choicesOf(of: Declaration['of']): Choice[] {
  return kChoices.filter((choice) => kDeclarations[choice].of === of);
}

/** With one host, the host of an end is no choice; without a GPU, memory is none. */
export function isOffered(data: PageData, choice: Choice): boolean {
  const { needs } = kDeclarations[choice];
  if (needs === 'several hosts') return hostsOf(data).length > 1;
  return needs === undefined || data.devices.gpus.length > 0;
}

export function choiceName(choice: Choice): string {
  return kDeclarations[choice].name;
}

/** A known value as a list shows it. */
export function valueLabel(data: PageData, choice: Choice, value: ChoiceValue): string {
  return kDeclarations[choice].label?.(data, value) ?? String(value);
}

/** The words of the choices that are about messages. */
export function choiceWords(data: PageData, choice: Choice, value: ChoiceValue): string {
  return kDeclarations[choice].words?.(data, value) ?? '';
}

/** ["--src-memory", "gpu"] */
export function optionWords(data: PageData, choice: Choice, value: ChoiceValue): [string, string] {
  const { option, argument } = kDeclarations[choice];
  return [`--${option}`, argument?.(data, value) ?? String(value ?? 'unknown')];
}
