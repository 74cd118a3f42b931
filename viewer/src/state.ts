// What the reader has chosen, and its form in the page's address, so that a view can be shared.

import { kChoices, type Choice, type Choices, type ChoiceValue } from './choices';
import { kMeasures, type Filter, type Measure } from './filter';
import type { PageData } from './data';
import { hostsFromFields, hostsToFields, type HostChoices } from './host_choices';
import { kAllLanes, lanesFromFields, lanesToFields, type LaneChoice } from './lanes';
import { lookFromFields, lookToFields, type Look } from './look';
import type { Scale } from './matrix';
import { endOf, wholeSlabs, type TimeAxis } from './slabs';

export type MatrixOf = 'traffic' | 'waits' | 'memories' | 'devices';

/** The matrices that are useful for a run: without a GPU, memories differ only by their host. */
export function matricesOf({ classes, devices, processes }: PageData): MatrixOf[] {
  const hasGpus = devices.gpus.length > 0;
  const hasHosts = processes.some(({ host }) => host !== processes[0]!.host);
  const usesCards = classes.some(({ path }) => path.some(({ network }) => network));
  return [
    'traffic',
    'waits',
    ...(hasGpus || hasHosts ? (['memories'] as const) : []),
    ...(hasGpus || usesCards ? (['devices'] as const) : []),
  ];
}

export const kOverviews = ['all', 'ranks'] as const;
/** The strip above the timeline: all ranks together, or a row for each. */
export type Overview = (typeof kOverviews)[number];

export const kDocks = ['open', 'folded'] as const;
/** The strip of details at the foot of the window. */
export type Dock = (typeof kDocks)[number];

export interface State {
  readonly filter: Filter;
  readonly measure: Measure;
  readonly scale: Scale;
  /**
   * What the matrix shows: traffic from rank to rank, which rank waited for which, or traffic between memories or
   * devices.
   */
  readonly matrix: MatrixOf;
  readonly overview: Overview;
  readonly lanes: LaneChoice;
  readonly hosts: HostChoices;
  readonly look: Look;
  readonly dock: Dock;
}

export const kInitialState: State = {
  filter: {},
  measure: 'bytes',
  scale: 'log',
  matrix: 'traffic',
  overview: 'all',
  lanes: kAllLanes,
  hosts: {},
  look: {},
  dock: 'open',
};

function differAlone(keys: readonly (keyof State)[], before: State, after: State): boolean {
  const changed = (Object.keys(before) as (keyof State)[]).filter((key) => before[key] !== after[key]);
  return changed.length > 0 && changed.every((key) => keys.includes(key));
}

/** Whether the only differences between the two concern the timeline. */
export function differInTimelineAlone(before: State, after: State): boolean {
  return differAlone(['lanes', 'overview'], before, after);
}

/** The same for the graphs. */
export function differInGraphsAlone(before: State, after: State): boolean {
  return differAlone(['hosts'], before, after);
}

/** The same for the dock of details. */
export function differInDockAlone(before: State, after: State): boolean {
  return differAlone(['dock'], before, after);
}

export function withChoice(state: State, choice: Choice, value: ChoiceValue | undefined): State {
  const filter: Record<string, unknown> = { ...state.filter };
  if (value === undefined) delete filter[choice];
  else filter[choice] = value;
  return { ...state, filter };
}

export type Wanted = { readonly [K in Choice]?: ChoiceValue };

const entriesOf = (wanted: Wanted) => Object.entries(wanted) as [Choice, ChoiceValue][];

/** Whether all of these are chosen. */
export function isChosen({ filter }: State, wanted: Wanted): boolean {
  return entriesOf(wanted).every(([choice, value]) => filter[choice] === value);
}

/** Chooses all of these; if all are chosen already, chooses none of them. */
export function toggled(state: State, wanted: Wanted): State {
  const entries = entriesOf(wanted);
  const again = isChosen(state, wanted);
  return entries.reduce(
    (next, [choice, value]) => withChoice(next, choice, again ? undefined : value),
    state,
  );
}

/** A choice as the text of a form control or an address; "" is null, because no name can be empty. */
export function encodeValue(value: ChoiceValue): string {
  return value === null ? '' : String(value);
}

export function toHash(state: State, run: string): string {
  const fields = new URLSearchParams();
  if (state.measure !== kInitialState.measure) fields.set('measure', state.measure);
  if (state.scale !== kInitialState.scale) fields.set('scale', state.scale);
  if (state.matrix !== kInitialState.matrix) fields.set('matrix', state.matrix);
  if (state.overview !== kInitialState.overview) fields.set('overview', state.overview);
  if (state.dock !== kInitialState.dock) fields.set('dock', state.dock);
  for (const choice of kChoices) {
    const value = state.filter[choice];
    if (value !== undefined) fields.set(choice, encodeValue(value));
  }
  for (const edge of ['from', 'to'] as const) {
    if (state.filter[edge] !== undefined) fields.set(`${edge}_ns`, String(state.filter[edge]));
  }
  if (state.filter.withoutMessage) fields.set('without_message', '1');
  for (const [name, value] of [...lanesToFields(state.lanes), ...hostsToFields(state.hosts)]) fields.append(name, value);
  for (const [name, value] of lookToFields(state.look, run)) fields.set(name, value);
  return fields.toString();
}

/** Drops choices that this run does not have: the address may come from another run's page. */
export function fromHash(hash: string, choices: Choices, axis: TimeAxis, data: PageData): State {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  let state: State = {
    filter: fields.get('without_message') === '1' ? { withoutMessage: true } : {},
    measure: kMeasures.find((measure) => measure === fields.get('measure')) ?? 'bytes',
    scale: fields.get('scale') === 'linear' ? 'linear' : 'log',
    matrix: matricesOf(data).find((of) => of === fields.get('matrix')) ?? 'traffic',
    overview: kOverviews.find((overview) => overview === fields.get('overview')) ?? 'all',
    lanes: lanesFromFields(fields, data),
    hosts: hostsFromFields(fields, data),
    look: lookFromFields(fields, axis, data),
    dock: kDocks.find((dock) => dock === fields.get('dock')) ?? 'open',
  };
  for (const choice of kChoices) {
    const text = fields.get(choice);
    const value = choices[choice].find((offered) => encodeValue(offered) === text);
    if (value !== undefined) state = withChoice(state, choice, value);
  }
  const edge = (name: string) => {
    const text = fields.get(name);
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
  };
  return withSpan(state, axis, edge('from_ns'), edge('to_ns'));
}

/** Chooses a span of time, widened to whole slabs; the whole run is no choice. */
export function withSpan(state: State, axis: TimeAxis, from?: number, to?: number): State {
  const { from: _from, to: _to, ...filter } = state.filter;
  if (from === undefined && to === undefined) return { ...state, filter };
  const span = wholeSlabs(axis, from ?? axis.from, to ?? endOf(axis));
  if (!span) return { ...state, filter };
  return { ...state, filter: { ...filter, ...span } };
}
