// The whole graph as SVG: its nodes, edges and labels as Cytoscape.js placed and styled them.

import type { Core, EdgeSingular, NodeSingular, Position } from 'cytoscape';

import type { Rgb } from '../palette';
import { kGraphFont } from './graph_style';
import { attributes, escaped, short, svgText, type Values } from './svg_drawing';

const kMargin = 24;
const kLineHeight = 1.2;

export function graphSvg(graph: Core, background: Rgb): string {
  const box = graph.elements().boundingBox({});
  const edges = graph.edges().toArray() as EdgeSingular[];
  edges.sort((a, b) => order(a) - order(b));
  const hosts = graph.nodes('.host').map(nodeShape);
  const nodes = graph.nodes().not('.host').map(nodeShape);
  const labels = [...edges.map(edgeLabel), ...graph.nodes().map(nodeLabel)];
  const shown = { left: box.x1 - kMargin, top: box.y1 - kMargin, width: box.w + 2 * kMargin, height: box.h + 2 * kMargin };
  return svgText(shown, background, [...hosts, ...edges.map(edgeShape), ...nodes, ...labels].join('\n'));
}

const order = (edge: EdgeSingular) => (edge.hasClass('cursor') ? Infinity : Number(edge.data('order')));

function shape(name: string, values: Values): string {
  return `<${name}${attributes(values)}/>`;
}

// ---- nodes ----

function nodeShape(node: NodeSingular): string {
  const { x, y } = node.position();
  const [w, h] = [node.width() + 2 * node.numericStyle('padding'), node.height() + 2 * node.numericStyle('padding')];
  const [left, top, right, bottom] = [x - w / 2, y - h / 2, x + w / 2, y + h / 2];
  const look = {
    fill: node.style('background-color') as string,
    'fill-opacity': node.numericStyle('background-opacity'),
    stroke: node.style('border-color') as string,
    'stroke-width': node.numericStyle('border-width'),
    opacity: node.numericStyle('opacity'),
  };
  const corners = (...points: [number, number][]) =>
    shape('polygon', { points: points.map((point) => point.map(short).join(',')).join(' '), 'stroke-linejoin': 'round', ...look });
  switch (node.style('shape')) {
    case 'ellipse':
      return shape('ellipse', { cx: x, cy: y, rx: w / 2, ry: h / 2, ...look });
    case 'triangle':
      return corners([x, top], [right, bottom], [left, bottom]);
    case 'round-diamond':
      return corners([x, top], [right, y], [x, bottom], [left, y]);
    case 'round-rectangle':
      return shape('rect', { x: left, y: top, width: w, height: h, rx: Math.min(w, h, 32) / 4, ...look });
    default:
      return shape('rect', { x: left, y: top, width: w, height: h, ...look });
  }
}

function nodeLabel(node: NodeSingular): string {
  const { x, y } = node.position();
  const half = node.height() / 2 + node.numericStyle('padding');
  const size = node.numericStyle('font-size');
  const side = { top: -half - size / 2, bottom: half + size / 2 }[node.style('text-valign') as string] ?? 0;
  const place = { x: x + node.numericStyle('text-margin-x'), y: y + side + node.numericStyle('text-margin-y') };
  return label(node, place, node.hasClass('outside') ? Number(node.data('turn')) : 0);
}

// ---- edges ----

/** From its start through the points that bend it to its end, as Cytoscape.js draws its curves. */
function edgePoints(edge: EdgeSingular): { from: Position; bends: readonly Position[]; to: Position } {
  return { from: edge.sourceEndpoint(), bends: edge.controlPoints() ?? [], to: edge.targetEndpoint() };
}

function edgeShape(edge: EdgeSingular): string {
  const { from, bends, to } = edgePoints(edge);
  const width = edge.numericStyle('width');
  const colour = edge.style('line-color') as string;
  const point = ({ x, y }: Position) => `${short(x)} ${short(y)}`;
  const last = bends[bends.length - 1] ?? from;
  const angle = Math.atan2(to.y - last.y, to.x - last.x);
  // As large as Cytoscape.js makes a triangle; the line ends at its base.
  const length = 0.3 * Math.max((width * 13.37) ** 0.9, 29) * edge.numericStyle('arrow-scale');
  const base = { x: to.x - length * Math.cos(angle), y: to.y - length * Math.sin(angle) };
  let d = `M${point(from)}`;
  bends.forEach((bend, i) => {
    const next = bends[i + 1];
    d += `Q${point(bend)} ${point(next ? { x: (bend.x + next.x) / 2, y: (bend.y + next.y) / 2 } : base)}`;
  });
  if (bends.length === 0) d += `L${point(base)}`;
  const side = (turn: number) => ({
    x: base.x + (turn * length * Math.sin(angle)) / 2,
    y: base.y - (turn * length * Math.cos(angle)) / 2,
  });
  const line = shape('path', { d, fill: 'none', stroke: colour, 'stroke-width': width });
  const head = shape('path', { d: `M${point(to)}L${point(side(1))}L${point(side(-1))}z`, fill: colour });
  return `<g${attributes({ opacity: edge.numericStyle('opacity') })}>${line}${head}</g>`;
}

function edgeLabel(edge: EdgeSingular): string {
  return label(edge, edge.midpoint());
}

/** Centred, line by line, on a background that keeps it readable. */
function label(part: NodeSingular | EdgeSingular, { x, y }: Position, turn = 0): string {
  const text = String(part.style('label') ?? '');
  if (text === '') return '';
  const size = part.numericStyle('font-size');
  const lines = text.split('\n');
  const first = y - ((lines.length - 1) * kLineHeight * size) / 2;
  const hasGround = part.numericStyle('text-background-opacity') > 0;
  const look = {
    fill: part.style('color') as string,
    style: `font: ${part.style('font-weight')} ${short(size)}px ${kGraphFont}`,
    'text-anchor': 'middle',
    'dominant-baseline': 'central',
    // The background is drawn as a wide outline, under the letters.
    stroke: hasGround ? (part.style('text-background-color') as string) : undefined,
    'stroke-width': hasGround ? 3 : undefined,
    'paint-order': hasGround ? 'stroke' : undefined,
    transform: turn === 0 ? undefined : `rotate(${[(turn * 180) / Math.PI, x, y].map(short).join(' ')})`,
  };
  const spans = lines.map((line, i) => `<tspan${attributes({ x, y: first + i * kLineHeight * size })}>${escaped(line)}</tspan>`);
  return `<text${attributes(look)}>${spans.join('')}</text>`;
}
