import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import { engines, launchEngine } from '../support/engines/engines.js';
import type { DrivenBrowser } from '../support/engines/driven.js';
import { serveCoreHost, type CoreHost } from '../support/core-host.js';

// Firefox supports moveBefore too, but dispatches no event whose source is a window of another
// process.

const missing = engines.some((engine) => engine.name === 'Firefox' && engine.missing !== undefined);

describe.skipIf(missing)('a preloaded frame, in Firefox', () => {
  let browser: DrivenBrowser;
  let host: CoreHost;
  let form: FakeFrameServer;

  beforeAll(async () => {
    [browser, host, form] = await Promise.all([launchEngine('Firefox'), serveCoreHost(), serveFakeFrame()]);
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([host?.close(), form?.close()]);
  });

  test.each([
    { name: 'is the one that is mounted', moves: true },
    { name: 'makes room for another where it cannot be moved', moves: false },
  ])('$name', async ({ moves }) => {
    const page = await browser.newPage();
    await page.goto(host.origin);
    await expect.poll(() => page.evaluate(() => 'coreHost' in globalThis)).toBe(true);
    const same = await page.evaluate(
      async ({ frameOrigin, moves }) => {
        if (!moves) Reflect.deleteProperty(Element.prototype, 'moveBefore');
        const listens = new Promise((resolve) => addEventListener('message', resolve, { once: true }));
        coreHost.preloadConnectorFrame({ frameOrigin });
        const warm = document.querySelector('iframe');
        await listens;
        await new Promise((later) => setTimeout(later));
        coreHost.mount({ frameOrigin });
        while (coreHost.callbacks.length === 0) await new Promise((later) => setTimeout(later, 20));
        return document.querySelector('#box > iframe') === warm;
      },
      { frameOrigin: form.frameOrigin, moves },
    );
    expect(same).toBe(moves);
    expect(await page.evaluate(() => coreHost.callbacks)).toEqual([['ready']]);
    await expect.poll(() => page.evaluate(() => document.querySelectorAll('iframe').length)).toBe(1);
    await page.close();
  });
});
