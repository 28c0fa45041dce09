import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { signedInUser } from '../../../../test/support/users.js';
import { bootstrap } from '../bootstrap.js';
import { createFeatureFlags } from '../features/feature-flags.js';
import { offeredTo } from '../features/offered-types.js';

const databases = anyDatabase();
let service: TestService;
let acme: Tenant;
let operator: string;

beforeAll(async () => {
  const settings = { nodeData: false, signIn: { localAccounts: true } };
  service = await createTestService({ database: await databases.open(), settings });
  acme = await service.tenant('Northwind');
  const { store, vault: secrets, clock } = service;
  operator = (await bootstrap({ store, secrets, clock }, { organization: 'Operator' })).apiKey;
});
afterAll(async () => {
  await service.store.close();
  await databases.close();
});

const flagsOf = async (credential: object = { key: acme.key }) =>
  (await service.call('GET', '/v3/feature_flags', credential)).body;
const flag = async (name: string, org = acme.team, credential: object = { key: acme.key }) =>
  (await flagsOf(credential)).organizations[org].find(
    ({ FeatureName }: { FeatureName: string }) => FeatureName === name,
  );
const override = (path: string, enabled?: boolean, key = operator) =>
  service.call(enabled === undefined ? 'DELETE' : 'PUT', `/v3/feature_flags/${path}`, {
    key,
    ...(enabled !== undefined && { body: { enabled } }),
  });

