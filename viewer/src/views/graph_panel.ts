// The process graph: processes in the boxes of their hosts, and the traffic between them. Drawn by
// Cytoscape.js at places that src/graph.ts computes.

import cytoscape, { type Core, type ElementDefinition, type SingularElementArgument } from 'cytoscape';

import { button, element, section } from '../dom';
import { cellValues, type Measure } from '../filter';
import { formatCount, formatShare } from '../format';
import { kEdgesBy, makeEdges, makeLayout, type EdgesBy, type GraphEdge, type GraphEdges } from '../graph';
import { kUnknownProcess } from '../data';
import { categoryColour, colourAt, css } from '../palette';
import type { Context, Panel, Update, View } from '../page';
import { withChoice, type Choice, type ChoiceValue, type State } from '../state';
import { darkScheme, theme } from '../theme';
import { formatExactValue, formatShortValue, formatValue, kMeasureNames } from '../words';
import { makeCard } from './card';
import { graphStyle } from './graph_style';

const kMostZoom = 1.5;
const kByNames: Record<EdgesBy, string> = {
  transport: 'UCT transport',
  operation: 'UCT operation',
  pair: 'pair of processes',
};

/** What the edges add up: transfers have no share in "messages". */
export function edgeMeasure(by: EdgesBy, measure: Measure): Measure {
  return by !== 'pair' && measure === 'messages' ? 'transfers' : measure;
}

