import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { messages, openHost } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';

/**
 * S37: a host page can ask the form to save whenever it likes, and its style sheets can make a height of any element, attribute or text.
 * What it can observe must be the same whatever is wrong with a secret, or nothing.
 */

/** Makes visible as a height whatever differs in the document that the sheet can select. */
const magnify = `
  * { display: block !important; position: static !important; contain: none !important; clip-path: none !important; }
  [class] { padding-top: 1px !important } [aria-invalid], [data-invalid], .cf-error, .cf-bad { padding-top: 97px !important }
  [role=status], [role=alert], .cf-hidden { white-space: pre-wrap !important; width: 1ch !important; height: auto !important }
  cf-secret:empty { margin-top: 7px !important } cf-secret:focus-within { margin-top: 11px !important }
  :has(:invalid) { padding-left: 1px } a { padding-top: 53px !important }`;

let browser: Browser;
let world: World;

beforeAll(async () => {
  const sheet = {
    body: magnify,
    headers: {
      'content-type': 'text/css',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    },
  };
  [browser, world] = await Promise.all([launchBrowser(), startWorld({}, { '/magnify.css': sheet })]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

const command = (page: Page, name: string): Promise<void> =>
  page.evaluate((command) => {
    document.querySelector('iframe')?.blur();
    const { send } = globalThis as unknown as { send(message: object): void };
    send({ type: 'command', command });
  }, name);

/** Until the frame has said nothing for ten animation frames. */
const settle = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const { messages } = globalThis as unknown as { messages: unknown[] };
    for (let quiet = 0, seen = messages.length; quiet < 10; quiet += 1) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      if (messages.length !== seen) [quiet, seen] = [0, messages.length];
    }
  });

/** What the page hears, and what its style sheets can see, of a form whose save is refused for another reason too. */
async function observe(secret: string, later: string, stylesheets: string[] | undefined) {
  const page = await openHost(browser, world, { isNameEditable: true, ...(stylesheets && { stylesheets }) });
  const inside = page.frames()[1];
  const field = page.frameLocator('iframe').getByLabel('API token', { exact: true });
  await field.waitFor({ state: 'attached' });
  if (stylesheets)
    await inside?.waitForFunction(
      () => getComputedStyle(document.querySelector('footer') ?? document.body).display === 'block',
    );
  await settle(page);
  const earlier = (await messages(page)).length;
  /** The elements that a sheet can select, with what it can select them by. */
  const seen = () =>
    inside?.evaluate(() =>
      Array.from(document.querySelectorAll('#form *'), (element) => {
        const attributes = Array.from(element.attributes, ({ name, value }) => `${name}=${value.slice(0, 80)}`);
        const text = Array.from(element.childNodes, (node) => (node.nodeType === Node.TEXT_NODE ? node.nodeValue : ''));
        return [element.localName, ...attributes, text.join('').trim()].join(' ');
      }),
    );
  const looks = [];
  for (const text of [secret, later]) {
    await field.fill(text);
    await field.evaluate((input) => input.blur());
    looks.push(await seen());
    await command(page, 'save');
    await settle(page);
    looks.push(await seen());
  }
  const said = (await messages(page)).slice(earlier).map((message) => JSON.stringify(message));
  await page.close();
  return { said, looks };
}

const VALID = '00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD';
const cases = [
  ['x', VALID],
  [VALID, 'x'],
  ['a b c', '••••••••'],
  ['••••••••', 'y'.repeat(300)],
];

describe.each([
  { name: 'the form\u2019s own look', sheets: false },
  { name: 'a sheet that magnifies every difference', sheets: true },
])('S37: under $name', ({ sheets }) => {
  test('a refused save looks the same to the page whatever the secret is', async () => {
    const stylesheets = sheets ? [`${world.host}/magnify.css`] : undefined;
    const [first, ...others] = await Promise.all(
      cases.map(([secret = '', later = '']) => observe(secret, later, stylesheets)),
    );
    expect(first?.looks.flat().join()).toContain('cf-summary');
    for (const other of others) expect(other).toEqual(first);
  });
});
