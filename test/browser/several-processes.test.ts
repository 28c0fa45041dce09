import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresql } from '../support/databases.js';
import { startDemoFixture, type DemoFixture } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { rowOf, send } from '../support/pipeline-row.js';
import { press } from '../support/press.js';
import { startOidcServer, type OidcServer } from '../support/sign-in/oidc-provider.js';
import { startProcesses } from '../support/topology/across-processes.js';

/**
 * The path of a customer on the demo's pages, across processes: HAProxy sends each request to the next of two
 * replicas, and two workers share the pipelines on a real PostgreSQL. In the long run, the project
 * `several-processes` of vitest.config.ts runs other browser tests like this, too.
 */
const databases = postgresql();
let folder: string;
let provider: OidcServer;
let fixture: DemoFixture;

beforeAll(async () => {
  const port = await freePort();
  folder = await mkdtemp(join(tmpdir(), 'several-processes-'));
  provider = await startOidcServer(`http://localhost:${port}/v1/oauth/linear/callback`, {
    authentication: 'client_secret_post',
    refresh: true,
  });
  const client = {
    provider: 'linear',
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    authorization_url: `${provider.issuer}/auth`,
    token_url: `${provider.issuer}/token`,
  };
  const file = join(folder, 'clients.json');
  await writeFile(file, JSON.stringify({ clients: [client] }));
  const environment = { SERVICE_PORT: `${port}`, OAUTH_CLIENTS_FILE: file, EGRESS_ALLOW: '127.0.0.0/8,::1/128' };
  fixture = await startDemoFixture(environment, startProcesses);
});
afterAll(async () => {
  await fixture?.close();
  await provider?.close();
  await databases.close();
  await rm(folder, { recursive: true, force: true });
});

/** Mints a session as the demo's backend does, for requests to the proxy. */
async function openSession() {
  const record = JSON.parse(await readFile(join(fixture.folder, 'host.json'), 'utf8')) as {
    tenants: { id: string; organizationId: string }[];
  };
  const { organizationId = '' } = record.tenants.find(({ id }) => id === 'acme') ?? {};
  const { body } = await fixture.call('POST', '/v3/sessions', { organization_id: organizationId });
  const headers = { authorization: `Bearer ${String(body['session_token'])}`, 'content-type': 'application/json' };
  return {
    organizationId,
    headers,
    post: (url: string, content: object, more: Record<string, string> = {}) =>
      fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(content) }),
  };
}

/**
 * Connects an account as the form and its window do: start, window, callback, status and save are requests to
 * alternating replicas. Returns the response to the save.
 */
async function connectAccount(): Promise<Response> {
  const { organizationId, headers, post } = await openSession();
  const { serviceUrl } = fixture.demo;
  const at = `${serviceUrl}/v1/oauth/linear-issues/${organizationId}`;
  const started: { id: string; url: string } = await (await post(at, { kind: 'input', settings: {} })).json();
  const opened = await fetch(started.url, { redirect: 'manual', headers: { 'sec-fetch-site': 'same-origin' } });
  const cookie = opened.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const back = await provider.signIn(opened.headers.get('location') ?? '', 'octocat');
  expect((await fetch(back, { headers: { cookie } })).status).toBe(200);
  // A second use of the same address is refused, wherever it arrives.
  expect((await fetch(back, { headers: { cookie } })).status).toBe(400);
  expect(await (await fetch(`${at}/${started.id}`, { headers })).json()).toMatchObject({ status: 'connected' });
  const config = { settings: {}, secrets: { api_key: { consent: started.id } } };
  return post(`${serviceUrl}/v2/${organizationId}/inputs`, { name: 'Issues', type: 'linear-issues', config });
}

