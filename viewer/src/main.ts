import './style.css';
import './views.css';
import './matrix.css';
import './timeline.css';
import './dock.css';

import licence from '../node_modules/cytoscape/LICENSE?raw';

import { checkTables } from './check_tables';
import { makeColumns } from './columns';
import { DataError, type Page, type RunData } from './data';
import { element } from './dom';
import { evidenceOf, withEvidence } from './evidence';
import { filtersTime, select, totals } from './filter';
import { loadTile } from './load_tile';
import type { Context, Note, Panel, Update, View } from './page';
import { textOf } from './page_text';
import { plainText } from './plain';
import { readPage, readRun } from './read_page';
import { makeTimeAxis } from './slabs';
import { makeChoices } from './choices';
import { PanelShow, untilPainted } from './show_panels';
import { makeOwnOperations } from './singles';
import { differInDockAlone, differInGraphsAlone, differInTimelineAlone, fromHash, kInitialState, toHash } from './state';
import { makeTiledOperations } from './tiles';
import { makeView } from './view';
import { makeCallSites } from './views/call_sites';
import { makeCardsPanel } from './views/cards_panel';
import { makeCommunicatorsPanel } from './views/communicators_panel';
import { makeComparison } from './views/comparison';
import { makeContendersPanel } from './views/contenders_panel';
import { makeDetailsDock } from './views/details_dock';
import { makeDeviceGraph } from './views/device_graph';
import { makeFilterBar } from './views/filter_bar';
import { linkFindings, makeFindings } from './views/findings';
import { makeFunctionsPanel } from './views/functions_panel';
import { makeGraphPanel } from './views/graph_panel';
import { makeIdentities } from './views/identities';
import { makeProtocols } from './views/protocols';
import { makeMatrixPanel } from './views/matrix_panel';
import { makeHeader } from './views/run_header';
import { goTo, makeSectionBar } from './views/section_bar';
import { addShortcuts } from './views/shortcuts';
import { makeProcessGraph } from './views/process_graph';
import { makeMemoryPanel } from './views/memory_panel';
import { makeMessagesPanel } from './views/messages_panel';
import { makeTimelinePanel } from './views/timeline_panel';
import { makeWaits } from './waits';

/** Browsers would refuse an address that changes with every turn of a wheel. */
const kAddressLater_ms = 250;

function makeContext({ data, tables }: Page, update: Update): Context {
  const columns = makeColumns(data);
  checkTables(columns, tables);
  const axis = makeTimeAxis(data.time);
  return {
    data,
    columns,
    tables,
    axis,
    operations: data.tiles
      ? makeTiledOperations(columns, tables, axis, loadTile)
      : makeOwnOperations(data, tables, axis),
    waits: makeWaits(data, tables, axis),
    choices: makeChoices(data),
    runTotals: totals(columns, select(columns, {})),
    dock: makeDetailsDock(update),
  };
}

/** Parts that need no tables: shown before the tables are read. `rest`: shown in place of everything else. */
interface Beginning {
  readonly main: HTMLElement;
  readonly bar: HTMLElement;
  readonly findings: readonly HTMLElement[];
  readonly rest: HTMLElement;
}

function showBeginning(root: HTMLElement, data: RunData): Beginning {
  document.title = `${data.run.command} – uctrace`;
  const bar = makeSectionBar([], () => {});
  const rest = element('p', { role: 'status' }, 'Reading the tables …');
  const findings = makeFindings(data);
  const main = element('main', {}, ...findings, ...makeComparison(data), rest);
  root.replaceChildren(makeHeader(data), bar, main);
  return { main, bar, findings, rest };
}

