import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { callbacks, openHost } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';
import { press } from '../support/press.js';

const TOKEN = '00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD';

let browser: Browser;
let world: World;

beforeAll(async () => {
  [browser, world] = await Promise.all([launchBrowser(), startWorld()]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

const form = (page: Page) => page.frameLocator('iframe');
const save = (page: Page) => press(form(page).getByRole('button', { name: 'Save', exact: true }));

async function fill(page: Page): Promise<void> {
  await form(page).getByLabel('Organization URL').fill('https://acme.okta.com');
  await form(page).getByLabel('API token', { exact: true }).fill(TOKEN);
}

/** Asserts that the typed values are unchanged. */
async function expectKept(page: Page): Promise<void> {
  expect(await form(page).getByLabel('Organization URL').inputValue()).toBe('https://acme.okta.com');
  expect(await form(page).getByLabel('API token', { exact: true }).inputValue()).toBe(TOKEN);
}

/** Returns the connectors stored for the team. */
async function storedConnectors(): Promise<{ id: string; name: string }[]> {
  const { body } = await world.call('GET', `/v1/${world.team}/inputs?limit=1000`);
  return body['inputs'] as { id: string; name: string }[];
}

/** Creates a session whose API key can be revoked, as an operator may do while forms are open. */
async function revocable(): Promise<{ sessionToken: string; revoke(): Promise<void> }> {
  const { body: key } = await world.call('POST', `/v3/${world.team}/api-keys`, {
    name: 'short-lived',
    permissions: ['sessions:create', 'read', 'write'],
  });
  const minted = await fetch(`${world.service.url}/v3/sessions`, {
    method: 'POST',
    headers: { 'x-api-key': String(key['key']), 'content-type': 'application/json' },
    body: JSON.stringify({ organization_id: world.team }),
  });
  const { session_token: sessionToken } = (await minted.json()) as { session_token: string };
  return {
    sessionToken,
    async revoke() {
      await world.call('DELETE', `/v3/${world.team}/api-keys/${String(key['id'])}`);
      const path = `${world.service.url}/v1/inputs/okta-systemlog`;
      const headers = { authorization: `Bearer ${sessionToken}` };
      await expect.poll(async () => (await fetch(path, { headers })).status).toBe(401);
    },
  };
}

test('R05: renews a session that expires while the user types, and saves once', async () => {
  const before = await storedConnectors();
  const { sessionToken, revoke } = await revocable();
  const page = await openHost(browser, world, { sessionToken, fetchSession: true });
  await fill(page);
  await revoke();
  await save(page);
  await expect.poll(() => callbacks(page)).toContainEqual(expect.objectContaining({ type: 'save' }));
  expect((await callbacks(page)).filter(({ type }) => type === 'error')).toEqual([]);
  expect((await storedConnectors()).length).toBe(before.length + 1);
  await page.close();
});

test('R05: reports an expired session that cannot be renewed and keeps what was typed', async () => {
  const before = await storedConnectors();
  const { sessionToken, revoke } = await revocable();
  const page = await openHost(browser, world, { sessionToken });
  await fill(page);
  await revoke();
  await save(page);
  await expect
    .poll(() => callbacks(page))
    .toContainEqual(expect.objectContaining({ type: 'error', code: 'session_expired' }));
  await form(page)
    .getByText(/session/i)
    .first()
    .waitFor();
  await expectKept(page);
  expect((await storedConnectors()).length).toBe(before.length);
  await page.close();
});

test('R01: retries a save whose response is lost and creates one connector', async () => {
  const before = await storedConnectors();
  const page = await openHost(browser, world);
  await fill(page);
  const keys: (string | null)[] = [];
  await page.route(`${world.service.url}/v2/**`, async (route) => {
    keys.push(await route.request().headerValue('idempotency-key'));
    if (keys.length > 1) return route.fallback();
    await route.fetch();
    await route.abort('connectionreset');
  });
  await save(page);
  await expect.poll(() => callbacks(page)).toContainEqual(expect.objectContaining({ type: 'save' }));
  expect(keys.length).toBeGreaterThan(1);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toBeTruthy();
  expect((await storedConnectors()).length).toBe(before.length + 1);
  await page.close();
});

test('R01: a double click saves once', async () => {
  const before = await storedConnectors();
  const page = await openHost(browser, world);
  await fill(page);
  await form(page).getByRole('button', { name: 'Save', exact: true }).dblclick();
  await expect.poll(() => callbacks(page)).toContainEqual(expect.objectContaining({ type: 'save' }));
  expect((await callbacks(page)).filter(({ type }) => type === 'save').length).toBe(1);
  expect((await storedConnectors()).length).toBe(before.length + 1);
  await page.close();
});

test('R06: retries 429 and 503 after Retry-After and no other rejection', async () => {
  const page = await openHost(browser, world);
  await fill(page);
  let calls = 0;
  await page.route(`${world.service.url}/v2/**`, async (route) => {
    calls += 1;
    if (calls > 2) return route.fallback();
    await route.fulfill({ status: calls === 1 ? 429 : 503, headers: { 'retry-after': '0' }, body: '{}' });
  });
  await save(page);
  await expect.poll(() => callbacks(page)).toContainEqual(expect.objectContaining({ type: 'save' }));
  expect(calls).toBe(3);
  await page.close();

  const refused = await openHost(browser, world);
  await fill(refused);
  let once = 0;
  await refused.route(`${world.service.url}/v2/**`, async (route) => {
    once += 1;
    await route.fulfill({
      status: 403,
      contentType: 'application/json',
      body: '{"error_type":"forbidden","code":403}',
    });
  });
  await save(refused);
  await expect
    .poll(() => callbacks(refused))
    .toContainEqual(expect.objectContaining({ type: 'error', code: 'unauthorized' }));
  expect(once).toBe(1);
  await expectKept(refused);
  await refused.close();
});

test('R06: keeps what was typed while offline, and the next save succeeds', async () => {
  const context = await browser.newContext();
  const page = await openHost(context, world);
  await fill(page);
  await context.setOffline(true);
  await save(page);
  await expect
    .poll(() => callbacks(page), { timeout: 90_000 })
    .toContainEqual(expect.objectContaining({ type: 'error', code: 'offline' }));
  await expectKept(page);
  await context.setOffline(false);
  await save(page);
  await expect.poll(() => callbacks(page)).toContainEqual(expect.objectContaining({ type: 'save' }));
  await context.close();
});

test('reports an unknown type in the frame and to the page', async () => {
  const page = await openHost(browser, world, { typeId: 'no-such-type' });
  await expect
    .poll(() => callbacks(page))
    .toContainEqual(expect.objectContaining({ type: 'error', code: 'type_not_found' }));
  expect(await form(page).getByRole('alert').innerText()).not.toBe('');
  expect((await callbacks(page)).some(({ type }) => type === 'ready')).toBe(false);
  await page.close();
});

test('offers a working Retry after a failed load', async () => {
  const page = await browser.newPage();
  await page.route(`${world.service.url}/v1/inputs/**`, (route) =>
    route.fulfill({ status: 500, contentType: 'application/json', body: '{"code":500,"error_type":"internal_error"}' }),
  );
  await page.goto(world.host);
  const { mount } = await import('../support/open-host.js');
  await page.waitForFunction(() => 'mount' in globalThis);
  await mount(page, world);
  const retry = form(page).getByRole('button', { name: /retry|try again/i });
  await retry.waitFor();
  await page.unroute(`${world.service.url}/v1/inputs/**`);
  await press(retry);
  await form(page).getByLabel('Organization URL').waitFor();
  await page.close();
});

test.each([{ hasTouch: false }, { hasTouch: true }])(
  'saves on the first click even if leaving a field moves the button (touch: $hasTouch)',
  async ({ hasTouch }) => {
    const context = await browser.newContext({ viewport: { width: 320, height: 900 }, hasTouch });
    const page = await openHost(context, world);
    await fill(page);
    await form(page).getByLabel('API token', { exact: true }).fill('');
    const button = form(page).getByRole('button', { name: 'Save', exact: true });
    await (hasTouch ? button.tap() : button.click());
    await form(page)
      .getByRole('heading', { name: /to fix before saving/ })
      .waitFor();
    await context.close();
  },
);
