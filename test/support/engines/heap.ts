import type { Page } from 'playwright-core';
import type { DrivenPage } from './driven.js';

/**
 * Returns all strings on a page's JavaScript heap after garbage collection, excluding cross-site
 * frames. Chromium only.
 */
export async function heapStrings(page: DrivenPage): Promise<string[]> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Chromium is driven by Playwright
  const chromium = page as unknown as Page;
  const client = await chromium.context().newCDPSession(chromium);
  let json = '';
  client.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => (json += chunk));
  await client.send('HeapProfiler.collectGarbage');
  await client.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  await client.detach();
  return (JSON.parse(json) as { strings: string[] }).strings;
}
