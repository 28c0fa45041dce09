import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import { launchBrowser } from './browser.js';
import { startElementWorld, type ElementWorld, type PageOptions } from './element-world.js';

/** Fixtures shared by the tests of a file; available from the first test on. */
export interface ElementPages {
  readonly browser: Browser;
  readonly world: ElementWorld;
  /** A fake frame for the same host page. */
  readonly fake: FakeFrameServer;
  /** Opens a page with this body. It is closed after the test. */
  open(body: string, options?: PageOptions): Promise<Page>;
}

/** Starts a browser, a host page with a service, and a fake frame for all tests of a file. */
export function useElementPages(): ElementPages {
  const pages: Page[] = [];
  let shared: Omit<ElementPages, 'open'> | undefined;
  const there = () => {
    if (!shared) throw new Error('Nothing is there before the first test.');
    return shared;
  };

  beforeAll(async () => {
    const [browser, world] = await Promise.all([launchBrowser(), startElementWorld()]);
    shared = { browser, world, fake: await serveFakeFrame({ allowedOrigins: [world.origin] }) };
  });
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.close()));
  });
  afterAll(async () => {
    await shared?.fake.close();
    await shared?.browser.close();
    await shared?.world.close();
  });

  return {
    get browser() {
      return there().browser;
    },
    get world() {
      return there().world;
    },
    get fake() {
      return there().fake;
    },
    async open(body, options) {
      const page = await there().world.open(there().browser, body, options);
      pages.push(page);
      return page;
    },
  };
}
