import { afterEach, beforeEach, expect, test } from 'vitest';
import { outcome, post, startHost } from '../../../../test/support/start-host.js';
import { usualAnswers } from '../../../../test/support/upstream.js';

let hosts: Awaited<ReturnType<typeof startHost>>;

beforeEach(async () => {
  hosts = await startHost();
});
afterEach(() => hosts.close());

test('creates a session for the tenant’s organization and returns only the documented fields', async () => {
  const host = hosts.create({ sessionTtl: 600, parentOrigins: ['https://product.example'] });
  const wish = { tenantId: 'acme', kind: 'input', typeId: 'http', connectorId: 'c-1' };
  const answer = await host(post('/api/session', wish));
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(await answer.json()).toEqual({
    session_token: 'token-1',
    expires_at: '2026-11-12T10:30:00Z',
    organizationId: 'org-acme',
  });
  expect(hosts.seen).toHaveLength(1);
  expect(hosts.seen[0]?.headers['authorization']).toBe('ApiKey key-1');
  expect(hosts.seen[0]?.body).toEqual({
    organization_id: 'org-acme',
    ttl_seconds: 600,
    parent_origins: ['https://product.example'],
    kind: 'input',
    type_ids: ['http'],
    connector_id: 'c-1',
  });
});

test('requests a session with only the organization by default', async () => {
  await hosts.create()(post('/api/session', { tenantId: 'acme' }));
  expect(hosts.seen[0]?.body).toEqual({ organization_id: 'org-acme' });
});

const both = { input: ['okta-systemlog', 's3'], output: ['s3'] };
const narrowed: [what: string, allow: object, wish: object, expected: object | null][] = [
  ['limits the session to the only allowed kind', { input: ['http'] }, {}, { kind: 'input', type_ids: ['http'] }],
  ['allows the types of both kinds', both, {}, { type_ids: ['okta-systemlog', 's3'] }],
  [
    'limits the session to the types of the requested kind',
    both,
    { kind: 'output' },
    { kind: 'output', type_ids: ['s3'] },
  ],
  [
    'limits the session to the requested type',
    both,
    { kind: 'input', typeId: 's3' },
    { kind: 'input', type_ids: ['s3'] },
  ],
  [
    'limits the session to enrichments',
    { ...both, enrichment: ['geoip'] },
    { kind: 'enrichment' },
    { kind: 'enrichment', type_ids: ['geoip'] },
  ],
  ['denies a type of the other kind', both, { kind: 'output', typeId: 'okta-systemlog' }, null],
  ['denies a type that is not listed', both, { kind: 'input', typeId: 'http' }, null],
  ['denies a kind that is not listed', { input: ['http'] }, { kind: 'output' }, null],
  ['denies every session if it lists no type', { input: [] }, {}, null],
];
test.each(narrowed)('the allow option %s', async (_, allow, wish, expected) => {
  const answer = hosts.create({ allow })(post('/api/session', { tenantId: 'acme', ...wish }));
  expect(await outcome(answer)).toEqual(expected ? [200, undefined] : [403, 'forbidden']);
  expect(hosts.seen.map((seen) => seen.body)).toEqual(expected ? [{ organization_id: 'org-acme', ...expected }] : []);
});

const malformed: (string | object)[] = [
  '{"tenantId":',
  '[]',
  'null',
  '',
  {},
  { tenantId: '' },
  { tenantId: 7 },
  { tenantId: 'a'.repeat(257) },
  { tenantId: 'acme', kind: 'inputs' },
  { tenantId: 'acme', typeId: 'http' },
  { tenantId: 'acme', kind: 'input', typeId: '../x' },
  { tenantId: 'acme', connectorId: '' },
];
test.each(malformed.map((body) => [JSON.stringify(body), body]))('rejects %s', async (_, body) => {
  expect(await outcome(hosts.create()(post('/api/session', body)))).toEqual([400, 'invalid_request']);
  expect(hosts.seen).toEqual([]);
});

test('returns 413 for a body that is too large', async () => {
  const body = { tenantId: 'acme', padding: 'x'.repeat(20_000) };
  expect(await outcome(hosts.create()(post('/api/session', body)))).toEqual([413, 'invalid_request']);
});

test('a session for a connector that the team does not have is a 404 that names the resource', async () => {
  await hosts.close();
  hosts = await startHost({ ...usualAnswers, 'POST /v3/sessions': { status: 404, body: { error_type: 'not_found' } } });
  const session = async (body: object) =>
    (await hosts.create()(post('/api/session', { tenantId: 'acme', ...body }))).json();
  expect(await session({ connectorId: 'c-1' })).toEqual({
    code: 'not_found',
    message: 'There is no such connector.',
    resource: 'connector',
  });
  expect(await session({})).toEqual({ code: 'not_found', message: expect.any(String) });
});

test('a type that is not offered is named', async () => {
  const host = hosts.create({ allow: { input: ['s3'] } });
  const response = await host(post('/api/session', { tenantId: 'acme', kind: 'input', typeId: 'no-such-type' }));
  expect(await response.json()).toMatchObject({ message: expect.stringContaining('"no-such-type"') });
});
