import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { messages, openHost } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';

/**
 * S02: a host may replace the form's style sheets. Whatever a sheet does, the frame's messages and its requests must be the same for any
 * two secrets. Each sheet here is one way to turn typed characters into a height or a request.
 */
const sheets: Record<string, string> = {
  attributes: Array.from('abcdefghijklmnopqrstuvwxyz0123456789', (letter, index) =>
    ['^=', '$=', '*=']
      .map(
        (match) =>
          `[value${match}"${letter}"] { height: ${100 + index * 7}px !important; background: url(/leak?${letter}) }`,
      )
      .join('\n'),
  ).join('\n'),
  sizes: `* { field-sizing: content !important; contain: none !important; height: auto !important; max-height: none !important;
    white-space: pre-wrap !important; word-break: break-all !important; font-size: 64px !important; -webkit-text-security: none !important; }`,
  inheritance: `html, body, form, * { font: 72px/3 attack, monospace !important; letter-spacing: 2em !important; text-security: none;
    writing-mode: vertical-lr !important; zoom: 3 !important; }
    @font-face { font-family: attack; src: url(/leak?font-a); unicode-range: U+61-6D }
    @font-face { font-family: attack; src: url(/leak?font-n); unicode-range: U+6E-7A }
    @font-face { font-family: attack; src: url(/leak?font-0); unicode-range: U+30-39 }`,
  properties: `* { --cf-field: url(/leak?field); --cf-text: url(/leak?text); --cf-font: attack; --cf-radius: 50vh; --cf-danger: url(/leak); }
    :focus-within { min-height: 50px } :has(:valid) { outline: 3px solid } :not(:placeholder-shown) { margin-top: 3px }`,
};

let browser: Browser;
let world: World;

beforeAll(async () => {
  const routes = Object.fromEntries(
    Object.entries(sheets).map(([name, body]) => [
      `/${name}.css`,
      {
        body,
        headers: {
          'content-type': 'text/css',
          'access-control-allow-origin': '*',
          'cross-origin-resource-policy': 'cross-origin',
        },
      },
    ]),
  );
  [browser, world] = await Promise.all([launchBrowser(), startWorld({}, routes)]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

/** Until the frame has said the same for ten animation frames, and the network is quiet. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.evaluate(async () => {
    const { messages } = globalThis as unknown as { messages: unknown[] };
    for (let quiet = 0, seen = messages.length; quiet < 10; quiet += 1) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      if (messages.length !== seen) [quiet, seen] = [0, messages.length];
    }
  });
}

/** Types a secret into a form under a sheet; answers all that leaves the frame, and all that its document says. */
async function observe(sheet: string, typeId: string, label: string, secret: string) {
  const page = await openHost(browser, world, { typeId, stylesheets: [`${world.host}/${sheet}.css`] });
  const frame = page.frameLocator('iframe');
  const field = frame.getByLabel(label, { exact: true });
  await field.waitFor({ state: 'attached' });
  const inner = page.frames()[1];
  await settle(page);
  // What leads up to the first key is the same form for everyone; from here on only the secret differs.
  const earlier = (await messages(page)).length;
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await inner?.evaluate(() => {
    const seen = ((globalThis as unknown as { seen: string[] }).seen = []) as string[];
    const note = () => seen.push(document.documentElement.outerHTML, document.title, location.href);
    new MutationObserver(note).observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
  });
  await field.focus();
  await page.keyboard.type(secret);
  await page.keyboard.press('Tab');
  await settle(page);
  const told = await inner?.evaluate(() => {
    const everything = (root: ParentNode): string =>
      [...root.querySelectorAll('*')]
        .map(
          (element) =>
            `${element.outerHTML}${element.shadowRoot ? everything(element.shadowRoot) + element.shadowRoot.innerHTML : ''}`,
        )
        .join('');
    const { seen } = globalThis as unknown as { seen: string[] };
    return seen.join('') + everything(document) + JSON.stringify({ ...history.state });
  });
  const said = (await messages(page)).slice(earlier).map((message) => JSON.stringify(message));
  await page.close();
  return { document: told ?? '', leaves: { requests, said } };
}

/** Two that the form takes for good, of different characters and lengths. */
const secrets = {
  'okta-systemlog': () => [randomBytes(12).toString('hex'), randomBytes(20).toString('hex').toUpperCase()],
  'google-workspace-admin-activity': () =>
    [12, 40].map((size) => JSON.stringify({ key: randomBytes(size).toString('base64') })),
};

test.each(
  Object.keys(sheets).flatMap((sheet) => [
    { sheet, typeId: 'okta-systemlog', label: 'API token' } as const,
    { sheet, typeId: 'google-workspace-admin-activity', label: 'Service account key' } as const,
  ]),
)('S02: under the sheet $sheet nothing that leaves the form for $typeId depends on the secret', async (attack) => {
  const { sheet, typeId, label } = attack;
  const [one = '', two = ''] = secrets[typeId]();
  const first = await observe(sheet, typeId, label, one);
  const second = await observe(sheet, typeId, label, two);
  expect(second.leaves).toEqual(first.leaves);
  for (const { document } of [first, second]) {
    expect(document).not.toContain(one);
    expect(document).not.toContain(two);
  }
});

/** The same sheets do decode controls that are built the usual way, so the tests above can fail. */
test.each([
  { sheet: 'attributes', control: '<input oninput="this.setAttribute(\'value\', this.value)">' },
  { sheet: 'sizes', control: '<textarea></textarea>' },
  { sheet: 'inheritance', control: '<textarea></textarea>' },
])('the sheet $sheet tells two secrets apart in a plain control', async ({ sheet, control }) => {
  const css = (sheets[sheet] ?? '').replace('contain: none', 'field-sizing: content; contain: none');
  const observed = async (secret: string): Promise<string> => {
    const page = await browser.newPage();
    const requests: string[] = [];
    await page.route('http://control.test/**', (route) => {
      const { pathname, search } = new URL(route.request().url());
      if (pathname !== '/') requests.push(search);
      return route.fulfill({
        contentType: 'text/html',
        body: pathname === '/' ? `<style>${css}</style>${control}` : '',
      });
    });
    await page.goto('http://control.test/');
    await page.locator('input, textarea').focus();
    await page.keyboard.type(secret);
    await page.waitForLoadState('networkidle');
    const height = await page.locator('input, textarea').evaluate((element) => element.getBoundingClientRect().height);
    await page.close();
    return JSON.stringify([height, requests]);
  };
  expect(await observed('aaaaaaaaaaaa')).not.toBe(await observed('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0'));
});
