import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { mountCore, serveCoreHost, callbacksOf, type CoreHostOptions } from '../support/core-host.js';
import { serve } from '../support/serve.js';

// The iframe element itself, and pages with strict embedding policies.

let browser: Browser;
let form: FakeFrameServer;

beforeAll(async () => {
  [browser, form] = await Promise.all([launchBrowser(), serveFakeFrame()]);
});
afterAll(async () => {
  await browser?.close();
  await form?.close();
});

async function withHost(options: CoreHostOptions, run: (page: Page) => Promise<void>): Promise<void> {
  const host = await serveCoreHost(options);
  try {
    const page = await host.open(browser);
    await run(page);
    await page.close();
  } finally {
    await host.close();
  }
}

test('the iframe has a sandbox, a referrer policy and a title', async () => {
  await withHost({}, async (page) => {
    await mountCore(page, { frameOrigin: form.frameOrigin });
    const attributes = await page
      .locator('iframe')
      .evaluate((iframe) => Object.fromEntries([...iframe.attributes].map(({ name, value }) => [name, value])));
    expect(attributes).toMatchObject({
      title: 'Connector',
      sandbox: 'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox',
      allow: 'clipboard-write',
      referrerpolicy: 'origin',
      scrolling: 'no',
    });
  });
});

const strict = () =>
  `default-src 'none'; script-src 'self'; style-src 'self'; frame-src ${new URL(form.frameOrigin).origin}`;

describe('the form works on a page with', () => {
  const pages: { name: string; headers: () => Record<string, string> }[] = [
    { name: 'the strictest policy', headers: () => ({ 'content-security-policy': strict() }) },
    {
      name: 'Trusted Types and no policy allowed',
      headers: () => ({
        'content-security-policy': `${strict()}; require-trusted-types-for 'script'; trusted-types 'none'`,
      }),
    },
    {
      name: 'cross-origin isolation',
      headers: () => ({
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
        'cross-origin-resource-policy': 'same-origin',
      }),
    },
  ];

  test.each(pages)('$name', async ({ headers }) => {
    await withHost({ headers: headers() }, async (page) => {
      const warnings: string[] = [];
      page.on('console', (message) => message.type() !== 'log' && warnings.push(message.text()));
      await mountCore(page, { frameOrigin: form.frameOrigin });
      await expect.poll(() => callbacksOf(page)).toEqual([['ready']]);
      const { border, width } = await page.locator('iframe').evaluate((iframe) => {
        const { borderTopWidth, display } = getComputedStyle(iframe);
        return {
          border: [borderTopWidth, display],
          width: iframe.clientWidth - (iframe.parentElement?.clientWidth ?? 0),
        };
      });
      expect({ border, width }).toEqual({ border: ['0px', 'block'], width: 0 });
      expect(warnings.filter((text) => !text.includes('favicon'))).toEqual([]);
    });
  });
});

describe("the frame shows the page's background", () => {
  const dark = 'background: rgb(20, 20, 20)';
  const light = 'background: rgb(250, 240, 230)';
  const colorSchemes: { page: string; css: string; system: 'light' | 'dark'; form?: 'hangs'; color: number[] }[] = [
    { page: 'dark', css: `:root { color-scheme: dark; ${dark} }`, system: 'light', color: [20, 20, 20] },
    { page: 'dark', css: `:root { color-scheme: dark; ${dark} }`, system: 'dark', color: [20, 20, 20] },
    { page: 'dark', css: `:root { color-scheme: dark; ${dark} }`, system: 'light', form: 'hangs', color: [20, 20, 20] },
    { page: 'following', css: `:root { color-scheme: light dark; ${dark} }`, system: 'dark', color: [20, 20, 20] },
    { page: 'following', css: `:root { color-scheme: light dark; ${light} }`, system: 'light', color: [250, 240, 230] },
    { page: 'plain light', css: `body { ${light} }`, system: 'dark', color: [250, 240, 230] },
    { page: 'plain dark', css: `body { ${dark} }`, system: 'dark', color: [20, 20, 20] },
    { page: 'plain dark', css: `body { ${dark} }`, system: 'light', color: [20, 20, 20] },
  ];

  test.each(colorSchemes)('$page page, $system system, form $form', async ({ css, system, form, color }) => {
    const site = await serve((_request, response) => {
      const page = '<!doctype html><meta name="color-scheme" content="light dark">';
      if (form !== 'hangs') response.setHeader('content-type', 'text/html').end(page);
    });
    // Set the system preference: a color scheme emulated on the page would apply to every frame.
    const chosen = await launchBrowser([`--blink-settings=preferredColorScheme=${system === 'dark' ? 0 : 1}`]);
    const host = await serveCoreHost({ head: `<style>${css}</style>` });
    const page = await host.open(await chosen.newContext({ colorScheme: null }));
    await mountCore(page, { frameOrigin: site.origin });
    const iframe = page.locator('iframe');
    if (form !== 'hangs') await page.frameLocator('iframe').locator('meta').waitFor({ state: 'attached' });
    await expect.poll(async () => pixel(page, await iframe.screenshot())).toEqual(color);
    await Promise.all([chosen.close(), host.close(), site.close()]);
  });
});

/** Returns the red, green and blue values of an image's center pixel, decoded by the browser. */
function pixel(page: Page, png: Buffer): Promise<number[]> {
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas?.drawImage(bitmap, bitmap.width / 2, bitmap.height / 2, 1, 1, 0, 0, 1, 1);
    return [...(canvas?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3);
  }, png.toString('base64'));
}
