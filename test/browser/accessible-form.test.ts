import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { axeViolations } from '../support/axe-violations.js';
import { launchBrowser } from '../support/browser.js';
import { callbacks, openHost } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';

/**
 * Checks the accessibility tree of the real form in its frame, as the browser computes it, and its
 * keyboard order: from the first paint through save, edit and session expiry.
 */

let browser: Browser;
let world: World;

beforeAll(async () => {
  [browser, world] = await Promise.all([launchBrowser(), startWorld()]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

const violations = async (page: Page) => axeViolations(page.frames()[1] ?? page.mainFrame());

const TOKEN = '00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD';

test("the frame's title is the display name, not the type id", async () => {
  const page = await openHost(browser, world);
  await expect.poll(() => callbacks(page)).toContainEqual({ type: 'ready' });
  expect(await page.locator('iframe').getAttribute('title')).toBe('Okta System Log');
  await page.close();
  const named = await openHost(browser, world, { displayName: 'Okta of Acme' });
  await expect.poll(() => callbacks(named)).toContainEqual({ type: 'ready' });
  expect(await named.locator('iframe').getAttribute('title')).toBe('Okta of Acme');
  await named.close();
});

test('creates a connector by keyboard, with the expected accessibility tree at each step', async () => {
  const page = await openHost(browser, world);
  const body = page.frameLocator('iframe').locator('main');
  const tree = () => body.ariaSnapshot();
  await body.getByLabel('Organization URL').waitFor();
  expect(await tree()).toMatchInlineSnapshot(`
    "- main:
      - heading "Okta System Log" [level=1]
      - paragraph: Sign-ins, admin changes and security events from your Okta organization.
      - text: Organization URL
      - textbox "Organization URL":
        - /placeholder: https://acme.okta.com
      - paragraph: The address people sign in at, without -admin and without anything after the domain.
      - text: API token
      - paragraph: "In the Okta Admin Console: Security → API → Tokens. A read-only administrator's token is enough."
      - textbox "API token"
      - paragraph: Sent to the address in “Organization URL”, kept for acme
      - status
      - text: Start from Optional
      - textbox "Start from"
      - paragraph: UTC time
      - paragraph: Also collects events back to this moment. Leave empty to start now.
      - paragraph: Encrypted. The page around this form can’t read what you type here.
      - status
      - button "Test connection"
      - button "Cancel"
      - button "Save"
      - status"
  `);

  // Save the empty form.
  await body.getByLabel('Organization URL').focus();
  await page.keyboard.press('Enter');
  await body.getByRole('group', { name: 'Two things to fix before saving' }).waitFor();
  expect(await tree()).toMatchInlineSnapshot(`
    "- main:
      - heading "Okta System Log" [level=1]
      - paragraph: Sign-ins, admin changes and security events from your Okta organization.
      - group "Two things to fix before saving":
        - heading "Two things to fix before saving" [level=2]
        - paragraph:
          - link "Organization URL":
            - /url: "#cf/settings/org_url"
          - text: ","
          - link "API token":
            - /url: "#cf/secrets/api_key"
      - text: Organization URL
      - textbox "Organization URL" [invalid]:
        - /placeholder: https://acme.okta.com
      - paragraph: Enter the organization URL
      - paragraph: The address people sign in at, without -admin and without anything after the domain.
      - text: API token
      - paragraph: "In the Okta Admin Console: Security → API → Tokens. A read-only administrator's token is enough."
      - textbox "API token" [invalid]
      - paragraph: Sent to the address in “Organization URL”, kept for acme
      - status: Enter the API token
      - text: Start from Optional
      - textbox "Start from"
      - paragraph: UTC time
      - paragraph: Also collects events back to this moment. Leave empty to start now.
      - paragraph: Encrypted. The page around this form can’t read what you type here.
      - status
      - button "Test connection"
      - button "Cancel"
      - button "Save"
      - status"
  `);
  expect(await violations(page)).toEqual([]);

  // From the error summary to the first field, then through the rest of the form.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.type('https://acme.okta.com');
  await page.keyboard.press('Tab');
  await page.keyboard.type(TOKEN);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await tree()).toMatchInlineSnapshot(`
    "- main:
      - heading "Okta System Log" [level=1]
      - paragraph: Sign-ins, admin changes and security events from your Okta organization.
      - group "Everything named here is fixed":
        - heading "Everything named here is fixed" [level=2]
        - paragraph
      - text: Organization URL
      - textbox "Organization URL":
        - /placeholder: https://acme.okta.com
        - text: https://acme.okta.com
      - paragraph: The address people sign in at, without -admin and without anything after the domain.
      - text: API token
      - paragraph: "In the Okta Admin Console: Security → API → Tokens. A read-only administrator's token is enough."
      - textbox "API token": 00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD
      - paragraph: Sent to acme.okta.com, kept for acme
      - button "Hide API token"
      - status
      - text: Start from Optional
      - textbox "Start from"
      - paragraph: UTC time
      - paragraph: Also collects events back to this moment. Leave empty to start now.
      - paragraph: Encrypted. The page around this form can’t read what you type here.
      - status
      - button "Test connection"
      - button "Cancel"
      - button "Save"
      - status"
  `);
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await expect.poll(() => callbacks(page)).toContainEqual(expect.objectContaining({ type: 'save' }));
  await body.getByRole('heading', { name: 'Saved' }).waitFor();
  expect(await tree()).toMatchInlineSnapshot(`
    "- main:
      - heading "Okta System Log" [level=1]
      - paragraph: Sign-ins, admin changes and security events from your Okta organization.
      - heading "Saved" [level=2]
      - paragraph
      - status: Saved"
  `);
  await page.close();
});

test('edits a stored secret: replaces it and restores it', async () => {
  const { body: made } = await world.call('POST', `/v2/${world.team}/inputs`, {
    name: 'Okta production',
    type: 'okta-systemlog',
    config: { settings: { org_url: 'https://acme.okta.com' }, secrets: { api_key: { value: TOKEN } } },
  });
  const page = await openHost(browser, world, { existingId: made['id'] });
  const body = page.frameLocator('iframe').locator('main');
  const field = body.getByRole('group', { name: 'API token' });
  await field.waitFor();
  const kept = (await field.ariaSnapshot()).replace(/· .*/, '· a day');
  expect(kept).toMatchInlineSnapshot(`
    "- group "API token":
      - text: API token
      - paragraph: "In the Okta Admin Console: Security → API → Tokens. A read-only administrator's token is enough."
      - paragraph: Saved · a day
      - button "Replace API token""
  `);

  await body.getByRole('button', { name: 'Replace API token' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('••••••••');
  await expect.poll(() => body.getByLabel('API token').inputValue()).toBe('••••••••');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  // Blur the field to trigger validation.
  const control = body.locator('.cf-secret');
  await control.getByText('These are only dots.').waitFor({ state: 'attached' });
  expect(await control.ariaSnapshot()).toMatchInlineSnapshot(`
    "- text: API token
    - paragraph: "In the Okta Admin Console: Security → API → Tokens. A read-only administrator's token is enough."
    - textbox "API token" [invalid]: ••••••••
    - paragraph: Sent to acme.okta.com, kept for acme
    - button "Show API token"
    - status: These are only dots. Paste the real value.
    - paragraph:
      - button "Keep the saved API token""
  `);
  expect(await violations(page)).toEqual([]);

  await page.keyboard.press('Enter');
  await field.waitFor();
  expect((await field.ariaSnapshot()).replace(/· .*/, '· a day')).toBe(kept);
  await page.close();
});

test('announces an expired session with the next step and keeps what was typed', async () => {
  const page = await openHost(browser, world);
  const body = page.frameLocator('iframe').locator('main');
  await body.getByLabel('Organization URL').fill('https://acme.okta.com');
  await body.getByLabel('API token', { exact: true }).fill(TOKEN);
  await page.route('**/v2/**', (route) =>
    route.fulfill({
      status: 401,
      json: { error: 'The token expired.', error_type: 'token_expired', code: 401 },
      headers: { 'access-control-allow-origin': world.service.url },
    }),
  );
  await body.getByRole('button', { name: 'Save' }).focus();
  await page.keyboard.press('Enter');
  const alert = body.getByRole('alert');
  await alert.waitFor({ timeout: 90_000 });
  expect(await alert.ariaSnapshot()).toMatchInlineSnapshot(`
    "- alert:
      - heading "Your session ended" [level=2]
      - paragraph: What you typed is still here. Sign in again if the page asks you to, then try again.
      - button "Continue""
  `);
  expect(await violations(page)).toEqual([]);
  expect(await body.getByLabel('API token', { exact: true }).inputValue()).toBe(TOKEN);
  await page.close();
});
