import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeFrameHtml, serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { mountCore, serveCoreHost, callbacksOf, type CoreHostOptions } from '../support/core-host.js';
import { serve } from '../support/serve.js';

// A form that fails to load reports exactly one error with its cause.

let browser: Browser;
let form: FakeFrameServer;

beforeAll(async () => {
  [browser, form] = await Promise.all([launchBrowser(), serveFakeFrame()]);
});
afterAll(async () => {
  await browser?.close();
  await form?.close();
});

async function withHost(options: CoreHostOptions, run: (page: Page, origin: string) => Promise<void>): Promise<void> {
  const host = await serveCoreHost(options);
  try {
    const page = await host.open(browser);
    await run(page, host.origin);
    await page.close();
  } finally {
    await host.close();
  }
}

const policy = (text: string): CoreHostOptions => ({ headers: { 'content-security-policy': text } });
const failure = (code: string, message: string) => [['error', code, message, 'ConnectorFrameError', true]];
const originOf = (address: string) => new URL(address).origin;

/** Waits two animation frames, so that any further callbacks can run. */
const settle = (page: Page) =>
  page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));

describe('a page policy that blocks the form is reported at once, with the directive to add (R07)', () => {
  const blocking: { name: string; host: CoreHostOptions }[] = [
    { name: 'frame-src', host: policy("frame-src 'none'") },
    { name: 'child-src', host: policy("child-src 'self'") },
    { name: 'default-src', host: policy("default-src 'self'; script-src 'self'; style-src 'self'") },
    { name: 'another port', host: policy('frame-src http://localhost:1') },
    {
      name: 'a meta element',
      host: { head: `<meta http-equiv="content-security-policy" content="frame-src 'none'">` },
    },
  ];

  test.each(blocking)('by $name', async ({ host }) => {
    await withHost(host, async (page) => {
      await mountCore(page, { frameOrigin: form.frameOrigin, loadTimeout: 60_000 });
      const line = `CSP lacks frame-src ${originOf(form.frameOrigin)}`;
      await expect.poll(() => callbacksOf(page)).toEqual(failure('frame_blocked', line));
      // The second frame reports its own error and does not repeat the first one.
      await mountCore(page, { frameOrigin: form.frameOrigin });
      await expect.poll(async () => (await callbacksOf(page)).length).toBe(2);
      await settle(page);
      expect(await callbacksOf(page)).toHaveLength(2);
    });
  });

  test('in a shadow root', async () => {
    await withHost(policy("frame-src 'none'"), async (page) => {
      await page.evaluate((frameOrigin) => {
        const container = document.createElement('div');
        document.querySelector('#box')?.attachShadow({ mode: 'closed' }).append(container);
        coreHost.mount({ frameOrigin, container });
      }, form.frameOrigin);
      await expect.poll(async () => (await callbacksOf(page))[0]?.[1]).toBe('frame_blocked');
    });
  });

  test('but not if it is report-only or blocks something else', async () => {
    const origin = originOf(form.frameOrigin);
    const headers = {
      'content-security-policy-report-only': "frame-src 'none'",
      'content-security-policy': `img-src 'self'; connect-src 'self'; frame-src ${origin}`,
    };
    await withHost({ headers, body: '<iframe src="http://other.localhost:1/"></iframe>' }, async (page) => {
      await page.evaluate((origin) => void fetch(origin).catch(() => undefined), origin);
      await page.evaluate((origin) => void (new Image().src = `${origin}/icon.svg`), origin);
      await mountCore(page, { frameOrigin: form.frameOrigin });
      await expect.poll(() => callbacksOf(page)).toEqual([['ready']]);
    });
  });
});

/** Returns the callbacks that run when no frame becomes ready at an address. */
async function callbacksAfterMount(frameOrigin: string, host: CoreHostOptions = {}): Promise<unknown[]> {
  let callbacks: unknown[] = [];
  await withHost(host, async (page, origin) => {
    await mountCore(page, { frameOrigin, loadTimeout: 500 });
    await expect.poll(() => callbacksOf(page)).not.toEqual([]);
    await settle(page);
    callbacks = JSON.parse(JSON.stringify(await callbacksOf(page)).replaceAll(origin, 'HOST'));
  });
  return callbacks;
}

