import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core';
import { startDemo, type Demo } from '../../demo/src/start-demo.js';
import { launchBrowser } from '../support/browser.js';

/** The demo as `npm start` runs it: built pages, real service, real form, two origins. */
let folder: string;
let demo: Demo;
let browser: Browser;
let complaints: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'demo-page-'));
  const configFile = fileURLToPath(new URL('../../demo/vite.config.ts', import.meta.url));
  await build({ configFile, logLevel: 'error', build: { outDir: join(folder, 'pages') } });
  const environment = { SERVICE_PORT: '0', HOST_PORT: '0', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'silent' };
  [demo, browser] = await Promise.all([startDemo(environment, join(folder, 'pages')), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await demo?.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  complaints = [];
});

/** The page, signed in. What the browser complains about (policy, scripts) is kept; refusals that a test asks for are not. */
async function open(tenant = 'Acme', options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  await page.goto(demo.hostUrl);
  await page.getByRole('button', { name: `Continue as ${tenant}` }).click();
  await product(page, 'Okta System Log').waitFor();
  return page;
}

const product = (page: Page, name: string) => page.locator('#catalog').getByRole('link', { name });
const connections = (page: Page) => page.locator('#connections').getByRole('listitem');
const form = (page: Page) => page.frameLocator('iframe');
const refuse = (route: Route) =>
  route.fulfill({ status: 502, json: { code: 'upstream_error', message: 'The service is down.' } });

test('create, see the id, edit, reload; another customer sees none of it', async () => {
  const page = await open();
  await product(page, 'Synthetic Data').click();
  await form(page).getByLabel('Name', { exact: true }).fill('Night shift');
  await form(page).getByRole('button', { name: 'Save' }).click();

  const saved = page.getByRole('status').filter({ hasText: 'Night shift is connected. Its id:' });
  await saved.waitFor();
  const id = (await saved.locator('code').textContent()) ?? '';
  expect(id).toMatch(/^[\w-]{8,}$/);
  const row = connections(page).filter({ hasText: 'Night shift' });
  await row.getByText('Saved just now').waitFor();
  const events = await page.getByRole('log').locator('b').allTextContents();
  expect(events).toEqual(['save', 'ready', 'session', 'create']);

  await row.getByRole('link', { name: 'Night shift' }).click();
  await page.getByRole('heading', { name: 'Edit data source' }).waitFor();
  await form(page).getByLabel('Name', { exact: true }).fill('Day shift');
  await form(page).getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('status')
    .filter({ hasText: `Day shift is updated. Its id: ${id}` })
    .waitFor();

  await page.reload();
  await connections(page).filter({ hasText: 'Day shift' }).waitFor();
  expect(await connections(page).count()).toBe(1);

  await page.getByLabel('Workspace').selectOption({ label: 'Globex' });
  await page.getByText('No data sources yet.').waitFor();
  expect(await connections(page).count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('cancel and the browser’s back button both lead back to the list', async () => {
  const page = await open();
  await product(page, 'Okta System Log').click();
  await form(page).getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Data sources' }).waitFor();
  await product(page, 'Okta System Log').click();
  await form(page).getByRole('button', { name: 'Save' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Data sources' }).waitFor();
  expect(await page.locator('iframe').count()).toBe(0);
});

test('by keyboard alone: to a product, into its form, and the focus goes along', async () => {
  const page = await open();
  await page.getByRole('searchbox').fill('okta system');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await form(page).getByRole('button', { name: 'Save' }).waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.id ?? document.activeElement?.tagName);
  expect(await focused()).toBe('connector-title');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('IFRAME');
});

test('search and category narrow the grid, and say by how much', async () => {
  const page = await open();
  const count = page.locator('#catalog-count');
  const all = Number(await count.textContent());
  expect(all).toBeGreaterThan(20);
  await page.getByRole('searchbox').fill('okta');
  expect(await count.textContent()).toMatch(new RegExp(`^\\d of ${all}$`));
  await page.getByRole('searchbox').fill('no such product');
  await page.getByText('Nothing matches.').waitFor();
  await page.getByRole('searchbox').fill('');
  await page.getByLabel('Category').selectOption('Identity Security');
  await product(page, 'Okta System Log').waitFor();
  expect(await product(page, 'GitHub').count()).toBe(0);
});

test('the service is down: both lists say so, and trying again is enough', async () => {
  const page = await open();
  await page.route(/\/api\/(catalog|connectors)/, refuse);
  await page.getByRole('link', { name: 'Destinations' }).click();
  await page.getByText('The service is down.').nth(1).waitFor();
  await page.unroute(/\/api\/(catalog|connectors)/);
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await product(page, 'Splunk').waitFor();
  await page.getByText('No destinations yet.').waitFor();
});

test('no session can be had: the page says why in place of the form, and trying again is enough', async () => {
  const page = await open();
  await page.route('**/api/session', refuse);
  await product(page, 'Okta System Log').click();
  await page.getByRole('alert').filter({ hasText: 'The service is down.' }).waitFor();
  await page.unroute('**/api/session');
  await page.getByRole('button', { name: 'Try again' }).click();
  await form(page).getByRole('button', { name: 'Save' }).waitFor();
});

test('a chosen appearance is kept, and an open form keeps its colors and its text until it is reopened', async () => {
  const page = await open('Acme', { colorScheme: 'light' });
  const ground = () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
  const light = await ground();
  await page.getByText('Dark', { exact: true }).click();
  const dark = await ground();
  expect(dark).not.toBe(light);
  await page.reload();
  await product(page, 'Okta System Log').waitFor();
  expect(await ground()).toBe(dark);

  await product(page, 'Okta System Log').click();
  const name = form(page).getByLabel('Name', { exact: true });
  await name.fill('Typed already');
  await page.getByText('Light', { exact: true }).click();
  expect(await ground()).toBe(light);
  expect(await name.inputValue()).toBe('Typed already');
  await page.getByRole('button', { name: 'Reopen it' }).click();
  await expect.poll(() => name.inputValue()).toBe('Okta System Log');
});

test.each(['light', 'dark'] as const)(
  '%s: axe finds nothing, and nothing is cut off at any width',
  async (colorScheme) => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const page = await open('Acme', { colorScheme });
    const check = async () => {
      for (const width of [1280, 900, 320]) {
        await page.setViewportSize({ width, height: 800 });
        const found = await page.evaluate<string[]>(
          `(() => { ${axe}; return axe.run({ iframes: false }).then((r) => r.violations.map((v) => v.id + ' ' + v.nodes.map((n) => n.html))); })()`,
        );
        expect(found, `${width} px`).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      }
    };
    await check();
    await product(page, 'Okta System Log').click();
    await form(page).getByRole('button', { name: 'Save' }).waitFor();
    await check();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Northwind' }).waitFor();
    await check();
    expect(complaints).toEqual([]);
  },
);
