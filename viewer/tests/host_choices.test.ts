// Whether graphs show hosts, in the address.

import { describe, expect, it } from 'vitest';

import { hostsFromFields, hostsToFields, withHosts, type HostChoices } from '../src/host_choices';
import { differInGraphsAlone, differInTimelineAlone, kInitialState } from '../src/state';
import { pageDataOf } from './cells';
import { makeRun } from './make_run.mjs';

const few = pageDataOf(makeRun({ ranks: 10, steps: 4, slabs: 16, limit: 0 }));
const many = pageDataOf(makeRun({ ranks: 40, steps: 4, slabs: 16, limit: 0 }));
const one = pageDataOf(makeRun({ ranks: 4, steps: 4, slabs: 16, limit: 0 }));
const opened = (...hosts: string[]) => ({ collapsed: true, opened: new Set(hosts) });
const kProcesses = { collapsed: false, opened: new Set<string>() };
const read = (text: string, data = few) => hostsFromFields(new URLSearchParams(text), data);
const text = (choices: HostChoices) => new URLSearchParams(hostsToFields(choices)).toString();

describe('hosts of graphs', () => {
  it('are nothing where they are as at first', () => {
    expect(withHosts({}, 'graph', few, kProcesses)).toEqual({});
    expect(withHosts({}, 'graph', many, opened())).toEqual({});
    expect(withHosts({ graph: opened(), devices: opened() }, 'graph', few, kProcesses)).toEqual({ devices: opened() });
    expect(hostsToFields({})).toEqual([]);
  });

  it('come back from the address, each graph apart', () => {
    for (const data of [few, many]) {
      for (const choice of [opened('node2'), opened('node3', 'node1'), opened(), kProcesses]) {
        const choices = withHosts({ graph: opened('node1') }, 'devices', data, choice);
        expect(read(text(choices), data)).toEqual(choices);
      }
    }
    expect(text({ graph: opened('node2') })).toBe('graph_hosts=1&graph_open=node2');
  });

  it('are left out where this run has no such', () => {
    expect(read('graph_hosts=1&graph_open=node1', one)).toEqual({});
    expect(read('graph_hosts=1&graph_open=node1&graph_open=elsewhere')).toEqual({ graph: opened('node1') });
    expect(read('graph_open=node1')).toEqual({});
    expect(read('graph_hosts=yes&devices_hosts=')).toEqual({});
    expect(read('graph_hosts=0&graph_open=node1', many)).toEqual({ graph: kProcesses });
  });

  it('are shown by the graphs alone', () => {
    const hosts = { graph: opened() };
    expect(differInGraphsAlone(kInitialState, { ...kInitialState, hosts })).toBe(true);
    expect(differInTimelineAlone(kInitialState, { ...kInitialState, hosts })).toBe(false);
    expect(differInGraphsAlone(kInitialState, { ...kInitialState, hosts, measure: 'messages' })).toBe(false);
    expect(differInGraphsAlone(kInitialState, kInitialState)).toBe(false);
  });
});
