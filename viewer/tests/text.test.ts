// What readers see and share: numbers, the state in the address, and errors about bad data.

import { describe, expect, it } from 'vitest';

import { parsePageData, type PageData, type WrittenData } from '../src/data';
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
import { makeRun, written } from './make_run.mjs';

const run = makeRun({ ranks: 6 }) as PageData;

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
    const state = { filter, measure: 'transfers', scale: 'linear' } as const;
    expect(fromHash(`#${toHash(state)}`, choices, axis)).toEqual(state);
    expect(toHash(kInitialState)).toBe('');
  });

  it('ignores what this run does not have', () => {
    expect(fromHash('#mpi=MPI_None&src=99&measure=x&scale=y', choices, axis)).toEqual(kInitialState);
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
  });
});

describe('bad data', () => {
  const broken = (change: (data: WrittenData) => void) => {
    const data = structuredClone(written(run)) as WrittenData;
    change(data);
    return () => parsePageData(JSON.stringify(data));
  };

  it('accepts good data', () => expect(broken(() => {})()).toEqual(run));

  it.each<[string, (data: WrittenData) => void]>([
    ['data.cells[3].bytes: expected a whole number', (d) => (d.cells[3]!.bytes = -1)],
    ['data.cells[2].class: no class 999', (d) => (d.cells[2]!.class = 999)],
    ['data.cells[1].src: there is no process 6', (d) => (d.cells[1]!.src = 6)],
    ['data.cells[0].transfers: 0 totals for', (d) => (d.cells[0]!.transfers = [])],
    ['data.schema: expected 3, found 1', (d) => ((d.schema as number) = 1)],
    ['data.classes[0]: there is no GPU 3', (d) => (d.classes[0]!.src_memory!.gpu = 3)],
    ['data.steps[1].to.kind: expected unknown or host', (d) => (d.steps[1]!.to = { kind: 'x' as 'host', gpu: 0 })],
    ['data.classes[1].path: there is no step 99', (d) => (d.classes[1]!.path = [99])],
    [
      'data.run.command: expected text, found nothing',
      (d) => delete (d.run as { command?: string }).command,
    ],
  ])('says %s', (message, change) => expect(broken(change)).toThrow(message));

  it('says that text is not JSON', () => {
    expect(() => parsePageData('{"schema":')).toThrow('The data is not JSON');
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
