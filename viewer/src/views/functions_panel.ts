// The traffic that each MPI function requested.

import { listFunctions } from '../contenders';
import { button, columnHead, element, numberCell, rowHead, section } from '../dom';
import { formatBytes, formatCount, formatExactBytes, formatShare } from '../format';
import type { Panel, Update } from '../page';
import { withChoice } from '../state';
import { kNotKnown } from '../words';
import { timeCells } from './time_cells';
import { sortedTable } from '../table';

export function makeFunctionsPanel(update: Update): Panel {
  const listing = element('div');
  const root = section('functions', 'MPI functions', listing);
  const head = [
    columnHead('function'),
    columnHead('messages', true),
    columnHead('payload', true),
    columnHead('share', true),
    columnHead('transfers', true),
    columnHead('wire bytes', true),
    columnHead('time', true),
    columnHead('mean time', true),
  ];
  return {
    root,
    show(view) {
      const rows = listFunctions(view.columns, view.selection).map((load) => {
        const name = load.mpi ?? kNotKnown;
        const chooser = button(name, { class: 'link', title: `Show only ${name}` }, () =>
          update((state) => withChoice(state, 'mpi', load.mpi)),
        );
        return element(
          'tr',
          { 'data-mpi': load.mpi ?? '' },
          rowHead(chooser),
          numberCell(formatCount(load.messages), '', load.messages),
          numberCell(formatBytes(load.bytes), formatExactBytes(load.bytes), load.bytes),
          numberCell(
            formatShare(load.bytes, view.totals.bytes),
            formatExactBytes(load.bytes),
            view.totals.bytes === 0 ? 0 : load.bytes / view.totals.bytes,
          ),
          numberCell(formatCount(load.transfers), '', load.transfers),
          numberCell(
            formatBytes(load.wire_bytes),
            formatExactBytes(load.wire_bytes),
            load.wire_bytes,
          ),
          ...timeCells(load),
        );
      });
      listing.replaceChildren(
        rows.length > 0
          ? sortedTable({ 'data-testid': 'functions-table' }, head, rows)
          : element('p', {}, 'The filter selects nothing.'),
      );
    },
  };
}
