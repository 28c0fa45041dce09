import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveFakeFrame, type FakeFrameOptions } from '@connector-frame/core/testing';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { mountCore, serveCoreHost, callbacksOf, type CoreHost } from '../support/core-host.js';

let browser: Browser;
let host: CoreHost;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveCoreHost()]);
});
afterAll(async () => {
  await browser?.close();
  await host?.close();
});

/** Mounts a fake form on a page. `told` returns the callbacks so far. */
async function withForm(form: FakeFrameOptions, options: Record<string, unknown> = {}) {
  const frame = await serveFakeFrame(form);
  const page = await host.open(browser);
  await mountCore(page, { frameOrigin: frame.frameOrigin, ...options });
  return { frame, page, callbacks: () => callbacksOf(page), close: () => Promise.all([page.close(), frame.close()]) };
}

const required = {
  source: 'monad-embed',
  type: 'init',
  version: 1,
  sessionToken: 'token-1',
  organizationId: 'org_1',
  typeId: 'okta-systemlog',
  kind: 'input',
  apiBase: 'https://connect.test',
};

test('init contains the given options and nothing else', async () => {
  const { frame, callbacks, close } = await withForm({});
  expect(await frame.waitFor('init')).toEqual(required);
  await expect.poll(callbacks).toEqual([['ready']]);
  await close();
});

test('init contains every option as plain data', async () => {
  const options = {
    kind: 'output',
    existingId: 'con_1',
    displayName: 'Splunk Cloud',
    name: 'Ours',
    description: '',
    isNameEditable: true,
    isDescriptionEditable: false,
    synthetic: true,
    appearance: { colorPrimary: '#06f' },
    stylesheets: ['/form.css'],
    configMetaOverrides: { settings: { host: { name: 'Server', children: { port: { placeholder: '1' } } } } },
    apiBase: 'https://api.example.com',
  };
  const { frame, page, close } = await withForm({}, options);
  expect(await frame.waitFor('init')).toEqual({ ...required, ...options });
  expect(await page.locator('iframe').getAttribute('title')).toBe('Splunk Cloud');
  await close();
});

test('options may contain proxies, functions and nulls', async () => {
  const frame = await serveFakeFrame();
  const page = await host.open(browser);
  await page.evaluate((frameOrigin) => {
    const { mount } = coreHost;
    const appearance = new Proxy({ colorText: '#111', toString: () => 'x' }, {});
    const reactive = new Proxy({ frameOrigin, appearance, existingId: null, name: undefined }, {});
    mount(reactive);
  }, frame.frameOrigin);
  expect(await frame.waitFor('init')).toEqual({ ...required, appearance: { colorText: '#111' } });
  await Promise.all([page.close(), frame.close()]);
});

test('the frame URL does not contain the token', async () => {
  const { page, close } = await withForm({});
  const addresses = page.frames().map((frame) => frame.url());
  expect(addresses).toHaveLength(2);
  expect(addresses.join(' ')).not.toContain('token');
  await close();
});

test('user actions call the callbacks', async () => {
  const { page, callbacks, close } = await withForm({}, { name: 'Okta of Acme' });
  const form = page.frameLocator('iframe');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('button', { name: 'Fail' }).click();
  await form.getByRole('button', { name: 'Cancel' }).click();
  await expect
    .poll(callbacks)
    .toEqual([
      ['ready'],
      ['save', { id: 'con_fake', name: 'Okta of Acme' }],
      ['error', 'save_failed', 'Saving failed', 'ConnectorFrameError', true],
      ['cancel'],
    ]);
  await close();
});

const heights: { sent: number; becomes: string }[] = [
  { sent: 640, becomes: '640px' },
  { sent: 412.5, becomes: '412.5px' },
  { sent: 0, becomes: '0px' },
  { sent: -50, becomes: '0px' },
  { sent: 1e9, becomes: '20000px' },
];

test.each(heights)('a height of $sent becomes $becomes', async ({ sent, becomes }) => {
  const { page, close } = await withForm({ afterInit: [{ type: 'resize', height: sent }] });
  const height = () => page.locator('iframe').evaluate((iframe) => iframe.style.height);
  await expect.poll(height).toBe(becomes);
  await close();
});

