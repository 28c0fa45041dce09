import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { longOr } from '../support/long.js';
import { mountCore, serveCoreHost, callbacksOf, type CoreHost } from '../support/core-host.js';

/** Number of frames mounted in one page. */
const FRAMES = longOr(1_000, 100);

// What a removed frame must clean up, and what must survive a move in the document.

let browser: Browser;
let host: CoreHost;
let form: FakeFrameServer;
let page: Page;

declare global {
  /** Listeners, timers and observers registered in the page and not yet removed. */
  var resources: {
    listeners: { target: EventTarget; type: string; listener: unknown }[];
    timers: Set<unknown>;
    observers: Set<MutationObserver>;
  };
}

/** Runs in the page before any other script: tracks listeners, timers and observers. */
function trackResources(): void {
  globalThis.resources = { listeners: [], timers: new Set(), observers: new Set() };
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  const { setTimeout: set, clearTimeout: clear, MutationObserver: Observer } = globalThis;

  Object.assign(EventTarget.prototype, {
    addEventListener(this: EventTarget | undefined, ...given: Parameters<typeof add>) {
      const target = this ?? self;
      resources.listeners.push({ target, type: given[0], listener: given[1] });
      add.apply(target, given);
    },
    removeEventListener(this: EventTarget | undefined, ...given: Parameters<typeof remove>) {
      const target = this ?? self;
      resources.listeners = resources.listeners.filter(
        (entry) => entry.target !== target || entry.type !== given[0] || entry.listener !== given[1],
      );
      remove.apply(target, given);
    },
  });
  Object.assign(globalThis, {
    setTimeout(run: () => void, wait?: number) {
      const timer = set(() => {
        resources.timers.delete(timer);
        run();
      }, wait);
      resources.timers.add(timer);
      return timer;
    },
    clearTimeout(timer: number) {
      resources.timers.delete(timer);
      clear(timer);
    },
    MutationObserver: class extends Observer {
      override observe(target: Node, options?: MutationObserverInit): void {
        resources.observers.add(this);
        super.observe(target, options);
      }
      override disconnect(): void {
        resources.observers.delete(this);
        super.disconnect();
      }
    },
  });
}

const keptBy = (page: Page) =>
  page.evaluate(() => ({
    listeners: resources.listeners.length,
    timers: resources.timers.size,
    observers: resources.observers.size,
  }));

beforeAll(async () => {
  [browser, host, form] = await Promise.all([launchBrowser(), serveCoreHost(), serveFakeFrame()]);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([host?.close(), form?.close()]);
});

let before: Awaited<ReturnType<typeof keptBy>>;
beforeEach(async () => {
  const context = await browser.newContext();
  await context.addInitScript(trackResources);
  page = await host.open(context);
  // Playwright adds its own listeners when it first waits or clicks.
  await page.waitForFunction(() => true);
  before = await keptBy(page);
});
afterEach(() => page.context().close());

/** Asserts that no element, listener, timer or observer is left. */
async function expectNothingLeft(): Promise<void> {
  await expect.poll(() => keptBy(page)).toEqual(before);
  expect(await page.locator('iframe').count()).toBe(0);
}

const ready = () => expect.poll(() => callbacksOf(page)).toEqual([['ready']]);
const mount = (options: Record<string, unknown> = {}) => mountCore(page, { frameOrigin: form.frameOrigin, ...options });

test('destroy removes everything, is idempotent, and no callback runs afterwards (R07)', async () => {
  await mount();
  await ready();
  expect(await keptBy(page)).not.toEqual(before);
  await page.evaluate((origin) => {
    const { contentWindow } = document.querySelector('iframe') ?? {};
    const [frame] = coreHost.frames;
    frame?.destroy();
    frame?.destroy();
    const data = { source: 'monad-embed', type: 'cancel' };
    dispatchEvent(new MessageEvent('message', { data, origin, source: contentWindow ?? null }));
  }, new URL(form.frameOrigin).origin);
  await expectNothingLeft();
  expect(await callbacksOf(page)).toEqual([['ready']]);
});

test('a frame destroyed before it is ready leaves nothing behind', async () => {
  await page.evaluate((frameOrigin) => coreHost.mount({ frameOrigin }).destroy(), form.frameOrigin);
  await expectNothingLeft();
  expect(await callbacksOf(page)).toEqual([]);
});

test('a frame may be destroyed in its own callback', async () => {
  await page.evaluate((frameOrigin) => {
    const frame = coreHost.mount({ frameOrigin, onReady: () => frame.destroy() });
  }, form.frameOrigin);
  await expectNothingLeft();
});

