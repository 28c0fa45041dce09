import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { useElementPages } from '../support/element-pages.js';
import { eventsOf } from '../support/element-world.js';
import { press } from '../support/press.js';

/** The element combined with the page's own policies, buttons, dialogs and style sheets. */
const on = useElementPages();

const tag = (attributes = 'tenant-id="acme"', content = '') =>
  `<connector-frame id="form" kind="input" type-id="okta-systemlog" host-url="/api" ${attributes}>${content}</connector-frame>`;

const { open } = on;

const form = (page: Page) => page.frameLocator('iframe').first();
const url = (page: Page) => form(page).getByLabel('Organization URL');
const names = async (page: Page) => (await eventsOf(page)).map(([event]) => event);

test.each([
  ['of everything', ''],
  ['with Trusted Types and no policy allowed', "; require-trusted-types-for 'script'; trusted-types 'none'"],
])('a strict policy %s: form, loading and error states cause no violation', async (_, more) => {
  const policy = `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src ${on.world.service.url}${more}`;
  const page = await open(tag() + tag('tenant-id="initech"'), { headers: { 'content-security-policy': policy } });
  await url(page).fill('https://acme.okta.com');
  await expect.poll(() => names(page).then((all) => all.sort())).toEqual(['error', 'ready']);
  const box = await page.getByRole('button', { name: 'Try again' }).boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(40);
  expect(await page.locator('[style]').evaluateAll((all) => all.map(({ localName }) => localName))).toEqual(['iframe']);
});

const buttons = ['save', 'test', 'cancel', 'reload']
  .map((command) => `<button commandfor="form" command="--${command}">Host ${command}</button>`)
  .join('');

test('command buttons of the page work without script', async () => {
  const page = await open(buttons + tag());
  await url(page).fill('nonsense');
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  await press('Host save');
  await expect.poll(() => url(page).getAttribute('aria-invalid')).toBe('true');
  await press('Host reload');
  await expect.poll(() => names(page)).toEqual(['ready', 'ready']);
  expect(await url(page).inputValue()).toBe('');

  await press('Host cancel');
  await expect.poll(() => names(page)).toEqual(['ready', 'ready', 'cancel']);

  await url(page).fill('https://acme.okta.com');
  await form(page).getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  await press('Host save');
  await expect.poll(() => names(page)).toEqual(['ready', 'ready', 'cancel', 'save']);
});

test('its methods send the same commands', async () => {
  const page = await open(tag());
  await url(page).fill('nonsense');
  const call = (name: 'save' | 'test' | 'cancel' | 'reload') =>
    page.evaluate((name) => document.querySelector('connector-frame')?.[name](), name);
  await call('test');
  await expect.poll(() => url(page).getAttribute('aria-invalid')).toBe('true');
  await call('reload');
  await expect.poll(() => names(page)).toEqual(['ready', 'ready']);
  await call('cancel');
  await expect.poll(() => names(page)).toEqual(['ready', 'ready', 'cancel']);
});

test('cancel closes the surrounding dialog, across shadow roots, unless prevented', async () => {
  const page = await open(`<dialog id="box"><div id="outer"></div></dialog>`);
  await page.waitForFunction(() => customElements.get('connector-frame'));
  await page.evaluate((markup) => {
    const dialog = document.querySelector<HTMLDialogElement>('#box');
    const root = document.querySelector('#outer')?.attachShadow({ mode: 'open' });
    if (root) root.setHTMLUnsafe(markup);
    dialog?.addEventListener('cancel', () => recordedEvents.push(['dialog cancel']));
    root?.firstElementChild?.addEventListener('cancel', (event) => {
      recordedEvents.push(['cancel']);
      if (recordedEvents.length === 2) event.preventDefault();
    });
    root?.firstElementChild?.addEventListener('ready', () => recordedEvents.push(['ready']));
    dialog?.showModal();
  }, tag());
  await form(page).getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => names(page)).toEqual(['ready', 'cancel']);
  expect(await page.locator('#box').evaluate((dialog) => dialog.matches('[open]'))).toBe(true);
  await form(page).getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => names(page)).toEqual(['ready', 'cancel', 'cancel']);
  expect(await page.locator('#box').evaluate((dialog) => dialog.matches('[open]'))).toBe(false);
});

