// The messages that the page lists one by one: a table of the selected ones, with a link to each in the timeline.

import { messagesCommand } from '../command';
import { describeMessage, formatInstant } from '../describe';
import { button, columnHead, element, numberCell, rowHead, section } from '../dom';
import { formatCount } from '../format';
import { MessageList, type MessageColumn } from '../message_list';
import type { Context, Panel, View } from '../page';
import type { Found } from '../search';
import { describeLoaded } from '../singles';
import { longTable, type Order } from '../table';
import type { Range } from '../time_range';
import { makeCard } from './card';
import { noneCell } from './cells';
import { copyButton } from './copy_button';

/** The number of rows at first, and added at each click. */
const kRows = 50;
/** The longest first: a reader who looks for one message looks for a slow one. */
const kSlowestFirst: Order = { column: 9, falling: true };

const kReading =
  'Each message with its receipt. The time that it took is from the start of its send to the end of its receive; waited is how ' +
  'long MPI calls waited for its other side. A click on a message shows it in the timeline. ';

/** The selected messages among those at hand, found on demand. */
class ChosenMessages {
  list: MessageList;
  private details;
  private rowsFound: Int32Array | undefined;
  private chosenBy: View | undefined;

  constructor(private readonly context: Context) {
    ({ details: this.details } = context.operations.singles);
    this.list = new MessageList(context.columns, this.details);
  }

  get view(): View | undefined {
    return this.chosenBy;
  }

  /** The selection, or the messages at hand, have changed. */
  change(view = this.chosenBy): void {
    this.chosenBy = view;
    this.rowsFound = undefined;
  }

  get rows(): Int32Array {
    if (this.rowsFound) return this.rowsFound;
    const { details } = this.context.operations.singles;
    if (details !== this.details) {
      this.details = details;
      this.list = new MessageList(this.context.columns, details);
    }
    return (this.rowsFound = this.chosenBy ? this.list.chosen(this.chosenBy) : new Int32Array(0));
  }

  /** The first ones in an order. */
  first(order: Order | undefined, count: number): number[] {
    const { rows } = this;
    return order ? this.list.first(rows, order.column, order.falling, count) : Array.from(rows.subarray(0, count));
  }

  describe(row: number): HTMLElement[] {
    return makeCard(describeMessage(this.context.data, this.details, row));
  }
}

/** `showOperation`: shows it in the timeline, with its details; it gets a span that must be in view. */
export function makeMessagesPanel(context: Context, showOperation: (found: Found, span: Range) => void): Panel {
  const messages = new ChosenMessages(context);
  let count = kRows;
  const said = element('p', { 'data-testid': 'messages-said' }, kReading);
  const more = button('Show more', { 'data-testid': 'messages-more' }, () => {
    count += kRows;
    draw();
  });

  const follow = (row: number, link: HTMLElement) => {
    const found = messages.list.operationOf(row);
    if (found) showOperation(found, messages.list.spanOf(row));
    // Rows come and go: if the link is gone, the section gets the focus back.
    else context.dock.keep({ owner: root, from: link, box: () => link.getBoundingClientRect(), content: messages.describe(row) });
  };
  const rowOf = (row: number): HTMLElement => {
    const [number, ...others] = messages.list.columns as [MessageColumn, ...MessageColumn[]];
    const link = button(number.shown(row), { class: 'link', title: 'Show it in the timeline' }, () => follow(row, link));
    return element('tr', {}, rowHead(link, { 'data-value': number.keys()[row] }), ...others.map((column) => cellOf(column, row)));
  };
  const columns = messages.list.columns;
  const table = longTable(
    { 'data-testid': 'messages-table' },
    columns.map(({ name, numeric }, at) => columnHead(name, numeric && at > 0)),
    {
      numeric: columns.map(({ numeric }) => numeric),
      seen: (order) => messages.first(order, count).map(rowOf),
      content: (order) => messages.first(order, messages.rows.length).map((row) => messages.list.columns.map((column) => savedAs(column, row))),
    },
    kSlowestFirst,
  );
  const root = section('messages', 'Messages', element('div', { class: 'steady' }, said, table.root, more));
  root.tabIndex = -1;

  let isDrawn = false;
  const draw = () => {
    const { rows, view } = messages;
    if (!view) return;
    isDrawn = true;
    said.replaceChildren(kReading, ...describeShown(context, view, rows.length));
    more.style.visibility = rows.length > count ? 'visible' : 'hidden';
    more.textContent = `Show ${formatCount(Math.min(kRows, Math.max(0, rows.length - count)))} more of ${formatCount(rows.length)}`;
    table.show();
  };
  // Out of view it costs nothing, even with many messages.
  let isInView = false;
  const drawInView = () => {
    if (isInView && !isDrawn) draw();
  };
  new IntersectionObserver((entries) => {
    isInView = entries[entries.length - 1]!.isIntersecting;
    drawInView();
  }).observe(root);
  context.operations.whenChanged(() => {
    messages.change();
    isDrawn = false;
    drawInView();
  });
  return {
    root,
    show(view) {
      messages.change(view);
      isDrawn = false;
      count = kRows;
      drawInView();
    },
    finish: draw,
  };
}

function cellOf({ numeric, keys, shown, exact }: MessageColumn, row: number): HTMLElement {
  if (!numeric) return element('td', {}, shown(row));
  const key = keys()[row]!;
  return Number.isNaN(key) ? noneCell() : numberCell(shown(row), exact?.(row) ?? '', key);
}

function savedAs({ numeric, keys, shown }: MessageColumn, row: number): string {
  if (!numeric) return shown(row);
  const key = keys()[row]!;
  return Number.isNaN(key) ? '' : String(key);
}

/** How many of the selected messages the page has, which, and the command that lists all. */
function describeShown({ data, operations }: Context, { filter, totals }: View, listed: number): (string | Node)[] {
  const chosen = totals.messages;
  if (listed === chosen) return [`${formatCount(chosen)} are chosen.`];
  const { embedded, events, details_to_ns } = data.time;
  const those = data.tiles
    ? describeLoaded(operations.singles)
    : embedded < events
      ? `those up to ${formatInstant(details_to_ns)}, as the page has no later ones singly`
      : 'those whose time is known';
  const command = messagesCommand(data, filter);
  return [
    `Here are ${formatCount(listed)} of the ${formatCount(chosen)} that are chosen: ${those}. `,
    element('code', {}, command),
    ' lists all. ',
    copyButton('Copy', () => command),
  ];
}
