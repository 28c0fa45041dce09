import type { ConnectorKind } from '@connector-frame/catalog';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createEnrichments } from '../../../../test/support/enrichments-api.js';
import { fillPath, operationsOf, type Operation } from '../../../../test/support/operations.js';
import { createOAuthClients } from '../oauth/clients.js';
import { createTestService, PARENT, type Tenant, type TestService } from '../../../../test/support/service.js';

/** All operations that a session may call. Adding one must be a deliberate decision. */
const ALLOWED = [
  'changeEnrichment',
  'changeInput',
  'changeOutput',
  'createEnrichment',
  'createInput',
  'createOutput',
  'listEnrichmentTypes',
  'listInputTypes',
  'listOutputTypes',
  'readAwsTrust',
  'readEnrichment',
  'readEnrichmentType',
  'readInput',
  'readInputType',
  'readOAuthOffer',
  'readOAuthStatus',
  'readOutput',
  'readOutputType',
  'readSession',
  'replaceEnrichment',
  'replaceInput',
  'replaceOutput',
  'startOAuth',
  'testEnrichmentConnection',
  'testInputConnection',
  'testOutputConnection',
];

const databases = anyDatabase();
let service: TestService;
let acme: Tenant;
let operations: Operation[];
let ids: Record<string, string>;

const send = (operation: Operation, session: string) =>
  service.call(operation.method, fillPath(operation, { org: acme.team, parent_org: acme.id }, ids), {
    session,
    ...(operation.example ? { body: nearby({ ...operation.example, organization_id: acme.team }) } : {}),
  });
/** Redirects connection tests to this machine, where the egress guard rejects them. */
const nearby = (body: object): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll(/acme\.okta\.com|(logs|api)\.acme\.com/g, 'localhost'));
const known = () => operations.filter(({ isPublic }) => !isPublic);
const allowed = () => known().filter(({ session }) => session === 'allow');
const ofKind = (kind: ConnectorKind) => allowed().filter(({ path }) => path.includes(`/${kind}s`));

beforeAll(async () => {
  const oauthClients = createOAuthClients([{ provider: 'github', client_id: 'a', client_secret: 'b' }]);
  service = await createTestService({ database: await databases.open(), settings: { oauthClients } });
  acme = await service.tenant('Northwind');
  operations = await operationsOf(service.app);
  const create = async (kind: 'input' | 'output', type: string) =>
    (await service.call('POST', `/v2/${acme.team}/${kind}s`, { key: acme.key, body: exampleBody(typeOf(kind, type)) }))
      .body.id;
  const keys = await service.call('GET', `/v3/${acme.id}/api-keys`, { key: acme.key });
  ids = {
    inputs: await create('input', 'okta-systemlog'),
    outputs: await create('output', 'http'),
    // These ids do not exist: sessions are rejected before the lookup.
    pipelines: acme.team,
    transforms: acme.team,
    alert_rules: acme.team,
    secrets: acme.team,
    organizations: acme.team,
    users: acme.team,
    invites: acme.team,
    connections: acme.team,
    organization_id: acme.team,
    accounts: acme.team,
    products: acme.team,
    quotas: acme.team,
    'api-keys': keys.body.api_keys[0].id,
    api_keys: keys.body.api_keys[0].id,
    roles: 'reader',
    ...(await createEnrichments(service, acme.team, acme.key)),
  };
});
afterAll(() => service.store.close());

/** `/v1/inputs/{type_id}` takes a type, `/v1/{org}/inputs/{id}` a connector. */
const withTypes = (operation: Operation): Operation => ({
  ...operation,
  path: operation.path
    .replace('/v1/inputs/{type_id}', '/v1/inputs/okta-systemlog')
    .replace('/v1/outputs/{type_id}', '/v1/outputs/http')
    .replace('/v1/enrichments/{type_id}', '/v1/enrichments/http-lookup'),
});

describe('access of a session (S04)', () => {
  it('is allowed exactly for the listed operations', () => {
    expect(
      allowed()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ALLOWED);
  });

  it('is denied with 403 for all other operations', async () => {
    const session = await service.session(acme);
    const denied = known().filter(({ session: decision }) => decision === 'deny');
    expect(denied.length).toBeGreaterThan(10);
    for (const operation of denied) {
      const { status, body } = await send(operation, session);
      expect([operation.id, status, body.error_type]).toEqual([operation.id, 403, 'forbidden']);
    }
  });

  it('is granted for all allowed operations', async () => {
    const session = await service.session(acme);
    // There is no consent to read.
    for (const operation of allowed().filter(({ id }) => id !== 'readOAuthStatus')) {
      const { status } = await send(withTypes(operation), session);
      expect([401, 403, 404, 500], operation.id).not.toContain(status);
    }
  });

  it('is limited to the kind of the session', async () => {
    const session = await service.session(acme, { kind: 'input' });
    for (const operation of [...ofKind('output'), ...ofKind('enrichment')]) {
      expect((await send(withTypes(operation), session)).status, operation.id).toBe(403);
    }
    for (const operation of ofKind('input')) {
      expect((await send(withTypes(operation), session)).status, operation.id).not.toBe(403);
    }
  });

  it('is limited to the types of the session', async () => {
    const session = await service.session(acme, { type_ids: ['demo', 'dev-null'] });
    const answers = await Promise.all(
      allowed().map(async (operation) => [operation.id, (await send(withTypes(operation), session)).status] as const),
    );
    for (const [id, status] of answers) {
      const wanted =
        id.startsWith('list') || id === 'readSession' || id === 'readAwsTrust'
          ? 200
          : /^(read|change|replace)(Input|Output|Enrichment)$/.test(id)
            ? 404
            : 403;
      expect([id, status]).toEqual([id, wanted]);
    }
    const { body } = await service.call('GET', '/v1/inputs', { session });
    expect(body.map((type: { type_id: string }) => type.type_id)).toEqual(['demo']);
  });

  it('is limited to the connector of the session', async () => {
    const session = await service.session(acme, { connector_id: ids['inputs'] });
    expect((await service.call('GET', `/v1/${acme.team}/inputs/${ids['inputs']}`, { session })).status).toBe(200);
    const body = exampleBody(typeOf('input', 'okta-systemlog'));
    const other = (await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body })).body.id;
    expect((await service.call('GET', `/v1/${acme.team}/inputs/${other}`, { session })).status).toBe(403);
    expect((await service.call('POST', `/v2/${acme.team}/inputs`, { session, body })).status).toBe(403);
    expect((await service.call('PATCH', `/v2/${acme.team}/inputs/${other}`, { session, body: {} })).status).toBe(403);
    const test = { type: body.type, config: body.config, id: other };
    expect(
      (await service.call('POST', `/v2/${acme.team}/inputs/test-connection`, { session, body: test })).status,
    ).toBe(403);
    for (const operation of [...ofKind('output'), ...ofKind('enrichment')]) {
      expect((await send(withTypes(operation), session)).status, operation.id).toBe(403);
    }
  });

  it('is limited to the parent page of the session', async () => {
    const session = await service.session(acme);
    const from = (page: string) =>
      service.call('GET', '/v1/inputs', { session, headers: { 'connector-frame-parent': page } });
    expect((await from(PARENT)).status).toBe(200);
    for (const page of ['https://evil.example', `${PARENT}/`, 'null', '']) {
      const { status, body } = await from(page);
      expect([page, status, body.error_type]).toEqual([page, 403, 'origin_not_allowed']);
    }
  });
});
