// The communication matrix: heat map with legend, the largest pairs beside it, and the same numbers
// as a table. A MatrixKind defines its rows and squares.

import { button, element, section } from '../dom';
import { downloadCanvas, downloadSvg } from '../download';
import type { Matrix, Square } from '../matrix';
import type { Context, Panel, Update, View } from '../page';
import { isChosen, toggled } from '../state';
import { darkScheme, theme } from '../theme';
import { makeDeviceMatrices } from './device_matrices';
import { HeatMap, type HeatMapStyle } from './heat_map';
import { showLegend } from './matrix_legend';
import { makeMatrixTable } from './matrix_table';
import { makeRankMatrices } from './rank_matrices';

const kMaxTableSide = 64;
/** Least width, with its gap, of the list beside the matrix; with less room the list goes below. */
const kListRoom = 324;

export function makeMatrixPanel(context: Context, update: Update): Panel {
  const kinds = [...makeRankMatrices(context), ...makeDeviceMatrices(context)];
  let kind = kinds[0]!;
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
  const note = element('p', { 'data-testid': 'matrix-note' });

  let view: View | undefined;
  let matrix: Matrix | undefined;
  let square: Square | undefined;
  /** The name of the square that was chosen last. */
  let chosenLast: string | undefined;
  const nameOf = (of: Square) => JSON.stringify([kind.id, kind.keysOf(of)]);

  const choose = (chosen: Square, from?: HTMLElement) => {
    if (!view) return;
    const wanted = kind.choice(chosen);
    const name = nameOf(chosen);
    // Another square with the same choice does not undo that choice.
    if (wanted && (kind.choosesOne || name === chosenLast || !isChosen(view, wanted))) {
      chosenLast = name;
      update((state) => toggled(state, wanted));
      return;
    }
    mark(chosen);
    dock.keep({ owner: canvas, ...(from && { from }), box, content: kind.describe(view, chosen) });
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
      choose(chosen, activeElement instanceof HTMLElement ? activeElement : undefined);
    },
    point(next: Square | undefined) {
      if (dock.keeps(canvas)) return;
      dock.leave(canvas);
      mark(next);
    },
  };
  const lists = new Map(kinds.map((each) => [each, each.makeList(actions)]));
  const body = element('div', { class: 'matrix-body' }, scroll, ...[...lists.values()].map((list) => list.root));
  const ofWhat = kinds.map(({ id, name }) =>
    button(name, { 'data-testid': `matrix-of-${id}` }, () => update((state) => ({ ...state, matrix: id }))),
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
    note,
    body,
    numbers,
  );

  const styleOf = (of: View): HeatMapStyle => ({
    theme: theme(),
    scale: of.scale,
    label: kind.label,
    hasLongNames: kind.hasLongNames,
    titles: kind.titles,
    number: kind.words(of).short,
  });

  const draw = () => {
    if (!view || !matrix) return;
    heatMap.draw(matrix, body.clientWidth, styleOf(view));
    body.classList.toggle('stacked', body.clientWidth - canvas.offsetWidth < kListRoom);
    body.style.setProperty('--matrix-height', canvas.style.height);
    showLegend(legend, matrix, view, kind.words(view), theme(), update);
    if (square) mark(square);
  };

  const explain = (byKey = false) => {
    lists.get(kind)!.mark(square);
    if (!square || !view) {
      dock.leave(canvas);
      return;
    }
    const explanation = { owner: canvas, box, content: kind.describe(view, square) };
    if (byKey) dock.reach(explanation);
    else dock.point(explanation);
  };
  const point = (next: Square | undefined, byKey = false) => {
    // Kept details stay while the pointer moves. Keys go on, and what they reach is kept instead.
    if (dock.keeps(canvas) && !byKey) return;
    if (next?.row === square?.row && next?.column === square?.column) return;
    mark(next);
    explain(byKey);
  };

  // Arrow keys may scroll the page under a resting mouse, which must not take over then. After a
  // key, the mouse counts only once it has moved from the place where it is first seen.
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
      if (matrix) point(moved(square, event.key, matrix.axis.side), true);
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
      const before = square && nameOf(square);
      kind = kinds.find(({ id }) => id === next.matrix)!;
      matrix = kind.make(next);
      // Other rows may be in this place now, or none.
      if (square && (Math.max(square.row, square.column) >= matrix.axis.side || nameOf(square) !== before)) {
        dock.leave(canvas);
        mark(undefined);
      }
      ofWhat.forEach((button, at) => button.setAttribute('aria-pressed', String(kinds[at] === kind)));
      lists.forEach((list, of) => (list.root.hidden = of !== kind));
      note.textContent = kind.note(next);
      note.hidden = note.textContent === '';
      draw();
      lists.get(kind)!.show(next, matrix);
      if (square && dock.explains(canvas)) explain();
      else if (!dock.keeps(canvas)) mark(undefined);
      numbers.hidden = matrix.axis.side > kMaxTableSide;
      if (!numbers.hidden) numbers.replaceChildren(numbers.firstElementChild!, makeMatrixTable(kind, next, matrix));
    },
    finish() {
      for (const list of lists.values()) list.finish?.();
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
