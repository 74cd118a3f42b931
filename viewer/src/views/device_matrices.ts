// The matrices of memories, by where the data of messages lay and where it went, and of devices, by the ways of the data.

import { kUnknownProcess } from '../data';
import {
  kLegMeasures,
  legTotals,
  legValues,
  makeLegs,
  movedBy,
  type Device,
  type LegMeasure,
  type Legs,
} from '../device_matrix';
import { cellValues, type Measure } from '../filter';
import { kMaxSide, makeMatrix, type Square } from '../matrix';
import { makeMemoryMatrix, type Memory, type MemoryMatrix } from '../memories';
import type { Context, View } from '../page';
import { largestSquares } from '../pairs';
import { matricesOf, type Wanted } from '../state';
import { formatExactValue, kMeasureNames, wordsOf } from '../words';
import { describeLegs } from './leg_details';
import type { MatrixKind } from './matrix_kind';
import { describeCells } from './pair_details';
import { makePairList, sumsOfCells } from './pair_list';
import { edgeMeasure } from './process_graph';

/** The matrices that are useful for this run. */
export function makeDeviceMatrices(context: Context): MatrixKind[] {
  const kinds = [makeMemories(context), makeDevices(context)];
  return kinds.filter(({ id }) => matricesOf(context.data).includes(id));
}

/** Filters can select a GPU, but no card. */
const kByEnds = 'filter by its ends, as far as filters tell them apart';

type Ends<T> = readonly [T, T];

/** What squares are called whose rows are these parts. */
function squaresOfParts<T extends { readonly key: string; readonly label: string }>(parts: () => readonly T[]) {
  const ends = ({ row, column }: Square): Ends<T> => [parts()[row]!, parts()[column]!];
  return {
    ends,
    title: (square: Square) => ends(square).map(({ label }) => label).join(' → '),
    keysOf(square: Square): Record<string, string> {
      const [from, to] = ends(square);
      return { from: from.key, to: to.key };
    },
  };
}

type Placed = Pick<Device, 'gpu' | 'host'>;

/** The filter choices for two ends: their GPUs, and where they are. `within`: the choice for two ends on one host. */
function choiceOf({ data }: Context, [from, to]: Ends<Placed>, within: (host: string) => Wanted): Wanted | undefined {
  const gpu = data.devices.gpus[from.gpu] ?? data.devices.gpus[to.gpu];
  const isOneHost = data.processes.every(({ host }) => host === data.processes[0]!.host);
  const end = (name: 'src' | 'dst', { host }: Placed): Wanted => {
    if (host === null) return { [name]: kUnknownProcess };
    return isOneHost ? {} : { [`${name}_host`]: host };
  };
  const isWithin = from.host !== null && from.host === to.host && !isOneHost;
  const hosts = isWithin ? within(from.host) : { ...end('src', from), ...end('dst', to) };
  const wanted = { ...hosts, ...(gpu && { gpu: gpu.label }) };
  return Object.keys(wanted).length > 0 ? wanted : undefined;
}

// --- memories ---------------------------------------------------------------------------------

function nameOfMemory({ short, label, gpu, host }: Memory): string {
  return gpu < 0 ? label : `${short} of ${host}`;
}

function makeMemories(context: Context): MatrixKind {
  let made: MemoryMatrix = { memories: [], values: new Float64Array(), squares: new Int32Array() };
  const { ends, title, keysOf } = squaresOfParts(() => made.memories);
  const label = (row: number) => nameOfMemory(made.memories[row]!);
  const kindOf = ({ key }: Memory) => key.split(' ')[0]!;
  const hasGpus = context.data.devices.gpus.length > 0;
  const choice = (square: Square): Wanted | undefined => {
    const [from, to] = ends(square);
    // Memory of no message, or several memories.
    if ([from, to].some(({ key }) => key === 'none' || key === 'others')) return undefined;
    const kinds = hasGpus ? { src_memory: kindOf(from), dst_memory: kindOf(to) } : {};
    const wanted = choiceOf(context, [from, to], (host) => ({ src_host: host, dst_host: host }));
    return wanted || hasGpus ? { ...wanted, ...kinds } : undefined;
  };
  const describe: MatrixKind['describe'] = (view, square) =>
    describeCells(view, title(square), { squares: made.squares, axis: { side: made.memories.length }, square });
  return {
    id: 'memories',
    name: 'Memories',
    titles: { rows: 'Where data lay', columns: 'Where it went' },
    corner: 'source \\ destination',
    hasLongNames: true,
    choosesOne: false,
    make(view) {
      const values = cellValues(view.columns, view.selection, view.measure);
      made = makeMemoryMatrix(view.columns, values, kMaxSide);
      return makeMatrix(made.squares, { side: made.memories.length }, values);
    },
    label,
    words: ({ measure }) => wordsOf(measure),
    note: ({ measure }) =>
      `Each square adds up the ${kMeasureNames[measure]} of the messages whose data lay in the memory of the row and went to ` +
      'that of the column.',
    describe,
    choice,
    keysOf,
    makeList: (actions) =>
      makePairList(
        {
          testId: 'memory-pairs',
          ends: 'source → destination',
          hasLongNames: true,
          name: label,
          title,
          ...sumsOfCells(() => made.squares),
          chooses: (pair) => (choice(pair) ? kByEnds : 'keep its details'),
          chosen: () => undefined,
          describe,
        },
        actions,
      ),
  };
}

