// The places on the page that answer the questions of docs/questions.md. Used by questions.mjs: `eye` sees what a
// reader sees.

/** "23,384 ns" -> 23384 */
const plainNumber = (text) => Number(text.replaceAll(',', ''));
const kUnits = { ns: 1, 'µs': 1e3, us: 1e3, ms: 1e6, s: 1e9 };
function nanoseconds(text) {
  const [, number, unit] = /^([\d.,]+) (\S+)$/.exec(text);
  return plainNumber(number) * kUnits[unit];
}
const percent = (text) => Number(text.replace(/^[<>]|\s*%$/g, ''));

/** "64.0 KiB to 131,071 B" -> "64.0 KiB" */
const leastOf = (sizes) => sizes.split(' to ')[0];

async function transports(eye) {
  const used = (await eye.table('network-cards')).filter((row) => row.sent !== '0 B' || row.received !== '0 B');
  return { transports: [...new Set(used.flatMap((row) => row.transports.split(', ')))].sort() };
}

async function cards(eye) {
  const most = {};
  for (const row of await eye.table('network-cards')) {
    const share = percent(row['share of its host']);
    if (share > (most[row.host]?.[1] ?? -1)) most[row.host] = [row.card, share];
  }
  return most;
}

async function settings(eye) {
  const text = await eye.text('header dl.facts div:has(dt:text-is("Settings")) dd');
  return [...text.matchAll(/(\S+=\S+) \((ranks? [^)]*)\)/g)].map(([, setting, ranks]) => [setting, ranks]);
}

async function protocols(eye) {
  const rows = (await eye.table('protocols-table')).filter(({ size }) => leastOf(size) === '64.0 KiB');
  return Object.fromEntries(
    rows.map((row) => [
      `${row.protocol} within ${row.within}`,
      [plainNumber(row.messages), nanoseconds(row['median latency'])],
    ]),
  );
}

async function switchOfProtocols(eye) {
  const rows = await eye.table('protocols-table');
  const first = rows.findIndex(({ protocol }) => protocol.startsWith('rndv'));
  const before = rows[first - 1];
  if (!before?.protocol.startsWith('eager') || rows.slice(first).some(({ protocol }) => protocol.startsWith('eager'))) {
    throw new Error(`the rows tell no switch: ${JSON.stringify(rows)}`);
  }
  return [leastOf(before.size), leastOf(rows[first].size)];
}

async function message(eye) {
  const text = await eye.text('[data-testid="details"]');
  const receipt = text.slice(text.search(/Message #\d+/));
  const line = (name) => new RegExp(`(?:^|\\n)${name}\\s+([^\\n]*)`).exec(receipt)?.[1] ?? '';
  const rank = (name) => Number(/^rank (\d+)/.exec(line(name))[1]);
  const path = [...receipt.matchAll(/([\d,]+) × (\S+) over ([^\s,]+)( to [^\s,]+)?, ([^\n]*)/g)];
  const error = /agree to ([\d.,]+ \S+)\.(?:\n|$)/.exec(receipt);
  return {
    id: Number(/#(\d+)/.exec(receipt)[1]),
    bytes: plainNumber(/^([\d,]+) B/.exec(line('payload'))[1]),
    src: rank('from'),
    dst: rank('to'),
    tag: Number(/\ntag\s+(\d+)/.exec(receipt)[1]), // "tag" is also a kind
    ns: plainNumber(/([\d,]+) ns/.exec(line('duration'))[1]),
    error_ns: error ? nanoseconds(error[1]) : 0,
    pieces: path.map(([, count, op, way]) => [plainNumber(count), op, way]),
    costs: path.map(([, , , , , rest]) => /, for ([\d.,]+ \S+)$/.exec(rest)?.[1] ?? null),
  };
}

async function late(eye) {
  const [site] = await eye.table('call-sites-table');
  const [delay] = await eye.table('delays-table');
  return { late: delay.rank, site: delay['call site'], waiting: site['call site'] };
}

async function pairs(eye) {
  const rows = await eye.table('matrix-pairs');
  const most = rows[0]['payload bytes'];
  return Object.fromEntries(
    rows.filter((row) => row['payload bytes'] === most).map((row) => [row['source → destination'], most]),
  );
}

async function changes(eye) {
  const rowsOf = async (name) => ((await eye.has(`[data-testid="${name}"]`)) ? eye.table(name) : []);
  const differ = await rowsOf('comparison-settings');
  return {
    settings: differ.filter(({ setting }) => setting !== 'command').map((row) => [row.setting, row.A, row.B]),
    changes: Object.fromEntries((await rowsOf('comparison-changes')).map(({ what, A, B }) => [what, [A, B]])),
  };
}

/** By the number of the question. */
export const kAnswers = {
  1: transports,
  2: cards,
  3: settings,
  4: protocols,
  5: switchOfProtocols,
  6: message,
  7: late,
  8: pairs,
  9: changes,
};