test('a customer tests, saves, edits, sends records and connects an account over two replicas and two workers', async () => {
  const url = new URL(await databases.url());
  const client = new Client({ connectionString: url.href });
  await client.connect();
  const page = await fixture.open('script');
  const { hostUrl } = fixture.demo;
  const form = page.frameLocator('iframe');
  const field = (name: string) => form.getByLabel(name, { exact: true });
  try {
    await client.query('create table events (number int)');
    // Connection tests with a secret: one replica has minted the session, any replica tests and counts.
    await page.goto(`${hostUrl}/script/?kind=output&type=postgresql`);
    await field('Name').fill('Warehouse');
    await field('Host').fill(url.hostname);
    await field('Port').fill(url.port);
    await field('Database').fill(url.pathname.slice(1));
    await field('User').fill('postgres');
    await field('Table').fill('events');
    await field('Password').fill('wrong');
    await press(form.getByRole('button', { name: 'Test connection' }));
    await form
      .getByText(/password/i)
      .nth(1)
      .waitFor();
    await field('Password').fill(url.password);
    await press(form.getByRole('button', { name: 'Test connection' }));
    await form.getByRole('heading', { name: 'Connection works' }).waitFor();
    await press(form.getByRole('button', { name: 'Save' }));
    await page.getByRole('status').filter({ hasText: 'Warehouse is saved. Its id:' }).waitFor();

    // A pushed input: saved, edited, and found in the list.
    await page.goto(`${hostUrl}/script/?kind=input&type=monad-http`);
    await field('Name').fill('Feed');
    await press(form.getByRole('button', { name: 'Save' }));
    await page.getByRole('status').filter({ hasText: 'Feed is saved.' }).waitFor();
    await page.getByRole('link', { name: 'Feed', exact: true }).click();
    await page.getByRole('heading', { name: 'Edit data source' }).waitFor();
    await field('Name').fill('Feed, renamed');
    await press(form.getByRole('button', { name: 'Save' }));
    await page.getByRole('status').filter({ hasText: 'Feed, renamed is updated.' }).waitFor();

    // Its pipeline: whichever process runs it, every replica accepts its records and shows its counts and log.
    const row = rowOf(page, 'Feed, renamed');
    await row.item.getByLabel('Send what comes to').selectOption({ label: 'Warehouse · postgresql' });
    await row.start();
    const address = await row.shown();
    for (let part = 0; part < 10; part += 1) await send(address, 100, part * 100);
    await row.counted('1,000 in · 1,000 out');
    const { rows } = await client.query<{ number: number }>('select number from events order by number');
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
    await row.item.getByText('live', { exact: true }).waitFor();
    const before = await row.log.locator('li').count();
    await row.press('Pause');
    await row.is('Paused');
    await expect.poll(() => row.log.locator('li').count()).toBeGreaterThan(before);
    await row.press('Resume');
    await row.is('Running');

    expect((await connectAccount()).status).toBe(200);
    expect(fixture.problems).toEqual([]);
    const requests = Object.values((await fixture.topology?.proxy.requests()) ?? {});
    expect(requests).toHaveLength(2);
    for (const count of requests) expect(count).toBeGreaterThan(10);
  } finally {
    await client.end();
  }
});

test('an idempotency key and the limit of connection tests hold over two replicas and two workers', async () => {
  const { organizationId, post } = await openSession();
  const at = `${fixture.demo.serviceUrl}/v2/${organizationId}`;
  const input = { name: 'Once', type: 'monad-http', config: { settings: {}, secrets: {} } };
  const key = { 'idempotency-key': 'one-of-two-replicas' };
  const first = await post(`${at}/inputs`, input, key);
  const second = await post(`${at}/inputs`, input, key);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(await second.json()).toEqual(await first.json());

  const settings = { host: '127.0.0.1', port: 1, database: 'd', user: 'u', table: 't' };
  const output = { name: 'Nowhere', type: 'postgresql', config: { settings, secrets: {} } };
  const statuses: number[] = [];
  // A session may test five times a minute.
  for (let attempt = 0; attempt < 6; attempt += 1)
    statuses.push((await post(`${at}/outputs/test-connection`, output)).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
});