export function makeGraphPanel(context: Context, update: Update): Panel {
  const { data, tooltip } = context;
  const hasUnknown = [context.columns.src, context.columns.dst].some((ends) =>
    ends.includes(kUnknownProcess),
  );
  const opened = new Set<string>();
  let by: EdgesBy = 'transport';
  let layout = makeLayout(data, hasUnknown, opened);
  let view: View | undefined;
  let edges: GraphEdges = { edges: [], hidden: 0, hiddenValue: 0, total: 0 };
  let cursor: string | undefined;

  const stage = element('div', {
    class: 'graph-stage',
    tabindex: 0,
    role: 'application',
    'aria-label':
      'Process graph: left and right move between processes, up and down between their edges, ' +
      'Enter shows only that',
    'data-testid': 'graph-canvas',
  });
  const announced = element('div', { class: 'offscreen', 'aria-live': 'polite' });
  const legend = element('div', { class: 'legend', 'data-testid': 'graph-legend' });
  const said = element('p', { 'data-testid': 'graph-said' });
  const bySelect = element(
    'select',
    { 'data-testid': 'graph-by' },
    ...kEdgesBy.map((value) => element('option', { value }, kByNames[value])),
  );
  bySelect.addEventListener('change', () => {
    by = kEdgesBy.find((value) => value === bySelect.value) ?? 'transport';
    if (view) show(view);
  });
  const tools = element(
    'div',
    { class: 'tools' },
    element('label', { class: 'check' }, 'One edge for each', bySelect),
    button('+', { 'aria-label': 'Zoom in the graph' }, () => zoomBy(1.3)),
    button('−', { 'aria-label': 'Zoom out of the graph' }, () => zoomBy(1 / 1.3)),
    button('Fit', { 'data-testid': 'graph-fit' }, () => fit()),
  );
  const list = element('details', {}, element('summary', {}, 'The edges as a table'));
  const root = section('graph', 'Process graph', said, tools, legend, stage, list, announced);

  const graph: Core = cytoscape({
    container: stage,
    layout: { name: 'preset' },
    minZoom: 0.02,
    maxZoom: 4,
    autounselectify: true,
    boxSelectionEnabled: false,
    userZoomingEnabled: false,
  });
  /** All of it, but no larger than reads well. */
  const fit = () => {
    graph.fit(undefined, 24);
    if (graph.zoom() <= kMostZoom) return;
    graph.zoom(kMostZoom);
    graph.center();
  };
  const zoomBy = (factor: number) => {
    const middle = { x: stage.clientWidth / 2, y: stage.clientHeight / 2 };
    graph.zoom({ level: graph.zoom() * factor, renderedPosition: middle });
  };

  // ---- what is drawn ----

  const placeNodes = () => {
    graph.elements().remove();
    const boxes = layout.hosts
      .filter((host) => !layout.closed.has(host))
      .map((host): ElementDefinition => ({
        data: { id: `box ${host}`, label: host },
        classes: 'host',
        selectable: false,
        grabbable: true,
      }));
    const nodes = layout.nodes.map(
      ({ id, label, host, process, x, y }): ElementDefinition => ({
        data: { id, label, ...(host !== null && { parent: `box ${host}` }) },
        position: { x, y },
        classes: process === null ? 'closed' : process === kUnknownProcess ? 'unknown' : 'process',
      }),
    );
    graph.add([...boxes, ...nodes]);
    fit();
  };

  const names = (): readonly string[] => {
    if (by === 'pair') return [];
    return context.choices[by === 'transport' ? 'transport' : 'op'].map(String);
  };

  const colourOf = (edge: GraphEdge, share: number) =>
    edge.name === null
      ? css(colourAt(theme(), 0.25 + 0.75 * share))
      : css(categoryColour(theme(), Math.max(0, names().indexOf(edge.name))));

  const drawEdges = () => {
    const values = edges.edges.map(({ value }) => value);
    const [most, least] = [values[0] ?? 1, values[values.length - 1] ?? 1];
    const share = (value: number) =>
      most === least ? 1 : Math.log(value / least) / Math.log(most / least);
    const measure = edgeMeasure(by, view!.measure);
    const few = edges.edges.length <= 12;
    const many = edges.edges.length > 300;
    graph.batch(() => {
      graph.edges().remove();
      graph.add(
        // The largest come last and so lie on top.
        [...edges.edges].reverse().map((edge): ElementDefinition => {
          const part = share(edge.value);
          return {
            data: {
              id: edge.id,
              source: edge.source,
              target: edge.target,
              colour: colourOf(edge, part),
              width: 1 + (many ? 3 : 6) * part,
              strength: many ? 0.1 + 0.75 * part ** 2 : 0.8,
              label: few ? formatShortValue(measure, edge.value) : '',
            },
          };
        }),
      );
      const busy = new Set(edges.edges.flatMap(({ source, target }) => [source, target]));
      graph.nodes('.process, .closed, .unknown').forEach((node) => {
        node.toggleClass('idle', !busy.has(node.id()));
      });
    });
    mark();
  };

  const mark = () => {
    graph.elements('.cursor').removeClass('cursor');
    const { src, dst, rank } = view?.filter ?? {};
    graph.nodes('.chosen').removeClass('chosen');
    for (const process of [src, dst, rank]) {
      if (process !== undefined) graph.getElementById(layout.nodeOf(process)).addClass('chosen');
    }
    if (cursor !== undefined) graph.getElementById(cursor).addClass('cursor');
  };

  const showLegend = () => {
    const used = new Set(edges.edges.map(({ name }) => name));
    legend.replaceChildren(
      ...names()
        .filter((name) => used.has(name))
        .map((name) =>
          element(
            'span',
            { class: 'key' },
            element('span', {
              class: 'swatch',
              style: `background: ${css(categoryColour(theme(), names().indexOf(name)))}`,
            }),
            name,
          ),
        ),
      element('span', {}, 'Thicker edges carry more, on a logarithmic scale.'),
    );
  };

  const show = (next: View) => {
    view = next;
    const measure = edgeMeasure(by, next.measure);
    const { columns, selection } = next;
    const transfers = {
      bytes: columns.transferBytes,
      transfers: columns.transferCount,
      wire_bytes: columns.transferWireBytes,
    };
    edges = makeEdges(columns, selection, layout, by, {
      cells: cellValues(columns, selection, measure),
      transfers: transfers[measure === 'messages' ? 'transfers' : measure],
    });
    stage.dataset['total'] = String(edges.total);
    stage.dataset['edges'] = String(edges.edges.length);
    const what = by === 'pair' ? kMeasureNames[measure] : carriedNames[measure];
    const hidden =
      edges.hidden > 0
        ? ` The ${formatCount(edges.edges.length)} largest edges are drawn; ` +
          `${formatCount(edges.hidden)} smaller ones carry ` +
          `${formatShare(edges.hiddenValue, edges.total)}.`
        : '';
    const closed =
      layout.closed.size > 0 ? ' Each host is one node; click it to see its processes.' : '';
    said.textContent =
      edges.total === 0
        ? 'The filter selects nothing.'
        : `Arrows are ${what}: ${formatExactValue(measure, edges.total)} in all.${hidden}${closed}`;
    drawEdges();
    showLegend();
    list.replaceChildren(list.firstElementChild!, makeEdgeTable(edges, measure, nodeLabel, choose));
  };

  // ---- what the reader does ----

  const nodeLabel = (id: string) => layout.nodes.find((node) => node.id === id)?.label ?? id;
  const processOf = (id: string) => layout.nodes.find((node) => node.id === id)?.process ?? null;

  const toggled = (state: State, wanted: Partial<Record<Choice, ChoiceValue>>): State => {
    const entries = Object.entries(wanted) as [Choice, ChoiceValue][];
    const again = entries.every(([choice, value]) => state.filter[choice] === value);
    return entries.reduce(
      (next, [choice, value]) => withChoice(next, choice, again ? undefined : value),
      state,
    );
  };

  const choose = (id: string) => {
    const node = layout.nodes.find((candidate) => candidate.id === id);
    if (node && node.process === null) {
      open(id);
    } else if (node) {
      if (node.process !== kUnknownProcess) update((state) => toggled(state, { rank: node.process }));
    } else {
      const edge = edges.edges.find((candidate) => candidate.id === id);
      if (!edge) return;
      const [src, dst] = [processOf(edge.source), processOf(edge.target)];
      if (src === null || dst === null) return;
      const named = edge.name === null ? {} : { [by === 'transport' ? 'transport' : 'op']: edge.name };
      update((state) => toggled(state, { src, dst, ...named }));
    }
  };

  const open = (id: string) => {
    opened.add(id.replace(/^host /, ''));
    layout = makeLayout(data, hasUnknown, opened);
    cursor = undefined;
    tooltip.hide();
    placeNodes();
    if (view) show(view);
  };

  const describeElement = (id: string) => {
    const measure = edgeMeasure(by, view!.measure);
    const edge = edges.edges.find((candidate) => candidate.id === id);
    if (edge) {
      const lines: [string, string][] = [
        ['from', nodeLabel(edge.source)],
        ['to', nodeLabel(edge.target)],
        ...(edge.name === null ? [] : ([[kByNames[by], edge.name]] as [string, string][])),
        [kMeasureNames[measure], `${formatValue(measure, edge.value)} (${formatExactValue(measure, edge.value)})`],
        ['share', formatShare(edge.value, edges.total)],
      ];
      return { title: `Edge ${nodeLabel(edge.source)} → ${nodeLabel(edge.target)}`, lines };
    }
    const sum = (end: 'source' | 'target') =>
      edges.edges.reduce((all, e) => (e[end] === id ? all + e.value : all), 0);
    const process = processOf(id);
    const facts = process !== null && process >= 0 ? data.processes[process]! : undefined;
    return {
      title: facts ? `Rank ${nodeLabel(id)}` : nodeLabel(id),
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
      ] as [string, string][],
    };
  };

  const anchorOf = (id: string) => ({
    getBoundingClientRect: () => {
      const { left, top } = stage.getBoundingClientRect();
      const box = graph.getElementById(id).renderedBoundingBox({ includeLabels: false });
      return new DOMRect(left + box.x1, top + box.y1, Math.min(box.w, 40), Math.min(box.h, 40));
    },
  });

  const point = (id: string | undefined, speak = false) => {
    if (tooltip.pinned) return;
    cursor = id;
    mark();
    if (id === undefined || !view) {
      tooltip.hide();
      return;
    }
    const content = makeCard(describeElement(id));
    tooltip.show(anchorOf(id), ...content);
    if (speak) announced.textContent = content.map((part) => part.textContent).join(', ');
  };

  const isPart = (target: SingularElementArgument) => !target.hasClass('host');
  graph.on('mouseover', 'node, edge', ({ target }) => isPart(target) && point(target.id()));
  graph.on('mouseout', 'node, edge', () => document.activeElement !== stage && point(undefined));
  graph.on('tap', 'node, edge', ({ target }) => isPart(target) && choose(target.id()));
  graph.on('pan zoom drag', () => tooltip.hide());
  stage.addEventListener('blur', () => point(undefined));
  stage.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== stage) return;
      event.preventDefault();
      const { left, top } = stage.getBoundingClientRect();
      const renderedPosition = { x: event.clientX - left, y: event.clientY - top };
      graph.zoom({ level: graph.zoom() * Math.exp(-event.deltaY * 0.002), renderedPosition });
    },
    { passive: false },
  );

  const nextNode = (step: number) => {
    const { nodes } = layout;
    const edge = edges.edges.find(({ id }) => id === cursor);
    const here = nodes.findIndex(({ id }) => id === (edge ? edge.source : cursor));
    const next = here < 0 ? 0 : Math.min(nodes.length - 1, Math.max(0, here + step));
    if (nodes[next]) reach(nodes[next].id);
  };
  /** The edges of the node at the cursor, or that its edge comes from. */
  const nextEdge = (step: number) => {
    const edge = edges.edges.find(({ id }) => id === cursor);
    const node = edge ? edge.source : cursor;
    const own = edges.edges.filter(({ source, target }) =>
      edge || node === undefined ? node === undefined || source === node : source === node || target === node,
    );
    const here = own.findIndex(({ id }) => id === cursor);
    const next = own[here < 0 ? 0 : Math.min(own.length - 1, Math.max(0, here + step))];
    if (next) reach(next.id);
  };
  const reach = (id: string) => {
    const box = graph.getElementById(id).renderedBoundingBox({ includeLabels: false });
    const { clientWidth, clientHeight } = stage;
    if (box.x2 < 0 || box.y2 < 0 || box.x1 > clientWidth || box.y1 > clientHeight) {
      graph.center(graph.getElementById(id));
    }
    point(id, true);
  };

  const keys: Record<string, () => void> = {
    ArrowRight: () => nextNode(1),
    ArrowLeft: () => nextNode(-1),
    ArrowDown: () => nextEdge(1),
    ArrowUp: () => nextEdge(-1),
    Enter: () => cursor !== undefined && choose(cursor),
    p: () => tooltip.pin(stage),
    '+': () => zoomBy(1.3),
    '=': () => zoomBy(1.3),
    '-': () => zoomBy(1 / 1.3),
    '0': () => fit(),
    Escape: () => point(undefined),
  };
  stage.addEventListener('keydown', (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && tooltip.pinned) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  });

  const dress = () => {
    graph.style(graphStyle(theme()));
    if (view) show(view);
  };
  darkScheme.addEventListener('change', dress);
  let width = 0;
  new ResizeObserver(() => {
    if (stage.clientWidth === width) return;
    width = stage.clientWidth;
    graph.resize();
    fit();
  }).observe(stage);

  placeNodes();
  dress();
  return { root, show };
}

const carriedNames: Record<Measure, string> = {
  bytes: 'payload that transfers carried',
  messages: 'transfers',
  transfers: 'transfers',
  wire_bytes: 'wire bytes',
};

const kListedEdges = 200;

function makeEdgeTable(
  { edges, hidden }: GraphEdges,
  measure: Measure,
  label: (id: string) => string,
  choose: (id: string) => void,
): HTMLElement {
  const rows = edges.slice(0, kListedEdges).map(({ id, source, target, name, value }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, button(`${label(source)} → ${label(target)}`, { class: 'link' }, () => choose(id))),
      element('td', {}, name ?? ''),
      element(
        'td',
        { class: 'number', 'data-value': value, title: formatExactValue(measure, value) },
        formatValue(measure, value),
      ),
    ),
  );
  const left = edges.length + hidden - rows.length;
  return element(
    'div',
    { class: 'scroll', tabindex: 0 },
    element('table', { 'data-testid': 'graph-table' }, element('tbody', {}, ...rows)),
    ...(left > 0 ? [element('p', {}, `${formatCount(left)} smaller edges are not listed.`)] : []),
  );
}