describe('a frame whose container is removed without destroy leaves nothing behind', () => {
  const drops: { name: string; drop: () => void }[] = [
    { name: 'its container is removed', drop: () => document.querySelector('#box')?.remove() },
    { name: 'its container is emptied', drop: () => document.querySelector('#box')?.replaceChildren() },
    { name: 'an ancestor is emptied', drop: () => void (document.body.innerHTML = '') },
    { name: 'the iframe is removed', drop: () => document.querySelector('iframe')?.remove() },
    {
      name: 'it is moved, and its new home is removed',
      drop: () => {
        const home = document.body.appendChild(document.createElement('main'));
        home.append(document.querySelector('#box') ?? '');
        setTimeout(() => home.remove());
      },
    },
  ];

  test.each(drops)('if $name', async ({ drop }) => {
    await mount();
    await ready();
    await page.evaluate(drop);
    await expectNothingLeft();
    expect(await callbacksOf(page)).toEqual([['ready']]);
  });

  test('if it was not ready yet', async () => {
    await mount();
    await page.evaluate(() => document.querySelector('#box')?.remove());
    await expectNothingLeft();
  });

  test('if it was mounted and removed in one task, hidden', async () => {
    await page.evaluate((frameOrigin) => {
      const box = document.querySelector<HTMLElement>('#box');
      if (box) box.style.display = 'none';
      coreHost.mount({ frameOrigin });
      box?.remove();
    }, form.frameOrigin);
    await expectNothingLeft();
  });

  test.each([1, 3])('if the host of %i nested shadow roots is removed', async (depth) => {
    await page.evaluate(
      ({ frameOrigin, depth }) => {
        let container = document.querySelector<HTMLElement>('#box') ?? document.body;
        for (let level = 0; level < depth; level += 1) {
          const root = container.attachShadow({ mode: 'closed' });
          container = root.appendChild(document.createElement('div'));
        }
        coreHost.mount({ frameOrigin, container });
      },
      { frameOrigin: form.frameOrigin, depth },
    );
    await ready();
    await page.evaluate(() => document.querySelector('#box')?.remove());
    await expectNothingLeft();
  });

  test('if it was inserted into the document late', async () => {
    await page.evaluate((frameOrigin) => {
      const container = document.createElement('div');
      coreHost.mount({ frameOrigin, container });
      setTimeout(() => document.body.append(container), 50);
    }, form.frameOrigin);
    await ready();
    await page.evaluate(() => document.querySelector('iframe')?.parentElement?.remove());
    await expectNothingLeft();
  });
});

/** Asserts that the form's messages still reach the page. */
async function expectAlive(): Promise<void> {
  await page.frameLocator('iframe').getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => callbacksOf(page)).toContainEqual(['cancel']);
}

describe('a frame that is moved keeps working', () => {
  test('to another parent in one task, with a new init', async () => {
    await mount();
    await ready();
    await page.evaluate(() => {
      const box = document.querySelector('#box') ?? '';
      document.body.append(Object.assign(document.createElement('main'), {}));
      if (box) box.remove();
      document.querySelector('main')?.append(box);
    });
    await expect.poll(() => callbacksOf(page)).toEqual([['ready'], ['ready']]);
    await expectAlive();
  });

  test('by moveBefore, without a reload', async () => {
    await mount();
    await ready();
    const moved = await page.evaluate(() => {
      const home = document.body.appendChild(document.createElement('main'));
      const box = document.querySelector('#box');
      if (!box || !('moveBefore' in home) || typeof home.moveBefore !== 'function') return false;
      home.moveBefore(box, null);
      return true;
    });
    expect(moved).toBe(true);
    await expectAlive();
    expect(await callbacksOf(page)).toEqual([['ready'], ['cancel']]);
    await page.evaluate(() => document.querySelector('main')?.remove());
    await expectNothingLeft();
  });
});

test(`${FRAMES} frames, half of them only removed from the document, leave no listener, timer or observer (R07)`, async () => {
  await page.evaluate(
    async ([frameOrigin, frames]) => {
      for (let count = 0; count < frames; count += 1) {
        const container = document.body.appendChild(document.createElement('div'));
        const frame = coreHost.mount({ frameOrigin, container });
        if (count % 10 === 0) await new Promise((next) => requestAnimationFrame(next));
        if (count % 2) frame.destroy();
        else container.remove();
      }
    },
    [form.frameOrigin, FRAMES] as const,
  );
  await expectNothingLeft();
  const client = await page.context().newCDPSession(page);
  await client.send('HeapProfiler.collectGarbage');
  await client.send('Performance.enable');
  const { metrics } = await client.send('Performance.getMetrics');
  const count = (name: string) => metrics.find((metric) => metric.name === name)?.value;
  expect(count('Frames')).toBe(1);
});

test.each(['destroy', 'drop'])("the token is not in the page's memory after a %s", async (end) => {
  await page.evaluate(
    ({ frameOrigin, end }) => {
      // The page keeps the handle, as a component does. The token is built at run time so that no
      // source text contains it.
      const sessionToken = ['canary', 'of', 'the', 'token'].join('~');
      const container = document.body.appendChild(document.createElement('div'));
      const frame = coreHost.mount({ frameOrigin, sessionToken, organizationId: 'org_1', container });
      coreHost.callbacks.push(['mounted']);
      Object.assign(globalThis, { unmount: () => (end === 'drop' ? container.remove() : frame.destroy()) });
    },
    { frameOrigin: form.frameOrigin, end },
  );
  await expect.poll(() => callbacksOf(page)).toContainEqual(['ready']);
  expect(await heapHolds('canary~of~the~token')).toBe(true);
  await page.evaluate(() => Object(globalThis).unmount());
  await expectNothingLeft();
  expect(await heapHolds('canary~of~the~token')).toBe(false);
});

/** Returns whether the page's heap contains a string. */
async function heapHolds(text: string): Promise<boolean> {
  const client = await page.context().newCDPSession(page);
  let snapshot = '';
  client.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => (snapshot += chunk));
  await client.send('HeapProfiler.collectGarbage');
  await client.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  await client.detach();
  return snapshot.includes(text);
}
