import type { Page } from '../src/data';
import { readPage, readRun } from '../src/read_page';

/** Reads the output of `written()` of make_run.mjs, as a page reads its two elements. */
export async function readWritten(written: object): Promise<Page> {
  const { packed, ...run } = written as { packed: unknown };
  return readPage(readRun(JSON.stringify(run)), JSON.stringify(packed));
}
