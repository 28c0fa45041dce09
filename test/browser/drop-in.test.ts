import { rm } from 'node:fs/promises';
import type { ConnectorFrameElement } from '@connector-frame/element';
import { createHost } from '@connector-frame/host';
import { toNodeHandler } from '@connector-frame/host/node';
import { createServer, type RunningServer } from '@connector-frame/service';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.js';
import { newDataFolder } from '../support/data-folder.js';
import { serve } from '../support/serve.js';
import { press } from '../support/press.js';

// Pages that load the built drop-in from the service, as a customer's page does: two lines of HTML,
// and a host made with `createHost` at `/api`.

let browser: Browser;
let context: BrowserContext;
let service: RunningServer;
let folder: string;
let organization: { apiKey: string; team: string };
let site: Awaited<ReturnType<typeof serve>>;
/** The response of the site at `/`. */
let page: { html: string; headers: Record<string, string> };

const element = `<connector-frame kind="input" type-id="okta-systemlog" host-url="/api" tenant-id="acme"></connector-frame>`;
const script = (version = '0') =>
  `<script type="module" src="${service.url}/v/${version}/connector-frame.js"></script>`;

beforeAll(async () => {
  folder = await newDataFolder('drop-in');
  let host: ReturnType<typeof toNodeHandler> | undefined;
  site = await serve((request, response) => {
    if (request.url?.startsWith('/api/')) return host?.(request, response);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...page.headers }).end(page.html);
    return undefined;
  });
  service = await createServer({
    SERVICE_PORT: '0',
    DATA_DIR: folder,
    ALLOWED_PARENT_ORIGINS: site.origin,
    LOG_LEVEL: 'silent',
  });
  const { apiKey, teams } = await service.bootstrap({ organization: 'Test', teams: ['acme'] });
  organization = { apiKey, team: teams['acme'] ?? '' };
  host = toNodeHandler(
    createHost({
      serviceUrl: service.url,
      apiKey,
      authorizeTenant: (_request, tenantId) => (tenantId === 'acme' ? organization.team : null),
    }),
  );
  browser = await launchBrowser();
});
beforeEach(async () => {
  context = await browser.newContext();
});
afterEach(() => context.close());
afterAll(async () => {
  await browser?.close();
  await site?.close();
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Opens a host page with this body and collects the browser's errors and warnings. */
async function open(body: string, headers: Record<string, string> = {}): Promise<{ tab: Page; problems: string[] }> {
  page = {
    html: `<!doctype html><html lang="en"><head><title>Host</title></head><body>\n${body}\n</body></html>`,
    headers,
  };
  const tab = await context.newPage();
  const problems: string[] = [];
  tab.on('pageerror', (error) => problems.push(String(error)));
  tab.on('console', (message) => {
    if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico')) problems.push(message.text());
  });
  await tab.goto(site.origin);
  return { tab, problems };
}

const form = (tab: Page) => tab.frameLocator('iframe');
const isShown = (tab: Page) => form(tab).getByLabel('Organization URL').waitFor();

/** Resolves with the connector id of the element's next `save` event. */
const nextSave = (tab: Page): Promise<string> =>
  tab.evaluate(
    () =>
      new Promise((resolve) => {
        const connectorFrame = document.querySelector<ConnectorFrameElement>('connector-frame');
        connectorFrame?.addEventListener('save', (event) => resolve(event.connector.id), { once: true });
      }),
  );

/** Fills in and saves the form by keyboard, one field at a time. */
async function connect(tab: Page): Promise<string> {
  const saved = nextSave(tab);
  await form(tab).getByLabel('Organization URL').click();
  await tab.keyboard.type('https://acme.okta.com');
  await form(tab).getByLabel('API token', { exact: true }).click();
  await tab.keyboard.type('00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcD');
  await press(form(tab).getByRole('button', { name: 'Save' }));
  return saved;
}

async function storedIds(): Promise<string[]> {
  const response = await fetch(`${service.url}/v1/${organization.team}/inputs`, {
    headers: { 'x-api-key': organization.apiKey },
  });
  const { inputs }: { inputs: { id: string }[] } = await response.json();
  return inputs.map(({ id }) => id);
}

const published = async (): Promise<[version: string, entry: { 'connector-frame.js': string; url: string }]> => {
  const response: Record<string, { 'connector-frame.js': string; url: string }> = await (
    await fetch(`${service.url}/v/integrity.json`)
  ).json();
  const [first] = Object.entries(response);
  if (!first) throw new Error('No version is published.');
  return first;
};

test('two lines of HTML save a connector and report its id to the page', async () => {
  const { tab, problems } = await open(`${script()}\n${element}`);
  expect(new URL(service.url).origin).not.toBe(site.origin);
  const id = await connect(tab);
  expect(id).toMatch(/^[\w-]{8,}$/);
  expect(await storedIds()).toContain(id);
  expect(await tab.content()).not.toContain('00aBcDeF');
  expect(problems).toEqual([]);
});

describe('the published hash', () => {
  test('matches the hash that the browser computes', async () => {
    const [, { 'connector-frame.js': hash, url }] = await published();
    const { tab, problems } = await open(
      `<script type="module" src="${url}" integrity="${hash}" crossorigin></script>\n${element}`,
    );
    await isShown(tab);
    expect(problems).toEqual([]);
  });

  test('blocks a different file', async () => {
    const [, { url }] = await published();
    const wrong = `sha384-${Buffer.alloc(48, 7).toString('base64')}`;
    const { tab, problems } = await open(
      `<script type="module" src="${url}" integrity="${wrong}" crossorigin></script>\n${element}`,
    );
    await expect.poll(() => problems.join()).toContain('integrity');
    expect(await tab.evaluate(() => customElements.get('connector-frame') === undefined)).toBe(true);
    expect(await tab.locator('iframe').count()).toBe(0);
  });
});

describe("a page with a strict policy only allows the service's origin", () => {
  const policies: { name: string; headers: (origin: string) => Record<string, string> }[] = [
    {
      name: 'in its policy',
      headers: (origin) => ({
        'content-security-policy': `default-src 'none'; script-src ${origin}; frame-src ${origin}; connect-src 'self'`,
      }),
    },
    {
      name: 'with Trusted Types, none of them allowed',
      headers: (origin) => ({
        'content-security-policy': `default-src 'none'; script-src ${origin}; frame-src ${origin}; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'`,
      }),
    },
    {
      name: 'when it is cross-origin isolated',
      headers: () => ({
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
      }),
    },
  ];

  test.each(policies)('$name', async ({ headers }) => {
    const { tab, problems } = await open(`${script()}\n${element}`, headers(new URL(service.url).origin));
    await isShown(tab);
    // The styles apply although the policy forbids inline styles.
    expect(await tab.locator('connector-frame').evaluate((host) => getComputedStyle(host).display)).toBe('block');
    // The page's own policy also blocks the favicon; ignore that message.
    expect(problems.filter((text) => !text.includes('favicon'))).toEqual([]);
  });
});

test('loaded twice from two URLs, it defines the element once and shows one form', async () => {
  const [version] = await published();
  const { tab, problems } = await open(`${script()}${script()}${script(version)}\n${element}`);
  await isShown(tab);
  expect(await tab.locator('iframe').count()).toBe(1);
  expect(problems).toEqual([]);
});

test('an element shows its own content until the script loads, and then the form', async () => {
  const { tab, problems } = await open(element.replace('></', '><p>Connections need JavaScript.</p></'));
  await tab.getByText('Connections need JavaScript.').waitFor();
  await tab.evaluate((address) => {
    const script = document.createElement('script');
    script.type = 'module';
    script.src = address;
    document.head.append(script);
  }, `${service.url}/v/0/connector-frame.js`);
  await isShown(tab);
  expect(await tab.getByText('Connections need JavaScript.').isVisible()).toBe(false);
  expect(problems).toEqual([]);
});

test("createConnectorFrame of the drop-in uses the drop-in's URLs by default", async () => {
  const minted = await fetch(`${service.url}/v3/sessions`, {
    method: 'POST',
    headers: { 'x-api-key': organization.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ organization_id: organization.team }),
  });
  const { session_token: sessionToken }: { session_token: string } = await minted.json();
  const options = {
    container: '#place',
    kind: 'input',
    typeId: 'okta-systemlog',
    sessionToken,
    organizationId: organization.team,
  };
  const { tab, problems } = await open(`<div id="place"></div><script type="module">
    import { createConnectorFrame } from '${service.url}/v/0/connector-frame.js';
    createConnectorFrame(${JSON.stringify(options)});
  </script>`);
  await isShown(tab);
  expect(await tab.locator('iframe').getAttribute('src')).toMatch(new RegExp(`^${service.url}/embed/`));
  expect(problems).toEqual([]);
});