async function showPage(root: HTMLElement, { main, bar, findings, rest }: Beginning, page: Page): Promise<void> {
  const { data } = page;
  const update: Update = (next) => {
    const before = state;
    state = next(state);
    writeAddress();
    if (differInDockAlone(before, state)) show([dock]);
    else if (differInTimelineAlone(before, state)) show([timeline]);
    else show(differInGraphsAlone(before, state) ? graphs : panels);
  };
  const context = makeContext(page, update);
  const { choices, axis, dock } = context;
  let state = fromHash(location.hash, choices, axis, data);
  let shown: View | undefined;

  let later = 0;
  /** As it was last read or written. */
  let address = location.hash;
  const writeAddress = () => {
    clearTimeout(later);
    // The reader has changed it, and it is about to be followed.
    if (location.hash !== address) return;
    history.replaceState(null, '', `#${toHash(state, data.run.id)}`);
    address = location.hash;
  };
  const note: Note = (look) => {
    state = { ...state, look };
    clearTimeout(later);
    later = window.setTimeout(writeAddress, kAddressLater_ms);
  };
  const filters = makeFilterBar(context, update);
  const matrix = makeMatrixPanel(context, update);
  const timeline = makeTimelinePanel(context, update, note);
  const messages = makeMessagesPanel(context, (found, span) => {
    goTo(timeline.root, panelShow.reveal);
    timeline.showOperation(found, span);
  });
  // Parts that only a run with GPUs has.
  const hasGpus = data.devices.gpus.length > 0;
  const graphs = [makeProcessGraph, ...(hasGpus ? [makeDeviceGraph] : [])].map((makeKind) =>
    makeGraphPanel(context, update, makeKind(context)),
  );
  const memory = hasGpus ? [makeMemoryPanel(context, update)] : [];
  const functions = makeFunctionsPanel(update);
  const contenders = makeContendersPanel(update);
  const communicators = makeCommunicatorsPanel(context, update);
  const cards = makeCardsPanel(update);
  const panels = [filters, matrix, timeline, messages, ...graphs, ...memory, functions, contenders, communicators, cards, dock];
  const show = (changed: readonly Panel[]) => {
    shown = makeView(context, state, shown);
    panelShow.show(shown, changed);
  };

  const about =
    `uctrace ${data.run.tool}, run ${data.run.id}. All numbers are exact sums over ` +
    `the recorded run; hover over a number for its exact value. Press ? for the keys.`;
  rest.replaceWith(
    filters.root,
    matrix.root,
    timeline.root,
    messages.root,
    ...[...graphs, ...memory].map(({ root }) => root),
    element('div', { class: 'halves' }, functions.root, contenders.root),
    communicators.root,
    cards.root,
    makeCallSites(data),
    makeProtocols(data),
    makeIdentities(data),
  );
  const panelShow = new PanelShow(panels, context.columns.src.length);
  bar.replaceWith(makeSectionBar([...main.querySelectorAll<HTMLElement>(':scope section')], panelShow.reveal));
  root.append(
    element(
      'footer',
      {},
      about,
      element(
        'details',
        {},
        element('summary', {}, 'Licence of Cytoscape.js, which draws the process graph'),
        element('pre', {}, licence),
      ),
    ),
    dock.root,
  );
  linkFindings(findings, data, (finding) => {
    const evidence = evidenceOf(data, choices, finding);
    const section = evidence && document.getElementById(evidence.section);
    if (!section) return undefined;
    return {
      address: `#${toHash(withEvidence(kInitialState, evidence), data.run.id)}`,
      follow: () => {
        update((before) => withEvidence(before, evidence));
        goTo(section, panelShow.reveal);
      },
    };
  });
  const followAddress = () => {
    clearTimeout(later);
    address = location.hash;
    state = fromHash(address, choices, axis, data);
    show(panels);
    // Otherwise the earlier view could still get into the address.
    panelShow.reveal(timeline.root);
  };
  let isShown = false;
  let hasMoved = false;
  window.addEventListener('hashchange', () => {
    hasMoved = true;
    if (isShown) followAddress();
  });
  shown = makeView(context, state);
  await panelShow.open(shown);
  isShown = true;
  if (hasMoved) followAddress();
  // The waits in a chosen time are sums of single waits.
  context.operations.whenChanged(() => {
    if (shown?.matrix === 'waits' && filtersTime(shown.filter)) show([matrix]);
  });
  addShortcuts(dock, hasGpus, panelShow.reveal);
  document.documentElement.dataset['ready'] = 'true';
}

function showMessage(root: HTMLElement, title: string, ...lines: string[]): void {
  root.replaceChildren(
    element(
      'div',
      { class: 'message', role: 'alert', 'data-testid': 'message' },
      element('h1', {}, title),
      // Errors quote the text that they found.
      ...lines.map((line) => element('p', {}, plainText(line))),
    ),
  );
}

async function open(): Promise<void> {
  const json = await textOf('uctrace-data', 'uctrace-packed');
  const root = document.getElementById('page')!;
  if (json === '') {
    showMessage(
      root,
      'This page holds no run',
      'It is the empty page that uctrace fills. “uctrace view DIR” makes a page with the data of ' +
        'a recorded run.',
    );
    return;
  }
  try {
    const run = readRun(json);
    const beginning = showBeginning(root, run);
    await untilPainted();
    await showPage(root, beginning, await readPage(run, await textOf('uctrace-packed')));
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    showMessage(
      root,
      'The data of this page cannot be read',
      error.message,
      'The page was changed or cut, or its parts come from different versions of uctrace. Make ' +
        'it again with “uctrace view”.',
    );
  }
}

await open();
