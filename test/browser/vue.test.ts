import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { serveAdapterHost, type AdapterHost } from '../support/adapter-host.js';
import { launchBrowser } from '../support/browser.js';
import { longOr } from '../support/long.js';
import { runOnServer } from '../support/run-on-server.js';
import { vues } from '../support/vue.js';
import { press } from '../support/press.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const form = (page: Page) => page.frameLocator('iframe');
const name = (page: Page) => form(page).getByLabel('Name', { exact: true });
const events = (page: Page) => page.evaluate(() => vuePage.events);
const frames = (page: Page) => page.frames().length - 1;

describe.each(longOr(vues, vues.slice(-1)))('Vue $vue', ({ vue, alias }) => {
  let host: AdapterHost;
  beforeAll(async () => {
    host = await serveAdapterHost('vue-page', alias, async (options) => {
      const code = `
        import { renderToString } from 'vue/server-renderer';
        import { makeApp } from './vue-page.js';
        export const render = (given) => renderToString(makeApp(given));`;
      const { render } = await runOnServer<{ render(given: object): Promise<string> }>(code, alias);
      return render({ ...options, fetchSession: true });
    });
  });
  afterAll(() => host?.close());

  /** Opens a page and waits until its form is shown. */
  async function open(
    more: Record<string, unknown> = {},
    defaults?: Record<string, unknown>,
    label = 'Organization URL',
  ) {
    const opened = await host.open(browser);
    const given = { ...host.options, fetchSession: true, ...more };
    await opened.page.evaluate(([given, defaults]) => vuePage.mount(given, defaults && { defaults }), [
      given,
      defaults,
    ] as const);
    await form(opened.page).getByLabel(label).waitFor();
    return { ...opened, given };
  }

  test('emits payloads for a save without warnings', async () => {
    const { page, sessions, console } = await open();
    expect(await page.evaluate(() => vuePage.version.slice(0, 3))).toBe(vue);
    await name(page).fill('');
    await name(page).pressSequentially('Okta production');
    await form(page).getByLabel('Organization URL').fill('https://acme.okta.com');
    await form(page).getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
    await press(form(page).getByRole('button', { name: 'Save', exact: true }));
    await expect.poll(() => events(page)).toHaveLength(2);
    const id = expect.stringMatching(/^[\w-]{8,}$/);
    expect(await events(page)).toEqual([
      ['', 'ready'],
      ['', 'save', { id, name: 'Okta production' }],
    ]);
    expect([sessions(), console]).toEqual([1, []]);
    await page.close();
  });

  test('keeps the form and its input over fifty renders with new listeners, and calls the latest', async () => {
    const { page, given, sessions } = await open();
    await name(page).fill('Typed before');
    await page.evaluate(async (given) => {
      for (let render = 1; render <= 50; render += 1) {
        vuePage.update({ ...given, appearance: { colorPrimary: '#123456' } }, `render ${render}`);
        await new Promise((resolve) => setTimeout(resolve));
      }
    }, given);
    expect(await name(page).inputValue()).toBe('Typed before');
    await page.evaluate(() => document.querySelector('connector-frame')?.dispatchEvent(new Event('cancel')));
    expect((await events(page)).at(-1)).toEqual(['render 50', 'cancel']);
    expect([frames(page), sessions()]).toEqual([1, 1]);
    await page.close();
  });

  test('remounts for another type, in one frame, and emits errors with their code', async () => {
    const { page, given } = await open();
    await page.evaluate((given) => vuePage.update({ ...given, typeId: 'okta-users' }), given);
    await expect.poll(async () => (await events(page)).map(([, what]) => what)).toEqual(['ready', 'ready']);
    expect(frames(page)).toBe(1);
    await page.evaluate((given) => vuePage.update({ ...given, typeId: 'no-such-type' }), given);
    await expect.poll(async () => (await events(page)).at(-1)).toEqual(['', 'error', 'type_not_found']);
    await page.close();
  });

  test('treats a bare flag as true, resets removed props and leaves absent props alone', async () => {
    const { page, given } = await open({ displayName: 'Your Okta', isNameEditable: '' });
    const read = () =>
      page.evaluate(() => {
        const element = document.querySelector('connector-frame');
        return [element?.displayName, element?.isNameEditable, element?.isDescriptionEditable, element?.preload];
      });
    const [, , untouchedFlag, untouchedPreload] = await page.evaluate(() => {
      const element = document.createElement('connector-frame');
      return [element.displayName, element.isNameEditable, element.isDescriptionEditable, element.preload];
    });
    expect(await read()).toEqual(['Your Okta', true, untouchedFlag, untouchedPreload]);
    await page.evaluate((given) => vuePage.update({ ...given, displayName: undefined }), given);
    await expect.poll(async () => (await read())[0] ?? null).toBeNull();
    await page.close();
  });

  test("uses the plugin's defaults for absent props without writing attributes", async () => {
    const { page } = await open(
      { kind: 'input', frameOrigin: undefined, apiBase: undefined, isNameEditable: undefined },
      {
        frameOrigin: `${host.world.service.url}/embed`,
        apiBase: host.world.service.url,
        isNameEditable: true,
        configMetaOverrides: { settings: { org_url: { name: 'Address of your Okta' } } },
      },
      'Address of your Okta',
    );
    await name(page).waitFor();
    const attributes = await page.evaluate(() => document.querySelector('connector-frame')?.getAttributeNames());
    expect(attributes).toEqual(['class']);
    await page.close();
  });

  test('exposes the element and its methods as template ref', async () => {
    const { page } = await open();
    expect(await page.evaluate(() => vuePage.ref.value?.element === document.querySelector('connector-frame'))).toBe(
      true,
    );
    await page.evaluate(() => vuePage.ref.value?.save());
    await form(page).getByText('Enter the organization URL').first().waitFor();
    await page.evaluate(() => vuePage.ref.value?.cancel());
    await expect.poll(() => events(page)).toContainEqual(['', 'cancel']);
    await page.evaluate(() => vuePage.ref.value?.reload());
    await expect.poll(async () => (await events(page)).at(-1)).toEqual(['', 'ready']);
    await page.close();
  });

  test("renders the page's loading and error slots", async () => {
    const { page } = await host.open(browser);
    const link = page.getByRole('link', { name: 'Connect by mail' });
    await page.evaluate(
      (given) => {
        globalThis.fetchSession = () =>
          new Promise((_, refuse) => document.addEventListener('click', () => refuse(new Error('Sign in first.'))));
        vuePage.mount(given);
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

  test('removes the frame on unmount and emits nothing afterwards', async () => {
    const { page } = await open();
    const before = await events(page);
    await page.evaluate(() => vuePage.unmount());
    await expect.poll(() => frames(page)).toBe(0);
    expect(await page.evaluate(() => [vuePage.ref.value, document.querySelector('#root')?.innerHTML])).toEqual([
      null,
      '',
    ]);
    expect(await events(page)).toEqual(before);
    await page.close();
  });

  test('hydrates server-rendered fallback content into one form without warnings', async () => {
    const { page, console, sessions } = await host.open(browser, '/rendered');
    await page.getByRole('link', { name: 'Connect by mail' }).waitFor();
    expect([frames(page), sessions()]).toEqual([0, 0]);
    await page.evaluate((given) => vuePage.hydrate({ ...given, fetchSession: true }), host.options);
    await form(page).getByLabel('Organization URL').waitFor();
    expect([frames(page), sessions(), await events(page)]).toEqual([1, 1, [['hydrated', 'ready']]]);
    expect(console).toEqual([]);
    await page.close();
  });
});
