import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeFrameHtml, serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { mountCore, serveCoreHost, toldTo, type CoreHost } from '../support/core-host.js';
import { serve, type Site } from '../support/serve.js';

// Which page gets a form from which address: real pages, real origins.

let browser: Browser;
let host: CoreHost;
let registered: FakeFrameServer;
let others: FakeFrameServer;
let sites: Awaited<ReturnType<typeof serve>>[];

beforeAll(async () => {
  [browser, host, others] = await Promise.all([
    launchBrowser(),
    serveCoreHost(),
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
  await browser?.close();
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
  { name: 'a form of another site', frameOrigin: () => origin(1), shouldConnect: true },
  { name: 'an address that redirects to another origin', frameOrigin: () => origin(2), shouldConnect: false },
  { name: 'a form that nobody may frame', frameOrigin: () => origin(3), shouldConnect: false },
  { name: 'a form with X-Frame-Options', frameOrigin: () => origin(4), shouldConnect: false },
];

test.each(pages)('$name: connects is $shouldConnect', async ({ frameOrigin, shouldConnect }) => {
  const page = await host.open(browser);
  await mountCore(page, { frameOrigin: frameOrigin(), loadTimeout: shouldConnect ? 15_000 : 700 });
  const words = async () => (await toldTo(page)).map(([callback, code]) => code ?? callback);
  await expect.poll(words).toEqual([shouldConnect ? 'ready' : 'frame_timeout']);
  await page.close();
});

test('a page inside another page has its own origin', async () => {
  const outer = await serve({ '/': `<!doctype html><title>Outer</title><iframe src="${host.origin}"></iframe>` });
  const page = await browser.newPage();
  await page.goto(outer.origin);
  const inner = page.frames()[1];
  await inner?.waitForFunction(() => 'coreHost' in globalThis);
  await inner?.evaluate((frameOrigin) => void coreHost.mount({ frameOrigin }), registered.frameOrigin);
  await expect.poll(() => inner?.evaluate(() => coreHost.told)).toEqual([['ready']]);
  await page.close();
  await outer.close();
});

test('a page without an origin is told which one is missing', async () => {
  const page = await browser.newPage();
  await page.goto(others.frameOrigin);
  const source = await (await fetch(`${host.origin}/host.js`)).text();
  await page.setContent('<iframe sandbox="allow-scripts"></iframe>');
  const inner = page.frames()[1];
  await inner?.setContent('<div id="box"></div>');
  await inner?.addScriptTag({ content: source, type: 'module' });
  await inner?.waitForFunction(() => 'coreHost' in globalThis);
  await inner?.evaluate((frameOrigin) => void coreHost.mount({ frameOrigin, loadTimeout: 500 }), others.frameOrigin);
  const message = `${new URL(others.frameOrigin).origin} is not ready. ALLOWED_PARENT_ORIGINS lacks null?`;
  await expect.poll(() => inner?.evaluate(() => coreHost.told[0]?.[2])).toBe(message);
  await page.close();
});
