import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { serve } from '../../test/support/serve.js';
import { readRecord } from './server/record.js';
import { startDemo, type Demo } from './start-demo.js';

let folder: string;
let demo: Demo | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'demo-'));
  // Minimal build output: these tests cover startup, not the content of the pages.
  await mkdir(join(folder, 'form/assets'), { recursive: true });
  await writeFile(join(folder, 'form/index.html'), '<!doctype html><meta name="api-bases" content="" />');
  await mkdir(join(folder, 'pages/script'), { recursive: true });
  await writeFile(join(folder, 'pages/script/index.html'), '<!doctype html><title>{{title}}</title>');
  await writeFile(join(folder, 'pages/sources.json'), '{}');
});
afterEach(async () => {
  await demo?.close();
  demo = undefined;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function start(environment: Record<string, string> = {}): Promise<Demo> {
  demo = await startDemo(
    {
      SERVICE_PORT: '0',
      HOST_PORT: '0',
      DATA_DIR: join(folder, 'data'),
      FORM_DIR: join(folder, 'form'),
      LOG_LEVEL: 'silent',
      ...environment,
    },
    join(folder, 'pages'),
  );
  return demo;
}

/** Signs in as a tenant and returns functions that send requests with its session cookie. */
async function signIn(origin: string, tenantId: string) {
  const json = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const answer = await fetch(`${origin}/demo/sign-in`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ tenantId }),
  });
  const headers = { ...json, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  return {
    get: (path: string) => fetch(`${origin}${path}`, { headers }),
    post: (path: string, body: object) =>
      fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  };
}

test('from an empty folder: serves a page, a catalog, and sessions for the signed-in tenant only', async () => {
  const { hostUrl, serviceUrl } = await start();
  const page = await fetch(`${hostUrl}/`);
  expect([page.status, page.url]).toEqual([200, `${hostUrl}/script/`]);

  const acme = await signIn(hostUrl, 'acme');
  expect(await (await acme.get('/api/monad/config')).json()).toEqual({
    frameOrigin: `${serviceUrl}/embed`,
    apiBase: serviceUrl,
  });
  const types: { type_id: string }[] = await (await acme.get('/api/catalog?kind=input')).json();
  expect(types.map((type) => type.type_id)).toContain('okta-systemlog');
  expect(await (await acme.get('/api/connectors?kind=input&tenantId=acme')).json()).toEqual([]);

  const record = await readRecord(join(folder, 'data'));
  const organizationId = record?.tenants.find(({ id }) => id === 'acme')?.organizationId;
  const wish = { tenantId: 'acme', kind: 'input', typeId: 'okta-systemlog' };
  expect(await (await acme.post('/api/session', wish)).json()).toMatchObject({ organizationId });
  expect((await acme.post('/api/session', { ...wish, tenantId: 'globex' })).status).toBe(403);
  expect((await acme.get('/api/connectors?kind=input&tenantId=globex')).status).toBe(403);
  expect((await fetch(`${hostUrl}/api/connectors?kind=input&tenantId=acme`)).status).toBe(401);
});

test('only the demo’s page may frame the form', async () => {
  const { hostUrl, serviceUrl } = await start();
  const embed = (parent: string) => fetch(`${serviceUrl}/embed/?parentOrigin=${encodeURIComponent(parent)}`);
  expect((await embed(hostUrl)).headers.get('content-security-policy')).toContain(`frame-ancestors ${hostUrl}`);
  expect((await embed('http://localhost:1')).status).toBe(403);
});

test('a second start uses the record of the first, which only its owner can read', async () => {
  await start();
  await demo?.close();
  const before = await readRecord(join(folder, 'data'));
  const { hostUrl } = await start();
  expect(await readRecord(join(folder, 'data'))).toEqual(before);
  expect((await stat(join(folder, 'data/host.json'))).mode & 0o777).toBe(0o600);
  const acme = await signIn(hostUrl, 'acme');
  expect((await acme.post('/api/session', { tenantId: 'acme' })).status).toBe(200);
});

test('SERVICE_API_KEY presets the key', async () => {
  const key = 'preset-key-0123456789abcdef';
  const { serviceUrl } = await start({ SERVICE_API_KEY: key });
  const record = await readRecord(join(folder, 'data'));
  expect(record?.apiKey).toBe(key);
  const path = `${serviceUrl}/v3/${record?.organizationId}/organizations`;
  expect((await fetch(path, { headers: { authorization: `ApiKey ${key}` } })).status).toBe(200);
});

test('reports a port that is in use, with the variable to set', async () => {
  const other = await serve({}, '127.0.0.1');
  const { port } = new URL(other.origin);
  try {
    await expect(start({ HOST_PORT: port })).rejects.toThrow(
      `Port ${port} is taken. Stop what runs there, or set HOST_PORT`,
    );
    await expect(start({ SERVICE_PORT: port })).rejects.toThrow(/SERVICE_PORT/);
    await expect(start({ HOST_PORT: 'three' })).rejects.toThrow('HOST_PORT must be a port, got "three"');
  } finally {
    await other.close();
  }
});
