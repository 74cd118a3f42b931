// Draws the process graph with Cytoscape.js, at places that src/graph.ts computes. Edges are the expensive part, so
// only those that changed are drawn, and edges off the screen only once the reader pauses.

import cytoscape, { type Core, type ElementDefinition, type SingularElementArgument } from 'cytoscape';

import type { GraphLayout } from '../graph';
import { shortened, type Route } from '../graph_circle';
import { measureText } from '../measure_text';
import { css, kCard } from '../palette';
import { darkScheme, theme } from '../theme';
import { graphStyle, kGraphFont, kOutsideSize } from './graph_style';
import { graphSvg } from './graph_svg';

const kMostZoom = 1.5;
/** Pixels along one side of a picture; every browser's canvas can be that large. */
const kMostPicture = 8192;
const kRestMs = 1000;

export interface DrawnEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly colour: string;
  readonly width: number;
  readonly strength: number;
  /** Edges with greater numbers lie on top: a whole number. */
  readonly order: number;
  readonly label: string;
  /** Where it bends, for edges between hosts around a circle. */
  readonly route?: Route;
}

/** Actions of the reader on nodes and edges, by id. */
export interface GraphActions {
  point(id: string | undefined): void;
  choose(id: string): void;
  /** Whether it is a host, or a part of one, that a double click opens or closes. */
  opens(id: string): boolean;
  open(id: string): void;
}

export interface GraphCanvas {
  place(layout: GraphLayout): void;
  /** May be postponed if nobody sees it now. */
  draw(edges: readonly DrawnEdge[]): void;
  /** Draws what was postponed, now. */
  drawWaiting(): void;
  mark(cursor: string | undefined, chosen: readonly string[]): void;
  /** Fits all of it into view, but no larger than reads well. */
  fit(): void;
  zoomBy(factor: number): void;
  /** A picture of all of it, twice as fine as on the screen. */
  picture(): Promise<Blob>;
  /** All of it, as SVG. */
  svg(): string;
  /** Moves the graph so that the node or edge is on the screen. */
  reveal(id: string): void;
  /** Its place in the window, or its beginning if it is large. */
  boxOf(id: string): DOMRect;
}

