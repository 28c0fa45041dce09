/**
 * Connecting an account across four real origins: a host page, the form of the service, its window, and
 * `oidc-provider` as the vendor.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { axeViolations } from '../support/axe-violations.js';
import { launchBrowser } from '../support/browser.js';
import { freePort } from '../support/free-port.js';
import type { Route } from '../support/serve.js';
import { startOidcServer, type OidcServer } from '../support/sign-in/oidc-provider.js';
import { hostPage, startWorld, type World } from '../support/world.js';

const pageWith = (opener: string): Route => ({
  body: hostPage(),
  headers: { 'content-type': 'text/html', 'cross-origin-opener-policy': opener },
});
/** Host pages by what they say about windows of other sites. */
const pages = {
  // What a page needs that lets no other site hold its own window.
  '/allowing': pageWith('same-origin-allow-popups'),
  '/cut-off': pageWith('same-origin'),
};

let browser: Browser;
let provider: OidcServer;
let world: World;
let folder: string;
let page: Page;
let form: FrameLocator;

beforeAll(async () => {
  const port = await freePort();
  folder = await mkdtemp(join(tmpdir(), 'connect-account-'));
  [browser, provider] = await Promise.all([
    launchBrowser(),
    startOidcServer(`http://localhost:${port}/v1/oauth/linear/callback`, {
      authentication: 'client_secret_post',
      refresh: true,
    }),
  ]);
  const client = {
    provider: 'linear',
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    authorization_url: `${provider.issuer}/auth`,
    token_url: `${provider.issuer}/token`,
  };
  const file = join(folder, 'clients.json');
  await writeFile(file, JSON.stringify({ clients: [client] }));
  const environment = { SERVICE_PORT: `${port}`, OAUTH_CLIENTS_FILE: file, EGRESS_ALLOW: '127.0.0.0/8' };
  // Another site than the service, as in production.
  world = await startWorld(environment, pages, '127.0.0.1');
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 320, height: 800 } });
  await openForm('/allowing');
});

async function openForm(path: keyof typeof pages): Promise<void> {
  await page.goto(`${world.host}${path}`);
  const options = {
    sessionToken: await world.session(),
    organizationId: world.team,
    kind: 'input',
    typeId: 'linear-issues',
    frameOrigin: `${world.service.url}/embed`,
    apiBase: world.service.url,
  };
  await page.evaluate((given) => Reflect.get(globalThis, 'mount')(given), options);
  form = page.frameLocator('iframe');
}
afterEach(() => page.context().close());

const formViolations = async (): Promise<string[]> => {
  const [, frame] = page.frames();
  return frame ? axeViolations(frame) : ['no frame'];
};

/** Presses the button with the keyboard, and returns the window that opens. */
async function openWindow(name: string): Promise<Page> {
  const opened = page.context().waitForEvent('page');
  await form.getByRole('button', { name }).press('Enter');
  const window = await opened;
  await window.waitForURL(`${provider.issuer}/**`);
  return window;
}

test('a customer connects an account by keyboard at 320 px, and the page learns nothing but that it was saved (S44)', async () => {
  const window = await openWindow('Connect with Linear');
  await window.getByPlaceholder('Enter any login').fill('octocat');
  await window.getByPlaceholder('and password').fill('any');
  await window.getByRole('button').click();
  const closed = window.waitForEvent('close');
  await window.getByRole('button', { name: 'Continue' }).click();
  await closed;
  await form.locator('.cf-kept', { hasText: 'Connected' }).waitFor();
  expect(await formViolations()).toEqual([]);

  await form.getByRole('button', { name: 'Save', exact: true }).click();
  await page.waitForFunction(() =>
    Reflect.get(globalThis, 'callbacks').some((event: unknown) => Reflect.get(Object(event), 'type') === 'save'),
  );
  const heard = await page.evaluate(() => JSON.stringify(Reflect.get(globalThis, 'messages')));
  expect(heard).not.toMatch(/token|consent|code=|octocat/i);
  const { body } = await world.call('GET', `/v1/${world.team}/inputs`);
  expect(body).toMatchObject({ inputs: [{ config: { secrets: { api_key: { account: { status: 'connected' } } } } }] });
});

test('on a page that cuts off its windows, the form says that it can use none, and the console why', async () => {
  await openForm('/cut-off');
  const warned = page.waitForEvent('console', (message) => message.text().includes('same-origin-allow-popups'));
  await form.getByRole('button', { name: 'Connect with Linear' }).press('Enter');
  await form.getByText('Your browser opened no window that this form can use.').waitFor();
  await warned;
});

test('a customer who refuses or closes the window reads so, and can try again or enter a key', async () => {
  const refused = await openWindow('Connect with Linear');
  await refused.getByRole('link', { name: 'Cancel' }).click();
  await form.getByText('Not connected. Try again, or enter a value instead.').waitFor();
  const closed = await openWindow('Connect Linear again');
  await closed.close();
  await form.getByText('If you closed the window, try again.').waitFor();
  expect(await formViolations()).toEqual([]);
});
