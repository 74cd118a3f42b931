// Pictures for docs/ of the page of invented runs: 4, 64 and 1,024 ranks, light and dark, the same each time.
//
//   node screenshots.mjs TEMPLATE.html FOLDER      writes FOLDER/page-RANKS-light.png and page-RANKS-dark.png

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { withBrowser } from './browser.mjs';
import { fillTemplate } from './fill.mjs';
import { makeRun, written } from './make_run.mjs';
import { smallPng } from './small_png.mjs';

const kSeed = 7;
/** In a picture taller than the window, it would cover the middle. */
const kWithoutDock = '.dock { display: none; }';
/** `zoom`: to the part of the run with single operations, where the timeline begins. */
const kRuns = [
  { ranks: 4, slabs: 256, limit: 3000, zoom: 0.995 },
  { ranks: 64, slabs: 256, limit: 3000, zoom: 0.994 },
  { ranks: 1024, slabs: 64, limit: 6000, zoom: 0.95 },
];

/** Without the names that are markup elsewhere, and without an earlier run. */
function runOf(size) {
  const run = makeRun({ ...size, seed: kSeed });
  const { details_to_ns: to } = run.time;
  const findings = run.findings.map((each) => ({ ...each, finding: 'rank 1 has UCX_TLS=tcp, all others none' }));
  return { data: written({ ...run, findings, comparison: null }), hash: `zoom=${Math.round(to * size.zoom)}-${to}` };
}

const [template, folder] = process.argv.slice(2);
assert.ok(template && folder, 'usage: node screenshots.mjs TEMPLATE.html FOLDER');
await withBrowser({ viewport: { width: 1320, height: 900 } }, async (context, temporary) => {
  const page = await context.newPage();
  for (const size of kRuns) {
    const { data, hash } = runOf(size);
    const file = join(temporary, `${size.ranks}.html`);
    writeFileSync(file, fillTemplate(readFileSync(template, 'utf8'), data));
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await page.goto('about:blank');
      await page.goto(`${pathToFileURL(file).href}#${hash}`);
      await page.locator('html[data-ready]').waitFor();
      await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
      const height = await page.locator('#timeline').evaluate((panel) => Math.ceil(panel.getBoundingClientRect().bottom + scrollY) + 14);
      const clip = { x: 0, y: 0, width: 1320, height };
      const png = smallPng(await page.screenshot({ fullPage: true, clip, style: kWithoutDock }));
      const name = `page-${size.ranks}-${colorScheme}.png`;
      writeFileSync(join(folder, name), png);
      console.log(`${name}: 1320 x ${height}, ${Math.round(png.length / 1000)} kB`);
    }
  }
});
