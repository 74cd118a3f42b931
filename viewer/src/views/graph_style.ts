// How the process graph looks, in light and dark.

import type { StylesheetJson } from 'cytoscape';

import { categoryColour, css, kCard, kInk, kLine, layerColour, mixed, type Theme } from '../palette';

export const kGraphFont = 'system-ui, sans-serif';
/** For names outside of the circle. */
export const kOutsideSize = 12;

export function graphStyle(theme: Theme): StylesheetJson {
  const ink = css(kInk[theme]);
  const card = css(kCard[theme]);
  const accent = css(categoryColour(theme, 1));
  const node = css(mixed(kCard[theme], layerColour(theme, 1), 0.28));
  return [
    {
      selector: 'node',
      style: {
        label: 'data(label)',
        color: ink,
        'font-size': 13,
        'font-family': kGraphFont,
        'text-valign': 'center',
        'text-halign': 'center',
        'min-zoomed-font-size': 6,
        width: 30,
        height: 30,
        'background-color': node,
        'border-width': 1.5,
        'border-color': css(layerColour(theme, 1)),
      },
    },
    {
      selector: 'node.host',
      style: {
        shape: 'round-rectangle',
        'background-color': ink,
        'background-opacity': 0.04,
        'border-width': 1,
        'border-color': css(kLine[theme]),
        'text-valign': 'top',
        'text-margin-y': -4,
        'font-weight': 600,
        'text-background-color': card,
        'text-background-opacity': 0.85,
        'text-background-padding': '1px',
        padding: '18px',
        // So that edges, which lie under it, can be pointed at.
        events: 'no',
      },
    },
    {
      selector: 'node.closed',
      style: { width: 15, height: 15, 'background-color': css(layerColour(theme, 1)) },
    },
    { selector: 'node.unknown', style: { shape: 'round-diamond', width: 64, height: 46 } },
    {
      selector: 'node.gpu, node.card, node.memory',
      style: {
        'text-valign': 'bottom',
        'text-margin-y': 3,
        'font-size': 11,
        'text-background-color': card,
        'text-background-opacity': 0.8,
        'text-background-padding': '1px',
      },
    },
    {
      selector: 'node.gpu',
      style: {
        'text-valign': 'top',
        'text-margin-y': -3,
        shape: 'rectangle',
        'background-color': css(mixed(kCard[theme], layerColour(theme, 0), 0.28)),
        'border-color': css(layerColour(theme, 0)),
      },
    },
    {
      selector: 'node.card',
      style: {
        shape: 'triangle',
        width: 34,
        'background-color': css(mixed(kCard[theme], layerColour(theme, 2), 0.28)),
        'border-color': css(layerColour(theme, 2)),
      },
    },
    { selector: 'node.memory', style: { shape: 'round-diamond', width: 40, height: 34 } },
    {
      selector: 'node.outside',
      style: {
        'text-margin-x': 'data(labelX)' as unknown as number,
        'text-margin-y': 'data(labelY)' as unknown as number,
        'text-rotation': 'data(turn)' as unknown as number,
        'text-valign': 'center',
        'font-size': kOutsideSize,
      },
    },
    { selector: 'node.unknown.outside', style: { width: 20, height: 20 } },
    { selector: 'node.idle', style: { opacity: 0.55 } },
    {
      selector: 'edge',
      style: {
        width: 'data(width)',
        'line-color': 'data(colour)',
        'target-arrow-color': 'data(colour)',
        'target-arrow-shape': 'triangle',
        'arrow-scale': 0.9,
        'curve-style': 'bezier',
        // Under all nodes, and therefore under their names, also in the boxes of hosts.
        'z-compound-depth': 'bottom',
        'control-point-step-size': 26,
        'loop-direction': '-45deg',
        'loop-sweep': '50deg',
        opacity: 'data(strength)' as unknown as number,
        'z-index': 'data(order)' as unknown as number,
        label: 'data(label)',
        color: ink,
        'font-size': 10,
        'min-zoomed-font-size': 7,
        'text-background-color': card,
        'text-background-opacity': 0.85,
        'text-background-padding': '1px',
      },
    },
    {
      selector: 'edge.routed',
      style: {
        'curve-style': 'unbundled-bezier',
        'edge-distances': 'node-position',
        'control-point-weights': 'data(weight)' as unknown as number,
        'control-point-distances': 'data(distance)' as unknown as number,
        'arrow-scale': 0.6,
      },
    },
    { selector: 'edge.inward', style: { 'loop-direction': 'data(loop)' as unknown as string, 'control-point-step-size': 20 } },
    {
      selector: 'node.chosen',
      style: { 'border-width': 4, 'border-color': accent },
    },
    {
      selector: 'node.cursor',
      style: {
        'border-width': 4,
        'border-color': ink,
      },
    },
    {
      selector: 'edge.cursor',
      style: { 'line-color': ink, 'target-arrow-color': ink, opacity: 1, 'z-index': 1000 },
    },
  ];
}
