// The sections that filters do not change: findings, call sites, protocols by size, what changed since an earlier
// run, and the bar that leads to all sections. Used by page.mjs.

import assert from 'node:assert/strict';

import { addressHas, addressOf } from './browser.mjs';

/** Findings are the first section; they and the table of protocols are shown as text. */
export async function checkFindings({ page, data }) {
  const items = page.getByTestId('findings').locator('li');
  assert.deepEqual(
    await items.locator('> :first-child').allTextContents(),
    data.findings.map(({ finding }) => finding),
  );
  assert.deepEqual(
    await items.locator('code').allTextContents(),
    data.findings.map(({ command }) => command),
  );
  if (data.findings.length > 0) {
    assert.equal(await page.locator('main > section').first().getAttribute('id'), 'findings');
  }
  const rows = page.getByTestId('protocols-table').locator('tbody tr');
  assert.deepEqual(
    await rows.evaluateAll((all) =>
      all.map((row) => [row.querySelector('th').textContent, Number(row.querySelector('td.number[data-value]').dataset.value)]),
    ),
    data.protocols.map(({ protocol, messages }) => [protocol ?? 'not known', messages]),
  );
  assert.deepEqual(
    await rows.evaluateAll((all) => all.map((row) => [...row.children].slice(-2).map(({ dataset }) => Number(dataset.value ?? NaN)))),
    data.protocols.map(({ ucx_least_ns, ucx_most_ns }) => [ucx_least_ns ?? NaN, ucx_most_ns ?? NaN]),
    'what UCX expects',
  );
  console.log(`ok   ${data.findings.length} findings, ${data.protocols.length} protocols by size`);
}

/** Settings, limits and transports: closed at first, then each line as text. */
export async function checkSettings({ page, data: { run } }) {
  const settings = page.getByTestId('settings');
  if (run.setting_lines.length === 0) {
    assert.equal(await settings.count(), 0, 'no settings');
    return;
  }
  const lines = settings.locator('li');
  assert.equal(await lines.first().isVisible(), false, 'settings are closed at first');
  await settings.locator('summary').click();
  assert.equal(await lines.first().isVisible(), true, 'settings are opened');
  assert.deepEqual(await lines.allTextContents(), run.setting_lines);
  await settings.locator('summary').click();
}

const kNoFindingLinks = ['registration-is-long'];
/** Only with GPUs. */
const kOfMemory = ['memory-mistaken', 'card-far-from-gpu'];

/** A finding is a link to its evidence, with the filter that the finding names. */
export async function checkFindingLinks({ page, data }) {
  let followed = 0;
  for (const [at, { rule, command }] of data.findings.entries()) {
    const link = page.getByTestId('findings').locator('li').nth(at).locator('.said a');
    const leads = !kNoFindingLinks.includes(rule) && (data.devices.gpus.length > 0 || !kOfMemory.includes(rule));
    assert.equal(await link.count(), Number(leads), `whether ${rule} is a link`);
    if (!leads) continue;
    await link.click();
    const { height } = page.viewportSize();
    const { id, top, bottom } = await page.evaluate(() => {
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      return { id: document.activeElement.id, top, bottom };
    });
    assert.ok(id !== '' && bottom > 0 && top < height, `${rule} leads into view: ${id} at ${top}`);
    const reached = new URLSearchParams(new URL(await addressOf(page)).hash.slice(1));
    const named = new URLSearchParams((await link.getAttribute('href')).slice(1));
    for (const [name, value] of named) assert.equal(reached.get(name), value, `${rule} chooses ${name}`);
    const rank = /--rank (\S+)/.exec(command)?.[1];
    const chosen = rank === undefined ? undefined : data.processes.findIndex(({ label }) => label === rank);
    if (chosen !== undefined) {
      assert.equal(reached.get('rank'), String(chosen));
      assert.equal(await page.getByTestId('filter-rank').inputValue(), String(chosen), 'the filter shows it');
      assert.equal(await page.getByTestId('matrix-of-waits').getAttribute('aria-pressed'), 'true');
    }
    ++followed;
  }
  if (followed > 0) await page.getByTestId('matrix-of-traffic').click();
  const clear = page.getByTestId('filter-reset');
  if (await clear.isEnabled()) await clear.click();
  console.log(`ok   ${followed} findings lead to what shows them`);
}

/** The costs of lines, and the late ranks, are in their tables as in the data. */
export async function checkCallSites({ page, data: { call_sites, delays, processes } }) {
  const rowsOf = (name) =>
    page
      .getByTestId(name)
      .locator('tbody tr')
      .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.dataset.value ?? cell.textContent)));
  const text = (value) => value ?? 'not known';
  if (call_sites.rows.length > 0) {
    assert.deepEqual(
      await rowsOf('call-sites-table'),
      call_sites.rows.map(({ site, mpi, ...numbers }) => [text(site), text(mpi), ...['calls', 'ns', 'waiting_ns', 'ranks'].map((name) => String(numbers[name]))]),
    );
  }
  if (delays.rows.length > 0) {
    assert.deepEqual(
      (await rowsOf('delays-table')).map((row) => row.slice(0, 6)),
      delays.rows.map(({ process, mpi, site, waits, direct_ns, passed_on_ns }) => [
        ...[processes[process].label, text(mpi), text(site)],
        ...[waits, direct_ns, passed_on_ns].map(String),
      ]),
    );
  }
  console.log(`ok   ${call_sites.rows.length} call sites, ${delays.rows.length} delays`);
}

