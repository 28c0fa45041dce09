import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fakeFrameHtml, serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { mountCore, serveCoreHost, callbacksOf, type CoreHost } from '../support/core-host.js';
import { callbacks, mount } from '../support/open-host.js';
import { serve } from '../support/serve.js';
import { startWorld, type World } from '../support/world.js';

let browser: Browser;
let host: CoreHost;
let form: FakeFrameServer;
let page: Page;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveCoreHost()]);
});
afterAll(async () => {
  await browser?.close();
  await host?.close();
});
beforeEach(async () => {
  [form, page] = await Promise.all([serveFakeFrame(), host.open(browser)]);
});
afterEach(() => Promise.all([page?.close(), form?.close()]));

/**
 * Preloads a form's page. `until`: wait until it is ready, until the frame has loaded, or not at
 * all.
 */
async function preload(frameOrigin = form.frameOrigin, until: 'ready' | 'loaded' | 'asked' = 'ready'): Promise<void> {
  await page.evaluate(
    ({ frameOrigin, until }) =>
      new Promise<void>((resolve) => {
        if (until === 'ready') addEventListener('message', () => resolve(), { once: true });
        Object.assign(globalThis, { warm: coreHost.preloadConnectorFrame({ frameOrigin }) });
        const iframe = document.querySelector('html > iframe');
        if (until === 'loaded') iframe?.addEventListener('load', () => setTimeout(resolve));
        if (until === 'asked') resolve();
      }),
    { frameOrigin, until },
  );
}

/** Marks the frame's window to recognize it later. */
const mark = () => page.frames()[1]?.evaluate(() => Object.assign(globalThis, { marked: true }));
const marked = async () =>
  Promise.all(
    page
      .frames()
      .slice(1)
      .map((frame) => frame.evaluate(() => 'marked' in globalThis)),
  );
const mountHere = (options: Record<string, unknown> = {}) =>
  mountCore(page, { frameOrigin: form.frameOrigin, ...options });
const ready = () => expect.poll(() => callbacksOf(page)).toEqual([['ready']]);
const iframes = () => page.locator('iframe').count();
const withoutMoveBefore = () => page.evaluate(() => void Reflect.deleteProperty(Element.prototype, 'moveBefore'));

describe('a preloaded frame', () => {
  test('is invisible, not focusable and takes no space', async () => {
    const size = () => page.evaluate(() => [document.documentElement.scrollHeight, document.body.offsetHeight]);
    const before = await size();
    await preload();
    expect(await page.locator('iframe').isVisible()).toBe(false);
    expect(await size()).toEqual(before);
    expect(await page.locator('html').ariaSnapshot()).not.toContain('iframe');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('body');
  });

  test('is the frame that is mounted, and behaves like any other', async () => {
    await preload();
    await mark();
    await mountHere({ displayName: 'Okta of Acme' });
    await ready();
    expect(await marked()).toEqual([true]);
    const iframe = page.locator('#box > iframe');
    expect(await iframe.isVisible()).toBe(true);
    expect(await iframe.getAttribute('title')).toBe('Okta of Acme');
    expect(await iframe.evaluate(({ style }) => style.cssText)).toContain('display: block');
    await page.frameLocator('iframe').getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => callbacksOf(page)).toContainEqual(['save', { id: 'con_fake', name: 'okta-systemlog' }]);
    expect(form.received.map(({ type }) => type)).toEqual(['init']);
    await page.evaluate(() => coreHost.frames[0]?.destroy());
    expect(await iframes()).toBe(0);
  });

  test('has the attributes of any mounted frame and follows the color scheme', async () => {
    const attributes = (at: number) =>
      page
        .locator('iframe')
        .nth(at)
        .evaluate((iframe) =>
          iframe
            .getAttributeNames()
            .sort()
            .map((name) => [name, iframe.getAttribute(name)]),
        );
    await preload();
    await mountHere();
    await ready();
    const warm = await attributes(0);
    await mountHere();
    await expect.poll(() => callbacksOf(page)).toEqual([['ready'], ['ready']]);
    expect(warm).toEqual(await attributes(1));
  });

  test('gets no message before it is mounted, and one init then', async () => {
    await preload();
    await page.frames()[1]?.evaluate(() => {
      const types: string[] = [];
      addEventListener('message', ({ data }) => types.push(data.type));
      Object.assign(globalThis, { types });
    });
    await page.evaluate(() => new Promise((later) => setTimeout(later, 300)));
    const types = () => page.frames()[1]?.evaluate('types');
    expect(await types()).toEqual([]);
    expect(form.received).toEqual([]);
    await mountHere();
    await ready();
    expect(await types()).toEqual(['init']);
  });

  test('is used by one mount; the next loads its own frame', async () => {
    await preload();
    await mark();
    await mountHere();
    await mountHere();
    await expect.poll(() => callbacksOf(page)).toEqual([['ready'], ['ready']]);
    expect(await marked()).toEqual(expect.arrayContaining([false, true]));
  });

  test('is shared by all callers and removed once all of them destroyed it', async () => {
    await page.evaluate((frameOrigin) => {
      const warm = [1, 2, 3].map(() => coreHost.preloadConnectorFrame({ frameOrigin }));
      Object.assign(globalThis, { give: (at: number) => warm[at]?.destroy() });
    }, form.frameOrigin);
    expect(await iframes()).toBe(1);
    await page.evaluate('give(0), give(0), give(1)');
    expect(await iframes()).toBe(1);
    await page.evaluate('give(2), give(2)');
    expect(await iframes()).toBe(0);
  });

  test('stays mounted when its caller destroys the preload', async () => {
    await preload();
    await mountHere();
    await ready();
    await page.evaluate('warm.destroy()');
    await page.frameLocator('iframe').getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => callbacksOf(page)).toContainEqual(['cancel']);
  });

  test('may be loaded next to a mounted frame without affecting it', async () => {
    await mountHere();
    await ready();
    await preload();
    await page.frameLocator('#box > iframe').getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => callbacksOf(page)).toEqual([['ready'], ['cancel']]);
    expect(form.received.map(({ type }) => type)).toEqual(['init']);
  });
});

