import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import type { Browser, Frame, Page, Request } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { callbacks, messages, mount, openHost } from '../support/open-host.js';
import { serve } from '../support/serve.js';
import { startWorld, type World } from '../support/world.js';

// Host page buttons that trigger the form's actions.

let browser: Browser;
let world: World;
let page: Page;
const writes: string[] = [];

const recordRequest = (request: Request): void => {
  const { pathname } = new URL(request.url());
  if (request.method() === 'POST' && pathname.startsWith('/v')) writes.push(pathname.replace(/.*\//, ''));
};

beforeAll(async () => {
  [browser, world] = await Promise.all([launchBrowser(), startWorld()]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});
beforeEach(async () => {
  writes.length = 0;
  page = await openHost(browser, world);
  page.on('request', recordRequest);
  await form().getByLabel('Organization URL').waitFor();
});
afterEach(() => page?.close());

const form = () => page.frameLocator('iframe');
const inside = (): Frame => page.frames()[1] ?? page.mainFrame();
/** Sends a message to the form, as a host page button does. */
const send = (message: Record<string, unknown>) =>
  page.evaluate((data) => (globalThis as unknown as { send(message: object): void }).send(data), message);
const command = async (name: string): Promise<void> => {
  // Clicking the page's own button moves focus out of the form.
  await page.evaluate(() => document.querySelector('iframe')?.blur());
  // The frame's process receives the change asynchronously.
  await expect.poll(() => inside().evaluate(() => document.hasFocus())).toBe(false);
  await send({ type: 'command', command: name });
};
/** Counts the commands the frame receives from now on; the returned function reads the count. */
async function countCommands(): Promise<() => Promise<number>> {
  await inside().evaluate(() => {
    const counter = Object.assign(globalThis, { received: 0 });
    addEventListener('message', ({ data }) => (counter.received += data.type === 'command' ? 1 : 0));
  });
  return () => inside().evaluate(() => Object(globalThis).received);
}
const focused = () => inside().evaluate(() => document.activeElement?.id ?? '');

async function fill(): Promise<void> {
  await form().getByLabel('Organization URL').fill('https://acme.okta.com');
  await form().getByLabel('API token', { exact: true }).fill('00QCjAl4MlV-WPXM5mAnoyuY');
}

/** Holds the service's responses to writes until the returned function is called. */
async function hold(): Promise<() => void> {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/v\d\/.*/, async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  return release;
}

describe('save', () => {
  test('saves', async () => {
    await fill();
    await command('save');
    await expect.poll(async () => (await callbacks(page)).map(({ type }) => type)).toEqual(['ready', 'save']);
    expect(writes).toEqual(['inputs']);
  });

  test('with invalid fields sends nothing, shows the errors and moves focus to the summary', async () => {
    await page.evaluate(() => {
      const button = document.body.appendChild(document.createElement('button'));
      button.textContent = 'Save all';
      button.addEventListener('click', () =>
        (globalThis as unknown as { send(message: object): void }).send({ type: 'command', command: 'save' }),
      );
    });
    await page.getByRole('button', { name: 'Save all' }).focus();
    await page.keyboard.press('Enter');
    await form()
      .getByRole('heading', { name: /things to fix/ })
      .waitFor();
    expect(await focused()).toBe('cf-summary');
    // Keyboard navigation continues from the summary.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('cf/settings/org_url');
    expect(writes).toEqual([]);
  });

  test('saves once when sent twice and together with a click', async () => {
    const release = await hold();
    await fill();
    await command('save');
    await command('save');
    await form().locator('.cf-body[inert]').waitFor({ state: 'attached' });
    await form().getByRole('button', { name: 'Save' }).click({ force: true });
    await command('save');
    release();
    await expect.poll(async () => (await callbacks(page)).map(({ type }) => type)).toEqual(['ready', 'save']);
    expect(writes).toEqual(['inputs']);
  });

  test('does nothing after the form was saved', async () => {
    await fill();
    await command('save');
    await form().getByRole('heading', { name: 'Saved' }).waitFor();
    for (const name of ['save', 'test', 'cancel']) await command(name);
    await page.evaluate(() => new Promise((later) => setTimeout(later, 200)));
    expect(writes).toEqual(['inputs']);
    expect((await callbacks(page)).map(({ type }) => type)).toEqual(['ready', 'save']);
  });
});

describe("the form's own Save button", () => {
  test('accepts a click after a scroll while the form checks whether it is covered', async () => {
    await page.evaluate(() => document.body.style.setProperty('padding', '200px 0 2000px'));
    await fill();
    const top = await inside().evaluate(() => document.querySelector('cf-secret')?.getBoundingClientRect().top ?? 0);
    // A check takes as long as the control is covered, up to two seconds.
    const cover = await page.evaluateHandle((offset) => {
      const y = (document.querySelector('iframe')?.getBoundingClientRect().top ?? 0) + offset;
      const element = document.body.appendChild(document.createElement('div'));
      element.style.cssText = `position: absolute; top: ${y}px; left: 0; width: 300px; height: 30px`;
      return new Promise<Element>((resolve) => setTimeout(() => resolve(element), 700));
    }, top);
    await page.evaluate(() => scrollBy(0, 150));
    // A user moves the pointer to the button and then presses it; `click` does both at once.
    const save = form().getByRole('button', { name: 'Save' });
    await save.hover();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await save.click();
    await cover.evaluate((element) => element.remove());
    await expect.poll(() => writes).toEqual(['inputs']);
  });
});

describe('test and cancel', () => {
  test('test runs one connection test at a time and leaves focus on the page', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    // Okta is not reachable; only the service's test response is mocked.
    await page.route('**/test-connection', async (route) => {
      await held;
      await route.fulfill({ json: { message: 'success', summary: 'Read 1 event.', duration_ms: 412 } });
    });
    await fill();
    await page.evaluate(() => document.body.appendChild(document.createElement('button')).focus());
    const received = await countCommands();
    await command('test');
    await command('test');
    const busy = () => form().getByRole('button', { name: 'Test connection' }).getAttribute('aria-busy');
    await expect.poll(busy).toBe('true');
    await command('test');
    // The last command may reach the frame's process after the response does.
    await expect.poll(received).toBe(3);
    release();
    await form().getByRole('heading', { name: 'Connection works' }).waitFor();
    expect(writes).toEqual(['test-connection']);
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('button');
  });

  test('cancel calls onCancel', async () => {
    await command('cancel');
    await expect.poll(async () => (await callbacks(page)).map(({ type }) => type)).toEqual(['ready', 'cancel']);
  });
});

test('commands are ignored while the form loads', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const slow = await browser.newPage();
  slow.on('request', recordRequest);
  await slow.route(/\/v\d\/inputs\//, async (route) => {
    await held;
    await route.continue();
  });
  await slow.goto(world.host);
  await slow.waitForFunction(() => 'mount' in globalThis);
  await mount(slow, world);
  await expect.poll(async () => (await messages(slow)).map(({ type }) => type)).toContain('resize');
  for (const name of ['save', 'test', 'cancel']) {
    await slow.evaluate((data) => (globalThis as unknown as { send(message: object): void }).send(data), {
      type: 'command',
      command: name,
    });
  }
  release();
  await slow.frameLocator('iframe').getByLabel('Organization URL').waitFor();
  expect((await callbacks(slow)).map(({ type }) => type)).toEqual(['ready']);
  expect(writes).toEqual([]);
  await slow.close();
});