/** Communicators are listed as in the data, with the selected messages, and a click chooses one. */
export async function checkCommunicators(report) {
  const { page, data: { communicators, classes, cells } } = report;
  const all = page.getByTestId('communicators-table').locator('tbody tr');
  const rows = () =>
    all.evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.dataset.value ?? cell.textContent)));
  const calls = (row) => row.slice(8, 12).filter((_, at) => at !== 2);
  assert.deepEqual(
    (await rows()).slice(0, communicators.rows.length).map((row) => [row[0], ...calls(row)]),
    communicators.rows.map(({ name, calls, ns, waiting_ns }) => [name ?? 'not known', ...[calls, ns, waiting_ns].map(String)]),
  );
  const sum = (shown, column) => shown.reduce((total, row) => total + (Number(row[column]) || 0), 0);
  const messagesOf = (wanted) =>
    cells.reduce((total, { messages, class: c }) => total + (wanted(classes[c]) ? messages : 0), 0);
  assert.equal(sum(await rows(), 5), messagesOf(() => true), 'every message is on one');
  const named = communicators.rows.find(({ called, name }) => classes.some(({ comm }) => comm !== null && comm === (called ?? name)));
  if (named) {
    const comm = named.called ?? named.name;
    await all.locator('button').filter({ hasText: named.name }).first().click();
    await addressHas(page, /comm=/, 'a click chooses the communicator');
    assert.equal(await report.control('filter-comm').inputValue(), comm);
    assert.equal(sum(await rows(), 5), messagesOf((of) => of.comm === comm), 'and its messages alone are left');
    await report.reset();
  }
  console.log(`ok   ${communicators.rows.length} communicators`);
}

/** Every number of the comparison stands in its table as text, and bars are in proportion. */
export async function checkComparison({ page, data: { comparison } }) {
  const found = page.locator('#comparison');
  if (comparison === null) {
    assert.equal(await found.count(), 0, 'no comparison, no section');
    return;
  }
  const rowsOf = (name) =>
    page
      .getByTestId(name)
      .locator('tbody tr')
      .evaluateAll((all) =>
        all.map((row) => [...row.children].map((cell) => cell.dataset.value ?? cell.textContent)),
      );
  assert.deepEqual(
    await rowsOf('comparison-settings'),
    comparison.settings.map(({ name, a, b, ranks }) => [name, a ?? 'not set', b ?? 'not set', ranks ?? 'whole run']),
  );
  const shown = ({ what, a, b, share, each_a, each_b }) => [
    ...[what, a, b, '', share, each_a?.median_ns ?? '–', each_b?.median_ns ?? '–'].map(String),
  ];
  assert.deepEqual(await rowsOf('comparison-changes'), comparison.changes.map(shown));
  await page.getByTestId('comparison-others').locator('summary').click();
  const others = await rowsOf('comparison-no-changes');
  assert.deepEqual(others.map((row) => row.slice(0, 7)), comparison.others.map(shown));
  await page.getByTestId('comparison-others').locator('summary').click();
  const widths = await found
    .locator('[data-testid=comparison-changes] .bars')
    .evaluateAll((all) => all.map((bars) => [...bars.children].map((bar) => parseFloat(bar.style.width))));
  comparison.changes.forEach(({ a, b }, index) => {
    const [wide, narrow] = [Math.max(...widths[index]), Math.min(...widths[index])];
    assert.equal(wide, 100);
    assert.ok(Math.abs(narrow - (100 * Math.min(a, b)) / Math.max(a, b)) < 0.01, `bars of ${a} and ${b}`);
  });
  const verdict = await page.getByTestId('comparison-verdict').textContent();
  const [most] = comparison.changes;
  assert.ok(verdict.includes(most ? most.what : 'No change'), verdict);
  console.log(`ok   ${comparison.changes.length} changes and ${comparison.others.length} others since an earlier run`);
}

/** In a wide window all sections can be reached at once, in a narrow one in a row that scrolls. */
async function checkBarFits(page, bar) {
  const before = page.viewportSize();
  for (const width of [1320, 1001, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const { right, hidden, rows, height } = await bar.evaluate((nav) => ({
      right: Math.max(...[...nav.children].map((button) => button.getBoundingClientRect().right)),
      hidden: nav.scrollWidth - nav.clientWidth,
      rows: new Set([...nav.children].map((button) => button.getBoundingClientRect().top)).size,
      height: nav.getBoundingClientRect().height,
    }));
    if (width > 1000) assert.ok(right <= width && hidden === 0, `${width} px: the bar ends at ${right}`);
    else assert.ok(rows === 1 && hidden > 0, `${width} px: ${rows} rows, ${hidden} px to scroll`);
    assert.ok(height <= 80, `${width} px: what is led to begins at 80 px, and the bar is ${height} px high`);
  }
  await page.setViewportSize(before);
}

/** The bar names all sections, leads to them, and stays in view. */
export async function checkSectionBar({ page }) {
  const bar = page.getByTestId('section-bar');
  const headings = await page.locator('main section > h2').allTextContents();
  assert.deepEqual(await bar.locator('button').allTextContents(), headings);
  await checkBarFits(page, bar);
  await bar.getByText('Identities', { exact: true }).click();
  const focused = () => page.evaluate(() => document.activeElement.id);
  assert.equal(await focused(), 'identities');
  const { top } = await bar.evaluate((nav) => nav.getBoundingClientRect().toJSON());
  assert.equal(top, 0, 'the bar stays at the top');
  const below = await page.locator('#identities').evaluate((section) => section.getBoundingClientRect().top);
  assert.ok(below >= 0, 'and does not cover a section');
  await bar.locator('button').first().press('Enter');
  assert.equal(await focused(), await page.locator('main section[aria-labelledby]').first().getAttribute('id'));
  console.log(`ok   a bar to ${headings.length} sections`);
}
