import './style.css';
import './views.css';
import './matrix.css';

import { makeColumns } from './columns';
import { DataError, parsePageData, type PageData } from './data';
import { element } from './dom';
import { select, totals } from './filter';
import type { Context, Update } from './page';
import { fromHash, makeChoices, toHash } from './state';
import { makeContendersPanel } from './views/contenders_panel';
import { makeFilterBar } from './views/filter_bar';
import { makeFunctionsPanel } from './views/functions_panel';
import { makeIdentities } from './views/identities';
import { makeMatrixPanel } from './views/matrix_panel';
import { makeHeader } from './views/run_header';

function showPage(root: HTMLElement, data: PageData): void {
  const columns = makeColumns(data);
  const choices = makeChoices(data);
  const context: Context = {
    data,
    columns,
    choices,
    runTotals: totals(columns, select(columns, {})),
  };
  let state = fromHash(location.hash, choices);

  const update: Update = (next) => {
    state = next(state);
    history.replaceState(null, '', `#${toHash(state)}`);
    show();
  };
  const filters = makeFilterBar(context, update);
  const matrix = makeMatrixPanel(context, update);
  const functions = makeFunctionsPanel(context, update);
  const contenders = makeContendersPanel(context, update);
  const panels = [filters, matrix, functions, contenders];
  const show = () => {
    const selection = select(columns, state.filter);
    const view = { ...state, selection, totals: totals(columns, selection) };
    for (const panel of panels) panel.show(view);
  };

  document.title = `${data.run.command} – uctrace`;
  const about =
    `uctrace ${data.run.tool}, run ${data.run.id}. All numbers are exact sums over ` +
    `the recorded run; hover for exact values.`;
  root.replaceChildren(
    makeHeader(data),
    element(
      'main',
      {},
      filters.root,
      matrix.root,
      element('div', { class: 'halves' }, functions.root, contenders.root),
      makeIdentities(data),
    ),
    element('footer', {}, about),
  );
  show();
  window.addEventListener('hashchange', () => {
    state = fromHash(location.hash, choices);
    show();
  });
}

function showMessage(root: HTMLElement, title: string, ...lines: string[]): void {
  root.replaceChildren(
    element(
      'div',
      { class: 'message', role: 'alert', 'data-testid': 'message' },
      element('h1', {}, title),
      ...lines.map((line) => element('p', {}, line)),
    ),
  );
}

const root = document.getElementById('page')!;
const json = document.getElementById('uctrace-data')?.textContent?.trim() ?? '';
if (json === '') {
  showMessage(
    root,
    'This page holds no run',
    'It is the empty page that uctrace fills. “uctrace view DIR” makes a page with the data of ' +
      'a recorded run.',
  );
} else {
  try {
    showPage(root, parsePageData(json));
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
