import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, ConsoleMessage, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { callbacks, openHost } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';

let browser: Browser;
let world: World;

beforeAll(async () => {
  const extra = {
    '/form.css': { body: 'body { outline: 7px solid red }', headers: { 'content-type': 'text/css' } },
  };
  [browser, world] = await Promise.all([launchBrowser(), startWorld({}, extra)]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

/** Returns an inline style of the frame's root element once the form is shown. */
async function token(page: Page, name: string): Promise<string> {
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

// attack-init.test.ts covers the values and style sheets that the form rejects.

describe('appearance', () => {
  test('drops unknown tokens with one console warning each', async () => {
    const context = await browser.newContext();
    const warnings: string[] = [];
    context.on('console', (message: ConsoleMessage) => {
      if (message.type() === 'warning') warnings.push(message.text());
    });
    const page = await openHost(context, world, {
      appearance: { colorPrimary: 'var(--x)', colorText: 'notacolor', fontFamily: 'url(x)', borderRadius: '4px' },
    });
    expect(await token(page, 'primary')).toBe('#4f46e5');
    expect(await token(page, 'radius')).toBe('4px');
    const ours = warnings.filter((text) => text.startsWith('[connector-frame] appearance.'));
    const named = new Set(ours.map((text) => text.split(' ')[1]));
    expect(ours).toHaveLength(3);
    expect(named).toEqual(new Set(['appearance.colorPrimary', 'appearance.colorText', 'appearance.fontFamily']));
    await context.close();
  });

  test("follows the page's color scheme unless a background color is set", async () => {
    const page = await open({}, 'dark');
    expect([await token(page, 'surface'), await token(page, 'background')]).toEqual(['#14161c', 'transparent']);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(() => token(page, 'surface')).toBe('#ffffff');
    await page.context().close();

    const dark = await open({ appearance: { colorBackground: '#101010' } });
    expect([await token(dark, 'background'), await token(dark, 'color-scheme')]).toEqual(['#101010', 'dark']);
    await dark.context().close();
  });
});

describe('stylesheets', () => {
  test("of the host replace the form's styles", async () => {
    const page = await open({ stylesheets: [`${world.host}/form.css`] });
    await token(page, 'primary');
    await expect.poll(() => outline(page)).toBe('solid');
    expect(await isStyled(page)).toBe(false);
    expect(await callbacks(page)).toEqual([{ type: 'ready' }]);
    await page.context().close();
  });
});