test.each([
  { name: 'given up', end: 'warm.destroy(), warm.destroy()' },
  { name: 'taken and destroyed', end: 'take()' },
])('leaves nothing behind if it was $name', async ({ end }) => {
  const context = await browser.newContext();
  await context.addInitScript(() => {
    const living = new Set<unknown>();
    const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
    Object.assign(EventTarget.prototype, {
      addEventListener(this: EventTarget | undefined, ...given: Parameters<typeof add>) {
        const options = typeof given[2] === 'object' ? given[2] : {};
        if ((this ?? self) === self) living.add(given[1]);
        options.signal?.addEventListener('abort', () => living.delete(given[1]));
        add.apply(this ?? self, given);
      },
      removeEventListener(this: EventTarget | undefined, ...given: Parameters<typeof remove>) {
        living.delete(given[1]);
        remove.apply(this ?? self, given);
      },
    });
    Object.assign(globalThis, { living });
  });
  await page.close();
  page = await host.open(context);
  const listeners = () => page.evaluate('living.size');
  const before = await listeners();
  await preload();
  await page.evaluate((frameOrigin) => {
    Object.assign(globalThis, { take: () => coreHost.mount({ frameOrigin }).destroy() });
  }, form.frameOrigin);
  await page.evaluate(end);
  expect(await iframes()).toBe(0);
  // The test's own `once` listener for the first message was removed automatically but is still
  // counted.
  expect(await listeners()).toBe(Number(before) + 1);
  await context.close();
});

