// The communication matrix: heat map, legend, tooltip, and the same numbers as a table.

import { listFunctions } from '../contenders';
import { button, columnHead, element, numberCell, rowHead, section, table } from '../dom';
import { cellValues } from '../filter';
import { formatBytes, formatCount } from '../format';
import {
  cellsAt,
  makeAxis,
  makeMatrix,
  processesOf,
  valueAt,
  type Axis,
  type Matrix,
} from '../matrix';
import { gradient, type Theme } from '../palette';
import type { Context, Panel, Update, View } from '../page';
import { formatExactValue, formatShortValue, kMeasureNames, kNotKnown, rowLabel } from '../words';
import { HeatMap, type Square } from './heat_map';

const kMaxTableSide = 64;
const kListedPairs = 200;

const darkScheme = window.matchMedia('(prefers-color-scheme: dark)');

function theme(): Theme {
  return darkScheme.matches ? 'dark' : 'light';
}

export function makeMatrixPanel(context: Context, update: Update): Panel {
  const axis = makeAxis(context.columns);
  const canvas = element('canvas', {
    tabindex: 0,
    role: 'img',
    'aria-label': 'Heat map of the communication matrix; arrow keys move, Enter filters',
    'data-testid': 'matrix-canvas',
  });
  const heatMap = new HeatMap(canvas);
  const tooltip = element('div', { class: 'tooltip', role: 'status', hidden: true });
  const stage = element('div', { class: 'stage' }, canvas, tooltip);
  const scroll = element('div', { class: 'scroll matrix' }, stage);
  const legend = element('div', { class: 'legend', 'data-testid': 'matrix-legend' });
  const numbers = element('details', {}, element('summary', {}, 'The same numbers as a table'));
  const grouped = axis.group > 1 ? [element('p', {}, describeGroups(axis))] : [];
  const root = section('matrix', 'Communication matrix', legend, ...grouped, scroll, numbers);

  let view: View | undefined;
  let matrix: Matrix | undefined;
  let square: Square | undefined;

  const draw = () => {
    if (!view || !matrix) return;
    const measure = view.measure;
    const style = {
      theme: theme(),
      scale: view.scale,
      label: (row: number) => rowLabel(context.data, axis, row),
      number: (value: number) => formatShortValue(measure, value),
    };
    heatMap.draw(matrix, scroll.clientWidth, style, square);
    showLegend(legend, matrix, view, update);
  };

  const point = (next: Square | undefined) => {
    if (next?.row === square?.row && next?.column === square?.column) return;
    square = next;
    draw();
    tooltip.hidden = square === undefined;
    if (!square || !view || !matrix) return;
    tooltip.replaceChildren(...describeSquare(context, view, matrix, square));
    const { x, y } = heatMap.middleOf(square);
    tooltip.classList.toggle('flip', x > canvas.clientWidth / 2);
    tooltip.style.left = `${x}px`;
    tooltip.style.top = `${y}px`;
  };

  const choose = () => {
    if (!square || axis.group > 1) return;
    const src = processesOf(axis, square.row).first;
    const dst = processesOf(axis, square.column).first;
    update((state) => {
      const { src: oldSrc, dst: oldDst, ...others } = state.filter;
      const again = oldSrc === src && oldDst === dst;
      return { ...state, filter: again ? others : { ...others, src, dst } };
    });
  };

  canvas.addEventListener('mousemove', (event) => point(heatMap.squareAt(event)));
  canvas.addEventListener('mouseleave', () => point(undefined));
  canvas.addEventListener('blur', () => point(undefined));
  canvas.addEventListener('click', choose);
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') point(undefined);
    else if (event.key === 'Enter') choose();
    else if (event.key in kArrows) point(moved(square, event.key, axis.side));
    else return;
    event.preventDefault();
  });
  new ResizeObserver(draw).observe(scroll);
  darkScheme.addEventListener('change', draw);

  return {
    root,
    show(next) {
      view = next;
      matrix = makeMatrix(
        context.columns,
        axis,
        cellValues(context.columns, next.selection, next.measure),
      );
      draw();
      const listing =
        axis.side <= kMaxTableSide
          ? makeTable(context, next, matrix)
          : listPairs(context, next, matrix);
      numbers.replaceChildren(numbers.firstElementChild!, listing);
    },
  };
}

