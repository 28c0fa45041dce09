import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBilling } from '../../../../test/support/billing.js';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { databaseBytes } from '../../../../test/support/canary/places.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createEnrichments } from '../../../../test/support/enrichments-api.js';
import { fillPath, operationsOf } from '../../../../test/support/operations.js';
import {
  createTestService,
  PARENT,
  PUBLIC_URL,
  type Tenant,
  type TestService,
} from '../../../../test/support/service.js';
import { signedInUser } from '../../../../test/support/users.js';

const OTHER_EMBED = 'https://frame.example';
const foreign = [
  PARENT,
  'https://evil.example',
  `${PUBLIC_URL}.evil.example`,
  'http://connect.example',
  `${PUBLIC_URL}:8443`,
  'null',
  `${PUBLIC_URL}/`,
];

const databases = anyDatabase();
let service: TestService;
let acme: Tenant;
let session: string;

beforeAll(async () => {
  const settings = { embedOrigins: [OTHER_EMBED] };
  service = await createTestService({ database: await databases.open(), settings });
  acme = await service.tenant('Northwind');
  session = await service.session(acme);
});
afterAll(() => service.store.close());

const preflight = (origin: string, path: string) =>
  service.call('OPTIONS', path, {
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  });

describe('cross-origin requests (S24)', () => {
  it('pass a preflight only from the origins of the form', async () => {
    for (const path of [`/v2/${acme.team}/inputs`, '/v1/inputs', '/v3/sessions', '/nowhere']) {
      for (const origin of [PUBLIC_URL, OTHER_EMBED]) {
        const { status, headers } = await preflight(origin, path);
        expect([status, headers.get('access-control-allow-origin')]).toEqual([204, origin]);
        expect(headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
        expect(headers.get('access-control-allow-credentials')).toBeNull();
        expect(headers.get('vary')).toContain('Origin');
      }
      for (const origin of foreign) {
        const { status, headers } = await preflight(origin, path);
        expect([origin, status, headers.get('access-control-allow-origin')]).toEqual([origin, 403, null]);
      }
    }
  });

  it('are rejected with a session and change nothing', async () => {
    const body = exampleBody(typeOf('input', 'okta-systemlog'));
    for (const origin of foreign) {
      const write = await service.call('POST', `/v2/${acme.team}/inputs`, { session, body, headers: { origin } });
      expect([origin, write.status, write.body.error_type]).toEqual([origin, 403, 'origin_not_allowed']);
      expect(write.headers.get('access-control-allow-origin')).toBeNull();
      expect((await service.call('GET', '/v1/inputs', { session, headers: { origin } })).status).toBe(403);
    }
    const list = await service.call('GET', `/v1/${acme.team}/inputs`, { key: acme.key });
    expect(list.body.pagination.total).toBe(0);
  });

  it('from the origins of the form can read responses', async () => {
    for (const origin of [PUBLIC_URL, OTHER_EMBED]) {
      const { status, headers } = await service.call('GET', '/v1/inputs', { session, headers: { origin } });
      expect([status, headers.get('access-control-allow-origin')]).toEqual([200, origin]);
      expect(headers.get('access-control-expose-headers')).toContain('ETag');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it('with GET or HEAD do not change the database, with an API key, a session or a user', async () => {
    const make = async (path: string, body: object): Promise<{ id: string; pipeline_id: string }> =>
      (await service.call('POST', `/v2/${acme.team}/${path}`, { key: acme.key, body })).body;
    const inputs = (await make('inputs', exampleBody(typeOf('input', 'okta-systemlog')))).id;
    const outputs = (await make('outputs', exampleBody(typeOf('output', 'http')))).id;
    const transforms = (await make('transforms', { name: 'T', config: { operations: [] } })).id;
    const secrets = (await make('secrets', { name: 'S', value: 'value' })).id;
    const { pipeline_id: pipelines } = await make('integrations', {
      input_id: inputs,
      name: 'P',
      output: { id: outputs },
    });
    const ids = {
      inputs,
      outputs,
      transforms,
      alert_rules: acme.id,
      secrets,
      pipelines,
      organizations: acme.team,
      users: acme.id,
      connections: acme.id,
      organization_id: acme.team,
      'api-keys': acme.id,
      api_keys: acme.id,
      roles: acme.id,
      ...(await createEnrichments(service, acme.team, acme.key)),
      ...(await createBilling(
        (method, path, body) => service.call(method, path, { key: acme.key, ...(body && { body }) }),
        acme.team,
      )),
    };
    const ana = await signedInUser(service, acme.id, 'admin');
    const reads = (await operationsOf(service.app)).filter(({ method, isPublic }) => method === 'GET' && !isPublic);
    expect(reads.length).toBeGreaterThan(15);
    const before = await databaseBytes(service);
    for (const operation of reads) {
      expect([operation.id, operation.example]).toEqual([operation.id, undefined]);
      const path = fillPath(operation, { org: acme.team, parent_org: acme.id }, { ...ids, types: 'http' })
        .replace('/inputs/{type_id}', '/inputs/okta-systemlog')
        .replace('/outputs/{type_id}', '/outputs/http')
        .replace('/enrichments/{type_id}', '/enrichments/http-lookup');
      for (const credential of [
        { 'x-api-key': acme.key },
        { authorization: `Bearer ${session}` },
        { authorization: `Bearer ${ana.token}` },
      ]) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await service.app.request(path, { method, headers: { ...credential } });
          // 503: what waits in a pipeline is known only where an engine runs.
          const isExpected = answer.status < 500 || answer.status === 503;
          expect([operation.id, method, isExpected]).toEqual([operation.id, method, true]);
          // The log stream does not end by itself.
          await answer.body?.cancel();
        }
      }
    }
    expect(await databaseBytes(service)).toEqual(before);
  });
});

describe('headers of the API', () => {
  it('are in every response', async () => {
    const answers = [
      await service.call('GET', '/v1/inputs', { key: acme.key }),
      await service.call('GET', '/v1/inputs'),
      await service.call('GET', '/nowhere'),
      await service.call('POST', '/v3/sessions', { key: acme.key, body: '{' }),
      await service.call('GET', '/livez'),
    ];
    for (const { headers } of answers) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('set-cookie')).toBeNull();
      expect(headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});
