import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import type { Browser, Frame, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { mountCore, serveCoreHost, toldTo, type CoreHost } from '../support/core-host.js';
import { serve } from '../support/serve.js';

// Rows S08 and S09: who may speak, and what is listened to.

let browser: Browser;
let host: CoreHost;
let form: FakeFrameServer;
let stranger: { origin: string; close(): Promise<void> };
let page: Page;
let frame: Frame;

beforeAll(async () => {
  [browser, host, form, stranger] = await Promise.all([
    launchBrowser(),
    serveCoreHost(),
    serveFakeFrame({ ready: false }),
    serve({ '/': '<!doctype html><title>Stranger</title>' }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([host?.close(), form?.close(), stranger?.close()]);
});

beforeEach(async () => {
  page = await host.open(browser);
  await mountCore(page, { frameOrigin: form.frameOrigin });
  frame = await childOf(page.mainFrame(), 0);
});
afterEach(() => page.close());

async function childOf(parent: Frame, index: number): Promise<Frame> {
  await expect.poll(() => parent.childFrames()[index]?.url() || 'about:blank').not.toBe('about:blank');
  const child = parent.childFrames()[index];
  if (!child) throw new Error('no such frame');
  await child.waitForLoadState();
  return child;
}

/** Lets the window of `from` say something to the host page. */
const say = (from: Frame, ...messages: unknown[]) =>
  from.evaluate((messages) => {
    for (const message of messages) (top ?? self).postMessage(message, '*');
  }, messages);

/** The last word of the real form: once it is there, everything before it has been looked at. */
async function heardAll(): Promise<unknown[]> {
  await say(frame, { source: 'monad-embed', type: 'cancel' });
  await expect.poll(() => toldTo(page)).toContainEqual(['cancel']);
  return toldTo(page);
}

const source = 'monad-embed';
const valid = [
  { source, type: 'ready', version: 1 },
  { source, type: 'loaded' },
  { source, type: 'resize', height: 777 },
  { source, type: 'saved', connector: { id: 'con_evil' } },
  { source, type: 'error', code: 'save_failed', message: 'from nobody' },
  { source, type: 'session_request' },
];

async function insert(parent: Frame, address: string): Promise<Frame> {
  const index = parent.childFrames().length;
  await parent.evaluate((address) => {
    document.body.append(Object.assign(document.createElement('iframe'), { src: address }));
  }, address);
  return childOf(parent, index);
}

async function sandboxed(): Promise<Frame> {
  await page.evaluate((address) => {
    const iframe = document.createElement('iframe');
    iframe.setAttribute('sandbox', 'allow-scripts');
    document.body.append(Object.assign(iframe, { src: address }));
  }, form.frameOrigin);
  return childOf(page.mainFrame(), 1);
}

describe('valid messages of anyone else are not heard', () => {
  const senders: { name: string; sender: () => Promise<Frame> }[] = [
    { name: 'the page itself', sender: async () => page.mainFrame() },
    { name: 'a sibling of the same origin', sender: () => insert(page.mainFrame(), form.frameOrigin) },
    { name: 'a sibling of another origin', sender: () => insert(page.mainFrame(), stranger.origin) },
    { name: 'a frame inside the form, of its origin', sender: () => insert(frame, form.frameOrigin) },
    { name: 'a frame inside the form, of another origin', sender: () => insert(frame, stranger.origin) },
    { name: 'a sandboxed frame of the same origin', sender: sandboxed },
  ];

  test.each(senders)('$name', async ({ sender }) => {
    await say(await sender(), ...valid);
    expect(await heardAll()).toEqual([['cancel']]);
    expect(
      await page
        .locator('iframe')
        .first()
        .evaluate((iframe) => iframe.style.height),
    ).toBe('');
  });
});

test('its own window, gone to another origin, is refused and told once', async () => {
  const warnings: string[] = [];
  page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
  await frame.goto(stranger.origin);
  await say(frame, 'noise', { type: 'ready' }, null, ...valid, ...valid);
  await expect
    .poll(() => warnings)
    .toEqual([`Message from ${stranger.origin}, not ${new URL(form.frameOrigin).origin}`]);

  await frame.goto(`${form.frameOrigin}/?parentOrigin=${host.origin}`);
  expect(await heardAll()).toEqual([['cancel']]);
  expect(warnings).toHaveLength(1);
  expect(form.received).toEqual([]);
});

test('an init goes to the origin of the form and nowhere else', async () => {
  await frame.goto(stranger.origin);
  await frame.evaluate(() => {
    addEventListener('message', ({ data }) => Object.assign(globalThis, { leaked: data }));
  });
  await say(frame, valid[0]);
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(next)));
  expect(await frame.evaluate(() => 'leaked' in globalThis)).toBe(false);
});

describe('malformed messages of the form itself', () => {
  const long = 'x'.repeat(2_000);
  const malformed: unknown[] = [
    null,
    'ready',
    42,
    [],
    [source, 'ready'],
    {},
    { type: 'ready', version: 1 },
    { source: 'monad', type: 'ready', version: 1 },
    { source: [source], type: 'ready', version: 1 },
    { source },
    { source, type: 'ready' },
    { source, type: 'ready', version: '1' },
    { source, type: 'ready', version: null },
    { source, type: ['ready'], version: 1, height: null },
    { source, type: 'READY', version: 1 },
    { source, type: 'init', version: 1 },
    { source, type: 'constructor' },
    { source, type: 'toString' },
    { source, type: '__proto__' },
    { source, type: 'resize' },
    { source, type: 'resize', height: '500' },
    { source, type: 'resize', height: null },
    { source, type: 'resize', height: { valueOf: 500 } },
    { source, type: 'saved' },
    { source, type: 'saved', connector: null },
    { source, type: 'saved', connector: 'con_1' },
    { source, type: 'saved', connector: {} },
    { source, type: 'saved', connector: { id: 7 } },
    { source, type: 'saved', connector: { id: 'con_1', name: 7 } },
    { source, type: 'saved', connector: { id: 'con_1', name: null } },
    { source, type: 'saved', connector: { id: long } },
    { source, type: 'saved', connector: { id: 'con_1', name: long } },
    { source, type: 'error' },
    { source, type: 'error', message: 'no code' },
    { source, type: 'error', message: { html: '<b>' }, code: 'x' },
    { source, type: 'error', message: long, code: 'x' },
    { source, type: 'error', message: 'x', code: long },
  ];

  test('reach no callback', async () => {
    await say(frame, ...malformed);
    await frame.evaluate((source) => {
      const message = (height: number) => ({ source, type: 'resize', height });
      for (const height of [NaN, Infinity, -Infinity]) parent.postMessage(message(height), '*');
      parent.postMessage(new Map([['source', source]]), '*');
      parent.postMessage(new Blob([source]), '*');
      parent.postMessage(JSON.parse(`{"__proto__": {"source": "${source}", "type": "ready", "version": 1}}`), '*');
    }, source);
    expect(await heardAll()).toEqual([['cancel']]);
    expect(await page.locator('iframe').evaluate((iframe) => iframe.style.height)).toBe('');
  });

  test('only known fields reach a callback', async () => {
    const connector = { id: 'con_1', name: 'Okta', secret: 's3cret', __proto__: null };
    await say(frame, { source, type: 'saved', connector, extra: true });
    expect(await heardAll()).toEqual([['save', { id: 'con_1', name: 'Okta' }], ['cancel']]);
  });

  test('thousands of them, and megabytes, are cheap', async () => {
    const spent = await frame.evaluate((source) => {
      const huge = 'x'.repeat(8_000_000);
      parent.postMessage({ source, type: 'error', message: huge, code: 'x' }, '*');
      parent.postMessage({ source, type: 'saved', connector: { id: huge } }, '*');
      const start = performance.now();
      for (let count = 0; count < 5_000; count += 1) parent.postMessage({ source, type: 'nothing', count }, '*');
      return performance.now() - start;
    }, source);
    expect(spent).toBeLessThan(5_000);
    expect(await heardAll()).toEqual([['cancel']]);
  });
});
