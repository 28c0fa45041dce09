import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Returns the driver of a connection's row on a demo page, found by its name. */
export function rowOf(page: Page, name: string) {
  const item = page.locator('.connection').filter({ has: page.getByRole('link', { name, exact: true }) });
  const press = async (label: string) => {
    // Rows outside the viewport have not loaded their data.
    await item.scrollIntoViewIfNeeded();
    await item.getByRole('button', { name: label }).click();
  };
  const counts = item.locator('.pipeline-counts');
  return {
    item,
    press,
    counts,
    state: item.locator('.pipeline-state b'),
    log: item.getByRole('log'),
    async is(word: string) {
      await expect.poll(() => item.locator('.pipeline-state b').textContent()).toBe(word);
    },
    async counted(text: string) {
      await expect.poll(() => counts.textContent()).toContain(text);
    },
    async start() {
      await press('Start a pipeline');
      await this.is('Running');
    },
    /** Returns the URL and token that the page shows. */
    async shown() {
      await press('Details');
      await press('Show token');
      const texts = item.locator('.pipeline-field code');
      await expect.poll(() => texts.nth(1).textContent()).toMatch(/^[\w-]{20,}$/);
      return { url: (await texts.nth(0).textContent()) ?? '', token: (await texts.nth(1).textContent()) ?? '' };
    },
  };
}

/** Sends records as a customer's own system would. */
export async function send({ url, token }: { url: string; token: string }, count: number, from = 0): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body: Array.from({ length: count }, (_, index) => JSON.stringify({ number: from + index })).join('\n'),
  });
  expect(response.status).toBe(200);
}

/**
 * Sends 1,000 records, then 500 while the pipeline is paused, and expects all of them after it
 * resumes.
 */
export async function sendOverPause(row: ReturnType<typeof rowOf>): Promise<void> {
  await row.start();
  const address = await row.shown();
  await send(address, 1_000);
  await row.counted('1,000 in · 1,000 out');
  await row.press('Pause');
  await row.is('Paused');
  await send(address, 500, 1_000);
  await row.press('Resume');
  await row.counted('1,500 in · 1,500 out');
}
