// The communication matrix: heat map with legend, the largest pairs beside it, and the
// same numbers as a table.

import { button, element, section } from '../dom';
import { downloadCanvas, downloadSvg } from '../download';
import { cellValues } from '../filter';
import { kMaxSide, makeAxis, makeMatrix, processesOf, squaresOf, type Axis, type Matrix, type Square } from '../matrix';
import type { Context, Panel, Update, View } from '../page';
import { kMatrixOf, type MatrixOf } from '../state';
import { darkScheme, theme } from '../theme';
import { selectWaits, type WaitCells } from '../wait_matrix';
import { kWaitWords, rowLabel, wordsOf, type ValueWords } from '../words';
import { HeatMap, type HeatMapStyle } from './heat_map';
import { showLegend } from './matrix_legend';
import { makeMatrixTable } from './matrix_table';
import { describePair } from './pair_details';
import { makePairList } from './pair_list';
import { describeWaitPair, makeWaitList } from './wait_list';

const kMaxTableSide = 64;
/** Least width, with its gap, of what stands beside the matrix; with less it goes below. */
const kListRoom = 324;

export function makeMatrixPanel(context: Context, update: Update): Panel {
  const axis = makeAxis(context.columns, kMaxSide, context.waits.sums.column('cause').includes(-1));
  const squares = squaresOf(context.columns, axis);
  const canvas = element('canvas', {
    tabindex: 0,
    role: 'img',
    'aria-label': 'Heat map of the communication matrix; arrow keys move, Enter filters',
    'data-testid': 'matrix-canvas',
  });
  const heatMap = new HeatMap(canvas);
  const marker = element('div', { class: 'marker', hidden: true, 'data-testid': 'matrix-marker' });
  const { dock } = context;
  const stage = element('div', { class: 'stage' }, canvas, marker);
  const scroll = element('div', { class: 'scroll matrix' }, stage);
  const legend = element('div', { class: 'legend', 'data-testid': 'matrix-legend' });
  const grouped = axis.group > 1 ? [element('p', {}, describeGroups(axis))] : [];

  let view: View | undefined;
  let matrix: Matrix | undefined;
  let square: Square | undefined;
  let waitCells: WaitCells | undefined;

  const choose = (chosen: Square, owner: HTMLElement = canvas) => {
    if (waitCells) {
      mark(chosen);
      dock.keep({ owner, box, content: describeWaitPair(context, waitCells, axis, chosen) });
      return;
    }
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
  const box = () => marker.getBoundingClientRect();
  const actions = {
    choose(chosen: Square) {
      const { activeElement } = document;
      choose(chosen, activeElement instanceof HTMLElement ? activeElement : canvas);
    },
    point(next: Square | undefined) {
      if (dock.keeps(canvas)) return;
      dock.leave(canvas);
      mark(next);
    },
  };
  const list = makePairList(context, axis, squares, actions);
  const waitList = makeWaitList(context, axis, actions);
  const body = element('div', { class: 'matrix-body' }, scroll, list.root, waitList.root);
  const ofWhat = kMatrixOf.map((matrixOf) =>
    button(kMatrixNames[matrixOf], { 'data-testid': `matrix-of-${matrixOf}` }, () =>
      update((state) => ({ ...state, matrix: matrixOf })),
    ),
  );
  const numbers = element('details', {}, element('summary', {}, 'The same numbers as a table'));
  const root = section(
    'matrix',
    'Communication matrix',
    element(
      'div',
      { class: 'tools' },
      element('span', { class: 'segments', role: 'group', 'aria-label': 'What the matrix shows' }, ...ofWhat),
      legend,
      button('PNG', { title: 'Save the matrix as a picture', 'data-testid': 'matrix-png' }, () =>
        downloadCanvas('matrix', canvas),
      ),
      button('SVG', { title: 'Save the matrix as shapes and text', 'data-testid': 'matrix-svg' }, () => {
        if (view && matrix) downloadSvg('matrix', heatMap.svg(matrix, styleOf(view)));
      }),
    ),
    ...grouped,
    body,
    ...(axis.side <= kMaxTableSide ? [numbers] : []),
  );

  const styleOf = (of: View): HeatMapStyle => ({
    theme: theme(),
    scale: of.scale,
    label: (row) => rowLabel(context.data, axis, row),
    titles: kTitles[of.matrix],
    number: wordsOfView(of).short,
  });

  const draw = () => {
    if (!view || !matrix) return;
    const words = wordsOfView(view);
    heatMap.draw(matrix, body.clientWidth, styleOf(view));
    body.classList.toggle('stacked', body.clientWidth - canvas.offsetWidth < kListRoom);
    body.style.setProperty('--matrix-height', canvas.style.height);
    showLegend(legend, matrix, view, words, theme(), update);
    if (square) mark(square);
  };

  const explain = (byKey = false) => {
    (waitCells ? waitList : list).mark(square);
    if (!square || !view) {
      dock.leave(canvas);
      return;
    }
    const content = waitCells
      ? describeWaitPair(context, waitCells, axis, square)
      : describePair(context, view, axis, squares, square);
    const explanation = { owner: canvas, box, content };
    if (byKey) dock.reach(explanation);
    else dock.point(explanation);
  };
  const point = (next: Square | undefined, byKey = false) => {
    // What is kept stays while the pointer moves; keys go on, and what they reach is kept instead.
    if (dock.keeps(canvas) && !byKey) return;
    if (next?.row === square?.row && next?.column === square?.column) return;
    mark(next);
    explain(byKey);
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
  canvas.addEventListener('click', (event) => {
    const clicked = heatMap.squareAt(event);
    if (clicked) choose(clicked);
  });
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      useMouse();
      point(undefined);
    } else if (event.key === 'Enter') square && choose(square);
    else if (event.key in kArrows) {
      byKeyboard = true;
      point(moved(square, event.key, axis.side), true);
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
      waitCells =
        next.matrix === 'waits' ? selectWaits(context.data, context.waits, context.operations.singles, next.filter) : undefined;
      matrix = waitCells
        ? makeMatrix(squaresOf(waitCells, axis), axis, waitCells.ns)
        : makeMatrix(squares, axis, cellValues(next.columns, next.selection, next.measure));
      ofWhat.forEach((button, at) => button.setAttribute('aria-pressed', String(kMatrixOf[at] === next.matrix)));
      list.root.hidden = waitCells !== undefined;
      waitList.root.hidden = waitCells === undefined;
      draw();
      if (waitCells) waitList.show(waitCells, matrix);
      else list.show(next, matrix);
      if (square && dock.explains(canvas)) explain();
      else if (!dock.keeps(canvas)) mark(undefined);
      if (axis.side <= kMaxTableSide) {
        numbers.replaceChildren(numbers.firstElementChild!, makeMatrixTable(context, wordsOfView(next), kCorners[next.matrix], matrix));
      }
    },
  };
}

const kMatrixNames: Record<MatrixOf, string> = { traffic: 'Traffic', waits: 'Waits' };
const kTitles: Record<MatrixOf, { rows: string; columns: string }> = {
  traffic: { rows: 'Source rank', columns: 'Destination rank' },
  waits: { rows: 'Rank that waited', columns: 'Rank that it waited for' },
};
const kCorners: Record<MatrixOf, string> = { traffic: 'source \\ destination', waits: 'waited \\ for' };

function wordsOfView({ matrix, measure }: View): ValueWords {
  return matrix === 'waits' ? kWaitWords : wordsOf(measure);
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