describe('is mounted', () => {
  test('while it still loads, without a reload', async () => {
    const asked: string[] = [];
    const slow = await serve((request, response) => {
      if (request.url?.includes('parentOrigin')) asked.push(request.url);
      setTimeout(() => response.setHeader('content-type', 'text/html').end(fakeFrameHtml()), 400);
    });
    await preload(slow.origin, 'asked');
    await page.evaluate(() => new Promise((later) => setTimeout(later, 100)));
    await mountHere({ frameOrigin: slow.origin });
    await ready();
    expect(asked).toHaveLength(1);
    expect(await iframes()).toBe(1);
    await slow.close();
  });

  test('in the same task', async () => {
    await page.evaluate((frameOrigin) => {
      coreHost.preloadConnectorFrame({ frameOrigin });
      coreHost.mount({ frameOrigin });
    }, form.frameOrigin);
    await ready();
    expect(await iframes()).toBe(1);
    await expect.poll(() => form.received).toHaveLength(1);
  });

  test('in a shadow root', async () => {
    await preload();
    await mark();
    await page.evaluate((frameOrigin) => {
      const root = document.querySelector('#box')?.attachShadow({ mode: 'open' });
      const container = document.createElement('div');
      root?.append(container);
      coreHost.mount({ frameOrigin, container });
    }, form.frameOrigin);
    await ready();
    expect(await marked()).toEqual([true]);
  });

  test('in a container that is inserted later', async () => {
    await preload();
    await page.evaluate((frameOrigin) => {
      const container = document.createElement('div');
      coreHost.mount({ frameOrigin, container });
      setTimeout(() => document.body.append(container), 50);
    }, form.frameOrigin);
    await ready();
    await expect.poll(iframes).toBe(1);
    await page.evaluate(() => coreHost.frames[0]?.destroy());
    expect(await iframes()).toBe(0);
  });

  test('after the page removed it from the document', async () => {
    await preload();
    await page.evaluate(() => document.querySelector('html > iframe')?.remove());
    await mountHere();
    await ready();
    expect(await iframes()).toBe(1);
  });

  test('and destroyed immediately', async () => {
    await preload();
    await page.evaluate((frameOrigin) => coreHost.mount({ frameOrigin }).destroy(), form.frameOrigin);
    await page.evaluate(() => new Promise((later) => setTimeout(later, 100)));
    expect(await iframes()).toBe(0);
    expect(await callbacksOf(page)).toEqual([]);
    expect(form.received).toEqual([]);
  });
});

describe('without moveBefore', () => {
  test('another frame is mounted, and the preloaded one is removed once that one is shown', async () => {
    await withoutMoveBefore();
    await preload();
    await mark();
    await mountHere();
    await ready();
    await expect.poll(iframes).toBe(1);
    expect(await marked()).toEqual([false]);
    await page.frameLocator('iframe').getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => callbacksOf(page)).toContainEqual(['cancel']);
  });

  test('a mount that is never shown leaves the preloaded frame for the next', async () => {
    await withoutMoveBefore();
    await preload();
    await page.evaluate((frameOrigin) => coreHost.mount({ frameOrigin }).destroy(), form.frameOrigin);
    expect(await iframes()).toBe(1);
    await mountHere();
    await ready();
    await expect.poll(iframes).toBe(1);
  });

  test('destroy removes it', async () => {
    await withoutMoveBefore();
    await preload();
    await page.evaluate('warm.destroy()');
    expect(await iframes()).toBe(0);
  });
});

describe('a failed preload reports nothing, and mounting works as usual', () => {
  /** Serves a form whose response status is set through `mood.status`. */
  async function moody() {
    const mood = { status: 401 };
    const site = await serve((_request, response) => {
      response.writeHead(mood.status, { 'content-type': 'text/html' });
      response.end(mood.status === 200 ? fakeFrameHtml() : 'No.');
    });
    return { mood, ...site };
  }

  test.each([401, 403, 500])('status %i, then the service is back', async (status) => {
    const site = await moody();
    site.mood.status = status;
    await preload(site.origin, 'loaded');
    expect(await callbacksOf(page)).toEqual([]);
    site.mood.status = 200;
    await mountHere({ frameOrigin: site.origin });
    await ready();
    expect(await iframes()).toBe(1);
    await site.close();
  });

  test('is repeated by the next call', async () => {
    const site = await moody();
    await preload(site.origin, 'loaded');
    site.mood.status = 200;
    await preload(site.origin);
    expect(await iframes()).toBe(1);
    await mark();
    await mountHere({ frameOrigin: site.origin });
    await ready();
    expect(await marked()).toEqual([true]);
    await site.close();
  });

  test('a service that stays down is reported by the mount', async () => {
    const site = await moody();
    await preload(site.origin, 'loaded');
    await mountHere({ frameOrigin: site.origin, loadTimeout: 300 });
    await expect
      .poll(async () => (await callbacksOf(page)).map((callbacks) => callbacks[1]))
      .toEqual(['frame_timeout']);
    await site.close();
  });

  test('a form that loads late', async () => {
    const late = await serveFakeFrame({ ready: 600 });
    await preload(late.frameOrigin, 'loaded');
    await mountHere({ frameOrigin: late.frameOrigin });
    await ready();
    expect(await iframes()).toBe(1);
    await late.close();
  });

  test.each(['', 'not an address', 'http://embed.example.com', 'javascript:alert(1)'])('the URL %j', async (given) => {
    await page.evaluate((frameOrigin) => coreHost.preloadConnectorFrame({ frameOrigin }).destroy(), given);
    expect(await iframes()).toBe(0);
  });

  test('the page is not loaded into itself', async () => {
    await page.evaluate(() => void coreHost.preloadConnectorFrame({ frameOrigin: location.origin }));
    expect(await iframes()).toBe(0);
  });
});

