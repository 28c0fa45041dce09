import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { startDemoFixture, type DemoFixture } from '../support/demo.js';

/** The gallery page that shows all forms. */
let fixture: DemoFixture;
beforeAll(async () => {
  fixture = await startDemoFixture();
});
afterAll(() => fixture?.close());
afterEach(() => fixture.clear());

async function open(query = ''): Promise<Page> {
  const page = await fixture.open('react');
  await page.goto(`${fixture.demo.hostUrl}/gallery/${query}`);
  return page;
}
const sheets = (page: Page) => page.locator('.sheet');
const forms = (page: Page) => page.locator('.sheet connector-frame');

test('has a card for every type and renders the forms near the viewport', async () => {
  const page = await open();
  const listed: unknown[] = await page.evaluate(() => fetch('/api/catalog?kind=input').then((answer) => answer.json()));
  await expect.poll(() => sheets(page).count()).toBe(listed.length);
  await page.frameLocator('.sheet:first-child iframe').getByRole('button', { name: 'Save' }).waitFor();
  await sheets(page).nth(200).scrollIntoViewIfNeeded();
  await sheets(page).nth(200).frameLocator('iframe').getByRole('button', { name: 'Save' }).waitFor();
  expect(await sheets(page).first().locator('iframe').count()).toBe(0);
  expect(await forms(page).count()).toBeLessThanOrEqual(12);
  expect(fixture.problems).toEqual([]);
});

test("has the catalog's search and lists outputs", async () => {
  const page = await open('?q=otka');
  await expect.poll(() => sheets(page).first().getByRole('heading').textContent()).toMatch(/^Okta/);
  await page.getByRole('searchbox').fill('');
  await page.getByLabel('Kind').selectOption('Destinations');
  await page.getByLabel('Category').selectOption('SIEM');
  await page.locator('[data-type-id="splunk"][data-kind="output"]').waitFor();
  expect(await page.locator('[data-type-id="postgresql"]').count()).toBe(0);
});
