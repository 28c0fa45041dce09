import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { serveFakeFrame, type FakeFrameServer } from '@connector-frame/core/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { english as en } from '../../packages/element/src/catalog/catalog-view.js';
import type { ElementMessages } from '../../packages/element/src/messages/en.js';
import { launchBrowser } from '../support/browser.js';
import { eventsOf, startElementWorld, type ElementWorld, type PageOptions } from '../support/element-world.js';
import { dailyPart } from '../support/long.js';

/**
 * What a user reads on a public page: each message of the elements in the state in which it is true,
 * and no text for developers, which the console has.
 */
const PUBLIC = 'app.example.test';
let browser: Browser;
let context: BrowserContext;
let world: ElementWorld;
let silent: FakeFrameServer;
let logged: string[] = [];

beforeAll(async () => {
  [browser, world, silent] = await Promise.all([
    launchBrowser([`--host-resolver-rules=MAP ${PUBLIC} localhost`]),
    startElementWorld(),
    serveFakeFrame({ ready: false }),
  ]);
});
afterEach(() => context?.close());
afterAll(async () => {
  await browser?.close();
  await silent?.close();
  await world?.close();
});

const publicOrigin = () => world.origin.replace('localhost', PUBLIC);

/** Opens a page of the public host, and collects what it logs. */
async function open(body: string, options: PageOptions = {}): Promise<Page> {
  context = await browser.newContext();
  await context.clock.install();
  const page = await world.open(context, body, { ...options, define: false });
  await page.goto(page.url().replace('localhost', PUBLIC));
  const errors: string[] = (logged = []);
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  return page;
}

/** Defines the elements, and lets the seconds pass after which they report a missing option. */
async function define(page: Page, script = 'define'): Promise<void> {
  // `addScriptTag` fails if the page logs a policy violation.
  await page.evaluate(`import('/${script}.js').then(() => undefined)`);
  await page.clock.fastForward(3_000);
}
const alert = (page: Page) => page.getByRole('alert').innerText();

const frame = (attributes: string, content = '') =>
  `<connector-frame kind="input" type-id="okta-systemlog" ${attributes}>${content}</connector-frame>`;
const session = 'session-token="token-1" organization-id="org_1" api-base="https://api.example.com"';

/** Opens a page whose form can't be reached. */
async function openUnreachable(): Promise<Page> {
  const page = await open(frame(`${session} frame-origin="http://localhost:9/embed" load-timeout="200"`));
  await define(page);
  await page.getByRole('alert').waitFor();
  return page;
}

/** Opens a picker whose host route responds as given. */
async function openCatalog(fulfill?: { status?: number; body: string }): Promise<Page> {
  const page = await open('<connector-catalog host-url="/api" show-unavailable></connector-catalog>');
  const pending = new Promise<void>(() => undefined);
  await page.route('**/api/catalog?*', (route) =>
    fulfill ? route.fulfill({ contentType: 'application/json', ...fulfill }) : pending,
  );
  await define(page, 'define-catalog');
  return page;
}

const type = (name: string, more: object = {}) => ({
  type_id: name.toLowerCase(),
  name,
  description: `${name} events`,
  category: 'Identity Security',
  icon: null,
  ...more,
});
const listed = { body: JSON.stringify([type('Okta', { runtime: true }), type('Zoho', { runtime: false })]) };

/** Returns the note of a type that can't run. Types that run have none. */
async function noteOf(reason: string): Promise<string | null> {
  const zoho = type('Zoho', { runtime: false, unavailable: { reason } });
  const page = await openCatalog({ body: JSON.stringify([type('Okta', { runtime: true }), zoho]) });
  const notes = page.locator('[part=saved-only]');
  await notes.waitFor();
  expect(await page.getByRole('button').filter({ has: notes }).locator('.name').allTextContents()).toEqual(['Zoho']);
  return notes.textContent();
}

type Key = Exclude<keyof ElementMessages, 'causes'> | `causes.${string}`;

