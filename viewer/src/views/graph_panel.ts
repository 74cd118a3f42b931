// The process graph: processes in the boxes of their hosts, and the traffic between them.

import { kUnknownProcess } from '../data';
import { button, element, section } from '../dom';
import { cellValues, type Measure } from '../filter';
import { kEdgesBy, makeEdges, makeLayout, type EdgesBy, type GraphEdge } from '../graph';
import { categoryColour, colourAt, css } from '../palette';
import type { Context, Panel, Update, View } from '../page';
import { toggled, type Wanted } from '../state';
import { darkScheme, theme } from '../theme';
import { formatShortValue } from '../words';
import { makeCard } from './card';
import { makeGraphCanvas, type DrawnEdge } from './graph_canvas';
import { describeEdges, describePart, kByNames, makeEdgeTable, type ShownEdges } from './graph_words';

/** With more edges, none has its number written on it. */
const kMostNumbers = 12;
/** With more edges, all are thin and small ones faint. */
const kMostStrong = 300;

/** What the edges add up: transfers have no share in "messages". */
export function edgeMeasure(by: EdgesBy, measure: Measure): Measure {
  return by !== 'pair' && measure === 'messages' ? 'transfers' : measure;
}

export function makeGraphPanel(context: Context, update: Update): Panel {
  const { data, tooltip, choices } = context;
  const hasUnknown = [context.columns.src, context.columns.dst].some((ends) =>
    ends.includes(kUnknownProcess),
  );
  const opened = new Set<string>();
  let by: EdgesBy = 'transport';
  let layout = makeLayout(data, hasUnknown, opened);
  let view: View | undefined;
  let edges: ShownEdges = { edges: [], hidden: 0, hiddenValue: 0, total: 0, by, measure: 'bytes' };
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
    button('+', { 'aria-label': 'Zoom in the graph' }, () => canvas.zoomBy(1.3)),
    button('−', { 'aria-label': 'Zoom out of the graph' }, () => canvas.zoomBy(1 / 1.3)),
    button('Fit', { 'data-testid': 'graph-fit' }, () => canvas.fit()),
  );
  const list = element('details', {}, element('summary', {}, 'The edges as a table'));
  const root = section('graph', 'Process graph', said, tools, legend, stage, list, announced);
  const canvas = makeGraphCanvas(stage, {
    point: (id) => point(id),
    choose: (id) => choose(id),
    moved: () => tooltip.hide(),
  });

  // ---- what is drawn ----

  const names = (): readonly string[] =>
    by === 'pair' ? [] : choices[by === 'transport' ? 'transport' : 'op'].map(String);

  const drawEdges = () => {
    const values = edges.edges.map(({ value }) => value);
    const [most, least] = [values[0] ?? 1, values[values.length - 1] ?? 1];
    const share = (value: number) =>
      most === least ? 1 : Math.log(value / least) / Math.log(most / least);
    const colours = new Map(names().map((name, i) => [name, css(categoryColour(theme(), i))]));
    const few = values.length <= kMostNumbers;
    const many = values.length > kMostStrong;
    const drawn = ({ id, source, target, name, value }: GraphEdge): DrawnEdge => {
      const part = share(value);
      return {
        id,
        source,
        target,
        colour: name === null ? css(colourAt(theme(), 0.25 + 0.75 * part)) : colours.get(name)!,
        width: 1 + (many ? 3 : 6) * part,
        strength: many ? 0.1 + 0.75 * part ** 2 : 0.8,
        order: 1 + Math.round(100 * part),
        label: few ? formatShortValue(edges.measure, value) : '',
      };
    };
    canvas.draw(edges.edges.map(drawn));
    mark();
  };

  const mark = () => {
    const { src, dst, rank } = view?.filter ?? {};
    const chosen = [src, dst, rank].flatMap((process) =>
      process === undefined ? [] : [layout.nodeOf(process)],
    );
    canvas.mark(cursor, chosen);
  };

  const showLegend = () => {
    const used = new Set(edges.edges.map(({ name }) => name));
    const keys = names().flatMap((name, index) => {
      if (!used.has(name)) return [];
      const style = `background: ${css(categoryColour(theme(), index))}`;
      return [element('span', { class: 'key' }, element('span', { class: 'swatch', style }), name)];
    });
    legend.replaceChildren(
      ...keys,
      element('span', {}, 'Thicker edges carry more, on a logarithmic scale.'),
    );
  };

  const listEdges = () => {
    list.replaceChildren(
      list.firstElementChild!,
      ...(list.open ? [makeEdgeTable(edges, layout, choose)] : []),
    );
  };
  list.addEventListener('toggle', listEdges);

  const show = (next: View) => {
    view = next;
    const measure = edgeMeasure(by, next.measure);
    const { columns, selection } = next;
    const transfers = {
      bytes: columns.transferBytes,
      transfers: columns.transferCount,
      wire_bytes: columns.transferWireBytes,
    };
    const made = makeEdges(columns, selection, layout, by, {
      cells: cellValues(columns, selection, measure),
      transfers: transfers[measure === 'messages' ? 'transfers' : measure],
    });
    edges = { ...made, by, measure };
    stage.dataset['total'] = String(edges.total);
    stage.dataset['edges'] = String(edges.edges.length);
    const closed =
      layout.closed.size > 0 ? ' Each host is one node; click it to see its processes.' : '';
    said.textContent = describeEdges(edges) + closed;
    drawEdges();
    showLegend();
    listEdges();
  };

  // ---- what the reader does ----

  /** The filter for one end of an edge: the process, or the host that stands for its processes. */
  const endChoice = (end: 'src' | 'dst', id: string): Wanted => {
    const process = layout.nodes.find((node) => node.id === id)?.process;
    return typeof process === 'number' ? { [end]: process } : { [`${end}_host`]: layout.hostOf(id) };
  };

  const choose = (id: string) => {
    const node = layout.nodes.find((candidate) => candidate.id === id);
    if (node?.process === null) {
      open(layout.hostOf(id));
    } else if (node) {
      if (node.process !== kUnknownProcess) update((state) => toggled(state, { rank: node.process }));
    } else {
      const edge = edges.edges.find((candidate) => candidate.id === id);
      if (!edge) return;
      const named = edge.name === null ? {} : { [by === 'transport' ? 'transport' : 'op']: edge.name };
      const ends = { ...endChoice('src', edge.source), ...endChoice('dst', edge.target) };
      update((state) => toggled(state, { ...ends, ...named }));
    }
  };

  const open = (host: string) => {
    opened.add(host);
    layout = makeLayout(data, hasUnknown, opened);
    cursor = undefined;
    tooltip.hide();
    canvas.place(layout);
    if (view) show(view);
  };

  const point = (id: string | undefined, speak = false) => {
    if (tooltip.pinned) return;
    cursor = id;
    mark();
    if (id === undefined || !view) {
      tooltip.hide();
      return;
    }
    const content = makeCard(describePart(data, layout, edges, id));
    tooltip.show({ getBoundingClientRect: () => canvas.boxOf(id) }, ...content);
    if (speak) announced.textContent = content.map((part) => part.textContent).join(', ');
  };
  const reach = (id: string) => {
    canvas.reveal(id);
    point(id, true);
  };
  stage.addEventListener('blur', () => point(undefined));

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

  const keys: Record<string, () => void> = {
    ArrowRight: () => nextNode(1),
    ArrowLeft: () => nextNode(-1),
    ArrowDown: () => nextEdge(1),
    ArrowUp: () => nextEdge(-1),
    Enter: () => cursor !== undefined && choose(cursor),
    p: () => tooltip.pin(stage),
    '+': () => canvas.zoomBy(1.3),
    '=': () => canvas.zoomBy(1.3),
    '-': () => canvas.zoomBy(1 / 1.3),
    '0': () => canvas.fit(),
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
  darkScheme.addEventListener('change', () => view && show(view));

  canvas.place(layout);
  return { root, show };
}
