// A graph of the page: nodes in the boxes of their hosts, and the traffic between them. A GraphKind defines both.

import { download, downloadSvg } from '../download';
import { button, element, section } from '../dom';
import { hostNode, kEdgesBy, type EdgesBy, type GraphEdge } from '../graph';
import { routesOf } from '../graph_circle';
import { slotsOf } from '../name_colours';
import { categoryColour, colourAt, css } from '../palette';
import type { Context, Panel, Update, View } from '../page';
import { toggled } from '../state';
import { darkScheme, theme } from '../theme';
import { formatShortValue } from '../words';
import { makeCard } from './card';
import { makeGraphCanvas, type DrawnEdge } from './graph_canvas';
import { hostsChosen, makeHostControl } from './graph_hosts';
import type { GraphKind } from './graph_kind';
import { describeEdges, describePart, makeEdgeTable, type ShownEdges } from './graph_words';
import { nameKeys } from './name_legend';

/** With more edges, no numbers are written on them. */
const kMostNumbers = 12;
/** With more edges, all are thin and small ones faint; the limit is lower for edges that pass through a circle. */
const kMostStrong = 300;
const kMostStrongInCircle = 60;

export function makeGraphPanel(context: Context, update: Update, kind: GraphKind): Panel {
  const { dock, choices } = context;
  let by: EdgesBy = 'transport';
  const hosts = makeHostControl(kind.id, context.data, update);
  let layout = kind.layout(hosts.choice());
  let view: View | undefined;
  const none = { edges: [], hidden: 0, hiddenValue: 0, arrows: 0, total: 0 };
  let edges: ShownEdges = { ...none, by, measure: 'bytes' };
  let cursor: string | undefined;

  const stage = element('div', {
    class: 'graph-stage',
    tabindex: 0,
    role: 'application',
    'aria-label':
      `${kind.title}: left and right move between nodes, up and down between their edges, ` +
      'Enter shows only that, or opens a host; o opens or closes the host',
    'data-testid': `${kind.id}-canvas`,
  });
  const legend = element('div', { class: 'legend', 'data-testid': `${kind.id}-legend` });
  const said = element('p', { 'data-testid': `${kind.id}-said` });
  const bySelect = element(
    'select',
    { 'data-testid': `${kind.id}-by` },
    ...kEdgesBy.map((value) => element('option', { value }, kind.byNames[value])),
  );
  bySelect.addEventListener('change', () => {
    by = kEdgesBy.find((value) => value === bySelect.value) ?? 'transport';
    if (view) show(view);
  });
  const tools = element(
    'div',
    { class: 'tools' },
    element('label', { class: 'check' }, 'One edge for each', bySelect),
    hosts.root,
    button('+', { 'aria-label': `Zoom in the ${kind.title.toLowerCase()}` }, () => canvas.zoomBy(1.3)),
    button('−', { 'aria-label': `Zoom out of the ${kind.title.toLowerCase()}` }, () => canvas.zoomBy(1 / 1.3)),
    button('Fit', { 'data-testid': `${kind.id}-fit` }, () => canvas.fit()),
    button('PNG', { title: 'Save the graph as a picture', 'data-testid': `${kind.id}-png` }, () => {
      canvas.picture().then(
        (png) => download(`${kind.id}.png`, png),
        () => (said.textContent = 'The browser cannot make a picture of it.'),
      );
    }),
    button('SVG', { title: 'Save the graph as shapes and text', 'data-testid': `${kind.id}-svg` }, () =>
      downloadSvg(kind.id, canvas.svg()),
    ),
  );
  const reading = kind.reading ? [element('p', {}, kind.reading)] : [];
  const list = element('details', {}, element('summary', {}, 'The edges as a table'));
  const root = section(kind.id, kind.title, ...reading, said, tools, legend, stage, list);
  const canvas = makeGraphCanvas(stage, {
    point: (id) => point(id),
    choose: (id) => choose(id),
    opens: (id) => hostAt(id) !== undefined,
    open: (id) => toggleHost(id),
  });

  // ---- what is drawn ----

  const slots = {
    transport: slotsOf('transport', choices.transport.map(String)),
    operation: slotsOf('operation', choices.op.map(String)),
    pair: new Map<string, number>(),
  };

  const drawEdges = () => {
    const values = edges.edges.map(({ value }) => value);
    const [most, least] = [values[0] ?? 1, values[values.length - 1] ?? 1];
    const share = (value: number) =>
      most === least ? 1 : Math.log(value / least) / Math.log(most / least);
    const colours = new Map([...slots[by]].map(([name, slot]) => [name, css(categoryColour(theme(), slot))]));
    const few = values.length <= kMostNumbers;
    const many = values.length > (layout.circle || layout.rings.size > 0 ? kMostStrongInCircle : kMostStrong);
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
    const routes = routesOf(edges.edges, layout);
    canvas.draw(
      edges.edges.map((edge) => {
        const route = routes.get(edge.id);
        return { ...drawn(edge), ...(route && { route }) };
      }),
    );
    mark();
  };

  const mark = () => {
    canvas.mark(cursor, view ? [...kind.chosen(view.filter, layout), ...hostsChosen(view.filter, layout)] : []);
  };

  const showLegend = () => {
    const used = new Set(edges.edges.map(({ name }) => name));
    legend.replaceChildren(
      ...nameKeys(theme(), slots[by], (name) => used.has(name)),
      element('span', {}, 'Thicker edges carry more, on a logarithmic scale.'),
    );
  };

  const listEdges = () => {
    list.replaceChildren(
      list.firstElementChild!,
      ...(list.open ? [makeEdgeTable(edges, layout, choose, kind)] : []),
    );
  };
  list.addEventListener('toggle', listEdges);

  const show = (next: View) => {
    view = next;
    if (hosts.take(next)) place();
    edges = kind.edges(next, layout, by);
    stage.dataset['total'] = String(edges.total);
    stage.dataset['edges'] = String(edges.edges.length);
    said.textContent = [describeEdges(edges), hosts.describe()].join(' ').trim();
    drawEdges();
    showLegend();
    listEdges();
  };

  // ---- what the reader does ----

  const choose = (id: string) => {
    const node = layout.nodes.find((candidate) => candidate.id === id);
    if (node?.kind === 'closed') {
      update((state) => toggled(state, { host: layout.hostOf(id) }));
    } else if (node) {
      const wanted = kind.choice(node);
      if (wanted) update((state) => toggled(state, wanted));
    } else {
      const edge = edges.edges.find((candidate) => candidate.id === id);
      if (!edge) return;
      const named = edge.name === null ? {} : { [by === 'transport' ? 'transport' : 'op']: edge.name };
      update((state) => toggled(state, { ...kind.edgeChoice(edge, layout), ...named }));
    }
  };

  const place = () => {
    layout = kind.layout(hosts.choice());
    cursor = undefined;
    dock.leave(stage);
    canvas.place(layout);
  };
  /** The host that the node is, or is in, if a host is one node. */
  const hostAt = (id: string): string | undefined => {
    const node = layout.nodes.find((candidate) => candidate.id === id);
    if (!layout.circle || !node) return undefined;
    return node.kind === 'closed' ? layout.hostOf(id) : (node.host ?? undefined);
  };
  /** Opens it, or closes it; the cursor stays in it. */
  const toggleHost = (id: string) => {
    const host = hostAt(id);
    if (host === undefined) return;
    hosts.toggle(host);
    const first = layout.nodes.find((node) => node.id === hostNode(host) || node.host === host);
    if (first && document.activeElement === stage) reach(first.id);
  };
  const isClosed = (id: string) => layout.nodes.some((node) => node.id === id && node.kind === 'closed');

  const point = (id: string | undefined, byKey = false) => {
    // Kept details stay while the pointer moves. Keys go on, and what they reach is kept instead.
    if (dock.keeps(stage) && !byKey) return;
    cursor = id;
    mark();
    if (id === undefined || !view) {
      dock.leave(stage);
      return;
    }
    const content = makeCard(describePart(kind, layout, edges, id));
    const explanation = { owner: stage, box: () => canvas.boxOf(id), content };
    if (byKey) dock.reach(explanation);
    else dock.point(explanation);
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
  /** The edges of the node at the cursor, or of the source of the edge there. */
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
    Enter: () => {
      if (cursor === undefined) return;
      if (isClosed(cursor)) toggleHost(cursor);
      else choose(cursor);
    },
    o: () => cursor !== undefined && toggleHost(cursor),
    '+': () => canvas.zoomBy(1.3),
    '=': () => canvas.zoomBy(1.3),
    '-': () => canvas.zoomBy(1 / 1.3),
    '0': () => canvas.fit(),
    Escape: () => point(undefined),
  };
  stage.addEventListener('keydown', (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && dock.isKept) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  });
  darkScheme.addEventListener('change', () => view && show(view));

  canvas.place(layout);
  return { root, show, finish: canvas.drawWaiting };
}
