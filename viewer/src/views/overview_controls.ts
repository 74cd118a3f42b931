// Beside the strip above the timeline: whether it shows all ranks together or each, and the meaning of its colours.

import { button, element } from '../dom';
import { formatCount } from '../format';
import { processesOf, type Scale } from '../matrix';
import type { Update, View } from '../page';
import type { Theme } from '../palette';
import type { RankBins } from '../rank_bins';
import { kOverviews, type Overview } from '../state';
import { kMeasureNames, wordsOf } from '../words';
import { makeRamp } from './matrix_legend';

const kNames: Record<Overview, string> = { all: 'all ranks together', ranks: 'by rank' };

/** "Rows are source ranks, 4 ranks a row." */
export function describeRows({ rows }: Pick<RankBins, 'rows'>): string {
  const many = rows.group === 1 ? 'one rank a row' : `${formatCount(rows.group)} ranks a row`;
  const known = rows.side - Number(rows.hasUnknown);
  const { first, last } = processesOf(rows, Math.max(0, known - 1));
  const fewer = rows.group > 1 && last - first < rows.group ? `, ${last - first} in the last` : '';
  const unknown = rows.hasUnknown ? ' The lowest row is the unknown source.' : '';
  return `Rows are source ranks, ${many}${fewer}.${unknown}`;
}

export function makeOverviewControls(update: Update, processes: number) {
  const buttons = kOverviews.map((overview) => ({
    overview,
    root: button(kNames[overview], { 'data-testid': `overview-${overview}` }, () => update((state) => ({ ...state, overview }))),
  }));
  const legend = element('span', { class: 'legend', hidden: true, 'data-testid': 'overview-legend' });
  const root = element(
    'div',
    { class: 'tools', hidden: processes < 2 },
    element('span', {}, 'The strip shows'),
    element('span', { class: 'segments', role: 'group', 'aria-label': 'The strip shows' }, ...buttons.map(({ root }) => root)),
    legend,
  );
  let shown: readonly unknown[] = [];
  return {
    root,
    /** `bins`: the picture by rank, if that is drawn. */
    show({ overview, measure, scale }: View, theme: Theme, bins: RankBins | undefined): void {
      const wanted = [overview, measure, scale, theme, bins];
      if (wanted.every((value, i) => value === shown[i])) return;
      shown = wanted;
      for (const each of buttons) each.root.setAttribute('aria-pressed', String(each.overview === overview));
      legend.hidden = bins === undefined;
      legend.replaceChildren(...(bins ? legendOf(bins, measure, scale, theme) : []));
    },
  };
}

function legendOf(bins: RankBins, measure: View['measure'], scale: Scale, theme: Theme): HTMLElement[] {
  const said = element('span', {}, `${describeRows(bins)} Colours are ${kMeasureNames[measure]} that start in each column.`);
  const ramp = bins.max > 0 ? [makeRamp(bins, scale, wordsOf(measure), theme)] : [];
  return [said, element('span', { class: 'swatch' }), element('span', {}, 'none'), ...ramp];
}
