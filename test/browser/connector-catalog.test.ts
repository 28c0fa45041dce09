import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { axeViolations } from '../support/axe-violations.js';
import { useElementPages } from '../support/element-pages.js';
import { eventsOf, type PageOptions } from '../support/element-world.js';

/** The picker, with the host's real catalog and with a custom one. */
const on = useElementPages();

const head = '<script type="module" src="/define-catalog.js"></script>';
const host = '<connector-catalog host-url="/api"></connector-catalog>';

const open = (body: string, options: PageOptions = {}) => on.open(body, { head, ...options });
const picker = (page: Page) => page.locator('connector-catalog');
const names = (page: Page) => page.locator('[part=name]').allTextContents();
const search = (page: Page) => page.getByRole('searchbox', { name: 'Search products' });
const ownTypes = (count: number) =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      type_id: `type-${index}`,
      name: `Product ${index}`,
      description: `About product ${index}.`,
      category: index % 2 === 0 ? 'Even' : 'Odd',
      icon: null,
    })),
  );

test("shows the host's types, tolerates a typo in the search and dispatches select", async () => {
  const page = await open(host);
  await page.getByText(/^\d+ products$/).waitFor();
  expect(await picker(page).evaluate((element) => element.matches(':state(ready)'))).toBe(true);
  await search(page).fill('otka system');
  expect((await names(page))[0]).toBe('Okta System Log');
  await page
    .getByRole('status')
    .getByText(/^\d+ of \d+ products$/)
    .waitFor();
  await page.getByRole('button', { name: /Okta System Log/ }).click();
  expect(await eventsOf(page)).toEqual([['select', 'okta-systemlog']]);
});

test('lists outputs separately and filters by category', async () => {
  const page = await open('<connector-catalog host-url="/api" kind="output"></connector-catalog>');
  await page.getByLabel('Category').selectOption('SIEM');
  const found = await names(page);
  expect(found).toContain('Microsoft Sentinel');
  expect(found).not.toContain('PostgreSQL');
  await picker(page).evaluate((element) => element.setAttribute('kind', 'input'));
  await page.getByText('Okta System Log').waitFor();
  expect(await page.getByLabel('Category').inputValue()).toBe('');
});

test('works by keyboard', async () => {
  const page = await open(`<connector-catalog style="inline-size: 600px" types='${ownTypes(7)}'></connector-catalog>`);
  const focused = () =>
    page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent?.replace(/^P\d/, ''));
  await picker(page).evaluate((element: HTMLElement) => element.focus());
  await page.keyboard.press('ArrowDown');
  expect(await focused()).toContain('Product 0');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  expect(await focused()).toContain('Product 3');
  await page.keyboard.press('End');
  expect(await focused()).toContain('Product 6');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  expect(await focused()).toContain('Product 6');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.type('product 4');
  expect(await names(page)).toEqual(['Product 4']);
  await page.keyboard.press('Enter');
  expect(await eventsOf(page)).toEqual([
    ['select', 'type-6'],
    ['select', 'type-4'],
  ]);
});

test('letters typed in the list continue the search', async () => {
  const page = await open(`<connector-catalog types='${ownTypes(30)}'></connector-catalog>`);
  await picker(page).evaluate((element: HTMLElement) => element.focus());
  await page.keyboard.press('ArrowDown');
  await page.keyboard.type('29');
  expect(await search(page).inputValue()).toBe('29');
  expect(await names(page)).toEqual(['Product 29']);
});

test('shows an empty result and a load failure, and loads again on retry', async () => {
  const page = await open(
    '<connector-catalog host-url="/nowhere"><p slot="empty">Ask us for it.</p></connector-catalog>',
  );
  await page.getByText('The products could not be loaded.').waitFor();
  expect((await eventsOf(page)).map((words) => words.slice(0, 2))).toEqual([['error', 'load_failed']]);
  await page.route('**/nowhere/catalog?kind=input', (route) => route.fulfill({ json: JSON.parse(ownTypes(3)) }));
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('3 products').waitFor();
  await search(page).fill('zebra');
  await page.getByText('Ask us for it.').waitFor();
  expect(await picker(page).evaluate((element) => element.matches(':state(empty)'))).toBe(true);
});

test('renders names as text under the strictest content security policy', async () => {
  const hostile = [
    {
      type_id: 'x',
      name: '<img src=x onerror=alert(1)>',
      description: '<b>bold</b>',
      category: '<i>',
      icon: 'javascript:alert(1)',
    },
  ];
  const page = await open('<connector-catalog></connector-catalog>', {
    headers: {
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    },
  });
  await picker(page).evaluate((element, types) => void Object.assign(element, { types }), hostile);
  await page.getByText('<img src=x onerror=alert(1)>').waitFor();
  const violations = (await eventsOf(page)).filter(
    ([event, directive]) => event !== 'violation' || directive !== 'img-src',
  );
  expect(violations).toEqual([]);
});

test('announces the selected type', async () => {
  const page = await open(`<connector-catalog selected="type-2" types='${ownTypes(4)}'></connector-catalog>`);
  expect(await page.locator('[aria-current]').innerText()).toContain('Product 2');
});

test.each([
  { width: 320, scheme: 'light' },
  { width: 1000, scheme: 'dark' },
] as const)('$width pixels, $scheme: nothing is cut off and axe finds no violation', async ({ width, scheme }) => {
  const page = await open(host);
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme: scheme });
  await page.addStyleTag({ content: ':root { color-scheme: light dark; background: Canvas; color: CanvasText }' });
  await page.getByText(/^\d+ products$/).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  expect(await axeViolations(page, 'connector-catalog')).toEqual([]);
});
