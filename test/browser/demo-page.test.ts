import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Page, Route } from 'playwright-core';
import { axeViolations } from '../support/axe-violations.js';
import { allPages, startDemoFixture, type DemoFixture } from '../support/demo.js';
import { longOr } from '../support/long.js';

let fixture: DemoFixture;

beforeAll(async () => {
  fixture = await startDemoFixture();
});
afterAll(() => fixture?.close());
afterEach(() => fixture.clear());

const open: DemoFixture['open'] = (kind, options) => fixture.open(kind, options);
const product = (page: Page, name: string) =>
  page.locator('#catalog :is(a, button)').filter({ has: page.getByText(name, { exact: true }) });
const connections = (page: Page) => page.locator('#connections').getByRole('listitem');
const form = (page: Page) => page.frameLocator('iframe');
const nameField = (page: Page) => form(page).getByLabel('Name', { exact: true });
const lists = (page: Page) => page.getByRole('heading', { name: 'Connect your data' });
const refuse = (route: Route) =>
  route.fulfill({ status: 502, json: { code: 'upstream_error', message: 'The service is down.' } });

describe.each(longOr(['script', 'react', 'vue'] as const, ['react'] as const))('%s', (kind) => {
  test('creates, shows the id, edits and reloads a connector that other tenants cannot see', async () => {
    const page = await open(kind);
    await product(page, 'Synthetic Data').click();
    await nameField(page).fill(`Night ${kind}`);
    await form(page).getByRole('button', { name: 'Save' }).click();

    const saved = page.getByRole('status').filter({ hasText: `Night ${kind} is saved. Its id:` });
    await saved.waitFor();
    const id = (await saved.locator('code').textContent()) ?? '';
    expect(id).toMatch(/^[\w-]{8,}$/);
    const row = connections(page).filter({ hasText: `Night ${kind}` });
    await row.getByText('Saved just now').waitFor();
    expect(await page.getByRole('log').locator('b').allTextContents()).toEqual(['save', 'ready']);
    expect(await page.getByRole('log').locator('code').first().textContent()).toContain(id);

    await row.getByRole('link', { name: `Night ${kind}` }).click();
    await page.getByRole('heading', { name: 'Edit data source' }).waitFor();
    await nameField(page).fill(`Day ${kind}`);
    await form(page).getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('status')
      .filter({ hasText: `Day ${kind} is updated. Its id: ${id}` })
      .waitFor();

    await page.goto(`${fixture.demo.hostUrl}/${kind}/`);
    await connections(page)
      .filter({ hasText: `Day ${kind}` })
      .waitFor();
    expect(await connections(page).filter({ hasText: 'Night' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Switch to Globex' }).click();
    await page.getByText('No data sources yet.').waitFor();
    expect(await connections(page).count()).toBe(0);
    expect(fixture.problems).toEqual([]);
  });

  test('cancel and the back button return to the list', async () => {
    const page = await open(kind);
    await product(page, 'Okta System Log').click();
    await form(page).getByRole('button', { name: 'Cancel' }).click();
    await lists(page).waitFor();
    await product(page, 'Okta System Log').click();
    await form(page).getByRole('button', { name: 'Save' }).waitFor();
    await page.goBack();
    await lists(page).waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
  });

  test('stores the selected theme; an open form keeps its colors and text until it is reopened', async () => {
    const page = await open(kind, { colorScheme: 'light' });
    const ground = () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
    const button = () =>
      form(page)
        .getByRole('button', { name: 'Save' })
        .evaluate((save) => getComputedStyle(save).backgroundColor);
    const light = await ground();
    await page.getByRole('button', { name: 'Dark', exact: true }).click();
    await expect.poll(ground).not.toBe(light);
    const dark = await ground();
    await page.reload();
    await product(page, 'Okta System Log').waitFor();
    expect(await ground()).toBe(dark);

    await product(page, 'Okta System Log').click();
    await nameField(page).fill('Typed already');
    const before = await button();
    await page.getByRole('button', { name: 'Light', exact: true }).click();
    await page.getByRole('button', { name: 'Iris', exact: true }).click();
    expect(await ground()).not.toBe(dark);
    expect(await nameField(page).inputValue()).toBe('Typed already');
    expect(await button()).toBe(before);
    await page.getByRole('button', { name: 'Reopen it' }).click();
    await expect.poll(() => nameField(page).inputValue()).toBe('Okta System Log');
    expect(await button()).toBe('rgb(101, 52, 201)');
    await page.getByRole('button', { name: 'Reopen it' }).waitFor({ state: 'hidden' });
  });
});

describe.each(longOr(['react', 'vue'] as const, ['vue'] as const))('%s', (kind) => {
  test("opens a product's form by keyboard and moves focus into it", async () => {
    const page = await open(kind);
    await page.getByRole('searchbox').fill('okta system');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await form(page).getByRole('button', { name: 'Save' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('New data source');
    await page.keyboard.press('Tab');
    await expect.poll(() => focusedFrame(page)).toBe(true);
  });

  test('search and category filter the grid and announce the count', async () => {
    const page = await open(kind);
    const count = page.locator('#catalog').getByRole('status');
    const all = parseInt((await count.textContent()) ?? '', 10);
    expect(all).toBeGreaterThan(20);
    await page.getByRole('searchbox').fill('okta');
    await expect.poll(() => count.textContent()).toMatch(new RegExp(`^\\d+ of ${all} products$`));
    await page.getByRole('searchbox').fill('no such product');
    await page.getByText('Nothing matches.').waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Category').selectOption('Identity Security');
    await product(page, 'Okta System Log').waitFor();
    expect(await product(page, 'GitHub Enterprise Audit Logs').count()).toBe(0);
  });

  test('both lists report that the service is down and recover on retry', async () => {
    const page = await open(kind);
    await page.route(/\/api\/(catalog|connectors)/, refuse);
    await page.getByRole('link', { name: 'Destinations' }).click();
    await page.getByText('The service is down.').nth(1).waitFor();
    await page.unroute(/\/api\/(catalog|connectors)/);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await product(page, 'Splunk HEC').waitFor();
    await page.getByText('No destinations yet.').waitFor();
  });
});

describe.each(longOr(['script', 'html'] as const, ['html'] as const))('%s', (kind) => {
  test("reaches a product's form through search by keyboard", async () => {
    const page = await open(kind);
    await page.getByRole('searchbox').fill('okta system');
    await page.keyboard.press('Enter');
    await page.getByText(/^1 of \d+$/).waitFor();
    await product(page, 'Okta System Log').focus();
    await page.keyboard.press('Enter');
    await form(page).getByRole('button', { name: 'Save' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await expect.poll(() => focusedFrame(page)).toBe(true);
  });

  test('search and category filter the grid and announce the count', async () => {
    const page = await open(kind);
    const count = page.locator('#catalog-count');
    const all = Number(await count.textContent());
    expect(all).toBeGreaterThan(20);
    await page.getByRole('searchbox').fill('no such product');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('Nothing matches.').waitFor();
    expect(await count.textContent()).toBe(`0 of ${all}`);
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Category').selectOption('Identity Security');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText(new RegExp(`^\\d+ of ${all}$`)).waitFor();
    await product(page, 'Okta System Log').waitFor();
    expect(await product(page, 'GitHub Enterprise Audit Logs').count()).toBe(0);
  });
});

describe('html', () => {
  test('loads only the drop-in script; buttons of the page test and save, and CSS states show progress', async () => {
    const page = await open('html');
    const scripts: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'script' && request.frame() === page.mainFrame()) scripts.push(request.url());
    });
    // Scripts of the list page may still load before the navigation.
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) scripts.splice(0);
    });
    await product(page, 'Synthetic Data').click();
    await nameField(page).fill('Without a script');
    expect(scripts).toEqual([`${fixture.demo.serviceUrl}/v/0/connector-frame.js`]);
    expect(await page.locator('script:not([src])').count()).toBe(0);

    const lit = () =>
      page
        .locator('.states li')
        .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor !== 'rgba(0, 0, 0, 0)'));
    expect(await lit()).toEqual([false, true, false, false]);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('Saved. See the list').waitFor();
    expect((await lit())[2]).toBe(true);
    await page.getByRole('link', { name: 'See the list' }).click();
    await connections(page).filter({ hasText: 'Without a script' }).getByRole('link').click();
    await page.getByRole('heading', { name: 'Edit data source' }).waitFor();
    expect(await nameField(page).inputValue()).toBe('Without a script');
    expect(fixture.problems).toEqual([]);
  });

  test('Cancel closes the dialog around the form once the user discards what was typed', async () => {
    const page = await open('html');
    await product(page, 'Okta System Log').click();
    const before = await nameField(page).inputValue();
    await nameField(page).fill('Typed already');
    await form(page).getByLabel('API token', { exact: true }).fill('00QCjAl4');
    await form(page).getByRole('button', { name: 'Cancel' }).click();
    await form(page).getByRole('button', { name: 'Keep editing' }).click();
    expect(await nameField(page).inputValue()).toBe('Typed already');
    await form(page).getByRole('button', { name: 'Cancel' }).click();
    await form(page).getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Open again' }).click();
    expect(await nameField(page).inputValue()).toBe(before);
    expect(await form(page).getByLabel('API token', { exact: true }).inputValue()).toBe('');
    expect(await page.getByRole('dialog').evaluate((dialog) => dialog.matches(':modal'))).toBe(true);
  });

  test('stores the selected theme and applies it to the form', async () => {
    const page = await open('html', { colorScheme: 'light' });
    await page.getByRole('button', { name: 'Iris', exact: true }).click();
    await page.getByRole('button', { name: 'Dark', exact: true }).click();
    await product(page, 'Okta System Log').click();
    const save = form(page).getByRole('button', { name: 'Save' });
    expect(await save.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe('rgb(182, 156, 255)');
  });
});