describe('an invalid command', () => {
  test('is ignored: unknown commands and malformed messages', async () => {
    await fill();
    for (const data of [
      { type: 'command' },
      { type: 'command', command: 'delete' },
      { type: 'command', command: ['save'] },
      { type: 'command', command: { toString: 'save' } },
      { type: 'COMMAND', command: 'save' },
      { type: 'command', command: '*, .cf-save' },
      { type: 'command', command: 'save', source: 'other' },
    ]) {
      await send(data);
    }
    await page.evaluate(() => new Promise((later) => setTimeout(later, 200)));
    expect((await callbacks(page)).map(({ type }) => type)).toEqual(['ready']);
    expect(writes).toEqual([]);
  });

  test('is ignored from another frame of the page, same-origin or not', async () => {
    await fill();
    const evil = await serve({ '/': '<!doctype html><title>Evil</title>' });
    for (const address of [evil.origin, `${world.host}/`]) {
      const before = page.frames().length;
      await page.evaluate((src) => {
        const iframe = document.createElement('iframe');
        document.body.append(Object.assign(iframe, { src }));
      }, address);
      await expect.poll(() => page.frames().length).toBe(before + 1);
      const other = page.frames().at(-1);
      await other?.waitForLoadState('load');
      await other?.evaluate(() => {
        for (const command of ['save', 'cancel']) {
          parent.frames[0]?.postMessage({ source: 'monad-embed', type: 'command', command }, '*');
        }
      });
    }
    await page.evaluate(() => new Promise((later) => setTimeout(later, 200)));
    expect((await callbacks(page)).map(({ type }) => type)).toEqual(['ready']);
    expect(writes).toEqual([]);
    await evil.close();
  });
});
