import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { serveCoreHost, type CoreHost } from '../support/core-host.js';

let browser: Browser;
let host: CoreHost;
let page: Page;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveCoreHost()]);
  page = await host.open(browser);
});
afterAll(async () => {
  await browser?.close();
  await host?.close();
});

/** Returns the error thrown when mounting valid options overridden by these. */
const validationError = (options: Record<string, unknown>) =>
  page.evaluate((options) => {
    const { thrown, createConnectorFrame } = coreHost;
    const good = {
      container: '#box',
      kind: 'input',
      typeId: 'okta-systemlog',
      sessionToken: 'token-1',
      organizationId: 'org_1',
      frameOrigin: 'https://embed.test',
      apiBase: 'https://api.test',
    };
    return thrown(() => createConnectorFrame({ ...good, ...options }).destroy());
  }, options);

const wrong: { option: string; value: unknown; says: string }[] = [
  { option: 'container', value: '#nowhere', says: 'container: "#nowhere" is not an element' },
  { option: 'container', value: '##', says: 'container: "##" is not an element' },
  { option: 'container', value: undefined, says: 'container: "undefined" is not an element' },
  { option: 'container', value: null, says: 'container: "null" is not an element' },
  { option: 'container', value: 5, says: 'container: "5" is not an element' },
  { option: 'kind', value: 'inputs', says: 'kind: "inputs" is not input or output or enrichment' },
  { option: 'kind', value: undefined, says: 'kind: "undefined" is not set: use the option or the attribute kind' },
  { option: 'typeId', value: '', says: 'typeId: "" is not set: use the option or the attribute type-id' },
  { option: 'typeId', value: 42, says: 'typeId: "42" is not a string' },
  {
    option: 'sessionToken',
    value: '',
    says: 'sessionToken: "" is not set: use the option or the attribute session-token',
  },
  {
    option: 'sessionToken',
    value: undefined,
    says: 'sessionToken: "undefined" is not set: use the option or the attribute session-token',
  },
  { option: 'sessionToken', value: { token: 's3cret' }, says: 'sessionToken: "[object Object]" is not a string' },
  {
    option: 'organizationId',
    value: null,
    says: 'organizationId: "null" is not set: use the option or the attribute organization-id',
  },
  {
    option: 'organizationId',
    value: '',
    says: 'organizationId: "" is not set: use the option or the attribute organization-id',
  },
  { option: 'existingId', value: 42, says: 'existingId: "42" is not a string' },
  { option: 'displayName', value: {}, says: 'displayName: "[object Object]" is not a string' },
  { option: 'name', value: true, says: 'name: "true" is not a string' },
  { option: 'description', value: ['a'], says: 'description: "a" is not a string' },
  { option: 'isNameEditable', value: 'true', says: 'isNameEditable: "true" is not a boolean' },
  { option: 'isDescriptionEditable', value: 1, says: 'isDescriptionEditable: "1" is not a boolean' },
  { option: 'synthetic', value: 'yes', says: 'synthetic: "yes" is not a boolean' },
  { option: 'appearance', value: 'dark', says: 'appearance: "dark" is not a object' },
  { option: 'stylesheets', value: '/form.css', says: 'stylesheets: "/form.css" is not a object' },
  { option: 'configMetaOverrides', value: 'x', says: 'configMetaOverrides: "x" is not a object' },
  { option: 'onSave', value: 'save()', says: 'onSave: "save()" is not a function' },
  { option: 'onError', value: {}, says: 'onError: "[object Object]" is not a function' },
  { option: 'fetchSession', value: '/api/session', says: 'fetchSession: "/api/session" is not a function' },
  { option: 'loadTimeout', value: 0, says: 'loadTimeout: "0" is not a time' },
  { option: 'loadTimeout', value: -1, says: 'loadTimeout: "-1" is not a time' },
  { option: 'loadTimeout', value: Infinity, says: 'loadTimeout: "Infinity" is not a time' },
  { option: 'loadTimeout', value: NaN, says: 'loadTimeout: "NaN" is not a time' },
  { option: 'loadTimeout', value: 'soon', says: 'loadTimeout: "soon" is not a number' },
  { option: 'frameOrigin', value: 7, says: 'frameOrigin: "7" is not a string' },
  ...['', null, undefined].flatMap((value) => [
    {
      option: 'frameOrigin',
      value,
      says: `frameOrigin: "${value}" is not set: use the option or the attribute frame-origin`,
    },
    { option: 'apiBase', value, says: `apiBase: "${value}" is not set: use the option or the attribute api-base` },
  ]),
  ...[
    'embed.example.com',
    '/embed',
    'http://embed.example.com',
    'http://localhost.example.com',
    'http://mylocalhost',
    'http://127.0.0.1.example.com',
    'ftp://embed.example.com',
    'javascript:alert(1)',
    'data:text/html,hi',
  ].map((value) => ({ option: 'frameOrigin', value, says: `frameOrigin: "${value}" is not another https origin` })),
];

test.each(wrong)('$option: $value throws immediately', async ({ option, value, says }) => {
  expect(await validationError({ [option]: value })).toEqual({
    name: 'ConnectorFrameError',
    code: 'invalid_options',
    message: says,
  });
  expect(await page.locator('iframe').count()).toBe(0);
});

test("the page's own origin is rejected as frameOrigin", async () => {
  for (const frameOrigin of [host.origin, `${host.origin}/embed`]) {
    expect(await validationError({ frameOrigin })).toMatchObject({ code: 'invalid_options' });
  }
});

test.each([
  'https://embed.example.com',
  'https://embed.example.com:8443/connect/embed/',
  'http://localhost:4000/embed',
  'http://embed.localhost:4000',
  'http://127.0.0.1:4000',
  'http://[::1]:4000/embed',
])('%s is a valid frameOrigin', async (frameOrigin) => {
  expect(await validationError({ frameOrigin })).toBeNull();
});

test('the frame URL is the path with one trailing slash and contains only the parent origin', async () => {
  const src = await page.evaluate(() => {
    const { mount } = coreHost;
    const frame = mount({ frameOrigin: 'https://embed.test/connect/embed//' });
    const { src } = document.querySelector('iframe') ?? { src: '' };
    frame.destroy();
    return src;
  });
  expect(src).toBe(`https://embed.test/connect/embed/?parentOrigin=${host.origin}`);
});

test('optional options may be null or undefined, and fetchSession replaces the token', async () => {
  expect(
    await validationError({ existingId: null, displayName: undefined, appearance: null, onSave: null }),
  ).toBeNull();
  const withoutSession = await page.evaluate(() => {
    const { thrown, mount } = coreHost;
    return thrown(() => mount({ frameOrigin: 'https://embed.test', sessions: [] }).destroy());
  });
  expect(withoutSession).toBeNull();
});

test('a token without an organization is rejected, with or without fetchSession', async () => {
  const thrown = await page.evaluate(() =>
    coreHost.thrown(() => coreHost.mount({ frameOrigin: 'https://embed.test', sessions: [], sessionToken: 'token-1' })),
  );
  expect(thrown).toMatchObject({
    code: 'invalid_options',
    message: 'organizationId: "undefined" is not set: use the option or the attribute organization-id',
  });
});

test('accepts an element as container', async () => {
  const inside = await page.evaluate(() => {
    const { mount } = coreHost;
    const container = document.querySelector('#box');
    const frame = mount({ frameOrigin: 'https://embed.test', container });
    const found = container?.firstElementChild?.localName;
    frame.destroy();
    return [found, container?.childElementCount];
  });
  expect(inside).toEqual(['iframe', 0]);
});
