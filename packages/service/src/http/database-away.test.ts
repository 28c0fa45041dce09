import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { startDatabaseProxy, type DatabaseProxy } from '../../../../test/support/database-proxy.js';
import { postgresql } from '../../../../test/support/databases.js';
import { createEnrichments } from '../../../../test/support/enrichments-api.js';
import { writeForm } from '../../../../test/support/form-assets.js';
import { fillPath, operationsOf, type Ids, type Operation } from '../../../../test/support/operations.js';
import { createTestService, type Answer, type Tenant, type TestService } from '../../../../test/support/service.js';
import { loadFormAssets } from '../embed/form-assets.js';
import { postgresDatabase } from '../store/database.js';
import { loadMigrations, migrate } from '../store/migrate.js';

/** Operations that need no database. All others respond 503 without it. */
const WITHOUT_DATABASE = [
  'readLiveness',
  'readMetrics',
  'readForm',
  'readFormFile',
  'readIcon',
  'readIconName',
  // They reject what has no cookie, no valid token or no identity provider.
  'beginLogin',
  'completeLogin',
  'createToken',
  'refreshToken',
  'showLogin',
  // They reject what the form did not open, and what no window brought back.
  'openOAuth',
  'completeOAuth',
];
/** Pages of a sign-in without the cookie that says how far it is. */
const isPage = ({ id, path }: Operation): boolean => /^\/login\b/.test(path) && /^(show|submit|receive)/.test(id);
/** Operations that need nothing else once the API key and the organization are known. */
const WITH_KNOWN_KEY = [
  'listInputTypes',
  'readInputType',
  'listOutputTypes',
  'readOutputType',
  'listEnrichmentTypes',
  'readEnrichmentType',
  'listEnrichmentMeta',
  'readEnrichmentMeta',
  'readOAuthOffer',
  'readOAuthStatus',
  'startOAuth',
  'readCurrentApiKey',
  'readSession',
  'mintSession',
  'testInputConnection',
  'testOutputConnection',
  'testEnrichmentConnection',
  'tryEnrichment',
];

/**
 * Calls every operation of the OpenAPI document while the database, a real PostgreSQL behind a
 * proxy, is away. A new route is covered or fails here.
 */
describe('a database that is away', () => {
  const databases = postgresql();
  let proxy: DatabaseProxy;
  let service: TestService;
  let form: Awaited<ReturnType<typeof writeForm>>;
  let operations: Operation[];
  let tenant: Tenant;
  let ids: Ids;

  beforeAll(async () => {
    proxy = await startDatabaseProxy(await databases.url());
    form = await writeForm();
    const timeouts = { connect: 500, statement: 400, response: 500 };
    const database = postgresDatabase({ connectionString: proxy.url }, () => undefined, timeouts);
    await migrate(database, await loadMigrations());
    service = await createTestService({ database, form: await loadFormAssets(form.folder) });
    operations = await operationsOf(service.app);
    tenant = await service.tenant('Northwind');
    const { key, team } = tenant;
    const make = async (path: string, body: object) =>
      (await service.call('POST', `/v2/${team}/${path}`, { key, body })).body;
    const inputs = (await make('inputs', exampleBody(typeOf('input', 'okta-systemlog')))).id;
    const outputs = (await make('outputs', exampleBody(typeOf('output', 'http')))).id;
    const built = await make('integrations', { input_id: inputs, name: 'P', output: { id: outputs } });
    const transforms = (await make('transforms', { name: 'T', config: { operations: [] } })).id;
    const secrets = (await make('secrets', { name: 'S', value: 'value' })).id;
    const keys = await service.call('GET', `/v3/${tenant.id}/api-keys`, { key });
    ids = {
      inputs,
      outputs,
      transforms,
      alert_rules: team,
      secrets,
      pipelines: built.pipeline_id,
      organizations: team,
      accounts: team,
      products: team,
      quotas: team,
      'api-keys': keys.body.api_keys[0].id,
      api_keys: keys.body.api_keys[0].id,
      users: tenant.id,
      invites: tenant.id,
      connections: tenant.id,
      saml: tenant.id,
      organization_id: tenant.team,
      roles: 'reader',
      raw: 'okta',
      icons: 'okta',
      assets: 'form.js',
      ...(await createEnrichments(service, team, key)),
    };
  });
  afterAll(async () => {
    await proxy.restore();
    await service.close();
    await proxy.close();
    await form.remove();
    await databases.close();
  });

  const send = (operation: Operation, headers: Record<string, string> = {}): Promise<Answer> =>
    service.call(operation.method, fillPath(operation, { org: tenant.team, parent_org: tenant.id }, ids), {
      ...(operation.isPublic ? {} : { key: tenant.key }),
      ...(operation.example ? { body: { ...operation.example, organization_id: tenant.team } } : {}),
      headers,
    });

  const states: [string, () => Promise<void> | void][] = [
    ['refuses connections', () => proxy.refuse()],
    ['does not respond', () => proxy.stall()],
  ];
  describe.each(states)('and %s', (_name, take) => {
    it('makes every operation respond 503 with Retry-After, with and without a known API key', async () => {
      await proxy.restore();
      for (const isKnown of [true, false]) {
        if (isKnown) expect((await service.call('GET', '/v3/api-keys/current', { key: tenant.key })).status).toBe(200);
        else service.clock.advance(5_000);
        await take();
        const answers = await Promise.all(
          operations.map(async (each) => [each, await send(each, { 'idempotency-key': each.id })] as const),
        );
        for (const [operation, { status, headers, body, text }] of answers) {
          const { id } = operation;
          if (WITHOUT_DATABASE.includes(id) || isPage(operation) || (isKnown && WITH_KNOWN_KEY.includes(id))) {
            expect([id, status < 500 || (isKnown && status === 503)], text).toEqual([id, true]);
            continue;
          }
          if (text.startsWith('<!doctype html>')) {
            expect([id, status, Number(headers.get('retry-after')) > 0]).toEqual([id, 503, true]);
            continue;
          }
          const { error_type: type, additional_details: details } = body;
          expect([id, status, type, Number(headers.get('retry-after')) > 0]).toEqual([id, 503, 'unavailable', true]);
          expect([id, details.checks.database]).toEqual([id, 'no response']);
        }
        await proxy.restore();
      }
    });

    it('keeps the process alive and not ready, and needs no restart when it is back', async () => {
      await proxy.restore();
      await take();
      const [alive, ready] = [await service.call('GET', '/livez'), await service.call('GET', '/readyz')];
      expect([alive.status, ready.status, ready.body.additional_details.checks.database]).toEqual([
        200,
        503,
        'no response',
      ]);
      expect(service.log.join('')).not.toContain('"level":"error"');
      await proxy.restore();
      await expect.poll(async () => (await service.call('GET', '/readyz')).status).toBe(200);
      service.clock.advance(5_000);
      const list = await service.call('GET', `/v1/${tenant.team}/inputs`, { key: tenant.key });
      expect([list.status, list.body.inputs.length]).toEqual([200, 1]);
    });
  });

  it('is never reported as an error of the service', () => {
    const failures = service.log.filter((line) => line.includes('request failed') || line.includes('"level":50'));
    expect(failures).toEqual([]);
  });
});