/** Drives an element into the state in which each message is true, and returns what it shows. */
const states: Record<Exclude<keyof ElementMessages, 'causes'>, () => Promise<string | null>> &
  Record<`causes.${string}`, () => Promise<string | null>> = {
  async loading() {
    const page = await open(frame(`${session} frame-origin="${silent.frameOrigin}"`));
    await define(page);
    return page.getByRole('status').textContent();
  },
  loadFailed: async () => (await openUnreachable()).getByRole('alert').locator('.title').textContent(),
  loadFailedHint: async () => (await openUnreachable()).getByRole('alert').locator('.cause').textContent(),
  tryAgain: async () => (await openUnreachable()).getByRole('button').textContent(),
  async 'causes.connector_not_found'() {
    const page = await open(frame('host-url="/api" tenant-id="acme" existing-id="no-such-input"'));
    await define(page);
    return page.getByRole('alert').locator('.cause').textContent();
  },
  async 'causes.offline'() {
    const page = await openUnreachable();
    await context.setOffline(true);
    const cause = page.getByRole('alert').locator('.cause');
    await expect.poll(() => cause.textContent()).not.toBe(en.loadFailedHint);
    const text = await cause.textContent();
    // It is true only while the user is offline.
    await context.setOffline(false);
    await expect.poll(() => cause.textContent()).toBe(en.loadFailedHint);
    return text;
  },
  searchProducts: async () => (await openCatalog(listed)).getByRole('searchbox').getAttribute('placeholder'),
  category: async () => (await openCatalog(listed)).getByRole('combobox').getAttribute('aria-label'),
  allCategories: async () => (await openCatalog(listed)).getByRole('option').first().textContent(),
  products: async () => (await openCatalog(listed)).getByRole('list').getAttribute('aria-label'),
  async count() {
    const page = await openCatalog(listed);
    await page.getByRole('searchbox').fill('okta');
    await page.getByRole('button', { name: 'Zoho' }).waitFor({ state: 'hidden' });
    return page.locator('.count').textContent();
  },
  loadingProducts: async () => (await openCatalog()).locator('[part=loading]').getByRole('status').textContent(),
  productsFailed: async () => (await openCatalog({ status: 500, body: '' })).getByRole('alert').textContent(),
  async noMatches() {
    const page = await openCatalog(listed);
    await page.getByRole('searchbox').fill('nothing like it');
    return page.locator('[part=empty]').textContent();
  },
  savedOnly: () => noteOf('not_yet'),
  needsAgent: () => noteOf('agent'),
  proprietary: () => noteOf('proprietary'),
  withdrawn: () => noteOf('withdrawn'),
};

test('every message has a state in which it is true', () => {
  const { causes, ...others } = en;
  const keys = [...Object.keys(others), ...Object.keys(causes).map((code) => `causes.${code}`)];
  expect(Object.keys(states).sort()).toEqual(keys.sort());
});

test('the README lists every message with its state', async () => {
  const readme = await readFile(new URL('../../packages/element/README.md', import.meta.url), 'utf8');
  const texts = /^\| Text .*\n(?:\|.*\n)+/m.exec(readme)?.[0] ?? '';
  expect(Object.keys(states).filter((key) => !texts.includes(`\`${key}\``))).toEqual([]);
});

test.each(dailyPart(Object.keys(states) as Key[], 3))('%s is shown in its state', async (key) => {
  const { count, causes, ...texts } = en;
  const [, code] = key.split('.');
  const expected = key === 'count' ? count(1, 2) : code === undefined ? Object(texts)[key] : causes[code];
  expect(await states[key]?.()).toContain(expected);
});

interface Fault {
  attributes: string;
  code: string;
  /** What the console and the `error` event say. */
  message: string | RegExp;
  policy?: string;
  /** What the user reads; by default the general hint. */
  cause?: string;
}

/** Only of a public page: the service knows the local one. */
const unregistered = 'an origin that is not registered';