/** Returns whether the form has focus: the page sees the frame's host element as active. */
const focusedFrame = (page: Page) => page.evaluate(() => document.activeElement?.localName === 'connector-frame');

describe.each(longOr(allPages, ['vue'] as const))('%s', (kind) => {
  test('shows why a session failed in place of the form and recovers on retry', async () => {
    const page = await open(kind);
    // Fails until the click: the frame may request the session once more after the error has
    // appeared.
    await page.route('**/api/session', async (route) => {
      const isUp = await page.evaluate(() => Object(globalThis).clicked === true);
      return isUp ? route.continue() : refuse(route);
    });
    await product(page, 'Okta System Log').click();
    await page.getByText('The service is down.').first().waitFor();
    await page.evaluate(() => addEventListener('click', () => Object.assign(globalThis, { clicked: true }), true));
    await page.getByRole('button', { name: 'Try again' }).click();
    await form(page).getByRole('button', { name: 'Save' }).waitFor();
  });

  test("shows the page's own source", async () => {
    const page = await open(kind);
    await product(page, 'Okta System Log').click();
    await form(page).getByRole('button', { name: 'Save' }).waitFor();
    const [name, code] = await Promise.all([
      page.locator('.source summary').first().innerText(),
      page
        .locator('.source code')
        .first()
        .evaluate((one) => one.textContent ?? ''),
    ]);
    if (name === 'connector.html') {
      // The server fills in this source; the response must contain it verbatim.
      const sent = await (await page.request.get(page.url())).text();
      expect(code).toContain(`src="${fixture.demo.serviceUrl}/v/0/connector-frame.js"`);
      expect(sent).toContain(code.trim());
    } else {
      const file = await readFile(new URL(`../../demo/src/pages/${kind}/${name}`, import.meta.url), 'utf8');
      expect(code.trim()).toBe(file.trim());
    }
  });

  // All four share one design, so each color scheme runs on two of them.
  const scheme = kind === 'script' || kind === 'vue' ? 'light' : 'dark';
  test(`${scheme}: axe finds no violation and nothing is cut off at any width`, async () => {
    // Products are rendered alike; axe checks only the first nine.
    const further = [['.products li:nth-child(n + 10)'], ['connector-catalog', 'li:nth-child(n + 10)']];
    const page = await open(kind, { colorScheme: scheme });
    const check = async () => {
      // 900 px shares its layout with another width, so axe skips it.
      for (const width of [1280, 900, 320]) {
        await page.setViewportSize({ width, height: 800 });
        expect(width === 900 ? [] : await axeViolations(page, { exclude: further }), `${width} px`).toEqual([]);
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
    expect(fixture.problems).toEqual([]);
  });
});
