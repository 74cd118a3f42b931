// Texts that readers see and share: numbers, the state in the address, and errors about bad data.

import { describe, expect, it } from 'vitest';

import { readCells } from '../src/cells';
import type { WrittenData } from '../src/data';
import type { LaneChoice } from '../src/lanes';
import { readRun } from '../src/read_page';
import { readWritten } from './read_written';
import { csvField, csvText } from '../src/download';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatExactBytes,
  formatShare,
  formatShortCount,
  formatTime,
} from '../src/format';
import { makeChoices } from '../src/choices';
import { fromHash, kInitialState, toHash } from '../src/state';
import { describe as describeView } from '../src/words';
import { elided } from '../src/measure_text';
import { unpack } from '../src/packed';
import { parsePlain, plainText } from '../src/plain';
import { pageDataOf } from './cells';
import { makeRun, written } from './make_run.mjs';
import { pack, packTable } from './pack.mjs';

const run = pageDataOf(makeRun({ ranks: 6 }));

describe('texts of the data', () => {
  it('are plain, as those of the command line', () => {
    expect(plainText('MPI_COMM_WORLD é€\u{1f600}')).toBe('MPI_COMM_WORLD é€\u{1f600}');
    expect(plainText('a\x1b[31m\n\x7f')).toBe('a\\x1b[31m\\x0a\\x7f');
    expect(plainText('\u009b')).toBe('\\xc2\\x9b');
    expect(plainText('\u202e')).toBe('\\xe2\\x80\\xae');
    expect(plainText('\u200f\u061c')).toBe('\\xe2\\x80\\x8f\\xd8\\x9c');
  });

  it('are plain once they are read, however they were written', () => {
    const controls = ['\0', '\b', '\t', '\n', '\v', '\f', '\r', '\x1b', '\x7f', '\x80', '\x9f', '\u061c', '\u200e', '\u2028', '\u202a', '\u2066', '\u2069'];
    for (const control of controls) {
      const escape = `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
      const wanted = { deep: [plainText(control)] };
      expect(parsePlain(JSON.stringify({ deep: [control] }))).toEqual(wanted);
      expect(parsePlain(`{"deep":["${escape}"]}`)).toEqual(wanted);
      expect(parsePlain(`{"deep":["${escape.toUpperCase().replace('U', 'u')}"]}`)).toEqual(wanted);
    }
  });

  it('are cut to what fits', () => {
    const width = (text: string) => 10 * [...text].length;
    expect(elided('abcde', 50, width)).toBe('abcde');
    expect(elided('abcdef', 50, width)).toBe('abcd…');
    expect(elided('\u{1f600}\u{1f600}\u{1f600}', 20, width)).toBe('\u{1f600}…');
    expect(elided('abc', 5, width)).toBe('…');
  });
});

describe('numbers', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.00 KiB'],
    [1536, '1.50 KiB'],
    [102400, '100 KiB'],
    [1048575, '1.00 MiB'],
    [2 ** 50, '1.00 PiB'],
  ])('%i bytes', (bytes, shown) => expect(formatBytes(bytes)).toBe(shown));

  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1.00 k'],
    [999_950, '1.00 M'],
    [1_234_567, '1.23 M'],
  ])('short count %i', (count, shown) => expect(formatShortCount(count)).toBe(shown));

  it.each([
    [0, 0, '–'],
    [0, 9, '0 %'],
    [9, 9, '100 %'],
    [1, 3, '33.3 %'],
    [1, 1e6, '<0.1 %'],
    [999_999, 1e6, '>99.9 %'],
  ])('share %i of %i', (part, whole, shown) => expect(formatShare(part, whole)).toBe(shown));

  it.each([
    [12, '12 ns'],
    [1500, '1.50 µs'],
    [123_456_789, '123 ms'],
    [8.4e9, '8.40 s'],
    [7384e9, '2 h 3 min 4 s'],
  ])('%i ns', (ns, shown) => expect(formatDuration(ns)).toBe(shown));

  it('groups digits and names UTC', () => {
    expect(formatCount(1234567)).toBe('1,234,567');
    expect(formatExactBytes(1536)).toBe('1,536 B');
    expect(formatTime('2026-11-21T01:02:03Z')).toBe('2026-11-21 01:02:03 UTC');
    expect(formatTime('yesterday')).toBe('yesterday');
  });
});

describe('state in the address', () => {
  const choices = makeChoices(run);
  const axis = { from: 1000, slab: 50, slabs: 20 };

  it('survives a round trip', () => {
    const filter = {
      mpi: null,
      src: -1,
      comm: 'cart 4x4',
      role: 'data',
      kind: 'tag',
      min_size: 5,
      rank: 2,
      from: 1050,
      to: 1900,
      withoutMessage: true,
    } as const;
    const lanes: LaneChoice = {
      sort: 'waited',
      byHost: true,
      compact: true,
      pinned: [3, 0],
      opened: ['node1'],
      only: '0-3,7 & more',
    };
    const look = { zoom: { from: 1100, to: 1700 }, kept: { layer: 'uct', process: 2, start: 1234, duration: -1, place: 1 } } as const;
    const hosts = { graph: { collapsed: true, opened: new Set(['node2', 'node1']) } };
    const state = { filter, measure: 'transfers', scale: 'linear', matrix: 'waits', overview: 'ranks', lanes, hosts, look, dock: 'folded' } as const;
    expect(fromHash(`#${toHash(state, run.run.id)}`, choices, axis, run)).toEqual(state);
    expect(toHash(kInitialState, run.run.id)).toBe('');
  });

  it('ignores what this run does not have', () => {
    const other =
      '#mpi=MPI_None&src=99&measure=x&scale=y&matrix=z&dock=w&lanes=q&pinned=99,x&open=elsewhere&graph_hosts=2&devices_open=node1';
    expect(fromHash(other, choices, axis, run)).toEqual(kInitialState);
    for (const zoom of ['0-', '5-5', '9-2', '1-2', '99999999-999999999', 'a-b', '0-99999999']) {
      expect(fromHash(`#zoom=${zoom}`, choices, axis, run)).toEqual(kInitialState);
    }
    for (const operation of [
      ...['uct.1.5.7.0.other run', `ucx.1.5.7.0.${run.run.id}`, `uct.-1.5.7.0.${run.run.id}`, `uct.99.5.7.0.${run.run.id}`, 'uct.1.5.7.0'],
      // The form in which earlier pages named operations.
      `uct.1.5.0.${run.run.id}`,
    ]) {
      expect(fromHash(`#operation=${operation}`, choices, axis, run)).toEqual(kInitialState);
    }
  });
});

describe('the sentence about the numbers', () => {
  it('says what is counted', () => {
    expect(describeView(run, {}, 'bytes')).toBe(
      'Payload of the messages of the run; each message counts once.',
    );
    expect(describeView(run, { mpi: 'MPI_Isend', transport: 'tcp' }, 'messages')).toBe(
      'Number of messages asked for by MPI_Isend, whose path uses at least one transfer over tcp.',
    );
    expect(describeView(run, { op: 'am_short', withoutMessage: true }, 'transfers')).toBe(
      'Number of UCT transfers: each am_short transfer that serves a message, ' +
        'or no message at all.',
    );
    expect(describeView(run, {}, 'time')).toBe('Time that the messages of the run took from start to end, added up.');
  });
});

describe('bad data', () => {
  const broken = (change: (data: WrittenData) => void) => {
    const data = structuredClone(written(run)) as WrittenData;
    change(data);
    return readWritten(data).then((page) => page.data);
  };

  it('accepts good data', async () => expect(await broken(() => {})).toEqual(run));

  it('accepts sums of times of any length, as those of a damaged log may be', async () =>
    expect((await broken((d) => (d.call_sites.rows[0]!.ns = 2 ** 63))).call_sites.rows[0]!.ns).toBe(2 ** 63));

  it.each<[string, (data: WrittenData) => void]>([
    ['data.schema: expected 7, found 1', (d) => ((d.schema as number) = 1)],
    ['data.classes[0]: there is no GPU 3', (d) => (d.classes[0]!.src_memory!.gpu = 3)],
    ['data.steps[1].to.kind: expected unknown or host', (d) => (d.steps[1]!.to = { kind: 'x' as 'host', gpu: 0 })],
    ['data.call_sites.rows[0].calls: expected a whole number', (d) => (d.call_sites.rows[0]!.calls = -1)],
    ['data.delays.rows[1].direct_ns: expected a time', (d) => (d.delays.rows[1]!.direct_ns = -1)],
    ['data.communicators.rows[2].size: expected a whole number', (d) => (d.communicators.rows[2]!.size = 0.5)],
    ['data.classes[1].path: there is no step 99', (d) => (d.classes[1]!.path = [99])],
    [
      'data.run.command: expected text, found nothing',
      (d) => delete (d.run as { command?: string }).command,
    ],
  ])('says %s', (message, change) => expect(broken(change)).rejects.toThrow(message));

  it('says that text is not JSON', () =>
    expect(() => readRun('{"schema":')).toThrow('The data is not JSON'));

  it.each([
    ['.cells[2].class: no class 999', { class: [0, 0, 999] }, {}],
    ['.cells[1].src: there is no process 6', { src: [0, 6, 1] }, {}],
    ['.cells[0].dst: there is no process -2', { dst: [-2, 0, 0] }, {}],
    ['.cells[1].src: there is no process 4294967295', { src: [0, 2 ** 32 - 1, 1] }, {}],
    ['.cells[2].class: no class 4294967296', { class: [0, 0, 2 ** 32] }, {}],
    ['.cells[2]: its 1 steps have no totals', {}, { count: [1, 1], bytes: [1, 1], wire_bytes: [1, 1] }],
    ['.cells: 4 totals for 3 steps', {}, { count: [1, 1, 1, 1], bytes: [1, 1, 1, 1], wire_bytes: [1, 1, 1, 1] }],
    ['.packed: table cells has no column class', { class: undefined }, {}],
  ])('says %s', async (message, cells, totals) => {
    const sums = { messages: [1, 1, 1], bytes: [8, 8, 8], timed: [1, 0, 1], ns: [9, 0, 9] };
    const good = { src: [0, 1, -1], dst: [1, 0, 0], class: [0, 0, 0], ...sums };
    const columns = Object.fromEntries(Object.entries({ ...good, ...cells }).filter(([, list]) => list));
    const ones = { count: [1, 1, 1], bytes: [8, 8, 8], wire_bytes: [9, 9, 9] };
    const tables = await unpack(
      pack([packTable('cells', columns), packTable('cell_transfers', { ...ones, ...totals })]),
    );
    const one = { ...run.classes[0]!, path: run.classes[0]!.path.slice(0, 1) };
    expect(() => readCells(tables, [one], 6)).toThrow(message);
  });
});

describe('CSV', () => {
  it.each([
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ['two\nlines', '"two\nlines"'],
    ['=1+2', "'=1+2"],
    ['@sum', "'@sum"],
    ['-rm', "'-rm"],
    ['+cmd,x', '"\'+cmd,x"'],
    ['-12.5', '-12.5'],
    ['-1e-9', '-1e-9'],
    ['', ''],
  ])('field %s', (text, field) => expect(csvField(text)).toBe(field));

  it('has a line for each row', () => {
    expect(csvText([['a', 'b'], ['1', 'x,y']])).toBe('a,b\r\n1,"x,y"\r\n');
  });
});