const sheet = `<style>
  connector-frame { border: 1px solid rgb(0, 0, 0) }
  connector-frame:state(loading) { border-color: rgb(1, 1, 1) }
  connector-frame:state(ready) { border-color: rgb(2, 2, 2) }
  connector-frame:state(error) { border-color: rgb(3, 3, 3) }
  connector-frame:state(saved) { border-left-color: rgb(4, 4, 4) }
  connector-frame::part(frame) { margin: 7px }
  connector-frame::part(error) { background: rgb(5, 5, 5) }
  connector-frame::part(retry) { background: rgb(6, 6, 6) }
  connector-frame::part(loading) { background: rgb(7, 7, 7) }
</style>`;

test('the page can style parts and states', async () => {
  const page = await open(tag() + tag('tenant-id="initech"'), { head: sheet });
  const border = (index: number) =>
    page
      .locator('connector-frame')
      .nth(index)
      .evaluate((element) => getComputedStyle(element).borderColor);
  const color = (part: string) =>
    page
      .locator(`[part=${part}]`)
      .first()
      .evaluate((element) => getComputedStyle(element).backgroundColor);
  await expect.poll(() => border(0)).toBe('rgb(2, 2, 2)');
  await expect.poll(() => border(1)).toBe('rgb(3, 3, 3)');
  expect(await color('error')).toBe('rgb(5, 5, 5)');
  expect(await color('retry')).toBe('rgb(6, 6, 6)');
  expect(
    await page
      .locator('[part=frame]')
      .first()
      .evaluate((element) => getComputedStyle(element).margin),
  ).toBe('7px');

  await url(page).fill('https://acme.okta.com');
  await form(page).getByLabel('API token', { exact: true }).fill('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  await press(form(page).getByRole('button', { name: 'Save' }));
  await expect.poll(() => border(0)).toBe('rgb(2, 2, 2) rgb(2, 2, 2) rgb(2, 2, 2) rgb(4, 4, 4)');

  const loading = await page
    .locator('#form')
    .first()
    .evaluate(async (element) => {
      const form = Object(element);
      form.reload();
      await form.updateComplete;
      const part = form.shadowRoot.querySelector('[part=loading]');
      return [getComputedStyle(form).borderColor, getComputedStyle(part).backgroundColor];
    });
  expect(loading).toEqual(['rgb(1, 1, 1)', 'rgb(7, 7, 7)']);
});

test('hides loading and fallback content once the form is shown; slots replace the texts', async () => {
  const page = await open(
    tag('tenant-id="acme"', '<p>Needs JavaScript.</p><p slot="loading">One moment …</p>') +
      tag(
        'tenant-id="initech"',
        '<p slot="error">Call us. <button commandfor="form" command="--reload">Again</button></p>',
      ),
  );
  await url(page).waitFor();
  await page.getByText('Call us.').waitFor();
  expect(await page.getByText('Needs JavaScript.').isVisible()).toBe(false);
  expect(await page.getByText('One moment …').isVisible()).toBe(false);
  expect(await page.getByText('The form could not be loaded').isVisible()).toBe(false);
  expect(await page.getByRole('status').count()).toBe(0);
});

test('shows its content without script', async () => {
  const context = await on.browser.newContext({ javaScriptEnabled: false });
  const page = await on.world.open(context, tag('tenant-id="acme"', '<p>Needs JavaScript.</p>'));
  expect(await page.getByText('Needs JavaScript.').isVisible()).toBe(true);
  await context.close();
});
