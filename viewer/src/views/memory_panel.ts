// Memory-to-memory traffic of messages, and network cards: what GPUs sent and received, and how far
// each is from the cards.

import type { Distance } from '../data';
import { button, columnHead, element, numberCell, rowHead, section } from '../dom';
import { cellValues, type Measure } from '../filter';
import {
  kNoLoad,
  makeCardFacts,
  makeCardTable,
  makeMemoryMatrix,
  type CardFacts,
  type CardTable,
  type Memory,
} from '../memories';
import type { Context, Panel, Update, View } from '../page';
import { toggled } from '../state';
import { formatExactValue, formatShortValue, formatValue, kMeasureNames } from '../words';
import { table } from '../table';
import { edgeMeasure, transferValues } from './process_graph';

const kDistanceWords: Record<Distance, string> = {
  unknown: 'The topology of the node is not known.',
  PIX: 'PIX: at most one PCI bridge between them',
  PXB: 'PXB: several PCI bridges between them, but not that of the host',
  PHB: 'PHB: a PCI host bridge between them',
  NODE: 'NODE: several PCI host bridges of one NUMA node between them',
  SYS: 'SYS: they are at different NUMA nodes',
};

export function makeMemoryPanel(context: Context, update: Update): Panel {
  const facts = makeCardFacts(context.data);
  const between = element('div');
  const cards = element('div');
  const said = element('p');
  const saidOfCards = element('p');
  const root = section(
    'memory',
    'Memory and GPUs',
    said,
    between,
    element('h3', {}, 'GPUs and network cards'),
    saidOfCards,
    cards,
  );
  return {
    root,
    show(view) {
      said.textContent =
        `From which memory (rows) to which (columns): ${kMeasureNames[view.measure]} by where ` +
        'the data of the messages lay and where it went.';
      between.replaceChildren(makeMemoryTable(context, view, update));
      const measure = edgeMeasure('transport', view.measure);
      const found = makeCardTable(view.columns, view.selection, transferValues(view, measure));
      saidOfCards.textContent =
        found.cards.length === 0
          ? 'Nothing goes over a network card.'
          : `${cardMeasure(measure)} from memory out over a card of its host (↑) and in over it ` +
            '(↓), and how far GPU and card are from each other. Staged is what of the data of ' +
            'a GPU took the way by the host’s memory; it is counted there, too.';
      cards.replaceChildren(...(found.cards.length === 0 ? [] : [makeCards(context, facts, measure, found, update)]));
    },
  };
}

function cardMeasure(measure: Measure): string {
  if (measure === 'bytes') return 'Payload that transfers carried';
  return measure === 'transfers' ? 'Transfers' : 'Wire bytes';
}

/** A click on a GPU selects its messages. */
function memoryHead(
  { data }: Context,
  { gpu, label }: Memory,
  update: Update,
  text = label,
): HTMLElement {
  const device = data.devices.gpus[gpu];
  if (!device) return element('span', { title: label }, text);
  const title = `${label}, ${device.uuid}${device.name ? `, ${device.name}` : ''}: show only this GPU`;
  return button(text, { class: 'link', title }, () =>
    update((state) => toggled(state, { gpu: device.label })),
  );
}

function makeMemoryTable(context: Context, view: View, update: Update): HTMLElement {
  const { measure } = view;
  const values = cellValues(view.columns, view.selection, measure);
  const { memories, values: sums } = makeMemoryMatrix(view.columns, values);
  const most = Math.max(...sums);
  const head = [
    columnHead('source \\ destination'),
    ...memories.map((memory) =>
      element(
        'th',
        { scope: 'col', class: 'number' },
        memoryHead(context, memory, update, memory.short),
        element('div', { class: 'faint' }, memory.host ?? ''),
      ),
    ),
  ];
  const rows = memories.map((from, row) =>
    element(
      'tr',
      {},
      rowHead(memoryHead(context, from, update)),
      ...memories.map((to, column) => {
        const value = sums[row * memories.length + column]!;
        const shown = value === 0 ? '·' : formatShortValue(measure, value);
        const cell = numberCell(shown, formatExactValue(measure, value), value);
        cell.classList.add('share');
        cell.style.setProperty('--share', `${most === 0 ? 0 : (100 * value) / most}%`);
        Object.assign(cell.dataset, { from: from.key, to: to.key });
        return cell;
      }),
    ),
  );
  return table({ 'data-testid': 'memory-table' }, head, rows);
}

function makeCards(
  context: Context,
  facts: CardFacts,
  measure: Measure,
  found: CardTable,
  update: Update,
): HTMLElement {
  const head = [columnHead('memory'), ...found.cards.map((card) => columnHead(card, true))];
  const rows = found.memories.map((memory) =>
    element(
      'tr',
      {},
      rowHead(memoryHead(context, memory, update)),
      ...found.cards.map((card) => makeCardCell(facts, measure, found, memory, card)),
    ),
  );
  return table({ 'data-testid': 'cards-table' }, head, rows);
}

function makeCardCell(
  facts: CardFacts,
  measure: Measure,
  found: CardTable,
  memory: Memory,
  card: string,
): HTMLElement {
  const load = found.at(memory, card);
  if (!load && facts.lacks(memory, card)) {
    return element('td', { class: 'number faint', title: 'This host has no such card.' }, '–');
  }
  const { out, in: into, stagedOut, stagedIn } = load ?? kNoLoad;
  const pair = facts.distanceOf(memory, card);
  const far = pair && pair.distance !== 'unknown' ? pair.distance : '';
  const staged = stagedOut + stagedIn > 0;
  const both = (from: number, to: number, format: typeof formatValue) =>
    `↑ ${format(measure, from)}  ↓ ${format(measure, to)}`;
  const exact =
    `${both(out, into, formatExactValue)}` +
    (staged ? `; staged ${both(stagedOut, stagedIn, formatExactValue)}` : '') +
    (pair ? `. ${kDistanceWords[pair.distance]}` : '') +
    (pair && pair.numa_distance !== null ? `, NUMA distance ${pair.numa_distance}` : '');
  const shown = out + into > 0 ? both(out, into, formatValue) : staged ? '' : '·';
  return element(
    'td',
    {
      class: 'number share',
      title: exact,
      style: `--share: ${found.most === 0 ? 0 : (100 * (out + into)) / found.most}%`,
      'data-memory': memory.key,
      'data-card': card,
      'data-out': out,
      'data-in': into,
      'data-staged-out': stagedOut,
      'data-staged-in': stagedIn,
    },
    shown,
    ...(staged ? [element('small', {}, ` staged ${both(stagedOut, stagedIn, formatValue)}`)] : []),
    ...(far ? [element('small', {}, ` ${far}`)] : []),
  );
}