describe("the page's policy", () => {
  async function under(policy: string, run: (strict: Page) => Promise<void>): Promise<void> {
    const strict = await serveCoreHost({ headers: { 'content-security-policy': policy } });
    const there = await strict.open(browser);
    await run(there);
    await there.close();
    await strict.close();
  }

  test("style-src 'self' and Trusted Types allow it", async () => {
    const policy = `default-src 'none'; script-src 'self'; style-src 'self'; frame-src ${new URL(form.frameOrigin).origin}; require-trusted-types-for 'script'; trusted-types 'none'`;
    await under(policy, async (strict) => {
      const violations: string[] = [];
      strict.on('console', (message) => message.type() === 'error' && violations.push(message.text()));
      await strict.evaluate((frameOrigin) => void coreHost.preloadConnectorFrame({ frameOrigin }), form.frameOrigin);
      await mountCore(strict, { frameOrigin: form.frameOrigin });
      await expect.poll(() => callbacksOf(strict)).toEqual([['ready']]);
      expect(violations).toEqual([]);
    });
  });

  test.each(['at once', 'later'])(
    'a blocked preload reports nothing; the mount, %s, reports the missing directive',
    async (when) => {
      await under(`frame-src 'self'`, async (strict) => {
        await strict.evaluate(
          async ({ frameOrigin, when }) => {
            const blocked = new Promise((resolve) =>
              addEventListener('securitypolicyviolation', resolve, { once: true }),
            );
            coreHost.preloadConnectorFrame({ frameOrigin });
            if (when === 'later') await blocked;
          },
          { frameOrigin: form.frameOrigin, when },
        );
        if (when === 'later') expect(await callbacksOf(strict)).toEqual([]);
        await mountCore(strict, { frameOrigin: form.frameOrigin });
        await expect
          .poll(async () => (await callbacksOf(strict)).map((callbacks) => callbacks[1]))
          .toEqual(['frame_blocked']);
      });
    },
  );
});

describe('with the service', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.close());

  test('has no init, API request or token until it is mounted', async () => {
    const context = await browser.newContext();
    await context.addInitScript(() => {
      const got: unknown[] = [];
      addEventListener('message', ({ data }) => got.push(data));
      Object.assign(globalThis, { got });
    });
    const real = await context.newPage();
    const asked: string[] = [];
    real.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await real.goto(world.host);
    await real.waitForFunction(() => 'mount' in globalThis);
    const listens = real.waitForFunction(() => (globalThis as unknown as { messages: unknown[] }).messages.length > 0);
    await real.evaluate(`preload({ frameOrigin: '${world.service.url}/embed' }), 0`);
    await listens;
    await real.waitForLoadState('networkidle');
    expect(asked.filter((path) => path.startsWith('/v'))).toEqual([]);
    expect(asked.some((path) => path.includes('/assets/form-'))).toBe(true);
    const [, warm] = real.frames();
    expect(await warm?.evaluate('got')).toEqual([]);

    asked.length = 0;
    await mount(real, world);
    await real.frameLocator('iframe').getByLabel('Organization URL').fill('https://acme.okta.com');
    await expect.poll(() => callbacks(real)).toEqual([{ type: 'ready' }]);
    expect(asked.filter((path) => path.startsWith('/embed'))).toEqual([]);
    expect(await warm?.evaluate('got.map(({ type }) => type)')).toEqual(['init']);
    await context.close();
  });
});
