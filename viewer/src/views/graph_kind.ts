// The differences between the graphs of the page: what their nodes and edges are, and what choosing
// one means.

import type { Line } from '../describe';
import type { Filter } from '../filter';
import type { EdgesBy, GraphEdge, GraphLayout, GraphNode, HostChoice } from '../graph';
import type { GraphId } from '../host_choices';
import type { View } from '../page';
import type { Wanted } from '../state';
import type { ShownEdges } from './graph_words';

export interface GraphKind {
  /** Id of the section, also for tests. */
  readonly id: GraphId;
  readonly title: string;
  readonly byNames: Readonly<Record<EdgesBy, string>>;
  /** How to read the shapes, and other notes. */
  readonly reading: string;
  layout(choice: HostChoice): GraphLayout;
  edges(view: View, layout: GraphLayout, by: EdgesBy): ShownEdges;
  /** Nodes that the filter selects. */
  chosen(filter: Filter, layout: GraphLayout): string[];
  /** The choice for a node; nothing if no filter has one. */
  choice(node: GraphNode): Wanted | undefined;
  edgeChoice(edge: GraphEdge, layout: GraphLayout): Wanted;
  /** Its name as an end of an edge. */
  nameOf(node: GraphNode): string;
  titleOf(node: GraphNode): string;
  factsOf(node: GraphNode): Line[];
}
