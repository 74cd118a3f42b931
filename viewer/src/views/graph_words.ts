// What the process graph says: of a node or an edge, of all edges, and as a table.

import type { PageData } from '../data';
import type { Description } from '../describe';
import { button, element } from '../dom';
import type { Measure } from '../filter';
import { formatCount, formatShare } from '../format';
import type { EdgesBy, GraphEdges, GraphLayout } from '../graph';
import { formatExactValue, formatValue, kMeasureNames } from '../words';

export const kByNames: Record<EdgesBy, string> = {
  transport: 'UCT transport',
  operation: 'UCT operation',
  pair: 'pair of processes',
};

/** The payload of a message counts once; that of its transfers wherever one carried it. */
const kCarriedNames: Record<Measure, string> = {
  bytes: 'payload that transfers carried',
  messages: 'transfers',
  transfers: 'transfers',
  wire_bytes: 'wire bytes',
};

const kListedEdges = 200;

/** The edges that are shown, and what they add up. */
export interface ShownEdges extends GraphEdges {
  readonly by: EdgesBy;
  readonly measure: Measure;
}

export function describeEdges({ by, measure, edges, hidden, hiddenValue, total }: ShownEdges): string {
  if (total === 0) return 'The filter selects nothing.';
  const what = by === 'pair' ? kMeasureNames[measure] : kCarriedNames[measure];
  const others =
    hidden > 0
      ? ` The ${formatCount(edges.length)} largest edges are drawn; ` +
        `${formatCount(hidden)} smaller ones carry ${formatShare(hiddenValue, total)}.`
      : '';
  return `Arrows are ${what}: ${formatExactValue(measure, total)} in all.${others}`;
}

export function describePart(
  data: PageData,
  layout: GraphLayout,
  { by, measure, edges, total }: ShownEdges,
  id: string,
): Description {
  const label = (node: string) => layout.nodes.find((candidate) => candidate.id === node)?.label ?? node;
  const edge = edges.find((candidate) => candidate.id === id);
  if (edge) {
    return {
      title: `Edge ${label(edge.source)} → ${label(edge.target)}`,
      lines: [
        ['from', label(edge.source)],
        ['to', label(edge.target)],
        ...(edge.name === null ? [] : [[kByNames[by], edge.name] as [string, string]]),
        [kMeasureNames[measure], `${formatValue(measure, edge.value)} (${formatExactValue(measure, edge.value)})`],
        ['share', formatShare(edge.value, total)],
      ],
    };
  }
  const sum = (end: 'source' | 'target') =>
    edges.reduce((all, e) => (e[end] === id ? all + e.value : all), 0);
  const process = layout.nodes.find((node) => node.id === id)?.process ?? -1;
  const facts = data.processes[process];
  return {
    title: facts ? `Rank ${label(id)}` : label(id),
    lines: [
      ...(facts
        ? ([
            ['host', facts.host],
            ['pid', String(facts.pid)],
            ['ended', facts.exit],
            ['log', facts.complete ? 'complete' : 'cut short'],
          ] as [string, string][])
        : []),
      [`${kMeasureNames[measure]} out`, formatExactValue(measure, sum('source'))],
      [`${kMeasureNames[measure]} in`, formatExactValue(measure, sum('target'))],
    ],
  };
}

export function makeEdgeTable(
  { edges, hidden, measure }: ShownEdges,
  layout: GraphLayout,
  choose: (id: string) => void,
): HTMLElement {
  const labels = new Map(layout.nodes.map(({ id, label }) => [id, label]));
  const rows = edges.slice(0, kListedEdges).map(({ id, source, target, name, value }) => {
    const ends = `${labels.get(source)} → ${labels.get(target)}`;
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, button(ends, { class: 'link' }, () => choose(id))),
      element('td', {}, name ?? ''),
      element(
        'td',
        { class: 'number', 'data-value': value, title: formatExactValue(measure, value) },
        formatValue(measure, value),
      ),
    );
  });
  const left = edges.length + hidden - rows.length;
  return element(
    'div',
    { class: 'scroll', tabindex: 0 },
    element('table', { 'data-testid': 'graph-table' }, element('tbody', {}, ...rows)),
    ...(left > 0 ? [element('p', {}, `${formatCount(left)} smaller edges are not listed.`)] : []),
  );
}