test('a form that announces loading is ready only once it has loaded', async () => {
  const error = { type: 'error', code: 'type_not_found', message: 'There is no such type' } as const;
  const failing = await withForm({ afterInit: [error] });
  await expect
    .poll(failing.callbacks)
    .toEqual([['error', 'type_not_found', error.message, 'ConnectorFrameError', true]]);
  await failing.close();
});

test('a form of another service may send no code, a null name and long texts', async () => {
  const message = `Okta rejected the token: ${'x'.repeat(60_000)}`;
  const { callbacks, close } = await withForm({
    afterInit: [
      { type: 'saved', connector: { id: 'con_1', name: null } },
      { type: 'error', message },
      { type: 'error', message: 'short', code: null },
    ],
  });
  // Callbacks are read as JSON, which has no `undefined`.
  await expect.poll(callbacks).toEqual([
    ['save', { id: 'con_1' }],
    ['error', 'frame_error', message, 'ConnectorFrameError', true],
    ['error', 'frame_error', 'short', 'ConnectorFrameError', true],
  ]);
  await close();
});

test('a reloaded form gets a new init', async () => {
  const { frame, page, callbacks, close } = await withForm({});
  await expect.poll(callbacks).toEqual([['ready']]);
  await page.frames()[1]?.evaluate(() => location.reload());
  await expect.poll(callbacks).toEqual([['ready'], ['ready']]);
  // The page receives `ready` before the frame has sent its init to this test.
  await expect.poll(() => frame.received).toEqual([required, required]);
  await close();
});

test("ten frames on one page do not receive each other's messages", async () => {
  const frame = await serveFakeFrame();
  const page = await host.open(browser);
  for (let index = 0; index < 10; index += 1) {
    await mountCore(page, { frameOrigin: frame.frameOrigin, name: `Connector ${index}` });
  }
  await page.frameLocator('iframe >> nth=7').getByRole('button', { name: 'Save' }).click();
  const saves = async () => (await callbacksOf(page)).filter(([callback]) => callback === 'save');
  await expect.poll(saves).toEqual([['save', { id: 'con_fake', name: 'Connector 7' }]]);
  await Promise.all([page.close(), frame.close()]);
});

test('an exception in a callback is reported and later messages are still handled', async () => {
  const frame = await serveFakeFrame();
  const page = await host.open(browser);
  await page.evaluate((frameOrigin) => {
    const { mount, callbacks } = coreHost;
    const fail = (callback: string) => () => {
      callbacks.push([callback]);
      throw new Error(`${callback} threw`);
    };
    const failing = { onReady: fail('onReady'), onSave: fail('onSave'), onCancel: fail('onCancel') };
    mount({ frameOrigin, ...failing, onError: fail('onError') });
  }, frame.frameOrigin);
  const form = page.frameLocator('iframe');
  for (const name of ['Fail', 'Save', 'Cancel']) await form.getByRole('button', { name }).click();
  await expect
    .poll(() => callbacksOf(page))
    .toEqual(
      ['onReady', 'onError', 'onSave', 'onCancel'].flatMap((name) => [
        [name],
        ['uncaught', `Uncaught Error: ${name} threw`],
      ]),
    );
  await Promise.all([page.close(), frame.close()]);
});

test('callbacks keep their this, and errors without onError go to the console', async () => {
  const frame = await serveFakeFrame();
  const page = await host.open(browser);
  const logged: string[] = [];
  page.on('console', (message) => message.type() === 'error' && logged.push(message.text()));
  await page.evaluate((frameOrigin) => {
    const { mount, callbacks } = coreHost;
    mount({
      frameOrigin,
      page: 'settings',
      onCancel(this: { page: string }) {
        callbacks.push([this.page]);
      },
      onError: undefined,
    });
  }, frame.frameOrigin);
  const form = page.frameLocator('iframe');
  await form.getByRole('button', { name: 'Cancel' }).click();
  await form.getByRole('button', { name: 'Fail' }).click();
  await expect.poll(() => callbacksOf(page)).toContainEqual(['settings']);
  await expect.poll(() => logged.join()).toContain('Saving failed');
  await Promise.all([page.close(), frame.close()]);
});
