// What tells the graphs of the page apart: what their nodes and edges are, and what choosing one
// means.

import type { Line } from '../describe';
import type { Filter } from '../filter';
import type { EdgesBy, GraphEdge, GraphLayout, GraphNode, HostChoice } from '../graph';
import type { GraphId } from '../host_choices';
import type { View } from '../page';
import type { Wanted } from '../state';
import type { ShownEdges } from './graph_words';

export interface GraphKind {
  /** Of the section and of what tests look for. */
  readonly id: GraphId;
  readonly title: string;
  readonly byNames: Readonly<Record<EdgesBy, string>>;
  /** How the shapes are read, and what else is to be known. */
  readonly reading: string;
  layout(choice: HostChoice): GraphLayout;
  edges(view: View, layout: GraphLayout, by: EdgesBy): ShownEdges;
  /** Nodes that the filter chooses. */
  chosen(filter: Filter, layout: GraphLayout): string[];
  /** What a node chooses; nothing where no filter does. */
  choice(node: GraphNode): Wanted | undefined;
  edgeChoice(edge: GraphEdge, layout: GraphLayout): Wanted;
  /** As an end of an edge. */
  nameOf(node: GraphNode): string;
  titleOf(node: GraphNode): string;
  factsOf(node: GraphNode): Line[];
}
