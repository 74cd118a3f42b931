// Whether each graph shows processes, or each host as one node, as the reader chose; and its form in the page's address.

import type { PageData } from './data';
import { choiceAtFirst, type HostChoice } from './graph';

export const kGraphs = ['graph', 'devices'] as const;
export type GraphId = (typeof kGraphs)[number];

/** A graph that is missing keeps its initial choice. */
export type HostChoices = { readonly [K in GraphId]?: HostChoice };

/** The stored form of a choice: nothing if it is the initial one. */
export function withHosts(choices: HostChoices, id: GraphId, data: PageData, choice: HostChoice): HostChoices {
  const { [id]: _, ...others } = choices;
  const isAtFirst = choice.collapsed === choiceAtFirst(data).collapsed && choice.opened.size === 0;
  return isAtFirst ? others : { ...others, [id]: choice };
}

/** graph_hosts=1&graph_open=node2 */
export function hostsToFields(choices: HostChoices): [string, string][] {
  return kGraphs.flatMap((id) => {
    const choice = choices[id];
    if (!choice) return [];
    const opened = [...choice.opened].map((host): [string, string] => [`${id}_open`, host]);
    return [[`${id}_hosts`, choice.collapsed ? '1' : '0'], ...opened];
  });
}

/** Drops hosts that this run does not have. */
export function hostsFromFields(fields: URLSearchParams, data: PageData): HostChoices {
  const hosts = new Set(data.processes.map(({ host }) => host));
  if (hosts.size < 2) return {};
  return kGraphs.reduce((choices: HostChoices, id) => {
    const text = fields.get(`${id}_hosts`);
    if (text !== '0' && text !== '1') return choices;
    const collapsed = text === '1';
    const opened = collapsed ? fields.getAll(`${id}_open`).filter((host) => hosts.has(host)) : [];
    return withHosts(choices, id, data, { collapsed, opened: new Set(opened) });
  }, {});
}
