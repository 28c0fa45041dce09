import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Browser, Frame, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { messages, mount, openHost } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';
import { press } from '../support/press.js';

// The page asks to unload the form: unsaved edits are lost only after the user confirms.

let browser: Browser;
let world: World;
let page: Page;

beforeAll(async () => {
  [browser, world] = await Promise.all([launchBrowser(), startWorld()]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});
beforeEach(async () => {
  page = await openHost(browser, world);
  await url().waitFor();
});
afterEach(() => page?.close());

const form = () => page.frameLocator('iframe');
const url = () => form().getByLabel('Organization URL');
const question = () => form().getByRole('alertdialog', { name: 'Discard what you typed?' });
const inside = (): Frame => page.frames()[1] ?? page.mainFrame();
const leave = (of = page) =>
  of.evaluate(() => (globalThis as unknown as { send(message: object): void }).send({ type: 'leave' }));
const left = async (of = page) => (await messages(of)).filter(({ type }) => type === 'left').length;
const focused = () =>
  inside().evaluate(() => document.activeElement?.textContent?.trim() || document.activeElement?.id);
const settle = () => page.evaluate(() => new Promise((later) => setTimeout(later, 200)));

async function type(): Promise<void> {
  await url().focus();
  await page.keyboard.type('https://acme.okta.com');
}

test('announces that it handles leave', async () => {
  expect((await messages(page))[0]).toMatchObject({ type: 'ready', answersLeave: true });
});

test('leaves immediately without unsaved input', async () => {
  await leave();
  await expect.poll(() => left()).toBe(1);
  expect(await question().count()).toBe(0);
});

describe('asks if there is unsaved input', () => {
  beforeEach(async () => {
    await type();
    await leave();
    await question().waitFor();
  });

  test('and sends nothing until the user answers; the form is inert', async () => {
    await settle();
    expect(await left()).toBe(0);
    expect(await focused()).toBe('Keep editing');
    // Tab cycles through the answers until it leaves the frame; the fields behind are inert.
    await page.keyboard.press('Shift+Tab');
    expect(await focused()).toBe('Discard');
    await page.keyboard.type('x');
    expect(
      await inside().evaluate(() => document.querySelector<HTMLInputElement>('[id="cf/settings/org_url"]')?.value),
    ).toBe('https://acme.okta.com');
    expect(await form().getByRole('button', { name: 'Save' }).count()).toBe(0);
  });

  test('leaves on Discard, by keyboard', async () => {
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => left()).toBe(1);
  });

  test('leaves on Discard, by mouse', async () => {
    await form().getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => left()).toBe(1);
  });

  test.each(['Enter', 'Escape', 'click'])('Keep editing by %s sends nothing and restores focus', async (by) => {
    if (by === 'click') await form().getByRole('button', { name: 'Keep editing' }).click();
    else await page.keyboard.press(by);
    await expect.poll(() => question().count()).toBe(0);
    expect(await focused()).toBe('cf/settings/org_url');
    await page.keyboard.type('/x');
    expect(await url().inputValue()).toBe('https://acme.okta.com/x');
    await settle();
    expect(await left()).toBe(0);

    // The page may ask again.
    await leave();
    await question().waitFor();
  });

  test('a second leave shows one question, and commands are ignored meanwhile', async () => {
    await leave();
    await page.evaluate(() => {
      const { send } = globalThis as unknown as { send(message: object): void };
      for (const command of ['save', 'test', 'cancel']) send({ type: 'command', command });
    });
    await settle();
    expect(await question().count()).toBe(1);
    expect(await left()).toBe(0);
    expect((await messages(page)).map(({ type }) => type)).not.toContain('cancel');
    await form().getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => left()).toBe(1);
  });
});

test('Keep editing after Cancel returns the focus to Cancel', async () => {
  await type();
  await form().getByRole('button', { name: 'Cancel' }).focus();
  await page.keyboard.press('Enter');
  await question().waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => question().count()).toBe(0);
  expect(await focused()).toBe('Cancel');
});

