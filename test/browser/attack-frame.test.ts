import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { serve } from '../support/serve.js';
import { openHost, heard } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';

let browser: Browser;
let world: World;

beforeAll(async () => {
  [browser, world] = await Promise.all([launchBrowser(), startWorld()]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

describe('S01: a foreign API base', () => {
  test('is refused before the token or anything else is sent anywhere', async () => {
    const hits: string[] = [];
    const attacker = await serve((request, response) => {
      hits.push(`${request.method} ${request.url}`);
      response.writeHead(200, { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }).end('{}');
    });
    const page = await openHost(browser, world, { apiBase: attacker.origin });
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));

    await expect
      .poll(() => heard(page))
      .toContainEqual(expect.objectContaining({ type: 'error', code: 'api_base_mismatch' }));
    expect(hits).toEqual([]);
    expect(calls.filter((path) => path.startsWith('/v'))).toEqual([]);
    await page.close();
    await attacker.close();
  });
});

describe('S07: who may hold the frame', () => {
  /** A page that frames `address`, and notes what it hears. */
  const framing = (address: string, sandbox = '') =>
    `<!doctype html><title>Evil</title><script>globalThis.heard = []; addEventListener('message', (e) => heard.push(e.data))</script>
     <iframe ${sandbox} src="${address}" width="600" height="600"></iframe>`;
  const embed = (parent: string) => `${world.service.url}/embed/?parentOrigin=${encodeURIComponent(parent)}`;

  async function framed(page: Page): Promise<{ text: string; heard: unknown[] }> {
    await page.waitForLoadState('networkidle');
    const frames = page.frames().filter((frame) => frame.url().includes('/embed/'));
    const texts = await Promise.all(
      frames.map((frame) =>
        frame
          .locator('body')
          .innerText()
          .catch(() => ''),
      ),
    );
    return {
      text: texts.join(''),
      heard: await page.evaluate(() => (globalThis as unknown as { heard: unknown[] }).heard),
    };
  }

  test.each([
    { name: 'an unregistered origin that names itself', parent: (self: string) => self },
    { name: 'an unregistered origin that names a registered one', parent: () => world.host },
    { name: 'an origin that names null', parent: () => 'null' },
  ])('$name gets no form and no message', async ({ parent }) => {
    let address = '';
    const evil = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(framing(address));
    });
    address = embed(parent(evil.origin));
    const page = await browser.newPage();
    await page.goto(evil.origin);
    const result = await framed(page);
    expect(result.heard).toEqual([]);
    expect(result.text).not.toMatch(/save|connect/i);
    await page.close();
    await evil.close();
  });

  test('a registered page in a sandbox without an origin gets no message', async () => {
    const page = await browser.newPage();
    await page.goto(world.host);
    const body = await page.evaluate(
      async (inner) => {
        const got: unknown[] = [];
        addEventListener('message', (event) => got.push(event.data));
        const outer = document.createElement('iframe');
        outer.setAttribute('sandbox', 'allow-scripts');
        outer.srcdoc = inner;
        document.body.append(outer);
        await new Promise((resolve) => outer.addEventListener('load', resolve));
        return got;
      },
      `<script>addEventListener('message', (e) => parent.postMessage(e.data, '*'))</script>${framing(embed(world.host))}`,
    );
    await page.waitForLoadState('networkidle');
    expect(body).toEqual([]);
    expect(await page.evaluate(() => (globalThis as unknown as { messages: unknown[] }).messages)).toEqual([]);
    await page.close();
  });

  test('a registered page inside a foreign one gets no form', async () => {
    const evil = await serve({ '/': framing(`${world.host}/`) });
    const page = await browser.newPage();
    await page.goto(evil.origin);
    const inner = page.frames().find((frame) => frame.url().startsWith(world.host));
    await inner?.waitForFunction(() => 'mount' in globalThis);
    const token = await world.session();
    await inner?.evaluate(
      ([sessionToken, organizationId, base]) => {
        const { mount } = globalThis as unknown as { mount(options: object): void };
        mount({
          sessionToken,
          organizationId,
          kind: 'input',
          typeId: 'okta-systemlog',
          frameOrigin: `${base}/embed`,
          apiBase: base,
          loadTimeout: 1500,
        });
      },
      [token, world.team, world.service.url],
    );
    await expect
      .poll(() => inner?.evaluate(() => (globalThis as unknown as { heard: unknown[] }).heard))
      .toContainEqual(expect.objectContaining({ type: 'error', code: 'frame_timeout' }));
    await page.close();
    await evil.close();
  });
});

describe('S08: messages to the frame', () => {
  test('only the first init counts, and only from the parent', async () => {
    const page = await openHost(browser, world);
    const frame = page.locator('iframe').first().contentFrame();
    await frame.getByRole('heading', { name: 'Okta System Log' }).waitFor();
    const calls: string[] = [];
    page.on('request', (request) => calls.push(request.url()));
    await page.evaluate(() => {
      const target = document.querySelector('iframe')?.contentWindow;
      const base = {
        source: 'monad-embed',
        version: 1,
        sessionToken: 'stolen',
        organizationId: 'x',
        typeId: 'splunk',
        kind: 'output',
      };
      for (let i = 0; i < 200; i += 1)
        target?.postMessage({ ...base, type: 'init', apiBase: 'https://evil.example' }, '*');
      for (const payload of [
        null,
        1,
        'x',
        [],
        { type: 'init' },
        { source: 'monad-embed' },
        { ...base, type: 'nonsense' },
        'x'.repeat(1_000_000),
      ]) {
        target?.postMessage(payload, '*');
      }
      const sibling = document.createElement('iframe');
      sibling.srcdoc = `<script>top.frames[0].postMessage({ source: 'monad-embed', type: 'session', sessionToken: 'evil' }, '*')</script>`;
      document.body.append(sibling);
      return new Promise((resolve) => sibling.addEventListener('load', resolve));
    });
    await frame.getByLabel('Organization URL').fill('https://acme.okta.com');
    expect(await frame.getByRole('heading', { name: 'Okta System Log' }).count()).toBe(1);
    expect(calls.filter((url) => url.includes('/v'))).toEqual([]);
    await page.close();
  });
});
