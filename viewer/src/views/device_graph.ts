// The device graph: GPUs, network cards and memory of processes on their hosts, and the traffic
// between them.

import type { PageData } from '../data';
import type { Line } from '../describe';
import { gpuNode, makeDeviceEdges, makeDeviceLayout, movedBytes } from '../devices';
import type { Measure } from '../filter';
import { nodeOfProcess, type GraphNode } from '../graph';
import type { Context } from '../page';
import type { Wanted } from '../state';
import { formatExactValue } from '../words';
import type { GraphKind } from './graph_kind';
import { processFacts } from './graph_words';
import { edgeMeasure, transferValues } from './process_graph';

const kWhat: Record<Measure, string> = {
  bytes: 'bytes that were carried, or copied within a side',
  messages: 'transfers',
  transfers: 'transfers',
  wire_bytes: 'wire bytes',
  time: 'transfers',
};

const kReading =
  'Squares are GPUs, triangles network cards, circles the memory of a rank on the host. What goes ' +
  'over a network is three arrows: to the card of the source, to that of the destination, and ' +
  'from there to memory. Managed memory is drawn at its GPU.';

export function makeDeviceGraph({ data, columns }: Context): GraphKind {
  const { gpus } = data.devices;

  const choice = ({ kind, index }: GraphNode): Wanted | undefined => {
    if (kind === 'gpu') return { gpu: gpus[index]!.label };
    return kind === 'process' ? { rank: index } : undefined;
  };

  return {
    id: 'devices',
    title: 'Device graph',
    byNames: { transport: 'UCT transport', operation: 'UCT operation', pair: 'pair of devices' },
    reading: kReading,
    layout: (choice) => makeDeviceLayout(columns, choice),
    edges(view, layout, by) {
      const measure = edgeMeasure('transport', view.measure);
      const values = measure === 'bytes' ? movedBytes(view.columns) : transferValues(view, measure);
      const { still, ...made } = makeDeviceEdges(view.columns, view.selection, layout, by, values);
      const more =
        still > 0
          ? ` What serves no message, or moves nothing, has no arrow: ${formatExactValue(measure, still)}.`
          : '';
      return { ...made, by, measure, more, what: kWhat[measure] };
    },
    chosen: ({ src, dst, rank, gpu }, layout) => [
      ...[src, dst, rank].flatMap((process) =>
        process === undefined ? [] : [nodeOfProcess(data, layout, process)],
      ),
      ...gpus.flatMap(({ label }, index) => (label === gpu ? [gpuNode(index)] : [])),
    ],
    choice,
    edgeChoice: ({ source, target }, layout) =>
      [source, target].reduce<Wanted>((all, id) => {
        const node = layout.nodes.find((candidate) => candidate.id === id);
        return { ...(node && choice(node)), ...all };
      }, {}),
    nameOf: (node) => nameOf(data, node),
    titleOf: (node) => titleOf(data, node),
    factsOf: (node) => factsOf(data, node),
  };
}

function nameOf({ devices }: PageData, { kind, label, index, host }: GraphNode): string {
  if (kind === 'process') return `rank ${label}`;
  const name = kind === 'gpu' ? `GPU ${devices.gpus[index]!.bus}` : label;
  return host === null ? name : `${name} of ${host}`;
}

function titleOf({ devices }: PageData, { kind, label, index }: GraphNode): string {
  if (kind === 'gpu') return `GPU ${devices.gpus[index]!.bus}`;
  if (kind === 'card') return `Network card ${label}`;
  return kind === 'process' ? `Host memory of rank ${label}` : label;
}

function factsOf(data: PageData, { kind, label, index, host }: GraphNode): Line[] {
  if (kind === 'process') return processFacts(data, index);
  const facts: Line[] = host === null ? [] : [['host', host]];
  const { gpus, nics } = data.devices;
  const device = kind === 'gpu' ? gpus[index] : nics.find((n) => n.host === host && n.device === label);
  if (kind === 'gpu') {
    const { name, uuid } = gpus[index]!;
    if (name) facts.push(['name', name]);
    facts.push(['UUID', uuid]);
  }
  if (device?.bus) facts.push(['PCI', device.bus]);
  if (device && device.numa !== null) facts.push(['NUMA node', String(device.numa)]);
  return facts;
}

