import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowser } from '../support/engines/driven.js';
import { eventually } from '../support/engines/eventually.js';
import { frameUser } from '../support/engines/frame-user.js';
import { inEngines } from '../support/engines/in-engines.js';
import { pressKeys } from '../support/engines/keys.js';
import { traceHost } from '../support/host-trace/host-trace.js';
import { messages, openHost } from '../support/open-host.js';
import { styleRoute } from '../support/style-route.js';
import { startWorld, type World } from '../support/world.js';
import { longOr } from '../support/long.js';

/**
 * S37: a host page can ask the form to save at any time, and its style sheets can turn any element,
 * attribute or text into a height. Its observations must not depend on what is wrong with a secret,
 * or whether anything is.
 */

/** Turns every difference in the document that a sheet can select into a height. */
const magnify = `
  * { display: block !important; position: static !important; contain: none !important; clip-path: none !important; }
  [class] { padding-top: 1px !important } [aria-invalid], [data-invalid], .cf-error, .cf-bad { padding-top: 97px !important }
  [role=status], [role=alert], .cf-hidden { white-space: pre-wrap !important; width: 1ch !important; height: auto !important }
  cf-secret:empty { margin-top: 7px !important } cf-secret:focus-within { margin-top: 11px !important }
  :has(:invalid) { padding-left: 1px } a { padding-top: 53px !important }`;

let world: World;

beforeAll(async () => {
  world = await startWorld({}, { '/magnify.css': styleRoute(magnify) }, '127.0.0.1');
});
afterAll(() => world?.close());

/**
 * Returns the messages the page receives, and what its style sheets can select, for a form whose
 * save also fails for another reason.
 */
async function observe(browser: DrivenBrowser, secret: string, later: string, stylesheets: string[] | undefined) {
  const page = await openHost(browser, world, { isNameEditable: true, ...(stylesheets && { stylesheets }) });
  const user = frameUser(page);
  await user.find({ label: 'API token' });
  const frame = await user.frame();
  if (stylesheets)
    await eventually('the sheet', () =>
      frame.evaluate(() => {
        const footer = document.querySelector('footer');
        return (footer && getComputedStyle(footer).display === 'block') || undefined;
      }),
    );
  const tracer = await traceHost(page, { servers: [world.host, world.service.url] });
  await tracer.settled();
  const earlier = (await messages(page)).length;
  const snapshots = [];
  for (const text of [secret, later]) {
    await user.focus({ label: 'API token' });
    await pressKeys(page.keyboard, 'Control+a');
    await page.keyboard.type(text);
    await eventually('what was typed', async () => (await user.value('API token')) === text || undefined);
    await frame.evaluate(() => Object(document.activeElement).blur());
    await tracer.settled();
    snapshots.push(await frame.evaluate(selectable));
    await page.evaluate(() => {
      document.querySelector('iframe')?.blur();
      Object(globalThis).send({ type: 'command', command: 'save' });
    });
    await tracer.settled();
    await user.find({ selector: 'cf-summary' });
    await tracer.settled();
    snapshots.push(await frame.evaluate(selectable));
  }
  const received = (await messages(page)).slice(earlier).map((message) => JSON.stringify(message));
  tracer.stop();
  await page.close();
  return { messages: received, snapshots };
}

/**
 * Runs in the form: returns the elements a sheet can select, with the attributes and text it can
 * select them by.
 */
function selectable(): string[] {
  return Array.from(document.querySelectorAll('#form *'), (element) => {
    const attributes = Array.from(element.attributes, ({ name, value }) => `${name}=${value.slice(0, 80)}`);
    const text = Array.from(element.childNodes, (node) => (node.nodeType === Node.TEXT_NODE ? node.nodeValue : ''));
    return [element.localName, ...attributes, text.join('').trim()].join(' ');
  });
}

const VALID = '00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD';
const cases = [
  ['x', VALID],
  [VALID, 'x'],
  ['a b c', '••••••••'],
  ['••••••••', 'y'.repeat(300)],
];

inEngines('a page that sends the save command', ['Chromium'], ({ browser }) => {
  test.each([
    { name: 'the form\u2019s own look', sheets: false },
    { name: 'a sheet that magnifies every difference', sheets: true },
  ])(
    'S37: a rejected save looks the same to the page for any secret: $name',
    { timeout: 180_000 },
    async ({ sheets }) => {
      const stylesheets = sheets ? [`${world.host}/magnify.css`] : undefined;
      const observations = [];
      for (const [secret = '', later = ''] of longOr(cases, cases.slice(0, 2)))
        observations.push(await observe(browser(), secret, later, stylesheets));
      const [first, ...others] = observations;
      expect(first?.snapshots.flat().join()).toContain('cf-summary');
      for (const other of others) expect(other).toEqual(first);
    },
  );
});
