import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { startElementWorld, toldOf, type ElementWorld } from '../support/element-world.js';

/** The embed without a script of the page's: `host-url` and `tenant-id`. */
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

test('a person saves a connector by two tags and no line of script', async () => {
  const page = await world.open(browser, tag('host-url="/api" tenant-id="acme"', '<p>Needs JavaScript.</p>'));
  const form = page.frameLocator('iframe');
  await form.getByLabel('Organization URL').fill('https://acme.okta.com');
  await form.getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  expect(await page.getByText('<p>Needs JavaScript.</p>').isVisible()).toBe(false);
  await form.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => toldOf(page)).toHaveLength(2);
  const [ready, save] = await toldOf(page);
  expect(ready).toEqual(['ready']);
  expect(save?.[0]).toBe('save');
  const { id, name } = Object(save?.[1]);
  expect(await world.call('GET', `/v1/${world.team}/inputs/${id}`)).toMatchObject({ id, name, type: 'okta-systemlog' });
  await page.close();
});
