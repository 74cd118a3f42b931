// The communication matrix: heat map with legend and tooltip, the largest pairs beside it, and the
// same numbers as a table.

import { button, element, section } from '../dom';
import { downloadCanvas } from '../download';
import { cellValues } from '../filter';
import { makeAxis, makeMatrix, processesOf, type Axis, type Matrix, type Square } from '../matrix';
import type { Context, Panel, Update, View } from '../page';
import { darkScheme, theme } from '../theme';
import { formatShortValue, rowLabel } from '../words';
import { HeatMap } from './heat_map';
import { showLegend } from './matrix_legend';
import { makeMatrixTable } from './matrix_table';
import { describePair } from './pair_details';
import { makePairList } from './pair_list';

const kMaxTableSide = 64;
/** Least width, with its gap, of what stands beside the matrix; with less it goes below. */
const kListRoom = 324;
/** Lines of each breakdown in the tooltip, which cannot be scrolled. */
const kTooltipLines = 6;

export function makeMatrixPanel(context: Context, update: Update): Panel {
  const axis = makeAxis(context.columns);
  const canvas = element('canvas', {
    tabindex: 0,
    role: 'img',
    'aria-label': 'Heat map of the communication matrix; arrow keys move, Enter filters',
    'data-testid': 'matrix-canvas',
  });
  const heatMap = new HeatMap(canvas);
  const marker = element('div', { class: 'marker', hidden: true, 'data-testid': 'matrix-marker' });
  const { tooltip } = context;
  const stage = element('div', { class: 'stage' }, canvas, marker);
  const scroll = element('div', { class: 'scroll matrix' }, stage);
  const legend = element('div', { class: 'legend', 'data-testid': 'matrix-legend' });
  const grouped = axis.group > 1 ? [element('p', {}, describeGroups(axis))] : [];

  let view: View | undefined;
  let matrix: Matrix | undefined;
  let square: Square | undefined;

  const choose = (chosen: Square) => {
    if (axis.group > 1) return;
    const src = processesOf(axis, chosen.row).first;
    const dst = processesOf(axis, chosen.column).first;
    update((state) => {
      const { src: oldSrc, dst: oldDst, ...others } = state.filter;
      const again = oldSrc === src && oldDst === dst;
      return { ...state, filter: again ? others : { ...others, src, dst } };
    });
  };

  const mark = (next: Square | undefined) => {
    square = next;
    marker.hidden = square === undefined;
    if (square) Object.assign(marker.style, heatMap.boxOf(square));
  };
  const list = makePairList(context, axis, {
    choose,
    point(next) {
      tooltip.hide();
      mark(next);
    },
  });
  const body = element('div', { class: 'matrix-body' }, scroll, list.root);
  const numbers = element('details', {}, element('summary', {}, 'The same numbers as a table'));
  const root = section(
    'matrix',
    'Communication matrix',
    element(
      'div',
      { class: 'tools' },
      legend,
      button('PNG', { title: 'Save the matrix as a picture', 'data-testid': 'matrix-png' }, () =>
        downloadCanvas('matrix', canvas),
      ),
    ),
    ...grouped,
    body,
    ...(axis.side <= kMaxTableSide ? [numbers] : []),
  );

  const draw = () => {
    if (!view || !matrix) return;
    const measure = view.measure;
    heatMap.draw(matrix, body.clientWidth, {
      theme: theme(),
      scale: view.scale,
      label: (row) => rowLabel(context.data, axis, row),
      number: (value) => formatShortValue(measure, value),
    });
    body.classList.toggle('stacked', body.clientWidth - canvas.offsetWidth < kListRoom);
    body.style.setProperty('--matrix-height', canvas.style.height);
    showLegend(legend, matrix, view, theme(), update);
    if (square) mark(square);
  };

  const explain = () => {
    list.mark(square);
    if (!square || !view) tooltip.hide();
    else tooltip.show(marker, ...describePair(context, view, axis, square, kTooltipLines));
  };
  const point = (next: Square | undefined) => {
    if (next?.row === square?.row && next?.column === square?.column) return;
    mark(next);
    explain();
  };

  // Arrow keys may scroll the page under a mouse at rest, which must not take over then: after a
  // key it counts only when it has moved from where it is first seen.
  let byKeyboard = false;
  let rest: { x: number; y: number } | undefined;
  const useMouse = () => {
    byKeyboard = false;
    rest = undefined;
  };
  canvas.addEventListener('mousemove', (event) => {
    const { clientX: x, clientY: y } = event;
    if (byKeyboard && (!rest || (rest.x === x && rest.y === y))) {
      rest = { x, y };
      return;
    }
    useMouse();
    point(heatMap.squareAt(event));
  });
  canvas.addEventListener('mouseleave', () => !byKeyboard && point(undefined));
  canvas.addEventListener('blur', () => {
    useMouse();
    point(undefined);
  });
  canvas.addEventListener('click', () => square && choose(square));
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      useMouse();
      point(undefined);
    } else if (event.key === 'Enter') square && choose(square);
    else if (event.key === 'p') tooltip.pin(canvas);
    else if (event.key in kArrows) {
      byKeyboard = true;
      point(moved(square, event.key, axis.side));
      marker.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    } else return;
    event.preventDefault();
  });
  let drawnWidth = 0;
  new ResizeObserver(() => {
    if (body.clientWidth === drawnWidth) return;
    drawnWidth = body.clientWidth;
    draw();
  }).observe(body);
  darkScheme.addEventListener('change', draw);

  return {
    root,
    show(next) {
      view = next;
      const values = cellValues(next.columns, next.selection, next.measure);
      matrix = makeMatrix(next.columns, axis, values);
      draw();
      list.show(next, matrix);
      if (square && !tooltip.root.hidden) explain();
      else mark(undefined);
      if (axis.side <= kMaxTableSide) {
        numbers.replaceChildren(numbers.firstElementChild!, makeMatrixTable(context, next, matrix));
      }
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
