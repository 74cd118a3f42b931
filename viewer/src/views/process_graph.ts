// The process graph: processes in the boxes of their hosts, and the traffic between them.

import { kUnknownProcess } from '../data';
import { cellValues, type Measure, type MessageMeasure } from '../filter';
import { makeEdges, makeLayout, nodeOfProcess, type EdgesBy, type GraphLayout } from '../graph';
import type { Context, View } from '../page';
import type { Wanted } from '../state';
import type { GraphKind } from './graph_kind';
import { processFacts } from './graph_words';

/** Measures of transfers: a transfer has no share in the number of messages or in their time. */
type TransferMeasure = Exclude<Measure, Exclude<MessageMeasure, 'bytes'>>;

function ofTransfers(measure: Measure): TransferMeasure {
  return measure === 'messages' || measure === 'time' ? 'transfers' : measure;
}

/** What the edges add up. */
export function edgeMeasure(by: EdgesBy, measure: Measure): Measure {
  return by === 'pair' ? measure : ofTransfers(measure);
}

/** One value for each transfer total. */
export function transferValues({ columns }: View, measure: Measure): Float64Array {
  const values = {
    bytes: columns.transferBytes,
    transfers: columns.transferCount,
    wire_bytes: columns.transferWireBytes,
  };
  return values[ofTransfers(measure)];
}

export function makeProcessGraph({ data, columns }: Context): GraphKind {
  const hasUnknown = [columns.src, columns.dst].some((ends) => ends.includes(kUnknownProcess));

  /** The filter for one end of an edge: the process, or the host that represents its processes. */
  const endChoice = (end: 'src' | 'dst', id: string, layout: GraphLayout): Wanted => {
    const node = layout.nodes.find((candidate) => candidate.id === id);
    return node && node.kind !== 'closed'
      ? { [end]: node.index }
      : { [`${end}_host`]: layout.hostOf(id) };
  };

  return {
    id: 'graph',
    title: 'Process graph',
    byNames: { transport: 'UCT transport', operation: 'UCT operation', pair: 'pair of processes' },
    reading: '',
    layout: (choice) => makeLayout(data, hasUnknown, choice),
    edges(view, layout, by) {
      const measure = edgeMeasure(by, view.measure);
      const made = makeEdges(view.columns, view.selection, layout, by, {
        cells: cellValues(view.columns, view.selection, measure),
        transfers: transferValues(view, measure),
      });
      return { ...made, by, measure };
    },
    chosen: ({ src, dst, rank }, layout) =>
      [src, dst, rank].flatMap((process) =>
        process === undefined ? [] : [nodeOfProcess(data, layout, process)],
      ),
    choice: ({ kind, index }) => (kind === 'process' ? { rank: index } : undefined),
    edgeChoice: ({ source, target }, layout) => ({
      ...endChoice('src', source, layout),
      ...endChoice('dst', target, layout),
    }),
    nameOf: ({ label }) => label,
    titleOf: ({ kind, label }) => (kind === 'process' ? `Rank ${label}` : label),
    factsOf: ({ kind, index }) => (kind === 'process' ? processFacts(data, index) : []),
  };
}
