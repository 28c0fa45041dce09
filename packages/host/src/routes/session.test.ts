import { afterEach, beforeEach, expect, test } from 'vitest';
import { outcome, post, startHost } from '../../../../test/support/start-host.js';

let hosts: Awaited<ReturnType<typeof startHost>>;

beforeEach(async () => {
  hosts = await startHost();
});
afterEach(() => hosts.close());

test('mints a session for the tenant’s organization with the API key, and answers no more than the contract', async () => {
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

test('without options and wishes it asks for nothing but the organization', async () => {
  await hosts.create()(post('/api/session', { tenantId: 'acme' }));
  expect(hosts.seen[0]?.body).toEqual({ organization_id: 'org-acme' });
});

const both = { input: ['okta-systemlog', 's3'], output: ['s3'] };
const narrowed: [what: string, allow: object, wish: object, expected: object | null][] = [
  ['one kind offered: that kind', { input: ['http'] }, {}, { kind: 'input', type_ids: ['http'] }],
  ['both offered: all their types', both, {}, { type_ids: ['okta-systemlog', 's3'] }],
  ['a kind asked for: its types', both, { kind: 'output' }, { kind: 'output', type_ids: ['s3'] }],
  ['a type asked for: that one', both, { kind: 'input', typeId: 's3' }, { kind: 'input', type_ids: ['s3'] }],
  ['a type of the other kind: refused', both, { kind: 'output', typeId: 'okta-systemlog' }, null],
  ['a type that is not offered: refused', both, { kind: 'input', typeId: 'http' }, null],
  ['a kind that is not offered: refused', { input: ['http'] }, { kind: 'output' }, null],
  ['nothing offered: refused', { input: [] }, {}, null],
];
test.each(narrowed)('allow, %s', async (_, allow, wish, expected) => {
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
test.each(malformed.map((body) => [JSON.stringify(body), body]))('%s is refused', async (_, body) => {
  expect(await outcome(hosts.create()(post('/api/session', body)))).toEqual([400, 'invalid_request']);
  expect(hosts.seen).toEqual([]);
});

test('a large body is refused', async () => {
  const body = { tenantId: 'acme', padding: 'x'.repeat(20_000) };
  expect(await outcome(hosts.create()(post('/api/session', body)))).toEqual([413, 'invalid_request']);
});
