import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import { mountCore, serveCoreHost, callbacksOf, type CoreHost } from '../support/core-host.js';
import { childFrame, navigate } from '../support/engines/child-frame.js';
import type { DrivenFrame, DrivenPage } from '../support/engines/driven.js';
import { inEngines } from '../support/engines/in-engines.js';
import { serve } from '../support/serve.js';

// The host's side: which window the SDK listens to, and which messages it accepts.

let host: CoreHost;
let form: FakeFrameServer;
let otherSite: { origin: string; close(): Promise<void> };

beforeAll(async () => {
  [host, form, otherSite] = await Promise.all([
    serveCoreHost({ hostname: '127.0.0.1' }),
    serveFakeFrame({ ready: false }),
    serve({ '/': { body: '<!doctype html><title>Stranger</title>', headers: embeddable } }),
  ]);
});
afterAll(() => Promise.all([host?.close(), form?.close(), otherSite?.close()]));

// The form sends these headers, and would block a frame without them.
const embeddable = {
  'cross-origin-embedder-policy': 'credentialless',
  'cross-origin-resource-policy': 'cross-origin',
};

const source = 'monad-embed';
const valid = [
  { source, type: 'ready', version: 1 },
  { source, type: 'loaded' },
  { source, type: 'resize', height: 777 },
  { source, type: 'saved', connector: { id: 'con_evil' } },
  { source, type: 'error', code: 'save_failed', message: 'from nobody' },
  { source, type: 'session_request' },
];

/**
 * Sends messages to the host page from one of its windows, serialized as text because BiDi does not
 * transfer `__proto__`.
 */
const say = (from: DrivenPage | DrivenFrame, ...messages: unknown[]): Promise<void> =>
  from.evaluate((text) => {
    for (const message of JSON.parse(text)) (top ?? self).postMessage(message, '*');
  }, JSON.stringify(messages));

/** Inserts an iframe into a document. */
async function insert(parent: DrivenPage | DrivenFrame, address: string, sandbox?: string): Promise<DrivenFrame> {
  const index = await parent.evaluate(
    ({ address, sandbox }) => {
      const iframe = document.createElement('iframe');
      if (sandbox) iframe.setAttribute('sandbox', sandbox);
      iframe.src = address;
      document.body.append(iframe);
      return document.querySelectorAll('iframe').length - 1;
    },
    { address, sandbox },
  );
  return childFrame(parent, index);
}

inEngines('the SDK on a page', ['Chromium'], ({ browser }) => {
  let page: DrivenPage;
  let frame: DrivenFrame;

  beforeEach(async () => {
    page = await host.open(browser());
    await mountCore(page, { frameOrigin: form.frameOrigin });
    frame = await childFrame(page, 0);
    await page.evaluate(() => {
      Object.assign(globalThis, { arrived: 0 });
      addEventListener('message', () => (Object(globalThis).arrived += 1));
    });
  });
  afterEach(() => page.close());

  /**
   * Returns the callbacks up to a final message from the real form. By then all earlier messages
   * have been handled.
   */
  async function callbacksBeforeCancel(): Promise<unknown[]> {
    await say(frame, { source, type: 'cancel' });
    await expect.poll(() => callbacksOf(page)).toContainEqual(['cancel']);
    return callbacksOf(page);
  }
  /** Waits until the page has received this many messages from any sender. */
  const arrived = (count: number): Promise<void> =>
    expect.poll(() => page.evaluate(() => Object(globalThis).arrived)).toBeGreaterThanOrEqual(count);
  const height = (): Promise<string | undefined> => page.evaluate(() => document.querySelector('iframe')?.style.height);

  describe('S08: valid messages from any other window are ignored', () => {
    const senders: { name: string; sender: () => Promise<DrivenPage | DrivenFrame> }[] = [
      { name: 'the page itself', sender: async () => page },
      { name: 'a sibling of the same origin', sender: () => insert(page, form.frameOrigin) },
      { name: 'a sibling of another origin', sender: () => insert(page, otherSite.origin) },
      { name: 'a frame inside the form, of its origin', sender: () => insert(frame, form.frameOrigin) },
      { name: 'a frame inside the form, of another origin', sender: () => insert(frame, otherSite.origin) },
      { name: 'a sandboxed frame of the same origin', sender: () => insert(page, form.frameOrigin, 'allow-scripts') },
    ];

    test.each(senders)('$name', async ({ sender }) => {
      await say(await sender(), ...valid);
      await arrived(valid.length);
      expect(await callbacksBeforeCancel()).toEqual([['cancel']]);
      expect(await height()).toBe('');
    });
  });

  describe("S08: the form's window after navigation to another origin", () => {
    test('is ignored, with one warning', async () => {
      await page.evaluate(() => {
        const warnings: string[] = [];
        Object.assign(globalThis, { warnings });
        console.warn = (...words: unknown[]) => warnings.push(words.join(' '));
      });
      const warnings = (): Promise<string[]> => page.evaluate(() => Object(globalThis).warnings);
      await navigate(frame, otherSite.origin);
      await say(frame, 'noise', { type: 'ready' }, null, ...valid, ...valid);
      await expect
        .poll(warnings)
        .toEqual([`Message from ${otherSite.origin}, not ${new URL(form.frameOrigin).origin}`]);

      await navigate(frame, `${form.frameOrigin}/?parentOrigin=${host.origin}`);
      expect(await callbacksBeforeCancel()).toEqual([['cancel']]);
      expect(await warnings()).toHaveLength(1);
      expect(form.received).toEqual([]);
    });

    test('gets no init', async () => {
      await navigate(frame, otherSite.origin);
      await frame.evaluate(() => {
        const got: unknown[] = [];
        Object.assign(globalThis, { got });
        addEventListener('message', ({ data }) => got.push(data));
      });
      await say(frame, valid[0]);
      await arrived(1);
      await page.evaluate(() => document.querySelector('iframe')?.contentWindow?.postMessage('the last', '*'));
      await expect.poll(() => frame.evaluate(() => Object(globalThis).got)).toEqual(['the last']);
    });
  });

  describe('S09: malformed messages from the form', () => {
    const long = 'x'.repeat(65_537);
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
      { source, type: 'saved', connector: { id: long } },
      { source, type: 'saved', connector: { id: 'con_1', name: long } },
      { source, type: 'error' },
      { source, type: 'error', message: null },
      { source, type: 'error', message: { html: '<b>' }, code: 'x' },
      { source, type: 'error', message: long, code: 'x' },
      { source, type: 'error', message: 'x', code: long },
      { source, type: 'error', message: 'x', code: 7 },
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
      expect(await callbacksBeforeCancel()).toEqual([['cancel']]);
      expect(await height()).toBe('');
    });

    test('callbacks receive known fields only', async () => {
      const connector = { id: 'con_1', name: 'Okta', secret: 's3cret', __proto__: null };
      await say(frame, { source, type: 'saved', connector, extra: true });
      expect(await callbacksBeforeCancel()).toEqual([['save', { id: 'con_1', name: 'Okta' }], ['cancel']]);
    });

    test('thousands of them, megabytes long, do not block the next valid message', async () => {
      await frame.evaluate((source) => {
        const huge = 'x'.repeat(8_000_000);
        parent.postMessage({ source, type: 'error', message: huge, code: 'x' }, '*');
        parent.postMessage({ source, type: 'saved', connector: { id: huge } }, '*');
        for (let count = 0; count < 5_000; count += 1) parent.postMessage({ source, type: 'nothing', count }, '*');
      }, source);
      expect(await callbacksBeforeCancel()).toEqual([['cancel']]);
    });
  });
});
