import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fakeFrameHtml, serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import { mountCore, serveCoreHost, callbacksOf, type CoreHost } from '../support/core-host.js';
import { childFrame } from '../support/engines/child-frame.js';
import type { DrivenFrame, DrivenPage } from '../support/engines/driven.js';
import { eventually } from '../support/engines/eventually.js';
import { inEngines } from '../support/engines/in-engines.js';
import { serve, type Site } from '../support/serve.js';

// Which page may load a form from which origin, tested with real pages and origins.

let host: CoreHost;
let registered: FakeFrameServer;
let others: FakeFrameServer;
let sites: Awaited<ReturnType<typeof serve>>[];

beforeAll(async () => {
  [host, others] = await Promise.all([
    serveCoreHost({ hostname: '127.0.0.1' }),
    serveFakeFrame({ allowedOrigins: ['https://app.example.com'] }),
  ]);
  registered = await serveFakeFrame({ allowedOrigins: [host.origin] });
  const form = { body: fakeFrameHtml() };
  const moved =
    (to: string): Site =>
    (_request, response) =>
      response.writeHead(302, { location: to }).end();
  sites = await Promise.all([
    serve({ '/': form, '/embed/': form, '/a/b/': form }),
    serve({ '/': form }, '127.0.0.1'),
    serve(moved(`${registered.frameOrigin}/?parentOrigin=${host.origin}`)),
    serve({ '/': { ...form, headers: { 'content-security-policy': "frame-ancestors 'none'" } } }),
    serve({ '/': { ...form, headers: { 'x-frame-options': 'DENY' } } }),
  ]);
});
afterAll(async () => {
  await Promise.all([host, registered, others, ...(sites ?? [])].map((site) => site?.close()));
});

const origin = (index: number) => sites[index]?.origin ?? '';

const pages: { name: string; frameOrigin: () => string; shouldConnect: boolean }[] = [
  { name: 'a form that has this page registered', frameOrigin: () => registered.frameOrigin, shouldConnect: true },
  { name: 'a form that has others registered', frameOrigin: () => others.frameOrigin, shouldConnect: false },
  { name: 'a form at the root of its origin', frameOrigin: () => origin(0), shouldConnect: true },
  { name: 'a form at a path', frameOrigin: () => `${origin(0)}/embed`, shouldConnect: true },
  { name: 'a form at a path with slashes at its end', frameOrigin: () => `${origin(0)}/a/b//`, shouldConnect: true },
  { name: 'an address whose origin is in capitals', frameOrigin: () => origin(0).toUpperCase(), shouldConnect: true },
  { name: 'a form of the same site', frameOrigin: () => origin(1), shouldConnect: true },
  { name: 'an address that redirects to another origin', frameOrigin: () => origin(2), shouldConnect: false },
  { name: 'a form that nobody may frame', frameOrigin: () => origin(3), shouldConnect: false },
  { name: 'a form with X-Frame-Options', frameOrigin: () => origin(4), shouldConnect: false },
];

inEngines('the origin of the form', ['Chromium'], ({ browser }) => {
  const opened: DrivenPage[] = [];
  const open = async (from: () => Promise<DrivenPage>): Promise<DrivenPage> => {
    const page = await from();
    opened.push(page);
    return page;
  };
  afterEach(() => Promise.all(opened.splice(0).map((page) => page.close())));

  /** Returns the page's first child frame once the host script has run in it. */
  async function innerHost(page: DrivenPage): Promise<DrivenFrame> {
    const inner = await childFrame(page, 0);
    await eventually('the script of the page', () => inner.evaluate(() => 'coreHost' in globalThis || undefined));
    return inner;
  }

  describe('S07: the SDK connects only to the configured origin, if that origin allows the page', () => {
    test.each(pages)('$name: connects is $shouldConnect', async ({ frameOrigin, shouldConnect }) => {
      const page = await open(() => host.open(browser()));
      await mountCore(page, { frameOrigin: frameOrigin(), loadTimeout: shouldConnect ? 15_000 : 700 });
      const words = async () => (await callbacksOf(page)).map(([callback, code]) => code ?? callback);
      await expect.poll(words).toEqual([shouldConnect ? 'ready' : 'frame_timeout']);
    });

    test('a nested page uses its own origin', async () => {
      const outer = await serve({ '/': `<!doctype html><title>Outer</title><iframe src="${host.origin}"></iframe>` });
      const page = await open(() => browser().newPage());
      await page.goto(outer.origin);
      const inner = await innerHost(page);
      await inner.evaluate((frameOrigin) => void coreHost.mount({ frameOrigin }), registered.frameOrigin);
      await expect.poll(() => inner.evaluate(() => coreHost.callbacks)).toEqual([['ready']]);
      await outer.close();
    });

    test('a page with an opaque origin gets an error that says what to register', async () => {
      const inner = `<div id='box'></div><script type='module' src='${host.origin}/host.js'></script>`;
      const outer = await serve({
        '/': `<!doctype html><iframe sandbox="allow-scripts" src="/inner"></iframe>`,
        '/inner': inner,
      });
      const page = await open(() => browser().newPage());
      await page.goto(outer.origin);
      const frame = await innerHost(page);
      const options = { frameOrigin: others.frameOrigin, loadTimeout: 500 };
      await frame.evaluate((options) => void coreHost.mount(options), options);
      await expect
        .poll(() => frame.evaluate(() => coreHost.callbacks[0]?.[2]))
        .toMatch(/parentOrigin=null is not a form, or ALLOWED_PARENT_ORIGINS lacks its parentOrigin$/);
      await outer.close();
    });
  });
});
