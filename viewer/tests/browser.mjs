// The browser of the tests: Debian's Chromium or the one that CHROMIUM names, without a network.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

const kArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Runs `use` with a context and a folder that is removed afterwards; exits with 77 if there is none. */
export async function withBrowser(settings, use) {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) {
    console.log(`skipped: there is no ${executablePath}; set CHROMIUM to the path of a Chromium`);
    process.exit(77);
  }
  const folder = mkdtempSync(join(tmpdir(), 'uctrace-page-'));
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath,
    headless: true,
    args: kArguments,
    ...settings,
  });
  try {
    await use(context, folder);
  } finally {
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
