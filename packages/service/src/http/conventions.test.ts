import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { operationsOf, type Operation } from '../../../../test/support/operations.js';
import { createTestService, PUBLIC_URL, type Tenant, type TestService } from '../../../../test/support/service.js';

let service: TestService;
let acme: Tenant;
let operations: Operation[];

beforeAll(async () => {
  service = await createTestService({ database: await anyDatabase().open() });
  acme = await service.tenant('Northwind');
  operations = await operationsOf(service.app);
});
afterAll(() => service.close());

const request = (
  path: string,
  { headers, ...init }: { headers?: Record<string, string>; method?: string; body?: Uint8Array<ArrayBuffer> } = {},
) => service.app.request(`${PUBLIC_URL}${path}`, { ...init, headers: { 'x-api-key': acme.key, ...headers } });

describe('under /api', () => {
  it('every route responds as without it', async () => {
    const body = exampleBody(typeOf('input', 'okta-systemlog'));
    const made = await service.call('POST', `/api/v2/${acme.team}/inputs`, { key: acme.key, body });
    expect(made.status).toBe(200);
    const path = `/v1/${acme.team}/inputs/${made.body.id}`;
    const [plain, prefixed] = await Promise.all([request(path), request(`/api${path}/`)]);
    expect([prefixed.status, await prefixed.text()]).toEqual([200, await plain.text()]);
    expect((await request('/api/v1/inputs/okta-systemlog')).status).toBe(200);
  });

  it('a repeated Idempotency-Key is recognized with and without it', async () => {
    const body = exampleBody(typeOf('input', 'okta-systemlog'));
    const headers = { 'idempotency-key': 'once' };
    const first = await service.call('POST', `/api/v2/${acme.team}/inputs`, { key: acme.key, body, headers });
    const again = await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body, headers });
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
  });

  it('the same checks apply, and only the API is served', async () => {
    const headers = { origin: 'https://attacker.example' };
    expect((await request(`/api/v1/${acme.team}/inputs`, { headers })).status).toBe(403);
    expect((await service.app.request(`${PUBLIC_URL}/api/v1/${acme.team}/inputs`)).status).toBe(401);
    for (const path of ['/api/livez', '/api/embed/', '/api/openapi.json', '/api/api/v1/inputs', '/api'])
      expect([path, (await request(path)).status]).toEqual([path, 404]);
  });
});

describe('a method that a path does not have', () => {
  it('is 405 with the methods that it has, for every path', async () => {
    for (const { path } of operations) {
      const own = operations.filter((each) => each.path === path).map(({ method }) => method);
      const filled = path.replaceAll(/\{\w+\}/g, 'x');
      const others = ['DELETE', 'PUT', 'PATCH'].filter((method) => !own.includes(method));
      for (const method of others) {
        const response = await request(filled, { method });
        const allowed = response.headers.get('allow')?.split(', ') ?? [];
        // Another route may match the path, too: `/v1/inputs/x` and `/v1/{org}/x`.
        if (allowed.length === 0 && response.status !== 405) continue;
        expect([path, method, response.status, allowed]).toEqual([path, method, 405, expect.arrayContaining(own)]);
        expect(allowed).not.toContain(method);
        expect(await response.json()).toMatchObject({ error_type: 'method_not_allowed', code: 405 });
      }
    }
  });

  it.each(['', '/api'])('is 405 under "%s", and an unknown path is 404', async (prefix) => {
    const wrong = await request(`${prefix}/v1/${acme.team}/inputs`, { method: 'POST' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const several = await request(`${prefix}/v2/${acme.team}/inputs/x`, { method: 'POST' });
    expect([several.status, several.headers.get('allow')]).toEqual([405, 'PATCH, PUT']);
    for (const path of ['/v1/nothing/here/at/all', '/v9/inputs', '/']) {
      const unknown = await request(`${prefix}${path}`, { method: 'POST' });
      expect([path, unknown.status, unknown.headers.get('allow')]).toEqual([path, 404, null]);
    }
  });
});

describe('what a route does not know', () => {
  it('is rejected in the query of every route, with its name', async () => {
    for (const { id, method, path, isPublic } of operations) {
      if (isPublic || method !== 'GET') continue;
      const filled = path
        .replace('{org}', acme.team)
        .replace('{parent_org}', acme.id)
        .replace('{letter}', 'x.1')
        .replace('{resource_type}', 'secret')
        .replaceAll(/\{\w+\}/g, 'x');
      const { status, body } = await service.call('GET', `${filled}?limmit=5`, { key: acme.key });
      expect([id, status], JSON.stringify(body)).toEqual([id, 400]);
      expect(body.additional_details.issues).toContainEqual({ path: '/limmit', message: 'Unknown.' });
    }
  });

  it('is rejected in a config and in what to clean up', async () => {
    const body = exampleBody(typeOf('input', 'okta-systemlog'));
    const wrong = { ...body, config: { ...body.config, setting: {} } };
    expect((await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body: wrong })).status).toBe(400);
    const remove = { pipeline_id: 'x', cleanup: { outputs: false } };
    const path = `/v2/${acme.team}/integrations/delete`;
    expect((await service.call('POST', path, { key: acme.key, body: remove })).status).toBe(400);
  });
});

it('a body that is not UTF-8 is rejected, not repaired', async () => {
  const text = JSON.stringify(exampleBody(typeOf('input', 'okta-systemlog')));
  const body = new TextEncoder().encode(text.replace('"name":"', '"name":"\u0001'));
  body[body.indexOf(1)] = 0xff;
  const headers = { 'content-type': 'application/json' };
  const response = await request(`/v2/${acme.team}/inputs`, { method: 'POST', headers, body });
  expect([response.status, await response.json()]).toMatchObject([400, { error: 'The body is not valid UTF-8.' }]);
});

const answerTo = async (query: string) => {
  const path = `/v3/${acme.id}/organizations?${query}`;
  const { status, body } = await service.call('GET', path, { key: acme.key });
  return [status, body.error];
};

describe('a query', () => {
  it.each(['%FF', 'a%C3', '%C0%80', '%ED%A0%80', '%'])(
    'that is not UTF-8 is rejected, not repaired: %s',
    async (text) => {
      const message = 'The query is not valid UTF-8. Encode it as percent-encoded UTF-8.';
      expect(await answerTo(`name_search=${text}`)).toEqual([400, message]);
      expect(await answerTo(`${text}=x`)).toEqual([400, message]);
    },
  );

  it('with a null character or a parameter twice is rejected, and names it', async () => {
    expect(await answerTo('name_search=%00')).toEqual([400, 'The query contains a null character in "name_search".']);
    const twice = 'The query contains "limit" more than once. Send it once.';
    expect(await answerTo('limit=1&limit=2')).toEqual([400, twice]);
    expect(await answerTo('name_search=%C3%A4+%F0%9F%98%80')).toEqual([200, undefined]);
  });
});