test('restores focus to a secret', async () => {
  await form().getByLabel('API token', { exact: true }).focus();
  await page.keyboard.type('00QC');
  await leave();
  await question().waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.type('jAl4');
  expect(await form().getByLabel('API token', { exact: true }).inputValue()).toBe('00QCjAl4');
});

test('moves focus from the page to the question', async () => {
  await type();
  await page.evaluate(() => {
    const button = document.body.appendChild(document.createElement('button'));
    button.textContent = 'Other type';
    button.addEventListener('click', () =>
      (globalThis as unknown as { send(message: object): void }).send({ type: 'leave' }),
    );
  });
  await page.getByRole('button', { name: 'Other type' }).focus();
  await page.keyboard.press('Enter');
  await question().waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => question().count()).toBe(0);
  await page.keyboard.type('/y');
  expect(await url().inputValue()).toBe('https://acme.okta.com/y');
});

test('leaves immediately after a save', async () => {
  await type();
  await form().getByLabel('API token', { exact: true }).fill('00QCjAl4MlV-WPXM5mAnoyuY');
  await press(form().getByRole('button', { name: 'Save' }));
  await form().getByRole('heading', { name: 'Saved' }).waitFor();
  await leave();
  await expect.poll(() => left()).toBe(1);
});

test('leaves once a pending save has succeeded', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/v\d\/.*\/inputs/, async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  await type();
  await form().getByLabel('API token', { exact: true }).fill('00QCjAl4MlV-WPXM5mAnoyuY');
  await press(form().getByRole('button', { name: 'Save' }));
  await form().locator('.cf-body[inert]').waitFor({ state: 'attached' });
  await leave();
  await question().waitFor();
  expect(await left()).toBe(0);
  release();
  await expect.poll(() => left()).toBe(1);
  const types = (await messages(page)).map(({ type }) => type);
  expect(types.indexOf('saved')).toBeLessThan(types.indexOf('left'));
});

describe('leaves immediately', () => {
  /** Opens a page whose form is stopped at the stage that `options` and `block` cause. */
  async function stuck(options: Record<string, unknown>, block: RegExp): Promise<Page> {
    const other = await browser.newPage();
    await other.route(block, (route) => route.abort());
    await other.goto(world.host);
    await other.waitForFunction(() => 'mount' in globalThis);
    await mount(other, world, options);
    return other;
  }

  test.each([
    { name: 'it could not load', options: { typeId: 'no-such-type' }, block: /nothing/, until: 'error' },
    { name: 'its own script did not come', options: {}, block: /\/assets\/form-/, until: 'error' },
    { name: 'it refused the service', options: { apiBase: 'http://localhost:1' }, block: /nothing/, until: 'error' },
  ])('if $name', async ({ options, block, until }) => {
    const other = await stuck(options, block);
    await expect.poll(async () => (await messages(other)).map(({ type }) => type)).toContain(until);
    await leave(other);
    await expect.poll(() => left(other)).toBe(1);
    await other.close();
  });

  test('while waiting for its init', async () => {
    const other = await browser.newPage();
    await other.goto(world.host);
    await other.waitForFunction(() => 'mount' in globalThis);
    await other.evaluate(
      ([frameOrigin, apiBase]) =>
        (globalThis as unknown as { mount(options: object): void }).mount({
          kind: 'input',
          typeId: 'okta-systemlog',
          frameOrigin,
          apiBase,
          fetchSession: () => new Promise(() => undefined),
        }),
      [`${world.service.url}/embed`, world.service.url],
    );
    await expect.poll(async () => (await messages(other)).map(({ type }) => type)).toContain('ready');
    await leave(other);
    await expect.poll(() => left(other)).toBe(1);
    await other.close();
  });
});

test('ignores leave from another window', async () => {
  const origin = world.host;
  await page.evaluate((src) => {
    document.body.append(Object.assign(document.createElement('iframe'), { src }));
  }, `${origin}/`);
  await expect.poll(() => page.frames().length).toBe(3);
  const other = page.frames().at(-1);
  await other?.waitForLoadState('load');
  await other?.evaluate(() => parent.frames[0]?.postMessage({ source: 'monad-embed', type: 'leave' }, '*'));
  await settle();
  expect(await left()).toBe(0);
});
