import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { serveFakeFrame } from '@connector-frame/core/testing';
import { useElementPages } from '../support/element-pages.js';
import { eventsOf } from '../support/element-world.js';

/** Which changes keep the form, which replace it, and when it is removed. */
const on = useElementPages();

const tag = (attributes = '') =>
  `<connector-frame id="form" kind="input" type-id="okta-systemlog" ${attributes}></connector-frame><div id="other"></div>`;
const real = 'host-url="/api" tenant-id="acme"';

const { open } = on;
const set = (page: Page, values: object) =>
  page.locator('#form').evaluate((element, values) => void Object.assign(element, values), values);
const url = (page: Page) => page.frameLocator('iframe').getByLabel('Organization URL');
const readies = async (page: Page) => (await eventsOf(page)).filter(([event]) => event === 'ready').length;

/** Opens a real form with unsaved edits. */
async function typed(): Promise<Page> {
  const page = await open(tag(real));
  await url(page).fill('https://acme.okta.com');
  return page;
}

test('a new token is sent to the mounted form; other changed options do not remount it', async () => {
  const page = await open(
    tag(
      `frame-origin="${on.fake.frameOrigin}" api-base="https://connect.test" session-token="token-1" organization-id="org_1"`,
    ),
  );
  await expect.poll(() => readies(page)).toBe(1);
  await set(page, {
    sessionToken: 'token-2',
    displayName: 'Other',
    appearance: { colorPrimary: 'red' },
    isNameEditable: true,
  });
  await page.locator('#form').evaluate((element) => {
    Object.assign(element, { fetchSession: async () => ({ sessionToken: 'token-3' }) });
    element.addEventListener('save', () => undefined);
  });
  await page.frameLocator('iframe').getByText('Session renewed').waitFor();
  expect(on.fake.received.at(-1)).toEqual({ source: 'monad-embed', type: 'session', sessionToken: 'token-2' });
  expect(await readies(page)).toBe(1);
});

test('a token that changes before the form is ready still reaches it', async () => {
  const late = await serveFakeFrame({ allowedOrigins: [on.world.origin], ready: 300 });
  const page = await open(
    tag(
      `frame-origin="${late.frameOrigin}" api-base="https://connect.test" session-token="old" organization-id="org_1"`,
    ),
  );
  await set(page, { sessionToken: 'new' });
  await page.frameLocator('iframe').getByText('Session renewed').waitFor();
  expect(late.received.map(({ type }) => type)).toEqual(['init', 'session']);
  expect(late.received.at(-1)).toMatchObject({ sessionToken: 'new' });
  await late.close();
});

test('several synchronous changes mount one form', async () => {
  const page = await open(tag(real));
  await expect.poll(() => readies(page)).toBe(1);
  await page.locator('#form').evaluate((element) => {
    const made: string[] = [];
    Object.assign(globalThis, { made });
    const shadow = element.shadowRoot?.querySelector('[part=frame]');
    if (shadow) {
      new MutationObserver((records) => {
        for (const { addedNodes } of records) for (const node of addedNodes) made.push(node.nodeName);
      }).observe(shadow, { childList: true });
    }
    Object.assign(element, { kind: 'output' });
    element.setAttribute('type-id', 's3');
    Object.assign(element, { displayName: 'Bucket' });
  });
  await expect.poll(() => readies(page)).toBe(2);
  expect(await page.locator('iframe').getAttribute('title')).toBe('Bucket');
  expect(await page.evaluate(() => Object(globalThis).made)).toEqual(['IFRAME']);
});

test('a form with unsaved input asks before it is replaced, and is kept or discarded accordingly', async () => {
  const page = await typed();
  const form = page.frameLocator('iframe');
  await set(page, { typeId: 'github-audit-logs' });
  await form.getByRole('button', { name: 'Keep editing' }).click();
  await expect.poll(() => url(page).inputValue()).toBe('https://acme.okta.com');

  // Changing the type back before the user answers has no effect.
  await set(page, { typeId: 'okta-systemlog' });
  expect(await url(page).inputValue()).toBe('https://acme.okta.com');
  expect(await readies(page)).toBe(1);

  // Another change while the question is shown: the last type is mounted.
  await set(page, { typeId: 'github-audit-logs' });
  await form.getByRole('button', { name: 'Discard' }).waitFor();
  await set(page, { kind: 'output', typeId: 's3', displayName: 'Bucket' });
  await form.getByRole('button', { name: 'Discard' }).click();
  await expect.poll(() => readies(page)).toBe(2);
  expect(await page.locator('iframe').getAttribute('title')).toBe('Bucket');
});

test('moveBefore keeps the form and what was typed', async () => {
  const page = await typed();
  await page.evaluate(() => {
    const form = document.querySelector('#form');
    const other = document.querySelector('#other');
    if (form && other) other.moveBefore(form, null);
  });
  expect(await page.locator('#other > connector-frame').count()).toBe(1);
  expect(await url(page).inputValue()).toBe('https://acme.okta.com');
  expect(await readies(page)).toBe(1);
});

test('a form moved by remove and append reloads and works', async () => {
  const page = await open(tag(real));
  await expect.poll(() => readies(page)).toBe(1);
  await page.evaluate(() => document.querySelector('#other')?.append(document.querySelector('#form') ?? ''));
  await expect.poll(() => readies(page)).toBe(2);
  await url(page).fill('https://acme.okta.com');
  expect(await page.locator('iframe').count()).toBe(1);
});

test('removing the element cleans up; inserting it again mounts a new form', async () => {
  const page = await open(tag(real));
  await expect.poll(() => readies(page)).toBe(1);
  await page.evaluate(async () => {
    const form = document.querySelector('#form');
    form?.remove();
    Object.assign(globalThis, { kept: form });
    await new Promise((resolve) => setTimeout(resolve));
  });
  expect(page.frames()).toHaveLength(1);
  expect(await page.evaluate(() => Object(globalThis).kept.shadowRoot.querySelector('iframe'))).toBeNull();
  await page.evaluate(() => document.body.append(Object(globalThis).kept));
  await expect.poll(() => readies(page)).toBe(2);
  expect((await eventsOf(page)).filter(([event]) => event !== 'ready')).toEqual([]);
});

test('an element adopted by another document reports an error and works again after it is moved back', async () => {
  const page = await open(`${tag(real)}<iframe id="inner" name="inner"></iframe>`);
  await expect.poll(() => readies(page)).toBe(1);
  await page.evaluate(() => {
    const form = document.querySelector('#form');
    Object.assign(globalThis, { form });
    form?.addEventListener('error', (event) => recordedEvents.push(['elsewhere', Object(event).error.code]));
    document.querySelector<HTMLIFrameElement>('#inner')?.contentDocument?.body.append(form ?? '');
  });
  await expect.poll(() => eventsOf(page)).toEqual([['ready'], ['elsewhere', 'invalid_options']]);
  await page.evaluate(() => document.body.append(Object(globalThis).form));
  await expect.poll(() => readies(page)).toBe(2);
  expect(await page.locator('#form').evaluate((element) => getComputedStyle(element).display)).toBe('block');
});