// --- devices ----------------------------------------------------------------------------------

/** Messages and their time cannot be divided among legs. */
const legMeasure = ({ measure }: View) => edgeMeasure('transport', measure) as LegMeasure;

const legMeasureName = (measure: Measure) => (measure === 'bytes' ? 'moved bytes' : kMeasureNames[measure]);

function noteOfLegs(view: View, legs: Legs): string {
  const measure = legMeasure(view);
  const what = measure === 'bytes' ? 'bytes that were carried, or copied within a side,' : kMeasureNames[measure];
  const { still } = legTotals(legs, view.selection, movedBy(view.columns, measure));
  const left = still > 0 ? ` What serves no message, or moves nothing, is in no square: ${formatExactValue(measure, still)}.` : '';
  return (
    `Each square adds up the ${what} on the way from the device of the row straight to that of the column. What goes over a ` +
    `network is in three squares: to the card of the source, to that of the destination, and from there to memory.${left}`
  );
}

function makeDevices(context: Context): MatrixKind {
  let found: Legs | undefined;
  // Made on demand: it costs one pass over all transfers.
  const legs = () => (found ??= makeLegs(context.columns));
  const { ends, title, keysOf } = squaresOfParts(() => legs().devices);
  const label = (row: number) => legs().devices[row]!.label;
  const choice = (square: Square): Wanted | undefined => {
    const [from, to] = ends(square);
    if ([from, to].some(({ key }) => key === 'others')) return undefined;
    return choiceOf(context, [from, to], (host) => ({ host }));
  };
  const describe: MatrixKind['describe'] = (view, square) => describeLegs(view, title(square), legs(), square);
  return {
    id: 'devices',
    name: 'Devices',
    titles: { rows: 'What data left', columns: 'What it went to' },
    corner: 'from \\ to',
    hasLongNames: true,
    choosesOne: false,
    make(view) {
      const values = legValues(legs(), view.selection, movedBy(view.columns, legMeasure(view)));
      return makeMatrix(legs().squares, { side: legs().devices.length }, values);
    },
    label,
    words: (view) => ({ ...wordsOf(legMeasure(view)), name: legMeasureName(legMeasure(view)) }),
    note: (view) => noteOfLegs(view, legs()),
    describe,
    choice,
    keysOf,
    makeList: (actions) =>
      makePairList(
        {
          testId: 'device-pairs',
          ends: 'from → to',
          hasLongNames: true,
          name: label,
          title,
          measures: (view) => [legMeasure(view), ...kLegMeasures.filter((other) => other !== legMeasure(view))],
          measureName: legMeasureName,
          largest({ columns, selection }, matrix, limit) {
            const values = kLegMeasures.map((measure) => legValues(legs(), selection, movedBy(columns, measure)));
            return largestSquares(legs().squares, matrix, limit, (load, leg) =>
              kLegMeasures.forEach((measure, at) => (load[measure] += values[at]![leg]!)),
            );
          },
          total: (view) => legTotals(legs(), view.selection, movedBy(view.columns, legMeasure(view))).moved,
          chooses: (pair) => (choice(pair) ? kByEnds : 'keep its details'),
          chosen: () => undefined,
          describe,
        },
        actions,
      ),
  };
}
