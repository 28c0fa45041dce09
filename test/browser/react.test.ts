import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { serveAdapterHost, type AdapterHost } from '../support/adapter-host.js';
import { launchBrowser } from '../support/browser.js';
import { longOr } from '../support/long.js';
import { reacts } from '../support/react.js';
import { runOnServer } from '../support/run-on-server.js';
import { press } from '../support/press.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const form = (page: Page) => page.frameLocator('iframe');
const name = (page: Page) => form(page).getByLabel('Name', { exact: true });
const callbacks = (page: Page) => page.evaluate(() => reactPage.callbacks);
const frames = (page: Page) => page.frames().length - 1;

describe.each(longOr(reacts, reacts.slice(-1)))('React $react', ({ react, alias }) => {
  let host: AdapterHost;
  beforeAll(async () => {
    host = await serveAdapterHost('react-page', alias, async (options) => {
      const code = `
        import { createElement } from 'react';
        import { renderToString } from 'react-dom/server';
        import { View } from './react-page.js';
        export const render = (given) => renderToString(createElement(View, { given }));`;
      const { render } = await runOnServer<{ render(given: object): string }>(code, alias);
      return render({ ...options, fetchSession: true });
    });
  });
  afterAll(() => host?.close());

  /** Opens a page and waits until its form is shown. */
  async function open(more: Record<string, unknown> = {}, how: { label?: string; strict?: boolean } = {}) {
    const opened = await host.open(browser);
    const given = { ...host.options, fetchSession: true, ...more };
    await opened.page.evaluate(([given, how]) => reactPage.render(given, how), [given, how] as const);
    await form(opened.page).getByLabel('Organization URL').waitFor();
    return { ...opened, given };
  }

  test('passes payloads, not events, to the callbacks of a save', async () => {
    const { page, sessions } = await open();
    expect(await page.evaluate(() => reactPage.version.split('.')[0])).toBe(react);
    await name(page).fill('');
    await name(page).pressSequentially('Okta production');
    await form(page).getByLabel('Organization URL').fill('https://acme.okta.com');
    await form(page).getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
    await press(form(page).getByRole('button', { name: 'Save', exact: true }));
    await expect.poll(() => callbacks(page)).toHaveLength(2);
    const id = expect.stringMatching(/^[\w-]{8,}$/);
    expect(await callbacks(page)).toEqual([
      ['', 'ready'],
      ['', 'save', { id, name: 'Okta production' }],
    ]);
    expect(sessions()).toBe(1);
    await page.close();
  });

  test('calls onCancel without arguments and onError with its code', async () => {
    const { page, given } = await open();
    await form(page).getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => callbacks(page)).toContainEqual(['', 'cancel']);
    await page.evaluate((given) => reactPage.render({ ...given, typeId: 'no-such-type' }), given);
    await expect.poll(async () => (await callbacks(page)).at(-1)).toEqual(['', 'error', 'type_not_found']);
    await page.close();
  });

  test('mounts one frame and one session in StrictMode', async () => {
    const { page, sessions, console } = await open({}, { strict: true });
    expect([frames(page), await page.locator('iframe').count(), sessions()]).toEqual([1, 1, 1]);
    expect(await callbacks(page)).toEqual([['', 'ready']]);
    expect(console).toEqual([]);
    await page.close();
  });

  test('keeps the form and its input over fifty renders with new callbacks, and calls the latest', async () => {
    const { page, given, sessions } = await open({}, { label: 'first' });
    await name(page).fill('Typed before');
    await page.evaluate(async (given) => {
      for (let render = 1; render <= 50; render += 1) {
        reactPage.render({ ...given, appearance: { colorPrimary: '#123456' } }, { label: `render ${render}` });
        await new Promise(requestAnimationFrame);
      }
    }, given);
    expect(await name(page).inputValue()).toBe('Typed before');
    await form(page).getByRole('button', { name: 'Cancel' }).click();
    await form(page).getByRole('button', { name: 'Discard' }).click();
    await expect.poll(async () => (await callbacks(page)).at(-1)).toEqual(['render 50', 'cancel']);
    expect([frames(page), sessions(), (await callbacks(page)).filter(([, what]) => what === 'ready').length]).toEqual([
      1, 1, 1,
    ]);
    await page.close();
  });

  test('requests a rejected session once even if the error causes renders', async () => {
    const { page } = await host.open(browser);
    const given = { ...host.options, fetchSession: true, appearance: { colorPrimary: '#123456' }, stylesheets: [] };
    const iframe = await page.evaluateHandle(async (given) => {
      globalThis.fetchSession = () =>
        new Promise((_, refuse) =>
          addEventListener('message', () => refuse(new Error('Sign in first.')), { once: true }),
        );
      reactPage.render(given);
      while (reactPage.callbacks.length === 0) await new Promise(requestAnimationFrame);
      return reactPage.ref.current?.shadowRoot?.querySelector('iframe');
    }, given);
    expect(await callbacks(page)).toEqual([['', 'error', 'session_failed']]);
    const after = await page.evaluateHandle(async (given) => {
      for (let render = 0; render < 5; render += 1) {
        reactPage.render(structuredClone(given));
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
      }
      return reactPage.ref.current?.shadowRoot?.querySelector('iframe');
    }, given);
    expect(
      await page.evaluate(([before, after]) => before === after && before !== null, [iframe, after] as const),
    ).toBe(true);
    await page.close();
  });

  test('remounts for another type, in one frame', async () => {
    const { page, given } = await open();
    await page.evaluate((given) => reactPage.render({ ...given, typeId: 'okta-users' }), given);
    await expect.poll(async () => (await callbacks(page)).length).toBe(2);
    expect([frames(page), (await callbacks(page)).map(([, what]) => what)]).toEqual([1, ['ready', 'ready']]);
    await page.close();
  });

  test('the ref is the element with its methods', async () => {
    const { page } = await open();
    expect(await page.evaluate(() => reactPage.ref.current === document.querySelector('connector-frame'))).toBe(true);
    await page.evaluate(() => reactPage.ref.current?.save());
    await form(page).getByText('Enter the organization URL').first().waitFor();
    await page.evaluate(() => reactPage.ref.current?.cancel());
    await expect.poll(() => callbacks(page)).toContainEqual(['', 'cancel']);
    await page.close();
  });

  test("renders the page's loading and error content", async () => {
    const { page } = await host.open(browser);
    const link = page.getByRole('link', { name: 'Connect by mail' });
    await page.evaluate(
      (given) => {
        globalThis.fetchSession = () =>
          new Promise((_, refuse) => document.addEventListener('click', () => refuse(new Error('Sign in first.'))));
        reactPage.render(given);
      },
      { ...host.options, fetchSession: true },
    );
    await page.getByText('One moment').waitFor();
    expect(await link.isVisible()).toBe(false);
    await page.mouse.click(5, 5);
    await page.getByText('That did not work').waitFor();
    expect([await link.isVisible(), await page.getByText('One moment').isVisible()]).toEqual([false, false]);
    await page.close();
  });

  test('removes the frame on unmount and calls nothing afterwards', async () => {
    const { page } = await open();
    const before = await callbacks(page);
    await page.evaluate(() => reactPage.unmount());
    await expect.poll(() => frames(page)).toBe(0);
    expect(await page.evaluate(() => [reactPage.ref.current, document.querySelector('#root')?.innerHTML])).toEqual([
      null,
      '',
    ]);
    expect(await callbacks(page)).toEqual(before);
    await page.close();
  });

  test('hydrates server-rendered fallback content into one form without warnings', async () => {
    const { page, console, sessions } = await host.open(browser, '/rendered');
    // Defined but not yet hydrated: the element waits and reports nothing.
    await page.getByRole('link', { name: 'Connect by mail' }).waitFor();
    expect([frames(page), sessions()]).toEqual([0, 0]);
    await page.evaluate((given) => reactPage.hydrate({ ...given, fetchSession: true }), host.options);
    await form(page).getByLabel('Organization URL').waitFor();
    expect([frames(page), sessions(), await callbacks(page)]).toEqual([1, 1, [['hydrated', 'ready']]]);
    expect(console).toEqual([]);
    await page.close();
  });
});
