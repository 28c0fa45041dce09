import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, ConsoleMessage, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { heard, openHost } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';

let browser: Browser;
let world: World;

beforeAll(async () => {
  const extra = {
    '/form.css': { body: 'body { outline: 7px solid red }', headers: { 'content-type': 'text/css' } },
    '/not.css': { body: '<!doctype html>', headers: { 'content-type': 'text/html' } },
  };
  [browser, world] = await Promise.all([launchBrowser(), startWorld({}, extra)]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

/** What stands on the document of the frame, once the form is shown. */
async function look(page: Page, name: string): Promise<string> {
  await page.frameLocator('iframe').getByLabel('Organization URL').waitFor();
  const root = page.frameLocator('iframe').locator('html');
  return root.evaluate(
    (element, property) =>
      property === 'color-scheme' ? element.style.colorScheme : element.style.getPropertyValue(`--cf-${property}`),
    name,
  );
}

async function open(options: Record<string, unknown>, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const context = await browser.newContext({ colorScheme });
  return openHost(context, world, options);
}

const outline = (page: Page): Promise<string> =>
  page
    .frameLocator('iframe')
    .locator('body')
    .evaluate((body) => getComputedStyle(body).outlineStyle);
const isStyled = (page: Page): Promise<boolean> =>
  page
    .frameLocator('iframe')
    .getByRole('button', { name: 'Save', exact: true })
    .evaluate((button) => getComputedStyle(button).backgroundColor === 'rgb(79, 70, 229)');

const parts = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

describe('appearance', () => {
  test.each([
    ['#4f46e5', '#4f46e5'],
    ['rgb(79 70 229)', '#4f46e5'],
    ['hsl(243.4 75.4% 58.6%)', '#4f46e5'],
    ['oklch(0.511 0.23 276.97)', '#4f46e5'],
    ['oklch(0.6279 0.2577 29.23 / 50%)', '#ff8080'],
    ['RebeccaPurple', '#663399'],
  ])('takes %s as %s', async (colorPrimary, hex) => {
    const page = await open({ appearance: { colorPrimary } });
    const primary = await look(page, 'primary');
    const far = Math.max(...parts(primary).map((part, index) => Math.abs(part - (parts(hex)[index] ?? 0))));
    expect(far, `${primary} is not ${hex}`).toBeLessThanOrEqual(2);
    await page.context().close();
  });

  test('leaves out what is no token, and says so once for each on the console', async () => {
    const context = await browser.newContext();
    const warnings: string[] = [];
    context.on('console', (message: ConsoleMessage) => {
      if (message.type() === 'warning') warnings.push(message.text());
    });
    const page = await openHost(context, world, {
      appearance: { colorPrimary: 'var(--x)', colorText: 'notacolor', fontFamily: 'url(x)', borderRadius: '4px' },
    });
    expect(await look(page, 'primary')).toBe('#4f46e5');
    expect(await look(page, 'radius')).toBe('4px');
    const ours = warnings.filter((text) => text.startsWith('[connector-frame] appearance.'));
    const named = new Set(ours.map((text) => text.split(' ')[1]));
    expect(ours).toHaveLength(3);
    expect(named).toEqual(new Set(['appearance.colorPrimary', 'appearance.colorText', 'appearance.fontFamily']));
    await context.close();
  });

  test('follows the page from light to dark and back, unless a background decides', async () => {
    const page = await open({}, 'dark');
    expect([await look(page, 'surface'), await look(page, 'background')]).toEqual(['#14161c', 'transparent']);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(() => look(page, 'surface')).toBe('#ffffff');
    await page.context().close();

    const dark = await open({ appearance: { colorBackground: '#101010' } });
    expect([await look(dark, 'background'), await look(dark, 'color-scheme')]).toEqual(['#101010', 'dark']);
    await dark.context().close();
  });
});

describe('stylesheets', () => {
  test('of the host replace the look of the form', async () => {
    const page = await open({ stylesheets: [`${world.host}/form.css`] });
    await look(page, 'primary');
    await expect.poll(() => outline(page)).toBe('solid');
    expect(await isStyled(page)).toBe(false);
    expect(await heard(page)).toEqual([{ type: 'ready' }]);
    await page.context().close();
  });

  test.each([
    ['that is missing', (host: string) => [`${host}/form.css`, `${host}/missing.css`]],
    ['that is no style sheet', (host: string) => [`${host}/not.css`]],
    ['of another origin', () => ['https://example.com/form.css']],
    ['written into its address', () => ['data:text/css,body{outline:7px solid red}']],
    ['too many', (host: string) => Array.from({ length: 9 }, () => `${host}/form.css`)],
  ])('%s: the form keeps its look and tells the page', async (_, urls) => {
    const page = await open({ stylesheets: urls(world.host) });
    await expect
      .poll(async () => (await heard(page)).filter(({ code }) => code === 'stylesheet_failed'))
      .toHaveLength(1);
    await look(page, 'primary');
    expect([await outline(page), await isStyled(page)]).toEqual(['none', true]);
    await page.context().close();
  });
});
