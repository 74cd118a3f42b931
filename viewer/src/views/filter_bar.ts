// The filters and the measure, shared by all views, with the selection in words and in totals.

import { choiceName, isOffered, kChoices, valueLabel, type Choice, type ChoiceValue } from '../choices';
import { refusalOf, selectionCommand } from '../command';
import { formatInstant } from '../describe';
import { button, element } from '../dom';
import { filtersTime, kMeasures, timedMessages, type Filter, type Measure } from '../filter';
import { formatShare } from '../format';
import type { Context, Panel, Update, View } from '../page';
import { endOf } from '../slabs';
import { encodeValue, kInitialState, withChoice, withSpan } from '../state';
import {
  describe,
  describeUntimed,
  formatExactValue,
  formatMeanTime,
  formatValue,
  kMeasureNames,
  kNotKnown,
} from '../words';
import { copyButton } from './copy_button';

/** The value of the option that filters nothing; no name begins with a line break. */
const kAny = '\n';

const kRules = [
  'Kind, MPI function, communicator, protocol, size, time, hosts and ranks choose messages. A ' +
    'message belongs to the time at which it starts, with all that it causes later.',
  'UCT transport, operation and role choose the transfers themselves in everything that counts ' +
    'transfers or wire bytes.',
  'Where payload bytes, messages or their time are counted, they choose the messages whose path uses at ' +
    'least one such transfer; one message may use several, so these numbers do not add up over ' +
    'transports.',
  'Control transfers carry no payload; staging transfers move a payload once more, so the ' +
    'payload of transfers can exceed that of messages.',
  'Connection set-up, flushes and the like serve no message; they have no MPI function, ' +
    'communicator or protocol, not even one that is not known: they count only where they are ' +
    'included and none of these is chosen.',
  'MPI calls in the timeline are chosen by function, communicator, rank and host alone.',
];

const kMemoryRule =
  'Memory and GPU choose messages by where their data lay and where it went. What serves no ' +
  'message has neither.';

export function makeFilterBar(context: Context, update: Update): Panel {
  const measures = makeMeasures(update);
  const rules = context.data.devices.gpus.length > 0 ? [...kRules, kMemoryRule] : kRules;
  const selects = kChoices
    .filter((choice) => isOffered(context.data, choice))
    .map((choice) => makeSelect(context, choice, update));
  const withoutMessage = element('input', {
    type: 'checkbox',
    'data-testid': 'filter-without-message',
  });
  withoutMessage.addEventListener('change', () => {
    update((state) => ({
      ...state,
      filter: { ...state.filter, withoutMessage: withoutMessage.checked },
    }));
  });
  const reset = button('Reset filters', { 'data-testid': 'filter-reset' }, () => {
    update((state) => ({ ...state, filter: kInitialState.filter }));
  });
  const span = element('span', { class: 'span', 'data-testid': 'filter-span' });
  const wholeTime = button('All times', { 'data-testid': 'filter-time-reset' }, () => {
    update((state) => withSpan(state, context.axis));
  });
  const command = element('code', { 'data-testid': 'selection-command' });
  const selection = element(
    'p',
    { class: 'selection' },
    'The same on the command line: ',
    command,
    ' ',
    copyButton('Copy', () => command.textContent ?? ''),
  );
  const refusal = element('p', { class: 'banner warn', role: 'status', 'data-testid': 'filter-refusal' });
  const sentence = element('p', { 'data-testid': 'description', 'aria-live': 'polite' });
  const sums = element('dl', { class: 'totals' });

  const root = element(
    'form',
    { class: 'filters', 'aria-label': 'Filters' },
    element('div', { class: 'choices' }, ...selects.map(({ label }) => label)),
    refusal,
    element(
      'div',
      { class: 'options' },
      measures.root,
      element(
        'label',
        { class: 'check' },
        withoutMessage,
        'Include transfers that serve no message',
      ),
      element('span', { class: 'check' }, span, wholeTime),
      reset,
      button('Keys', { 'data-testid': 'show-keys', title: 'The keys of this page (?)' }, () => {}),
    ),
    element('div', { class: 'summary' }, sums, sentence),
    selection,
    element(
      'details',
      {},
      element('summary', {}, 'What the filters select'),
      element('ul', {}, ...rules.map((rule) => element('li', {}, rule))),
    ),
  );
  root.addEventListener('submit', (event) => event.preventDefault());

  return {
    root,
    neverWaits: true,
    show(view) {
      measures.show(view.measure);
      for (const { choice, select } of selects) {
        const value = view.filter[choice];
        select.value = value === undefined ? kAny : encodeValue(value);
        select.classList.toggle('set', value !== undefined);
      }
      span.textContent = describeSpan(context, view.filter);
      wholeTime.hidden = !filtersTime(view.filter);
      const refused = refusalOf(context.data, view.filter);
      refusal.textContent = refused ?? '';
      refusal.hidden = refused === undefined;
      selection.hidden = refused !== undefined;
      command.textContent = refused === undefined ? selectionCommand(context.data, view.filter) : '';
      withoutMessage.checked = view.filter.withoutMessage === true;
      reset.disabled = Object.values(view.filter).every(
        (value) => value === undefined || value === false,
      );
      sentence.textContent = [
        describe(context.data, view.filter, view.measure),
        ...(view.measure === 'time' ? describeTimes(view) : []),
      ].join(' ');
      sums.replaceChildren(...kMeasures.map((measure) => makeTotal(context, view, measure)));
    },
  };
}

