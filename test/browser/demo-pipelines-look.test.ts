import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { axeViolations } from '../support/axe-violations.js';
import { startDemoFixture, type DemoFixture } from '../support/demo.js';
import { longOr } from '../support/long.js';

/** Pipeline rows in every color scheme and width, by keyboard, and in large numbers. */
let fixture: DemoFixture;

beforeAll(async () => {
  fixture = await startDemoFixture();
});
afterAll(() => fixture?.close());
afterEach(() => fixture.clear());

async function addInput(name: string): Promise<void> {
  const config = { settings: {}, secrets: {} };
  const { status } = await fixture.call('POST', '/v2/~/inputs', { name, type: 'monad-http', config });
  expect(status).toBe(200);
}

const rowOf = (page: Page, name: string) =>
  page.locator('.connection').filter({ has: page.getByRole('link', { name, exact: true }) });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim());

test('builds, opens, pauses and deletes a pipeline by keyboard without losing focus', async () => {
  await addInput('Keys');
  const page = await fixture.open('script');
  const row = rowOf(page, 'Keys');
  await row.getByRole('button', { name: 'Start a pipeline' }).waitFor();
  await row.getByRole('link', { name: 'Keys' }).focus();
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.localName)).toBe('select');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await row.getByText('Running', { exact: true }).waitFor();
  await expect.poll(() => focused(page)).toBe('Details of Keys');
  await page.keyboard.press('Enter');
  await row.getByRole('log').waitFor();
  expect(await row.getByRole('button', { name: 'Details' }).getAttribute('aria-expanded')).toBe('true');

  await page.keyboard.press('Shift+Tab');
  expect(await focused(page)).toBe('Pause Keys');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Resume Keys');
  await row.getByText('Paused', { exact: true }).waitFor();
  await page.getByRole('status').filter({ hasText: 'The pipeline of Keys is paused.' }).waitFor();

  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Delete pipeline of Keys');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute('value'))).toBe('pipeline-only');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  expect(await focused(page)).toBe('Delete pipeline of Keys');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Delete' }).press('Enter');
  await row.getByRole('button', { name: 'Start a pipeline' }).waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.localName)).toBe('select');
  expect(fixture.problems).toEqual([]);
});

// All four pages use the same element. The long run tests each page once and each scheme twice, the
// short run one page.
const variants = [
  ['script', 'light'],
  ['html', 'dark'],
  ['vue', 'light'],
  ['react', 'dark'],
] as const;

test.each(variants.slice(...longOr([0], [1, 2])))(
  '%s, %s: axe finds no violation and nothing is cut off at any width',
  async (kind, colorScheme) => {
    const name = `Seen on ${kind}, ${colorScheme}`;
    await addInput(name);
    const page = await fixture.open(kind, { colorScheme });
    const check = async (what: string) => {
      // 700 px shares its layout with another width, so axe skips it.
      for (const width of [1200, 700, 320]) {
        await page.setViewportSize({ width, height: 800 });
        // The catalog below does not depend on the rows and has its own test.
        const found = width === 700 ? [] : await axeViolations(page, { exclude: ['#catalog'] });
        expect(found, `${what}, ${width} px`).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      }
    };
    const row = rowOf(page, name);
    await row.getByRole('button', { name: 'Start a pipeline' }).waitFor();
    await check('no pipeline');
    await row.getByRole('button', { name: 'Start a pipeline' }).click();
    await row.getByText('Running', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Details' }).click();
    await row.getByRole('button', { name: 'Show token' }).click();
    await row.getByText('live', { exact: true }).waitFor();
    await check('details');
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').waitFor();
    await check('dialog');
    expect(fixture.problems).toEqual([]);
  },
);

test('fifty rows poll in batches; rows out of view and hidden pages do not poll', async () => {
  for (let index = 0; index < 50; index += 1) await addInput(`Row ${index}`);
  const page = await fixture.open('react');
  const batchSizes: number[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/demo/pipelines') batchSizes.push(url.searchParams.getAll('inputId').length);
  });
  await page.reload();
  await page.getByRole('button', { name: 'Start a pipeline' }).first().waitFor();
  await page.waitForTimeout(4_000);
  expect(batchSizes.length).toBeLessThanOrEqual(4);
  expect(Math.max(...batchSizes)).toBeLessThanOrEqual(20);

  const last = rowOf(page, 'Row 0');
  await last.scrollIntoViewIfNeeded();
  await last.getByRole('button', { name: 'Start a pipeline' }).waitFor();

  const hide = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await hide(true);
  const before = batchSizes.length;
  await page.waitForTimeout(3_000);
  expect(batchSizes.length).toBe(before);
  await hide(false);
  await expect.poll(() => batchSizes.length).toBeGreaterThan(before);
});

test('keeps the last status while the server is down and resumes by itself', async () => {
  await addInput('Steady');
  const page = await fixture.open('vue');
  const row = rowOf(page, 'Steady');
  await row.getByRole('button', { name: 'Start a pipeline' }).click();
  await row.getByText('Running', { exact: true }).waitFor();
  await page.route('**/demo/pipelines?*', (route) =>
    route.fulfill({ status: 502, json: { code: 'upstream_error', message: 'The service is down.' } }),
  );
  await row.getByText('The service is down. Retrying …').waitFor();
  expect(await row.getByText('Running', { exact: true }).isVisible()).toBe(true);
  await page.unroute('**/demo/pipelines?*');
  await row.getByText('The service is down.').waitFor({ state: 'hidden' });
});
