// Which lanes the timeline has, and in which order: one for each process, or one for all processes
// of a host. tests/lanes.test.ts compares them with plain definitions.

import type { PageData } from './data';

export const kLaneSorts = ['rank', 'waited', 'caused', 'bytes'] as const;
/** By rank, by time waited, by time that others waited for it, by payload sent and received. */
export type LaneSort = (typeof kLaneSorts)[number];

/** What the reader chose of the lanes. */
export interface LaneChoice {
  readonly sort: LaneSort;
  /** One lane for each host, except for hosts that were opened. */
  readonly byHost: boolean;
  readonly opened: readonly string[];
  /** Processes that stay on top, in this order. */
  readonly pinned: readonly number[];
  /** "0-15,32" or a part of a host's name: only these lanes; empty for all. */
  readonly only: string;
  /** Low lanes, with MPI only. */
  readonly compact: boolean;
}

export const kAllLanes: LaneChoice = { sort: 'rank', byHost: false, opened: [], pinned: [], only: '', compact: false };

/** More would leave no room for other lanes. */
export const kMostPinned = 8;

/** One lane; `host` is null for the lane of a single process. */
export interface Lane {
  readonly host: string | null;
  readonly processes: readonly number[];
}

export interface Lanes {
  readonly rows: readonly Lane[];
  /** The first rows, which do not scroll. */
  readonly pinned: number;
  /** Row of each process, also if its host is one lane; -1 if it is left out. */
  readonly rowOf: Int32Array;
}

/** The sort key of each process: the greatest first. */
export type LaneWeights = Record<Exclude<LaneSort, 'rank'>, ArrayLike<number>>;

/** Numbers and ranges, as "0-15,32"; undefined for any other text. */
export function parseRanks(text: string): ((rank: number) => boolean) | undefined {
  const parts = text.split(',').map((part) => /^\s*(\d+)(?:\s*[-–]\s*(\d+))?\s*$/.exec(part));
  if (parts.some((part) => part === null)) return undefined;
  const spans = parts.map((part) => [Number(part![1]), Number(part![2] ?? part![1])] as const);
  return (rank) => spans.some(([first, last]) => rank >= first && rank <= last);
}

/** The processes that `only` names: by rank, or by a part of the host's name, ignoring case. */
function namedProcesses(data: PageData, only: string): boolean[] {
  const text = only.trim().toLowerCase();
  if (text === '') return data.processes.map(() => true);
  const accepts = parseRanks(text);
  if (accepts) return data.processes.map(({ rank }) => rank !== null && accepts(rank));
  return data.processes.map(({ host }) => host.toLowerCase().includes(text));
}

export function makeLanes(data: PageData, choice: LaneChoice, weights: LaneWeights): Lanes {
  const named = namedProcesses(data, choice.only);
  const pinned = choice.pinned.filter((process) => data.processes[process]).slice(0, kMostPinned);
  const others = [...data.processes.keys()].filter((process) => named[process] && !pinned.includes(process));
  const single = (process: number): Lane => ({ host: null, processes: [process] });
  const lanes = choice.byHost ? groupByHost(data, others, choice.opened) : others.map(single);
  const { sort } = choice;
  if (sort !== 'rank') {
    const weight = ({ processes }: Lane) =>
      processes.reduce((sum, process) => sum + weights[sort][process]!, 0);
    const of = new Map(lanes.map((lane) => [lane, weight(lane)]));
    lanes.sort((a, b) => of.get(b)! - of.get(a)!);
  }
  const rows = [...pinned.map(single), ...lanes];
  const rowOf = new Int32Array(data.processes.length).fill(-1);
  rows.forEach(({ processes }, row) => processes.forEach((process) => (rowOf[process] = row)));
  return { rows, pinned: pinned.length, rowOf };
}

/** In the order of their first process; hosts that are opened have a lane for each process. */
function groupByHost(data: PageData, processes: readonly number[], opened: readonly string[]): Lane[] {
  const hosts = new Map<string, number[]>();
  for (const process of processes) {
    const { host } = data.processes[process]!;
    const own = hosts.get(host);
    if (own) own.push(process);
    else hosts.set(host, [process]);
  }
  return [...hosts].flatMap(([host, own]): Lane[] =>
    opened.includes(host) ? own.map((process) => ({ host: null, processes: [process] })) : [{ host, processes: own }],
  );
}

/** As fields of the page's address; nothing for initial values. */
export function lanesToFields(lanes: LaneChoice): [string, string][] {
  const fields: [string, string][] = [
    ['lanes', lanes.sort === 'rank' ? '' : lanes.sort],
    ['by_host', lanes.byHost ? '1' : ''],
    ['low', lanes.compact ? '1' : ''],
    ['pinned', lanes.pinned.join(',')],
    ['only', lanes.only],
  ];
  const written = fields.filter(([, value]) => value !== '');
  return [...written, ...lanes.opened.map((host): [string, string] => ['open', host])];
}

/** Drops lanes that the run does not have. */
export function lanesFromFields(fields: URLSearchParams, data: PageData): LaneChoice {
  const hosts = new Set(data.processes.map(({ host }) => host));
  const numbers = (fields.get('pinned') ?? '').split(',').filter((text) => /^\d+$/.test(text)).map(Number);
  return {
    sort: kLaneSorts.find((sort) => sort === fields.get('lanes')) ?? 'rank',
    byHost: fields.get('by_host') === '1',
    compact: fields.get('low') === '1',
    pinned: [...new Set(numbers)].filter((process) => process < data.processes.length).slice(0, kMostPinned),
    only: fields.get('only') ?? '',
    opened: fields.getAll('open').filter((host) => hosts.has(host)),
  };
}