describe('feature flags', () => {
  it('show what the environment decides, in the names of the public API', async () => {
    const { organizations, user } = await flagsOf();
    expect(Object.keys(organizations).sort()).toEqual([acme.id, acme.team].sort());
    expect(user).toEqual([]);
    expect(organizations[acme.id]).toEqual([
      { FeatureID: 1, FeatureName: 'engine', Enabled: false, IsDefault: true, Value: false },
      { FeatureID: 2, FeatureName: 'file_outputs', Enabled: true, IsDefault: true, Value: true },
      { FeatureID: 3, FeatureName: 'node_data', Enabled: false, IsDefault: true, Value: false },
      { FeatureID: 4, FeatureName: 'config_overrides', Enabled: true, IsDefault: true, Value: true },
      { FeatureID: 5, FeatureName: 'beta_types', Enabled: true, IsDefault: true, Value: true },
      { FeatureID: 6, FeatureName: 'local_sign_in', Enabled: true, IsDefault: true, Value: true },
      { FeatureID: 7, FeatureName: 'oidc_sign_in', Enabled: false, IsDefault: true, Value: false },
    ]);
    const reader = await signedInUser(service, acme.team, 'reader');
    const own = await flagsOf({ user: reader.token });
    expect([Object.keys(own.organizations), own.user.length]).toEqual([[acme.team], 7]);
  });

  it('are overridden for an organization and its teams, until that is removed', async () => {
    const { headers } = await override(`node_data/organizations/${acme.id}`, true);
    expect(await flag('node_data', acme.id)).toMatchObject({ Enabled: true, IsDefault: false, Value: true });
    expect(await flag('node_data')).toMatchObject({ Enabled: true, IsDefault: false });
    await override(`node_data/organizations/${acme.team}`, false);
    expect([(await flag('node_data', acme.id)).Enabled, (await flag('node_data')).Enabled]).toEqual([true, false]);
    const log = await service.call('GET', `/v3/${acme.id}/audit_logs?resource_type=feature_flag`, { key: acme.key });
    expect(log.body.logs).toMatchObject([
      {
        action: 'insert',
        request_id: headers.get('request-id'),
        resource: { new: { feature: 'node_data', enabled: true } },
      },
    ]);
    await override(`node_data/organizations/${acme.id}`);
    await override(`node_data/organizations/${acme.team}`);
    expect(await flag('node_data')).toMatchObject({ Enabled: false, IsDefault: true });
  });

  it('act: watching records, overrides of connectors, and file outputs', async () => {
    const watch = (credential: object = { key: acme.key }) =>
      service.call('GET', `/v1/${acme.team}/data/no-node`, credential);
    expect((await watch()).status).toBe(403);
    await override(`node_data/organizations/${acme.id}`, true);
    expect((await watch()).status).toBe(404);
    await override(`node_data/organizations/${acme.id}`);
    const ana = await signedInUser(service, acme.id, 'reader');
    await override(`node_data/users/${ana.id}`, true);
    expect([(await watch()).status, (await watch({ user: ana.token })).status]).toEqual([403, 404]);

    const body = { name: 'F', type: 'file', config: { settings: { file_name: 'x.ndjson' } } };
    const create = () => service.call('POST', `/v2/${acme.team}/outputs`, { key: acme.key, body });
    const session = await service.session(acme);
    const types = async (credential: object) =>
      (await service.call('GET', '/v1/outputs', credential)).body.map(({ type_id }: { type_id: string }) => type_id);
    const seen = async () => [
      (await types({ key: acme.key })).includes('file'),
      (await types({ session })).includes('file'),
      (await service.call('GET', '/v1/outputs/file', { session })).status,
      (await create()).status,
    ];
    expect(await seen()).toEqual([true, true, 200, 200]);
    await override(`file_outputs/organizations/${acme.id}`, false);
    service.clock.advance(1_000);
    // A key of the parent is offered what the parent is; the session what its team is.
    expect(await seen()).toEqual([false, false, 404, 403]);
    const integration = await service.call('POST', `/v2/${acme.team}/integrations`, {
      key: acme.key,
      body: { input_id: 'x', name: 'I', output: { type: 'file', config: body.config } },
    });
    expect([integration.status, integration.body.error]).toEqual([403, expect.stringContaining('file_outputs')]);
    await override(`file_outputs/organizations/${acme.id}`);
  });

  it('can be set by the operator only, where they have an effect', async () => {
    const path = `node_data/organizations/${acme.team}`;
    expect((await override(path, true, acme.key)).status).toBe(403);
    const statuses = async (...paths: [path: string, enabled: boolean][]) =>
      Promise.all(paths.map(async ([to, enabled]) => (await override(to, enabled)).status));
    expect(
      await statuses(
        [`engine/organizations/${acme.team}`, true],
        [`local_sign_in/organizations/${acme.team}`, false],
        ['node_data/organizations/unknown', true],
        ['node_data/users/unknown', true],
        [`unknown/organizations/${acme.team}`, true],
      ),
    ).toEqual([400, 400, 404, 404, 404]);
  });

  it('without FILE_OUTPUT_DIR, the type is hidden, and no override brings it back', async () => {
    const settings = { fileOutputs: false };
    const other = await createTestService({ database: service.database, master: service.master, settings });
    const { body } = await other.call('GET', '/v3/feature_flags', { key: acme.key });
    expect(body.organizations[acme.team][1]).toMatchObject({
      FeatureName: 'file_outputs',
      Enabled: false,
      IsDefault: true,
    });
    expect((await other.call('GET', '/v1/outputs/file', { key: acme.key })).status).toBe(404);
    const put = await other.call('PUT', `/v3/feature_flags/file_outputs/organizations/${acme.team}`, {
      key: operator,
      body: { enabled: true },
    });
    expect([put.status, put.body.error]).toEqual([400, expect.stringContaining('FILE_OUTPUT_DIR')]);
    await override(`file_outputs/organizations/${acme.team}`, true);
    other.clock.advance(1_000);
    const again = await other.call('GET', '/v3/feature_flags', { key: acme.key });
    expect(again.body.organizations[acme.team][1]).toMatchObject({ Enabled: false, IsDefault: false });
    await override(`file_outputs/organizations/${acme.team}`);
  });

  it('leave an existing connector of a hidden type alone', async () => {
    const body = { name: 'F', type: 'file', config: { settings: { file_name: 'kept.ndjson' } } };
    const { body: output } = await service.call('POST', `/v2/${acme.team}/outputs`, { key: acme.key, body });
    await override(`file_outputs/organizations/${acme.team}`, false);
    const path = `/v1/${acme.team}/outputs/${output.id}`;
    expect((await service.call('GET', path, { key: acme.key })).status).toBe(200);
    const change = { name: 'Renamed' };
    const patched = await service.call('PATCH', `/v2/${acme.team}/outputs/${output.id}`, {
      key: acme.key,
      body: change,
    });
    expect(patched.status).toBe(200);
    expect((await service.call('DELETE', path, { key: acme.key })).status).toBe(200);
    await override(`file_outputs/organizations/${acme.team}`);
  });

  it('hide types in beta, which the catalog marks', async () => {
    const { store, clock } = service;
    const [key] = (await store.apiKeys.list(acme.id, { limit: 1, offset: 0 })).rows;
    if (!key) throw new Error('no key');
    const offered = async (beta_types: boolean) => {
      const flags = createFeatureFlags({ store, clock, defaults: { ...allOn, beta_types } });
      const isOffered = await offeredTo(flags, { type: 'key', key, permissions: new Set() });
      return [true, false].map((in_beta) => isOffered?.({ kind: 'input', type_id: 'demo', in_beta }));
    };
    expect([await offered(true), await offered(false)]).toEqual([
      [undefined, undefined],
      [false, true],
    ]);
  });
});

const allOn = {
  engine: true,
  file_outputs: true,
  node_data: true,
  config_overrides: true,
  beta_types: true,
  local_sign_in: true,
  oidc_sign_in: true,
};
