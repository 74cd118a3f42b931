// The places that findings lead to.

import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { kChoices, makeChoices, optionWords } from '../src/choices';
import { selectionCommand } from '../src/command';
import { evidenceOf, knowsRule, shellWords, wantedBy, withEvidence } from '../src/evidence';
import { kInitialState } from '../src/state';
import { readWritten } from './read_written';
import { makeRun, written } from './make_run.mjs';

const { data } = await readWritten(written(makeRun({ ranks: 6, gpus: 2, steps: 20, slabs: 64, limit: 0 })));
const choices = makeChoices(data);
const finding = (rule: string, command: string) => ({ rule, command, finding: 'f', advice: 'a', share: 0, doubts_records: false });

describe('evidence', () => {
  it('reads words as a shell does', () => {
    expect(shellWords("uctrace report 'a b'\\''c' --mpi MPI_Send  x\\ y")).toEqual(['uctrace', 'report', "a b'c", '--mpi', 'MPI_Send', 'x y']);
    expect(shellWords('')).toEqual([]);
  });

  it('takes from a command what the page offers', () => {
    expect(wantedBy(data, choices, 'uctrace waits run --rank 2')).toEqual({ rank: 2 });
    expect(wantedBy(data, choices, 'uctrace report --role staging --by contenders')).toEqual({ role: 'staging' });
    expect(wantedBy(data, choices, 'uctrace report --by pairs')).toEqual({});
  });

  it('takes neither what this run lacks, nor lists, nor what only begins alike', () => {
    expect(wantedBy(data, choices, 'uctrace waits --rank 77')).toEqual({});
    expect(wantedBy(data, choices, 'uctrace waits --rank 1,2')).toEqual({});
    expect(wantedBy(data, choices, 'uctrace report run--rank 2 --ranks 2')).toEqual({});
    expect(wantedBy(data, choices, 'uctrace report --rank')).toEqual({});
  });

  it('finds every value of every choice in the command of the page itself', () => {
    let tried = 0;
    for (const choice of kChoices) {
      for (const value of choices[choice]) {
        const [, argument] = optionWords(data, choice, value);
        if (argument === '') continue;
        const same = choices[choice].filter((other) => optionWords(data, choice, other)[1] === argument);
        const found = wantedBy(data, choices, selectionCommand(data, { [choice]: value }));
        expect(Object.keys(found)).toEqual([choice]);
        expect(same).toContain(found[choice]);
        ++tried;
      }
    }
    expect(tried).toBeGreaterThan(30);
  });

  it('is in a part of the page by the rule', () => {
    expect(evidenceOf(data, choices, finding('rank-makes-others-wait', 'uctrace waits run --rank 2'))).toEqual({
      section: 'matrix',
      matrix: 'waits',
      wanted: { rank: 2 },
    });
    expect(evidenceOf(data, choices, finding('one-card-carries-most', 'uctrace report --by gpu-nic'))?.section).toBe('network');
  });

  it('is nowhere for rules of which the page shows no more, and for names of objects', () => {
    for (const rule of ['registration-is-long', 'constructor', '__proto__']) {
      expect(evidenceOf(data, choices, finding(rule, 'uctrace info'))).toBeUndefined();
    }
  });

  it('is known of every rule, or known to be nowhere', () => {
    const rules = readFileSync(new URL('finding_rules.txt', import.meta.url), 'utf8').split('\n').filter(Boolean);
    expect(rules.length).toBeGreaterThan(15);
    expect(rules.filter((rule) => !knowsRule(rule))).toEqual([]);
    expect(['constructor', 'no-such-rule'].some(knowsRule)).toBe(false);
  });

  it('takes the place of other choices', () => {
    const before = { ...kInitialState, measure: 'messages' as const, filter: { mpi: 'MPI_Send', src: 1, withoutMessage: true } };
    const after = withEvidence(before, { section: 'matrix', matrix: 'waits', wanted: { rank: 2 } });
    expect(after.filter).toEqual({ rank: 2 });
    expect([after.matrix, after.measure]).toEqual(['waits', 'messages']);
    expect(withEvidence(after, { section: 'contenders', wanted: {} })).toMatchObject({ matrix: 'waits', filter: {} });
  });
});
