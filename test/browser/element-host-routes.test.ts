import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { startElementWorld, eventsOf, type ElementWorld } from '../support/element-world.js';
import { press } from '../support/press.js';

/** Embedding without a page script, through `host-url` and `tenant-id`. */
let browser: Browser;
let world: ElementWorld;
beforeAll(async () => {
  [browser, world] = await Promise.all([launchBrowser(), startElementWorld()]);
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

const tag = (attributes: string, content = '') =>
  `<connector-frame kind="input" type-id="okta-systemlog" ${attributes}>${content}</connector-frame>`;

test('saves a connector with two tags and no script', async () => {
  const page = await world.open(browser, tag('host-url="/api" tenant-id="acme"', '<p>Needs JavaScript.</p>'));
  const form = page.frameLocator('iframe');
  await form.getByLabel('Organization URL').fill('https://acme.okta.com');
  await form.getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  expect(await page.getByText('<p>Needs JavaScript.</p>').isVisible()).toBe(false);
  await press(form.getByRole('button', { name: 'Save' }));
  await expect.poll(() => eventsOf(page)).toHaveLength(2);
  const [ready, save] = await eventsOf(page);
  expect(ready).toEqual(['ready']);
  expect(save?.[0]).toBe('save');
  const { id, name } = Object(save?.[1]);
  expect(await world.call('GET', `/v1/${world.team}/inputs/${id}`)).toMatchObject({ id, name, type: 'okta-systemlog' });
  await page.close();
});

test.each([
  ['a tenant that is not signed in', 'tenant-id="globex" host-url="/api"', 'Sign in first.'],
  ['somebody else’s tenant', 'tenant-id="initech" host-url="/api"', 'You may not act for this tenant.'],
  ['no routes there', 'tenant-id="acme" host-url="/nothing"', 'The server of this page responded 404 ('],
  ['a page instead of JSON', 'tenant-id="acme" host-url="/web"', 'The server of this page returned no '],
  [
    'no server at all',
    'tenant-id="acme" host-url="http://localhost:1/api"',
    'The server of this page does not respond (',
  ],
  ['no address', 'tenant-id="acme" host-url="http://["', 'The server of this page does not respond ('],
])('%s: reported once, to the page and to the user', async (_, attributes, words) => {
  const page = await world.open(browser, tag(attributes));
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').innerText()).toContain(words);
  expect(await eventsOf(page)).toEqual([['error', 'session_failed', expect.stringContaining(words)]]);
  expect(await page.locator('iframe').count()).toBe(0);
  await page.close();
});

test.each(['monad/config', 'session'])(
  'reports one error if configuration and session both fail, %s last',
  async (last) => {
    const page = await world.open(browser, tag('tenant-id="acme" host-url="/api"'), { define: false });
    const recordedEvents = page.getByText('Back soon.').waitFor();
    await page.route(/\/api\/(monad\/config|session)$/, async (route) => {
      if (route.request().url().endsWith(last)) await recordedEvents;
      await route.fulfill({ status: 502, contentType: 'application/json', body: '{"message":"Back soon."}' });
    });
    const both = ['monad/config', 'session'].map((end) =>
      page.waitForEvent('requestfinished', (request) => request.url().endsWith(`/api/${end}`)),
    );
    await page.addScriptTag({ url: '/define.js', type: 'module' });
    await Promise.all(both);
    // Requests are answered in order: when this one completes, the earlier ones have been handled.
    await page.evaluate(() => fetch('/web'));
    expect(await eventsOf(page)).toEqual([['error', 'session_failed', 'Back soon.']]);
    await page.close();
  },
);

test('Try again repeats the requests and keeps focus', async () => {
  const page = await world.open(browser, tag('tenant-id="acme" host-url="/api"'), { define: false });
  const refuse = {
    status: 502,
    contentType: 'application/json',
    body: '{"code":"upstream_error","message":"Back soon."}',
  };
  await page.route('**/api/session', (route) => route.fulfill(refuse));
  await page.addScriptTag({ url: '/define.js', type: 'module' });
  await page.getByText('Back soon.').waitFor();
  await page.unroute('**/api/session');
  await page.getByRole('button', { name: 'Try again' }).focus();
  await page.keyboard.press('Enter');
  await page.frameLocator('iframe').getByLabel('Organization URL').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  const focused = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.localName);
  await expect.poll(focused).toBe('iframe');
  expect((await eventsOf(page)).map(([event]) => event)).toEqual(['error', 'ready']);
  await page.close();
});

test('requests the session in parallel with the configuration, which is requested once per page', async () => {
  const requests: string[] = [];
  const page = await world.open(
    browser,
    tag('tenant-id="acme" host-url="/api/"') + tag('tenant-id="acme" host-url="/api"'),
    {
      define: false,
    },
  );
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/'))
      requests.push(`${request.method()} ${pathname} ${request.postData() ?? ''}`.trim());
  });
  await page.addScriptTag({ url: '/define.js', type: 'module' });
  await expect.poll(() => eventsOf(page)).toEqual([['ready'], ['ready']]);
  const sessionRequest = 'POST /api/session {"tenantId":"acme","kind":"input","typeId":"okta-systemlog"}';
  expect(requests.sort()).toEqual(['GET /api/monad/config', sessionRequest, sessionRequest]);
  await page.close();
});

test('renews a rejected session through the host and keeps what was typed', async () => {
  const page = await world.open(browser, tag('tenant-id="acme" host-url="/api"'));
  const form = page.frameLocator('iframe');
  const url = form.getByLabel('Organization URL');
  await url.fill('https://acme.okta.com');
  await form.getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  let sessions = 0;
  await page.route('**/api/session', (route) => ((sessions += 1), route.continue()));
  await refuseOnce(page);
  await press(form.getByRole('button', { name: 'Save' }));
  await expect
    .poll(() => eventsOf(page).then((recordedEvents) => recordedEvents.map(([event]) => event)))
    .toEqual(['ready', 'save']);
  expect(sessions).toBe(1);
  await page.close();
});

/** Makes the service reject the next write, as it does when the session has expired. */
async function refuseOnce(page: Page): Promise<void> {
  let refused = false;
  await page.route(`${world.service.url}/**`, (route) => {
    if (refused || route.request().method() !== 'POST') return route.continue();
    refused = true;
    return route.fulfill({
      status: 401,
      headers: { 'access-control-allow-origin': '*' },
      contentType: 'application/json',
      body: '{"error":"The session has expired.","error_type":"unauthorized","code":401}',
    });
  });
}
