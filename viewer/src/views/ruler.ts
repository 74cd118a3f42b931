// The time axis above the lanes.

import { css, kCard, kInk, kLine } from '../palette';
import { ticks } from '../time_range';
import type { Pen } from './drawing';
import { kRulerHeight, xOf, type Scene } from './timeline_scene';

const kTickRoom = 110;

export function drawRuler(pen: Pen, scene: Scene): void {
  const { layout, range, theme } = scene;
  pen.fillStyle = css(kCard[theme]);
  pen.fillRect(layout.left, 0, layout.width, kRulerHeight - 1);
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  for (const { at, label } of ticks(range, Math.floor(layout.width / kTickRoom))) {
    const x = xOf(scene, at);
    pen.fillStyle = css(kLine[theme]);
    pen.fillRect(Math.round(x), 0, 1, layout.height);
    pen.fillStyle = css(kInk[theme]);
    if (x + 4 + pen.measureText(label).width <= layout.left + layout.width) {
      pen.fillText(label, x + 4, 9);
    }
  }
}
