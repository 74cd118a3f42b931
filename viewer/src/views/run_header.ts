// The head of the page: which run this is, and what the reader must know before trusting it.

import type { Identity, RunData } from '../data';
import { element } from '../dom';
import { formatCount, formatDuration, formatTime } from '../format';
import { makeCommandLine } from './command_line';

export function makeHeader(data: RunData): HTMLElement {
  const { run, processes } = data;
  const hosts = new Set(processes.map((process) => process.host)).size;
  const facts: [string, string][] = [
    ['Processes', `${formatCount(processes.length)} on ${hosts} host${hosts === 1 ? '' : 's'}`],
    ['Duration', formatDuration(run.duration_ns)],
    ['Started', formatTime(run.started)],
    ['MPI', run.mpi ?? 'none'],
    ['UCX', run.ucx ?? 'none'],
    ['Run', run.complete ? 'complete' : 'not complete'],
  ];
  if (run.settings !== '') facts.push(['Settings', run.settings]);
  const header = element(
    'header',
    { id: 'head' },
    makeCommandLine(run.command),
    element(
      'dl',
      { class: 'facts' },
      ...facts.map(([name, value]) =>
        element('div', {}, element('dt', {}, name), element('dd', {}, value)),
      ),
    ),
  );
  if (run.setting_lines.length > 0) header.append(makeSettings(run.setting_lines));
  if (data.served && data.time.is_part) {
    header.append(
      element('p', {}, element('a', { href: './', 'data-testid': 'whole-run' }, 'All that is served')),
    );
  }
  const warnings = listWarnings(data);
  if (warnings.length > 0) header.append(makeBanner(data, warnings));
  return header;
}

function makeSettings(lines: readonly string[]): HTMLElement {
  return element(
    'details',
    { class: 'settings', 'data-testid': 'settings' },
    element('summary', {}, `Settings, limits, and what UCX opened (${formatCount(lines.length)})`),
    element('ul', {}, ...lines.map((line) => element('li', {}, element('code', {}, line)))),
  );
}

function listWarnings({ run, processes, identities, notes }: RunData): string[] {
  const warnings: string[] = [];
  if (!run.complete)
    warnings.push('The run is not complete: the numbers below are what was recorded.');
  const cut = processes.filter((process) => !process.complete);
  if (cut.length > 0) {
    const named = cut.slice(0, 8).map((process) => `${process.label} (${process.exit})`);
    const more = cut.length > named.length ? ` and ${cut.length - named.length} more` : '';
    warnings.push(`Logs cut short: rank ${named.join(', ')}${more}.`);
  }
  for (const identity of identities) {
    if (identity.result !== 'holds') warnings.push(describeFailure(identity));
  }
  return [...warnings, ...notes];
}

function describeFailure({ name, scope, statement, left, right, result }: Identity): string {
  const side = (value: number | null) => (value === null ? 'not known' : formatCount(value));
  const sides = `${side(left)} against ${side(right)}`;
  const verdict = result === 'violated' ? 'is violated' : 'cannot be decided';
  return `Identity “${name}” (${scope}) ${verdict}: ${statement}; ${sides}.`;
}

function makeBanner({ identities }: RunData, warnings: string[]): HTMLElement {
  const violated = identities.some((identity) => identity.result === 'violated');
  return element(
    'div',
    { class: `banner ${violated ? 'bad' : 'warn'}`, role: 'note', 'data-testid': 'banner' },
    element(
      'strong',
      {},
      violated ? 'Some numbers contradict each other' : 'Know this before you read the numbers',
    ),
    element('ul', {}, ...warnings.map((warning) => element('li', {}, warning))),
  );
}
