// An invented run in which every text is hostile: markup, ends of scripts, terminal escapes, marks that change the direction
// of text, quotes, formulas, long text and emoji.

import { makeRun, written } from './make_run.mjs';

/** Texts that a browser, a spreadsheet or a shell would not treat as plain text; each is the beginning of some names. */
const kBeginnings = [
  '<img src=x onerror="hostile++">',
  "=cmd|'/C calc'!A1",
  '\u202eright to left\u2067',
  '</script><script>hostile++</script>',
  '@SUM(1,2)',
  '\x1b]0;title\x07\x1b[31mred',
  '"><svg onload=hostile++>',
  '+1+cmd',
  '\u{1f469}\u200d\u{1f680}\u{1f600}',
  '<!--<script>',
  '-2+cmd',
  "');hostile++;//",
  '\t=1+1',
  '${hostile++}{{hostile++}}',
  'long '.repeat(400),
  '\r\n=1+1',
  '&lt;img src=x onerror=hostile++&gt;',
  'x'.repeat(2000),
];

/** Every name ends with these, after the part that distinguishes it from the others. */
const kEnd = '<img src=x onerror="hostile++"></script><script>hostile++</script><b>bold</b>\x1b[1m\u009b1m\u202e\u2066\u200f\u061c\u2028"\'`&amp;\0\u{1f680}';

/** Keys whose texts are enumerated values of the page's data: the page refuses other values. */
const kNumbered = new Set(['role', 'issued_by', 'match', 'distance', 'result', 'reach', 'unit', 'verdict']);
const kPlaces = new Set(['src_memory', 'dst_memory', 'from', 'to']);

/** The kind of a text: its place, without the indexes. */
const kindAt = (path) => path.filter((part) => typeof part === 'string').join('.');

export class HostileNames {
  /** Original text -> { kind, name }. */
  known = new Map();

  nameOf(text, path) {
    if (!this.known.has(text)) {
      const number = this.known.size;
      const kind = kindAt(path);
      const mark = `[${kind} ${number}]`;
      this.known.set(text, { kind, mark, name: `${kBeginnings[number % kBeginnings.length]}${mark}${kEnd}` });
    }
    return this.known.get(text).name;
  }

  /** The same value with hostile names in place of all texts. */
  in(value, path = []) {
    const key = path.at(-1);
    if (typeof value === 'string') {
      const isNumbered = kNumbered.has(key) || (key === 'kind' && kPlaces.has(path.at(-2)));
      return value === '' || isNumbered ? value : this.nameOf(value, path);
    }
    if (Array.isArray(value)) return value.map((each, index) => this.in(each, [...path, index]));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, name === 'packed' ? each : this.in(each, [...path, name])]),
    );
  }
}

/** The run as a page has it, and its names by the texts that they replace. */
export function makeHostileRun() {
  const run = written(makeRun({ ranks: 6, gpus: 2, steps: 4, limit: 1200, slabs: 64 }));
  const names = new HostileNames();
  const data = names.in({
    ...run,
    folder: 'data of the run',
    processes: run.processes.map((process, rank) => (rank === 5 ? { ...process, complete: false, exit: 'killed' } : process)),
    comparison: { ...run.comparison, notes: ['a note of the comparison'] },
  });
  return { data, names: names.known };
}
