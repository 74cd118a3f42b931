// The time axis above the lanes.

import { css, kCard, kInk, kLine } from '../palette';
import { ticks } from '../time_range';
import { kRulerHeight, xOf, type Scene } from './timeline_scene';

const kTickRoom = 110;

export function drawRuler(canvas: HTMLCanvasElement, scene: Scene): void {
  const { layout, range, theme } = scene;
  const context = canvas.getContext('2d')!;
  const ratio = window.devicePixelRatio || 1;
  context.save();
  context.scale(ratio, ratio);
  context.fillStyle = css(kCard[theme]);
  context.fillRect(layout.left, 0, layout.width, kRulerHeight - 1);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  for (const { at, label } of ticks(range, Math.floor(layout.width / kTickRoom))) {
    const x = xOf(scene, at);
    context.fillStyle = css(kLine[theme]);
    context.fillRect(Math.round(x), 0, 1, layout.height);
    context.fillStyle = css(kInk[theme]);
    if (x + 4 + context.measureText(label).width <= layout.left + layout.width) {
      context.fillText(label, x + 4, 9);
    }
  }
  context.restore();
}