const kArrows: Record<string, readonly [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

function moved(square: Square | undefined, key: string, side: number): Square {
  if (!square) return { row: 0, column: 0 };
  const [down, right] = kArrows[key]!;
  const clamp = (index: number) => Math.min(side - 1, Math.max(0, index));
  return { row: clamp(square.row + down), column: clamp(square.column + right) };
}

function describeGroups({ group }: Axis): string {
  return `Each square stands for ${group} × ${group} neighbouring ranks; its number is their sum.`;
}

function showLegend(legend: HTMLElement, matrix: Matrix, view: View, update: Update): void {
  const scales = (['log', 'linear'] as const).map((scale) =>
    button(
      scale,
      { 'aria-pressed': String(view.scale === scale), 'data-testid': `scale-${scale}` },
      () => update((state) => ({ ...state, scale })),
    ),
  );
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((at) => {
    const value = Math.round(matrix.max === 0 ? 0 : valueAt(matrix, view.scale, at));
    return element(
      'span',
      { title: formatExactValue(view.measure, value) },
      formatShortValue(view.measure, value),
    );
  });
  const focused = (legend.contains(document.activeElement) && document.activeElement) as
    HTMLElement | false;
  legend.replaceChildren(
    element('span', {}, `${kMeasureNames[view.measure]} per pair:`),
    element('span', { class: 'swatch' }),
    element('span', {}, 'none'),
    element(
      'div',
      { class: 'ramp' },
      element('div', { style: `background: ${gradient(theme())}` }),
      element('div', { class: 'ticks' }, ...ticks),
    ),
    element('span', { class: 'segments', role: 'group', 'aria-label': 'Colour scale' }, ...scales),
  );
  if (focused)
    legend.querySelector<HTMLElement>(`[data-testid="${focused.dataset['testid']}"]`)?.focus();
}

/** Rank and number of each end, the four measures, and what each MPI function adds to them. */
function describeSquare(
  context: Context,
  view: View,
  matrix: Matrix,
  square: Square,
): HTMLElement[] {
  const { axis } = matrix;
  const ends = [square.row, square.column].map((row) => {
    const { first, last } = processesOf(axis, row);
    const host = last - first === 1 && context.data.processes[first]?.host;
    return `${rowLabel(context.data, axis, row)}${host ? ` (${host})` : ''}`;
  });
  const cells = cellsAt(context.columns, axis, square.row, square.column);
  const functions = listFunctions(context.columns, view.selection, cells);
  const title = element('strong', {}, `Source ${ends[0]} → destination ${ends[1]}`);
  if (functions.length === 0) return [title, element('div', {}, 'nothing that the filter selects')];
  const head = ['', 'messages', 'payload', 'transfers', 'wire'];
  const rows = functions.map((load) =>
    element(
      'tr',
      {},
      rowHead(load.mpi ?? kNotKnown),
      numberCell(formatCount(load.messages), '', load.messages),
      numberCell(formatBytes(load.bytes), '', load.bytes),
      numberCell(formatCount(load.transfers), '', load.transfers),
      numberCell(formatBytes(load.wire_bytes), '', load.wire_bytes),
    ),
  );
  return [
    title,
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...head.map((text) => columnHead(text, true)))),
      element('tbody', {}, ...rows),
    ),
  ];
}

function makeTable({ data }: Context, { measure }: View, matrix: Matrix): HTMLElement {
  const { axis, values } = matrix;
  const order = Array.from({ length: axis.side }, (_, index) => index);
  const head = [
    columnHead('source \\ destination'),
    ...order.map((column) => columnHead(rowLabel(data, axis, column), true)),
  ];
  const rows = order.map((row) => {
    const cells = order.map((column) => {
      const value = values[row * axis.side + column]!;
      const shown = value === 0 ? '·' : formatShortValue(measure, value);
      const cell = numberCell(shown, formatExactValue(measure, value), value);
      cell.dataset['src'] = String(processesOf(axis, row).first);
      cell.dataset['dst'] = String(processesOf(axis, column).first);
      return cell;
    });
    return element('tr', {}, rowHead(rowLabel(data, axis, row)), ...cells);
  });
  return table({ 'data-testid': 'matrix-table' }, head, rows);
}

function listPairs({ data }: Context, { measure }: View, matrix: Matrix): HTMLElement {
  const { axis, values } = matrix;
  const pairs = Array.from(values.keys()).filter((index) => values[index]! > 0);
  pairs.sort((a, b) => values[b]! - values[a]!);
  const rows = pairs.slice(0, kListedPairs).map((index) => {
    const value = values[index]!;
    return element(
      'tr',
      {},
      rowHead(rowLabel(data, axis, Math.floor(index / axis.side))),
      element('td', {}, rowLabel(data, axis, index % axis.side)),
      numberCell(formatShortValue(measure, value), formatExactValue(measure, value), value),
    );
  });
  const shown = `The ${formatCount(rows.length)} largest of ${formatCount(pairs.length)} pairs`;
  const head = [
    columnHead('source'),
    columnHead('destination'),
    columnHead(kMeasureNames[measure], true),
  ];
  return element(
    'div',
    {},
    element('p', {}, shown),
    table({ 'data-testid': 'matrix-pairs' }, head, rows),
  );
}
