import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { useElementPages } from '../support/element-pages.js';
import { eventsOf } from '../support/element-world.js';

/**
 * Preloading the form's page: loaded when the user approaches the element, sent no messages, and
 * moved into place on mount.
 */
const on = useElementPages();

const session = 'session-token="token-1" organization-id="org_1"';
const tag = (attributes: string) =>
  `<connector-frame id="form" frame-origin="${on.fake.frameOrigin}" api-base="https://connect.test" kind="input" ${session} ${attributes}><p>Choose a product.</p></connector-frame>`;

async function open(body: string): Promise<Page> {
  const page = await on.open(`<h1>Connect</h1>${body}`);
  await page.waitForFunction(() => customElements.get('connector-frame'));
  return page;
}

/** Returns the number of child frames of the page. */
const frames = (page: Page) => page.frames().length - 1;

test('idle: loads the frame when the page is idle, sends it nothing, and mounting reuses it', async () => {
  const before = on.fake.received.length;
  const page = await open(tag('preload'));
  await expect.poll(() => frames(page)).toBe(1);
  const [, warm] = page.frames();
  await warm?.locator('#save').waitFor({ state: 'attached' });
  expect(on.fake.received).toHaveLength(before);
  expect(await eventsOf(page)).toEqual([]);

  await page.locator('#form').evaluate((element) => element.setAttribute('type-id', 'okta-systemlog'));
  await expect.poll(() => eventsOf(page)).toEqual([['ready']]);
  expect(page.frames()).toHaveLength(2);
  expect(page.frames()[1]).toBe(warm);
  await page.frameLocator('#form iframe').getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => eventsOf(page)).toHaveLength(2);
});

test('idle: loads the frame on a page that is never idle', async () => {
  const neverIdle =
    '<script>requestIdleCallback = (run, options) => options && setTimeout(run, options.timeout)</script>';
  const page = await open(`${neverIdle}${tag('preload')}`);
  await expect.poll(() => frames(page)).toBe(1);
});

test('hover: loads when the pointer enters the element', async () => {
  const page = await open(tag('preload="hover"'));
  await page.getByRole('heading').hover();
  expect(frames(page)).toBe(0);
  await page.getByText('Choose a product.').hover();
  await expect.poll(() => frames(page)).toBe(1);
});

const opener = (preload: string) =>
  `<button commandfor="box" command="show-modal">Connect</button><dialog id="box">${tag(`preload="${preload}"`)}</dialog>`;

test('hover: loads on hover or focus of the button that opens the surrounding dialog', async () => {
  const page = await open(opener('hover'));
  await page.getByRole('button', { name: 'Connect' }).hover();
  await expect.poll(() => frames(page)).toBe(1);

  const other = await open(opener('hover'));
  await other.keyboard.press('Tab');
  await expect.poll(() => frames(other)).toBe(1);
});

test('focus: loads on keyboard focus only', async () => {
  const page = await open(opener('focus'));
  await page.getByRole('button', { name: 'Connect' }).hover();
  expect(frames(page)).toBe(0);
  await page.keyboard.press('Tab');
  await expect.poll(() => frames(page)).toBe(1);
});

test("uses the form's URL from the host and ignores a host that is down", async () => {
  const page = await open('<connector-frame host-url="/api" tenant-id="acme" preload></connector-frame>');
  await expect
    .poll(() => page.frames().some((frame) => frame.url().startsWith(`${on.world.service.url}/embed`)))
    .toBe(true);

  const other = await open('<connector-frame host-url="/nothing" tenant-id="acme" preload></connector-frame>');
  await other.waitForLoadState('networkidle');
  expect(await eventsOf(other)).toEqual([]);
  expect(frames(other)).toBe(0);
});

test('removing the element discards its preloaded frame', async () => {
  const page = await open(tag('preload'));
  await expect.poll(() => frames(page)).toBe(1);
  await page.evaluate(() => document.querySelector('#form')?.remove());
  await expect.poll(() => frames(page)).toBe(0);
});
