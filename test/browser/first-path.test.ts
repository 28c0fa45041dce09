import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { startFakeOkta, type FakeOkta } from '../support/fake-okta.js';
import { startProcess, type DemoProcess } from '../support/start-process.js';
import { press } from '../support/press.js';

/**
 * The whole path with only Okta replaced: the process of `npm start`, its database on disk, a
 * browser, two origins, and an HTTPS server that responds as Okta documents. Egress to loopback is
 * allowed, as an operator does for systems in their own network.
 */
const TOKEN = '00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD';

let folder: string;
let browser: Browser;
let okta: FakeOkta;
let demo: DemoProcess;

const start = () =>
  startProcess({
    DATA_DIR: join(folder, 'data'),
    EGRESS_ALLOW: '127.0.0.1/32',
    NODE_EXTRA_CA_CERTS: okta.caFile,
    LOG_LEVEL: 'silent',
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'first-path-'));
  okta = await startFakeOkta({ token: TOKEN });
  [demo, browser] = await Promise.all([start(), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
  await okta?.close();
  await rm(folder, { recursive: true, force: true });
});

async function signIn(): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(demo.hostUrl);
  await page.getByRole('button', { name: 'Continue as Acme' }).click();
  return page;
}

const form = (page: Page) => page.frameLocator('iframe');
const open = (page: Page, list: string, name: string) =>
  page.locator(`${list} :is(a, button)`, { hasText: name }).first().click();

test('a saved connector is reported to the page, survives a restart and can be edited', async () => {
  let page = await signIn();
  await open(page, '#catalog', 'Okta System Log');
  expect(new URL(demo.serviceUrl).origin).not.toBe(new URL(page.url()).origin);

  // A wrong token first: the connection test reports the error on its field.
  await form(page).getByLabel('Organization URL').fill(okta.url);
  await form(page).getByLabel('API token', { exact: true }).fill(TOKEN.replace('00a', '00b'));
  await press(form(page).getByRole('button', { name: 'Test connection' }));
  await form(page)
    .getByText(/did not accept/i)
    .first()
    .waitFor();

  await form(page).getByLabel('API token', { exact: true }).fill(TOKEN);
  await press(form(page).getByRole('button', { name: 'Test connection' }));
  await form(page).getByRole('heading', { name: 'Connection works' }).waitFor();
  expect(okta.hits.at(-1)).toMatchObject({ authorization: `SSWS ${TOKEN}`, status: 200 });

  await form(page).getByLabel('Name', { exact: true }).fill('Okta production');
  await press(form(page).getByRole('button', { name: 'Save' }));
  const status = page.getByRole('status').filter({ hasText: 'Okta production is saved. Its id:' });
  const id = (await status.locator('code').textContent()) ?? '';
  expect(id).toMatch(/^[\w-]{8,}$/);
  expect(await page.content()).not.toContain(TOKEN);
  await page.close();

  expect(await demo.stop()).toBe(0);
  demo = await start();

  page = await signIn();
  await open(page, '#connections', 'Okta production');
  expect(await form(page).getByLabel('Organization URL').inputValue()).toBe(okta.url);
  await form(page).getByText('Saved', { exact: false }).first().waitFor();

  // The stored token still works without being typed again.
  const before = okta.hits.length;
  await press(form(page).getByRole('button', { name: 'Test connection' }));
  await form(page).getByRole('heading', { name: 'Connection works' }).waitFor();
  expect(okta.hits.slice(before)).toEqual([expect.objectContaining({ authorization: `SSWS ${TOKEN}` })]);

  // The stored token is not used for another address.
  await form(page).getByLabel('Organization URL').fill('https://acme.okta.com');
  await form(page).getByLabel('Organization URL').blur();
  await form(page).getByLabel('API token', { exact: true }).waitFor();
  expect(await form(page).getByLabel('API token', { exact: true }).inputValue()).toBe('');
  await form(page).getByLabel('Organization URL').fill(okta.url);
  await form(page).getByLabel('Organization URL').blur();

  await form(page).getByLabel('Name', { exact: true }).fill('Okta, renamed');
  await press(form(page).getByRole('button', { name: 'Save' }));
  await page
    .getByRole('status')
    .filter({ hasText: `Okta, renamed is updated. Its id: ${id}` })
    .waitFor();
  await page.close();
});