function describeTimes({ columns, selection, totals }: View): string[] {
  const timed = timedMessages(columns, selection).reduce((sum, messages) => sum + messages, 0);
  if (totals.messages === 0) return [];
  const mean = timed === 0 ? [] : [`On average one took ${formatMeanTime(totals.time, timed)}.`];
  return [...mean, describeUntimed(totals.messages - timed)].filter(Boolean);
}

function describeSpan({ axis }: Context, { from, to }: Filter): string {
  if (from === undefined && to === undefined) return 'Time: all';
  const [first, last] = [from ?? axis.from, to ?? endOf(axis)];
  return `Time: ${formatInstant(first)} to ${formatInstant(last)}`;
}

function makeMeasures(update: Update) {
  const inputs = kMeasures.map((measure) => {
    const input = element('input', {
      type: 'radio',
      name: 'measure',
      value: measure,
      'data-testid': `measure-${measure}`,
    });
    input.addEventListener('change', () => update((state) => ({ ...state, measure })));
    return input;
  });
  const root = element(
    'fieldset',
    { class: 'segments' },
    element('legend', {}, 'Measure'),
    ...kMeasures.map((measure, index) =>
      element('label', {}, inputs[index]!, kMeasureNames[measure]),
    ),
  );
  const show = (chosen: Measure) =>
    inputs.forEach((input) => (input.checked = input.value === chosen));
  return { root, show };
}

function makeSelect(context: Context, choice: Choice, update: Update) {
  const offered = context.choices[choice];
  const label = (value: ChoiceValue) =>
    value === null ? kNotKnown : valueLabel(context.data, choice, value);
  const select = element(
    'select',
    { 'data-testid': `filter-${choice}` },
    element('option', { value: kAny }, 'all'),
    ...offered.map((value) =>
      element('option', { value: encodeValue(value) }, label(value)),
    ),
  );
  select.addEventListener('change', () => {
    const value = offered.find((candidate) => encodeValue(candidate) === select.value);
    update((state) => withChoice(state, choice, value));
  });
  return { choice, select, label: element('label', {}, choiceName(choice), select) };
}

function makeTotal({ runTotals }: Context, view: View, measure: Measure): HTMLElement {
  const value = view.totals[measure];
  const whole = runTotals[measure];
  const share = value <= whole && value !== whole ? `${formatShare(value, whole)} of ` : '';
  const context = value === whole ? 'all of the run' : `${share}${formatValue(measure, whole)}`;
  return element(
    'div',
    { class: measure === view.measure && 'chosen' },
    element('dt', {}, kMeasureNames[measure]),
    element(
      'dd',
      {
        title: formatExactValue(measure, value),
        'data-testid': `total-${measure}`,
        'data-value': value,
      },
      formatValue(measure, value),
      element('small', {}, context),
    ),
  );
}
