// The texts of a graph: about a node or an edge, about all edges, and as a table.

import type { PageData } from '../data';
import type { Description, Line } from '../describe';
import { button, columnHead, element } from '../dom';
import type { Measure } from '../filter';
import { formatCount, formatShare } from '../format';
import type { EdgesBy, GraphEdges, GraphLayout } from '../graph';
import { sortedTable } from '../table';
import { formatExactValue, formatValue, kMeasureNames } from '../words';
import type { GraphKind } from './graph_kind';

/** The payload of a message counts once; that of its transfers on each hop that carries it. */
const kCarriedNames: Record<Measure, string> = {
  bytes: 'payload that transfers carried',
  messages: 'transfers',
  transfers: 'transfers',
  wire_bytes: 'wire bytes',
  time: 'transfers',
};

const kListedEdges = 200;

/** The edges that are shown, and their sums. */
export interface ShownEdges extends GraphEdges {
  readonly by: EdgesBy;
  readonly measure: Measure;
  /** What they count, if it is not the measure. */
  readonly what?: string;
  /** Further notes. */
  readonly more?: string;
}

export function describeEdges(shown: ShownEdges): string {
  const { by, measure, edges, hidden, hiddenValue, arrows, total, more } = shown;
  if (total === 0) return 'The filter selects nothing.';
  const what = shown.what ?? (by === 'pair' ? kMeasureNames[measure] : kCarriedNames[measure]);
  const others =
    hidden > 0
      ? ` The ${formatCount(edges.length)} largest edges are drawn; ` +
        `${formatCount(hidden)} smaller ones carry ${formatShare(hiddenValue, arrows)} of what all add up to.`
      : '';
  return `Arrows are ${what}: ${formatExactValue(measure, total)} in all.${others}${more ?? ''}`;
}

export function processFacts(data: PageData, process: number): Line[] {
  const { host, pid, exit, complete } = data.processes[process]!;
  return [
    ['host', host],
    ['pid', String(pid)],
    ['ended', exit],
    ['log', complete ? 'complete' : 'cut short'],
  ];
}

function namesOf(kind: GraphKind, { nodes }: GraphLayout): Map<string, string> {
  return new Map(nodes.map((node) => [node.id, kind.nameOf(node)]));
}

export function describePart(
  kind: GraphKind,
  layout: GraphLayout,
  { by, measure, edges, total }: ShownEdges,
  id: string,
): Description {
  const names = namesOf(kind, layout);
  const edge = edges.find((candidate) => candidate.id === id);
  if (edge) {
    return {
      title: `Edge ${names.get(edge.source)} → ${names.get(edge.target)}`,
      lines: [
        ['from', names.get(edge.source) ?? ''],
        ['to', names.get(edge.target) ?? ''],
        ...(edge.name === null ? [] : [[kind.byNames[by], edge.name] as const]),
        [kMeasureNames[measure], `${formatValue(measure, edge.value)} (${formatExactValue(measure, edge.value)})`],
        ['share', formatShare(edge.value, total)],
      ],
    };
  }
  const sum = (end: 'source' | 'target') =>
    edges.reduce((all, e) => (e[end] === id ? all + e.value : all), 0);
  const node = layout.nodes.find((candidate) => candidate.id === id);
  return {
    title: node ? kind.titleOf(node) : id,
    lines: [
      ...(node ? kind.factsOf(node) : []),
      [`${kMeasureNames[measure]} out`, formatExactValue(measure, sum('source'))],
      [`${kMeasureNames[measure]} in`, formatExactValue(measure, sum('target'))],
    ],
  };
}

export function makeEdgeTable(
  { edges, hidden, measure }: ShownEdges,
  layout: GraphLayout,
  choose: (id: string) => void,
  kind: GraphKind,
): HTMLElement {
  const names = namesOf(kind, layout);
  const rows = edges.slice(0, kListedEdges).map(({ id, source, target, name, value }) => {
    const ends = `${names.get(source)} → ${names.get(target)}`;
    return element(
      'tr',
      { 'data-source': source, 'data-target': target },
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
  const head = ['edge', 'what', kMeasureNames[measure]].map((name, column) => columnHead(name, column === 2));
  return element(
    'div',
    {},
    sortedTable({ 'data-testid': `${kind.id}-table` }, head, rows),
    ...(left > 0 ? [element('p', {}, `${formatCount(left)} smaller edges are not listed.`)] : []),
  );
}
