import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
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

/** Types a secret into a form under a sheet; answers all that leaves the frame, and all that its document says. */
async function observe(sheet: string, typeId: string, label: string, secret: string) {
  const page = await openHost(browser, world, { typeId, stylesheets: [`${world.host}/${sheet}.css`] });
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url().replace(world.host, '').replace(world.service.url, '')));
  const frame = page.frameLocator('iframe');
  const field = frame.getByLabel(label, { exact: true });
  await field.waitFor({ state: 'attached' });
  await expect.poll(async () => (await messages(page)).some((message) => message['type'] === 'resize')).toBe(true);
  const inner = page.frames()[1];
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
  // Two frames later every reaction to the last key has been laid out and reported.
  await inner?.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.waitForLoadState('networkidle');
  const document = await inner?.evaluate(() => {
    const everything = (root: ParentNode): string =>
      [...root.querySelectorAll('*')]
        .map(
          (element) =>
            `${element.outerHTML}${element.shadowRoot ? everything(element.shadowRoot) + element.shadowRoot.innerHTML : ''}`,
        )
        .join('');
    const { seen } = globalThis as unknown as { seen: string[] };
    return seen.join('') + everything(globalThis.document) + JSON.stringify({ ...history.state });
  });
  const said = (await messages(page)).map((message) => JSON.stringify(message));
  await page.close();
  return { document: document ?? '', leaves: { requests: requests.sort(), said } };
}

const secretOf = (length: number) => randomBytes(length).toString('hex').slice(0, length);

test.each(
  Object.keys(sheets).flatMap((sheet) => [
    { sheet, typeId: 'okta-systemlog', label: 'API token' },
    { sheet, typeId: 'google-workspace-admin-activity', label: 'Service account key' },
  ]),
)(
  'under the sheet "$sheet" nothing that leaves the form for $typeId depends on the secret',
  async ({ sheet, typeId, label }) => {
    const [one, two] = ['a'.repeat(4) + secretOf(8), secretOf(31)];
    const first = await observe(sheet, typeId, label, one ?? '');
    const second = await observe(sheet, typeId, label, two ?? '');
    expect(second.leaves).toEqual(first.leaves);
    expect(first.document).not.toContain(one);
    expect(second.document).not.toContain(two);
  },
);