export function makeGraphCanvas(stage: HTMLElement, actions: GraphActions): GraphCanvas {
  const graph: Core = cytoscape({
    container: stage,
    layout: { name: 'preset' },
    style: graphStyle(theme()),
    minZoom: 0.02,
    maxZoom: 4,
    autounselectify: true,
    boxSelectionEnabled: false,
    userZoomingEnabled: false,
  });
  let visible = false;
  /** The angles of nodes on the circle. */
  let outwards: ReadonlyMap<string, number> = new Map();
  let rest = 0;
  let waiting: readonly DrawnEdge[] | undefined;
  let marked: { cursor: string | undefined; chosen: readonly string[] } = { cursor: undefined, chosen: [] };

  const drawWaiting = () => {
    if (!waiting) return;
    const wanted = waiting;
    waiting = undefined;
    stage.dataset['drawn'] = String(wanted.length);
    graph.batch(() => {
      const ids = new Set(wanted.map(({ id }) => id));
      graph.edges().filter((edge) => !ids.has(edge.id())).remove();
      const added: ElementDefinition[] = [];
      for (const edge of wanted) {
        const drawn = graph.getElementById(edge.id);
        if (drawn.empty()) added.push(edgeElement(edge, outwards.get(edge.source)));
        else if (!sameEdge(drawn.data() as DrawnEdge, edge)) drawn.data(edgeElement(edge, outwards.get(edge.source)).data);
      }
      graph.add(added);
      const busy = new Set(wanted.flatMap(({ source, target }) => [source, target]));
      graph.nodes().not('.host').forEach((node) => {
        node.toggleClass('idle', !busy.has(node.id()));
      });
      showMarks();
    });
  };

  const showMarks = () => {
    const { cursor, chosen } = marked;
    graph.elements('.cursor').removeClass('cursor');
    graph.nodes('.chosen').removeClass('chosen');
    for (const id of chosen) graph.getElementById(id).addClass('chosen');
    if (cursor !== undefined) graph.getElementById(cursor).addClass('cursor');
  };

  const canvas: GraphCanvas = {
    place(layout) {
      graph.elements().remove();
      const boxes = layout.hosts
        .filter((host) => !layout.closed.has(host))
        .map((host): ElementDefinition => ({
          data: { id: `box ${host}`, label: host },
          classes: 'host',
        }));
      const nodes = layout.nodes.map(
        ({ id, label, host, kind, x, y, outwards: angle }): ElementDefinition => ({
          data: {
            ...{ id, label, ...(host !== null && { parent: `box ${host}` }) },
            ...(angle !== undefined && outsideLabel(label, angle, layout.closed.size)),
          },
          position: { x, y },
          classes: angle === undefined ? kind : `${kind} outside`,
        }),
      );
      outwards = new Map(layout.nodes.flatMap(({ id, outwards: angle }) => (angle === undefined ? [] : [[id, angle] as const])));
      graph.add([...boxes, ...nodes]);
      canvas.fit();
    },
    draw(edges) {
      waiting = edges;
      clearTimeout(rest);
      if (visible) drawWaiting();
      else rest = window.setTimeout(drawWaiting, kRestMs);
    },
    drawWaiting,
    mark(cursor, chosen) {
      marked = { cursor, chosen };
      if (!waiting) showMarks();
    },
    fit() {
      graph.fit(undefined, 24);
      if (graph.zoom() <= kMostZoom) return;
      graph.zoom(kMostZoom);
      graph.center();
    },
    zoomBy(factor) {
      const middle = { x: stage.clientWidth / 2, y: stage.clientHeight / 2 };
      graph.zoom({ level: graph.zoom() * factor, renderedPosition: middle });
    },
    async picture() {
      if (waiting) drawWaiting();
      const size = { scale: 2, maxWidth: kMostPicture, maxHeight: kMostPicture };
      const options = { ...size, output: 'blob-promise', full: true, bg: css(kCard[theme()]) } as const;
      return graph.png(options) as unknown as Promise<Blob>;
    },
    svg() {
      drawWaiting();
      return graphSvg(graph, kCard[theme()]);
    },
    reveal(id) {
      drawWaiting();
      const part = graph.getElementById(id);
      const box = part.renderedBoundingBox({ includeLabels: false });
      const { clientWidth, clientHeight } = stage;
      if (box.x2 < 0 || box.y2 < 0 || box.x1 > clientWidth || box.y1 > clientHeight) graph.center(part);
    },
    boxOf(id) {
      drawWaiting();
      const { left, top } = stage.getBoundingClientRect();
      const box = graph.getElementById(id).renderedBoundingBox({ includeLabels: false });
      return new DOMRect(left + box.x1, top + box.y1, Math.min(box.w, 40), Math.min(box.h, 40));
    },
  };

  const isPart = (target: SingularElementArgument) => !target.hasClass('host');
  graph.on('mouseover', 'node, edge', ({ target }) => isPart(target) && actions.point(target.id()));
  const leave = () => document.activeElement !== stage && actions.point(undefined);
  graph.on('mouseout', 'node, edge', leave);
  // A fast pointer may leave the stage before it was seen outside the node.
  stage.addEventListener('mouseleave', leave);
  graph.on('tap', 'edge', ({ target }) => actions.choose(target.id()));
  // If a double click opens a node, a single click chooses it only when no second click follows.
  graph.on('tap', 'node', ({ target }) => isPart(target) && !actions.opens(target.id()) && actions.choose(target.id()));
  graph.on('onetap', 'node', ({ target }) => isPart(target) && actions.opens(target.id()) && actions.choose(target.id()));
  graph.on('dbltap', 'node', ({ target }) => isPart(target) && actions.opens(target.id()) && actions.open(target.id()));
  stage.addEventListener(
    'wheel',
    (event) => {
      // The page scrolls with a wheel, unless the reader works in the graph.
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== stage) return;
      event.preventDefault();
      const { left, top } = stage.getBoundingClientRect();
      const renderedPosition = { x: event.clientX - left, y: event.clientY - top };
      graph.zoom({ level: graph.zoom() * Math.exp(-event.deltaY * 0.002), renderedPosition });
    },
    { passive: false },
  );
  // Cytoscape.js remembers its place in the window, and does not notice when the layout moves it.
  let known = { left: 0, top: 0 };
  const findStage = () => {
    const { left, top } = stage.getBoundingClientRect();
    if (left !== known.left || top !== known.top) graph.resize();
    known = { left, top };
  };
  for (const name of ['pointermove', 'pointerdown'] as const) stage.addEventListener(name, findStage, { capture: true });
  darkScheme.addEventListener('change', () => graph.style(graphStyle(theme())));
  let width = 0;
  new ResizeObserver(() => {
    if (stage.clientWidth === width) return;
    width = stage.clientWidth;
    graph.resize();
    canvas.fit();
  }).observe(stage);
  new IntersectionObserver(
    (seen) => {
      visible = seen[seen.length - 1]!.isIntersecting;
      if (visible) drawWaiting();
    },
    { rootMargin: '100px' },
  ).observe(stage);
  return canvas;
}

function sameEdge(a: DrawnEdge & Partial<Route>, b: DrawnEdge): boolean {
  const { weight, distance } = b.route ?? {};
  return (
    a.weight === weight &&
    a.distance === distance &&
    (['colour', 'width', 'strength', 'order', 'label'] as const).every((name) => a[name] === b[name])
  );
}

/** `outwards`: the angle of its source on the circle; an edge to the same node turns to the middle. */
function edgeElement({ route, ...edge }: DrawnEdge, outwards: number | undefined): ElementDefinition {
  const isInward = outwards !== undefined && edge.source === edge.target;
  // Cytoscape.js counts the angle of a loop from the top.
  const loop = isInward ? { loop: outwards + 1.5 * Math.PI } : {};
  return { data: { ...edge, ...route, ...loop }, classes: route ? 'routed' : isInward ? 'inward' : '' };
}

/** With this many names beside each other, there is no room for lines of text. */
const kMostUpright = 16;
const kBesideNode = 13;

/** A name outside of the circle. With many names, each is turned along its line from the middle; no name is upside down. */
function outsideLabel(name: string, angle: number, count: number) {
  const label = shortened(name);
  const half = measureText(label, `${kOutsideSize}px ${kGraphFont}`) / 2;
  if (count <= kMostUpright) {
    const away = { x: Math.cos(angle), y: Math.sin(angle) };
    return { label, turn: 0, labelX: away.x * (kBesideNode + half), labelY: away.y * (kBesideNode + kOutsideSize) };
  }
  const away = kBesideNode + half;
  const isLeft = Math.cos(angle) < -1e-9;
  return { label, turn: angle + (isLeft ? Math.PI : 0), labelX: away * Math.cos(angle), labelY: away * Math.sin(angle) };
}