const silent = (frameOrigin: string) =>
  failure(
    'frame_timeout',
    `${frameOrigin}/?parentOrigin=HOST is not a form, or ALLOWED_PARENT_ORIGINS lacks its parentOrigin`,
  );
const unreachable = (origin: string) => failure('frame_unreachable', `${origin} does not answer`);

describe('no form within loadTimeout (R07)', () => {
  test('if the origin is not registered', async () => {
    const strict = await serveFakeFrame({ allowedOrigins: ['https://app.example.com'] });
    expect(await callbacksAfterMount(strict.frameOrigin)).toEqual(silent(strict.frameOrigin));
    await strict.close();
  });

  test.each([200, 404, 500])("if the frame's page sends no message, status %i", async (status) => {
    const site = await serve({ '/': { status, body: '<!doctype html><title>Nothing</title>' } });
    expect(await callbacksAfterMount(site.origin)).toEqual(silent(site.origin));
    await site.close();
  });

  test('if nothing listens on the port', async () => {
    const site = await serve({});
    await site.close();
    expect(await callbacksAfterMount(site.origin)).toEqual(unreachable(site.origin));
  });

  test('if the server never responds', async () => {
    const server = createServer().listen(0, 'localhost');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const origin = `http://localhost:${typeof address === 'object' && address?.port}`;
    expect(await callbacksAfterMount(origin)).toEqual(unreachable(origin));
    server.close();
  });

  test('if connect-src forbids the probe, the error does not claim that the server is unreachable', async () => {
    const site = await serve({ '/': '<!doctype html><title>Nothing</title>' });
    const host = policy(`connect-src 'self'; frame-src ${site.origin}`);
    expect(await callbacksAfterMount(site.origin, host)).toEqual(silent(site.origin));
    await site.close();
  });
});

test('a form that becomes ready after the timeout error works (R07)', async () => {
  const late = await serveFakeFrame({ ready: 1_500 });
  await withHost({}, async (page) => {
    await mountCore(page, { frameOrigin: late.frameOrigin, loadTimeout: 300 });
    const words = async () => (await callbacksOf(page)).map(([callback, code]) => code ?? callback);
    await expect.poll(words).toEqual(['frame_timeout', 'ready']);
    await page.frameLocator('iframe').getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => callbacksOf(page)).toContainEqual(['save', { id: 'con_fake', name: 'okta-systemlog' }]);
  });
  await late.close();
});

test('a form that is ready in time is not probed', async () => {
  const requests: string[] = [];
  const site = await serve((request, response) => {
    requests.push(request.url ?? '');
    response.setHeader('content-type', 'text/html').end(fakeFrameHtml());
  });
  await withHost({}, async (page) => {
    await mountCore(page, { frameOrigin: site.origin, loadTimeout: 400 });
    await expect.poll(() => callbacksOf(page)).toEqual([['ready']]);
    await page.evaluate(() => new Promise((later) => setTimeout(later, 500)));
    expect(await callbacksOf(page)).toEqual([['ready']]);
  });
  expect(requests.filter((path) => path !== '/favicon.ico')).toHaveLength(1);
  await site.close();
});

describe('a container that is not in the document (R07)', () => {
  test('may be inserted before loadTimeout', async () => {
    await withHost({}, async (page) => {
      await page.evaluate((frameOrigin) => {
        const container = document.createElement('div');
        coreHost.mount({ frameOrigin, container });
        container.append('text');
        setTimeout(() => document.body.append(container), 100);
      }, form.frameOrigin);
      await expect.poll(() => callbacksOf(page)).toEqual([['ready']]);
    });
  });

  test('is reported and cleaned up if it is never inserted', async () => {
    await withHost({}, async (page) => {
      await page.evaluate((frameOrigin) => {
        const container = document.createElement('div');
        coreHost.mount({ frameOrigin, container, loadTimeout: 200 });
        Object.assign(globalThis, { container });
      }, form.frameOrigin);
      const message = 'container is not in the document';
      await expect.poll(() => callbacksOf(page)).toEqual(failure('invalid_options', message));
      expect(await page.evaluate('container.childElementCount')).toBe(0);
    });
  });
});
