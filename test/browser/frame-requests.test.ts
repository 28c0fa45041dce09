import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { callbacks, messages, mount, openHost } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';
import { press } from '../support/press.js';

let browser: Browser;
let world: World;

beforeAll(async () => {
  [browser, world] = await Promise.all([launchBrowser(), startWorld()]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

async function create(): Promise<string> {
  const { body } = await world.call('POST', `/v2/${world.team}/inputs`, {
    name: 'Okta production',
    type: 'okta-systemlog',
    config: {
      settings: { org_url: 'https://acme.okta.com' },
      secrets: { api_key: { value: '00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD' } },
    },
  });
  return String(body['id']);
}

test.each([
  { mode: 'create', count: 4 },
  { mode: 'edit', count: 5 },
])('to $mode takes $count requests, all to the service', async ({ mode, count }) => {
  const existingId = mode === 'edit' ? await create() : undefined;
  const page = await browser.newPage();
  await page.goto(world.host);
  await page.waitForFunction(() => 'mount' in globalThis);
  const requests: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requests.push(request.url());
  });
  await mount(page, world, { ...(existingId !== undefined && { existingId }) });
  await page.frameLocator('iframe').getByLabel('Organization URL').waitFor();
  await page.waitForLoadState('networkidle');
  expect(requests.every((url) => url.startsWith(world.service.url))).toBe(true);
  expect(requests.length, requests.join('\n')).toBe(count);
  expect(
    requests.some((url) => url.includes('ey')),
    'a token in an address',
  ).toBe(false);
  await page.close();
});

test('the frame sends ready before its script has loaded', async () => {
  const page = await browser.newPage();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/embed/assets/**', async (route) => {
    await held;
    await route.fallback();
  });
  await page.goto(world.host);
  await page.waitForFunction(() => 'mount' in globalThis);
  const typeCall = page.waitForRequest((request) => request.url().includes('/v1/inputs/okta-systemlog'));
  await mount(page, world);
  await expect.poll(async () => (await messages(page)).map(({ type }) => type)).toContain('ready');
  // The request for the type does not wait for the script either.
  await typeCall;
  release();
  await page.frameLocator('iframe').getByLabel('Organization URL').waitFor();
  await page.close();
});

test('works with blocked storage, because the frame uses none', async () => {
  const context = await browser.newContext();
  const touched: string[] = [];
  await context.exposeFunction('touched', (what: string) => touched.push(what));
  await context.addInitScript(() => {
    if (parent === self) return;
    const { touched } = globalThis as unknown as { touched(what: string): void };
    const deny = (target: object, name: string) =>
      Object.defineProperty(target, name, {
        get() {
          touched(name);
          throw new DOMException('Storage is blocked', 'SecurityError');
        },
      });
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches', 'cookieStore']) deny(globalThis, name);
    deny(Document.prototype, 'cookie');
  });
  const page = await openHost(context, world);
  const form = page.frameLocator('iframe');
  await form.getByLabel('Organization URL').fill('https://acme.okta.com');
  await form.getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  await press(form.getByRole('button', { name: 'Save', exact: true }));
  await expect.poll(() => callbacks(page)).toContainEqual(expect.objectContaining({ type: 'save' }));
  expect(touched).toEqual([]);
  expect(await context.cookies()).toEqual([]);
  await context.close();
});