const faults: Record<string, () => Fault> = {
  'a missing tenant-id': () => ({
    attributes: 'host-url="/api"',
    code: 'invalid_options',
    message: 'Set tenant-id: the form can’t be mounted without it',
  }),
  'a missing host-url': () => ({
    attributes: 'tenant-id="acme"',
    code: 'invalid_options',
    message: /^Set host-url: /,
  }),
  'a missing session': () => ({
    attributes: 'frame-origin="https://connect.example.com/embed"',
    code: 'invalid_options',
    message: /^Set host-url with tenant-id, or fetchSession: /,
  }),
  'a token without its organization': () => ({
    attributes: 'session-token="token-1"',
    code: 'invalid_options',
    message: /^Set organization-id: /,
  }),
  'an organization without a token': () => ({
    attributes: 'organization-id="org_1"',
    code: 'invalid_options',
    message: /^Set session-token: /,
  }),
  'a frame-origin without its path': () => ({
    attributes: `${session} frame-origin="${new URL(silent.frameOrigin).origin}" load-timeout="200"`,
    code: 'frame_timeout',
    message: /^frameOrigin "(\S+)" has no path\. Usually it is "\1\/embed"$/,
  }),
  [unregistered]: () => ({
    attributes: `${session} frame-origin="${world.service.url}/embed" load-timeout="1500"`,
    code: 'frame_timeout',
    message: `${world.service.url}/embed/?parentOrigin=${publicOrigin()} is not a form, or ALLOWED_PARENT_ORIGINS lacks its parentOrigin`,
  }),
  'a policy without frame-src': () => ({
    attributes: `${session} frame-origin="https://connect.example.com/embed"`,
    policy: "frame-src 'none'",
    code: 'frame_blocked',
    message: 'CSP lacks frame-src https://connect.example.com',
  }),
  'a policy without connect-src to its own server': () => ({
    attributes: 'host-url="/api" tenant-id="acme"',
    policy: "connect-src 'none'",
    code: 'request_blocked',
    message: "CSP lacks connect-src 'self'",
  }),
  'a policy without connect-src to a server elsewhere': () => ({
    attributes: 'host-url="https://api.example.com/routes" tenant-id="acme"',
    policy: "connect-src 'self'",
    code: 'request_blocked',
    message: 'CSP lacks connect-src https://api.example.com',
  }),
  'host routes that are not there': () => ({
    attributes: 'host-url="/nothing" tenant-id="acme"',
    code: 'session_failed',
    message: /^The server of this page responded 404 \(/,
  }),
  'a user that the host rejects': () => ({
    attributes: 'host-url="/api" tenant-id="globex"',
    code: 'session_failed',
    message: 'Sign in first.',
    cause: 'Sign in first.',
  }),
  'an unknown existing-id': () => ({
    attributes: 'host-url="/api" tenant-id="acme" existing-id="no-such-input"',
    code: 'connector_not_found',
    message: 'There is no such connector.',
    cause: en.causes['connector_not_found'] ?? '',
  }),
};

describe.each(dailyPart(Object.keys(faults), 3))('%s', (name) => {
  const fault = () => {
    const found = faults[name]?.();
    if (!found) throw new Error(name);
    return { cause: en.loadFailedHint, ...found };
  };
  const openFault = ({ attributes, policy }: Fault): Promise<Page> =>
    open(
      frame(attributes, '<p>This form needs JavaScript.</p>'),
      policy === undefined ? {} : { headers: { 'content-security-policy': policy } },
    );
  const matching = (message: string | RegExp) =>
    typeof message === 'string' ? message : expect.stringMatching(message);

  test('on a public page, users read what they can do; the console names the cause', async () => {
    const { code, message, cause, ...rest } = fault();
    const page = await openFault({ code, message, ...rest });
    await define(page);
    await page.getByRole('alert').waitFor();
    expect(await alert(page)).toBe([en.loadFailed, cause, en.tryAgain].join('\n\n'));
    expect(await eventsOf(page)).toContainEqual(['error', code, matching(message)]);
    expect((await eventsOf(page)).filter(([event]) => event === 'error')).toHaveLength(1);
    const ours = logged.filter((text) => text.startsWith('<connector-frame '));
    expect(ours).toEqual([
      expect.stringMatching(new RegExp(`^<connector-frame .*type-id="okta-systemlog".*> ${code}: `)),
    ]);
    expect(ours[0]?.split(`${code}: `)[1]).toEqual(matching(message));
  });

  if (name === unregistered) return;
  test('on a local page, the developer reads the cause in place of the form', async () => {
    const { code, message, cause, attributes, policy } = fault();
    const page = await openFault({ code, message, attributes, ...(policy !== undefined && { policy }) });
    await page.goto(page.url().replace(PUBLIC, 'localhost'));
    await define(page);
    await page.getByRole('alert').waitFor();
    const details = await page.locator('[part=details]').allTextContents();
    if (cause === message) expect(details).toEqual([]);
    else expect(details).toEqual([matchingDetails(code, message)]);
    expect(await page.getByText('This form needs JavaScript.').isVisible()).toBe(false);
  });
});

function matchingDetails(code: string, message: string | RegExp): unknown {
  if (typeof message === 'string') return `${code}: ${message}`;
  return expect.stringMatching(new RegExp(message.source.replace('^', `^${code}: `)));
}

test('an option that arrives after it was reported missing still mounts the form', async () => {
  const page = await open(frame('host-url="/api"'));
  await page.goto(page.url().replace(PUBLIC, 'localhost'));
  await define(page);
  await page.getByRole('alert').waitFor();
  await page.locator('connector-frame').evaluate((element) => element.setAttribute('tenant-id', 'acme'));
  await expect.poll(() => eventsOf(page)).toHaveLength(2);
  expect((await eventsOf(page)).map(([event]) => event)).toEqual(['error', 'ready']);
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('an element that waits for its type says nothing', async () => {
  const page = await open(`${frame('host-url="/api"').replace('type-id', 'data-type')}${frame('host-url="/api"')}`);
  await define(page);
  // The second element, without a tenant, shows that the time has passed for both.
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').count()).toBe(1);
  expect(await eventsOf(page)).toHaveLength(1);
});

test('an unknown type names its ID in the event and the console', async () => {
  const page = await open(frame('host-url="/api" tenant-id="acme"').replace('okta-systemlog', 'no-such-type'));
  await page.goto(page.url().replace(PUBLIC, 'localhost'));
  await define(page);
  const named = expect.stringContaining('no-such-type');
  await expect.poll(() => eventsOf(page)).toContainEqual(['error', 'type_not_found', named]);
  expect(logged).toContainEqual(expect.stringMatching(/type-id="no-such-type".*type_not_found: .*no-such-type/));
});

test('an unknown existing-id is connector_not_found with a session of the page, too', async () => {
  const token = await world.session();
  const page = await open(
    `<connector-frame kind="input" type-id="okta-systemlog" existing-id="no-such-input" session-token="${token}"
      organization-id="${world.team}" frame-origin="${world.service.url}/embed" api-base="${world.service.url}"></connector-frame>`,
  );
  await page.goto(page.url().replace(PUBLIC, 'localhost'));
  await define(page);
  await expect.poll(() => eventsOf(page)).toContainEqual(['error', 'connector_not_found', expect.any(String)]);
  expect(logged).toContainEqual(expect.stringContaining('existing-id="no-such-input"'));
});

test("fetchSession blocked by the page's policy names the directive", async () => {
  const body = frame('frame-origin="https://connect.example.com/embed" api-base="https://connect.example.com"');
  const page = await open(body, { headers: { 'content-security-policy': "connect-src 'none'" } });
  await page.evaluate(() => {
    Object.assign(document.querySelector('connector-frame') ?? {}, {
      fetchSession: async () => (await fetch('https://sessions.example.com/new')).json(),
    });
  });
  await define(page);
  const message = 'CSP lacks connect-src https://sessions.example.com';
  await expect.poll(() => eventsOf(page)).toContainEqual(['error', 'request_blocked', message]);
});

test('a picker without types or a host says what to set', async () => {
  const page = await open('<connector-catalog></connector-catalog>');
  await define(page, 'define-catalog');
  await page.getByRole('alert').waitFor();
  expect(await alert(page)).not.toContain('host-url');
  const message = expect.stringMatching(/^host-url is not set/);
  expect(await eventsOf(page)).toEqual([['error', 'invalid_options', message]]);
  expect(logged).toEqual([expect.stringMatching(/^<connector-catalog> invalid_options: host-url is not set/)]);
});

test('a message that is missing in a language is English, also among the causes', async () => {
  const { registerMessages, messagesFor } = await import('../../packages/element/src/messages/registry.js');
  registerMessages('nb', { causes: { frame_blocked: 'Siden er feil satt opp.' } });
  const element = Object.assign(Object.create(null), { locale: 'nb' });
  expect(messagesFor(element, en).causes).toEqual({ ...en.causes, frame_blocked: 'Siden er feil satt opp.' });
});
