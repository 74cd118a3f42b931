// The search for operations, compared with a plain search through their descriptions.

import { describe, expect, it } from 'vitest';

import { makeDetails } from '../src/details';
import { readWritten } from './read_written';
import { parseQuery, search, type Found } from '../src/search';
import { endOf, makeTimeAxis } from '../src/slabs';
import { makeRun, written } from './make_run.mjs';

const { data, tables } = await readWritten(written(makeRun({ ranks: 6, slabs: 64, limit: 700 })));
const details = makeDetails(data, tables, endOf(makeTimeAxis(data.time)));
const all: Found[] = details.layers.flatMap(({ table }, layer) =>
  Array.from({ length: table.rows }, (_, row) => ({ layer, row })),
);
const value = ({ layer, row }: Found, column: string) => details.layers[layer]!.table.column(column)[row]!;
const text = (found: Found, column: string) => (data.texts[value(found, column)] ?? '').toLowerCase();
const start = ({ layer, row }: Found) => details.layers[layer]!.start[row]!;
const everything = () => true;
const find = (query: string) => search(data, details, query, everything);

describe('search', () => {
  it.each<[string, (found: Found) => boolean]>([
    ['function:mpi_isend', (f) => (f.layer === 0 && text(f, 'function').includes('mpi_isend')) || (f.layer === 1 && text(f, 'asked_by').includes('mpi_isend'))],
    ['protocol:RNDV', (f) => f.layer === 1 && text(f, 'protocol').includes('rndv')],
    ['transport:sysv', (f) => f.layer === 2 && [text(f, 'transport'), text(f, 'device')].some((t) => t.includes('sysv'))],
    ['site:heat.c:88', (f) => f.layer < 2 && text(f, 'site').includes('heat.c:88')],
    ['rank:3', (f) => value(f, 'process') === 3],
    ['peer:2', (f) => (f.layer > 0 && value(f, 'peer') === 2) || (f.layer === 0 && [value(f, 'peer'), value(f, 'recv_peer')].includes(2))],
    ['rank:1 transport:tcp', (f) => f.layer === 2 && value(f, 'process') === 1 && [text(f, 'transport'), text(f, 'device')].some((t) => t.includes('tcp'))],
    ['cart', (f) => f.layer === 0 && text(f, 'comm').includes('cart')],
    ['', () => false],
    ['no-such-name', () => false],
  ])('%s', (query, accepts) => {
    const expected = all.filter(accepts);
    expect(find(query).count).toBe(expected.length);
    if (query.includes(':') || query === 'cart') expect(expected.length).toBeGreaterThan(0);
  });

  it('goes through them in time, once around, both ways', () => {
    const found = find('transport:sysv');
    const seen: Found[] = [];
    let at: Found | undefined;
    for (let i = 0; i < found.count; ++i) {
      at = found.next(at, 1)!;
      seen.push(at);
      expect(found.placeOf(at)).toBe(i + 1);
    }
    expect(new Set(seen.map((f) => `${f.layer}/${f.row}`)).size).toBe(found.count);
    seen.forEach((f, i) => i > 0 && expect(start(f)).toBeGreaterThanOrEqual(start(seen[i - 1]!)));
    expect(found.next(at, 1)).toEqual(seen[0]);
    expect(found.next(seen[0], -1)).toEqual(at);
    expect(found.next(seen[5], -1)).toEqual(seen[4]);
  });

  it('leaves out what does not count', () => {
    const found = search(data, details, 'rank:0', ({ layer }) => layer === 'uct');
    expect(found.count).toBe(all.filter((f) => f.layer === 2 && value(f, 'process') === 0).length);
    expect(find('no-such-name').next(undefined, 1)).toBeUndefined();
  });

  it('reads words, with what they are looked for in', () => {
    expect(parseQuery('  Peer:3 a:b ')).toEqual([
      { field: 'peer', text: '3' },
      { field: undefined, text: 'a:b' },
    ]);
  });
});
