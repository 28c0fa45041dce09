import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { createBilling } from '../../../../test/support/billing.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createEnrichments } from '../../../../test/support/enrichments-api.js';
import { exampleRule, fillPath, operationsOf, type Operation } from '../../../../test/support/operations.js';
import {
  createTestService,
  type CallOptions,
  type Tenant,
  type TestService,
} from '../../../../test/support/service.js';
import { bootstrap } from '../bootstrap.js';
import { signedInUser, storedConnection, type SignedIn } from '../../../../test/support/users.js';
import { defaultRoles, expandGrants, permissions, permissionSets, type Permission } from '../permissions.js';

const isRead = ({ permissions: needed }: Operation) => needed.every((slug) => slug.endsWith(':read'));

/**
 * The matrix of permissions and routes. It is generated from the OpenAPI document, so that a new
 * route is covered without a change here.
 */
describe.each(['an API key', 'a user'])('permissions of %s', (kind) => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;
  let operations: Operation[];
  let ids: Record<string, string>;

  let ana: SignedIn;

  /** Returns the credential of a caller with exactly these permissions, who has no other ones anymore. */
  async function callerWith(permission_ids: readonly Permission[]): Promise<CallOptions> {
    const role = await service.call('POST', `/v2/${acme.id}/roles`, {
      key: acme.key,
      body: { name: 'generated', permission_ids },
    });
    return callerOf(role.body.id);
  }

  async function callerOf(role_id: string): Promise<CallOptions> {
    if (kind === 'a user') {
      const path = `/v1/${acme.id}/users/${ana.id}`;
      expect((await service.call('PATCH', path, { key: acme.key, body: { role_id } })).status).toBe(200);
      return { user: ana.token };
    }
    const expiration_time = new Date(service.clock.now() + 86_400_000).toISOString();
    const { status, body } = await service.call('POST', `/v2/${acme.id}/api_keys`, {
      key: acme.key,
      body: { name: 'generated', role_id, expiration_time },
    });
    expect(status).toBe(200);
    return { key: body.token };
  }

  const send = (operation: Operation, credential: CallOptions) =>
    service.call(operation.method, fillPath(operation, { org: acme.team, parent_org: acme.id }, ids), {
      ...credential,
      // Without a valid body, an accepted write has no effect on the next one.
      ...(operation.example ? { body: { unknown_field: true } } : {}),
    });
  const withPermission = () => operations.filter((each) => each.permissions.length > 0);
  const withoutStream = () => withPermission().filter(({ isStream }) => !isStream);

  beforeAll(async () => {
    const signIn = { localAccounts: true };
    service = await createTestService({ database: await databases.open(), settings: { signIn } });
    acme = await service.tenant('Northwind');
    operations = (await operationsOf(service.app)).filter(({ isPublic }) => !isPublic);
    const create = async (path: string, body: object): Promise<string> =>
      (await service.call('POST', `/v2/${acme.team}/${path}`, { key: acme.key, body })).body.id;
    const inputs = await create('inputs', exampleBody(typeOf('input', 'okta-systemlog')));
    const outputs = await create('outputs', exampleBody(typeOf('output', 'http')));
    const nodes = [
      { slug: 'in', component_id: inputs, component_type: 'input' },
      { slug: 'out', component_id: outputs, component_type: 'output' },
    ];
    const schema_detection_spec = { enabled: true };
    const edges = [{ from_node_instance_id: 'in', to_node_instance_id: 'out', schema_detection_spec }];
    const pipelines = await create('pipelines', { name: 'P', nodes, edges });
    const { body } = await service.call('GET', `/v2/${acme.team}/pipelines/${pipelines}`, { key: acme.key });
    const keys = { role_id: 'reader', name: 'K', expiration_time: '2099-01-01T00:00:00Z' };
    const key = await create('api_keys', keys);
    const shared = await service.call('POST', `/v2/${acme.id}/outputs`, {
      key: acme.key,
      body: { name: 'Shared', type: 'dev-null', config: {} },
    });
    ana = await signedInUser(service, acme.id, 'reader');
    const invitation = { email: 'bo@example.com', role_id: 'reader' };
    await service.call('POST', `/v1/${acme.team}/invites`, { key: acme.key, body: invitation });
    const invites = await service.call('GET', `/v1/${acme.team}/invites`, { key: acme.key });
    ids = {
      users: (await signedInUser(service, acme.team, 'reader')).id,
      invites: invites.body.invites[0].id,
      connections: await storedConnection(service, acme.team),
      organization_id: acme.team,
      inputs,
      outputs,
      pipelines,
      nodes: body.nodes[0].id,
      edges: body.edges[0].id,
      transforms: await create('transforms', { name: 'T', config: { operations: [] } }),
      secrets: await create('secrets', { name: 'S', value: 'value' }),
      alert_rules: (await service.call('POST', `/v3/${acme.team}/alert_rules`, { key: acme.key, body: exampleRule }))
        .body.id,
      roles: await create('roles', { name: 'R', permission_ids: ['input:read'] }),
      organizations: acme.team,
      resource_shares: shared.body.id,
      api_keys: key,
      'api-keys': key,
      ...(await createEnrichments(service, acme.team, acme.key)),
      ...(await createBilling(
        (method, path, body) => service.call(method, path, { key: acme.key, ...(body && { body }) }),
        acme.team,
      )),
    };
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  it('are known, and each is needed by a route', () => {
    const needed = new Set(operations.flatMap((operation) => operation.permissions));
    expect([...needed].sort()).toEqual([...permissions]);
  });

  it('are needed by every route except those about the caller itself', () => {
    const open = operations.filter((operation) => operation.permissions.length === 0).map(({ id }) => id);
    expect(open.sort()).toEqual([
      'beginSecondFactor',
      'leaveOrganization',
      'listFeatureFlags',
      'logout',
      'readCaller',
      'readCurrentApiKey',
      'readSecondFactor',
      'readSession',
      'resendVerification',
    ]);
  });

  it('are not enough for the routes of the operator', async () => {
    const admin = await callerOf('admin');
    const ofOperator = operations.filter(({ isOperator }) => isOperator);
    expect(ofOperator.length).toBeGreaterThan(7);
    for (const operation of ofOperator) {
      const { status, body } = await send(operation, admin);
      expect([operation.id, status, body.error]).toEqual([operation.id, 403, expect.stringContaining('operator')]);
    }
    const { store, vault: secrets, clock } = service;
    const { apiKey: key } = await bootstrap({ store, secrets, clock }, { organization: 'Operator' });
    for (const operation of ofOperator.filter(({ method }) => method !== 'DELETE'))
      expect([operation.id, (await send(operation, { key })).status]).not.toEqual([operation.id, 403]);
  });

  it('are each required, and named by the rejection', async () => {
    for (const missing of permissions) {
      const rest = permissions.filter((slug) => slug !== missing);
      const caller = await callerWith(rest);
      for (const operation of operations.filter((each) => each.permissions.includes(missing))) {
        const { status, body } = await send(operation, caller);
        expect([operation.id, status, body.additional_details]).toEqual([
          operation.id,
          403,
          { missing_permissions: [missing] },
        ]);
        expect(body.error).toContain(`"${missing}"`);
      }
    }
  });

  it('suffice for their routes alone', async () => {
    const routes = withoutStream();
    for (const needed of new Set(routes.map((operation) => operation.permissions.join(' ')))) {
      const caller = await callerWith(permissions.filter((slug) => needed.split(' ').includes(slug)));
      for (const operation of routes.filter((each) => each.permissions.join(' ') === needed)) {
        // A write without its body or on a missing resource is 400 or 404, after the permission check.
        if (operation.method === 'DELETE' || operation.isOperator) continue;
        expect([operation.id, (await send(operation, caller)).status]).not.toEqual([operation.id, 403]);
      }
    }
  });

  it('of the role Reader read everything and change nothing', async () => {
    const caller = await callerOf('reader');
    for (const operation of withoutStream()) {
      const { status, body } = await send(operation, caller);
      if (isRead(operation)) expect([200, 404, 503], `${operation.id}: ${body.error}`).toContain(status);
      else expect([operation.id, status]).toEqual([operation.id, 403]);
    }
    const reads = withoutStream().filter(
      ({ id, params, method }) =>
        method === 'GET' && !/Session|DeadLetter|Retry|KeyValue$/.test(id) && !params.includes('type_id'),
    );
    for (const operation of reads)
      expect([operation.id, (await send(operation, caller)).status]).toEqual([operation.id, 200]);
  });

  it('of a role for metrics show pipelines and metrics, and nothing else', async () => {
    const caller = await callerWith(['pipeline:read', 'pipeline:metrics:read']);
    const allowed: string[] = [];
    for (const operation of withPermission()) {
      const { status } = await send(operation, caller);
      if (status !== 403) allowed.push(operation.path.replace(/^\/v\d/, ''));
    }
    expect([...new Set(allowed)].sort()).toEqual([
      '/conditions',
      '/organizations/{org}/pipelines',
      '/pipeline_edges/edge_condition_operator_types',
      '/pipeline_edges/edge_condition_rules',
      '/{org}/metrics',
      '/{org}/metrics/pipelines/{id}',
      '/{org}/metrics/pipelines/{id}/{node}',
      '/{org}/metrics/storage-types',
      '/{org}/metrics/storage-types/details',
      '/{org}/metrics/storage-types/summary',
      '/{org}/metrics/storage-types/{storage_type}/details',
      '/{org}/metrics/storage-types/{storage_type}/summary',
      '/{org}/pipeline_summary',
      '/{org}/pipelines',
      '/{org}/pipelines/metrics',
      '/{org}/pipelines/statuses',
      '/{org}/pipelines/{id}',
      '/{org}/pipelines/{id}/metrics',
      '/{org}/pipelines/{id}/status',
      '/{org}/pipelines/{id}/status/{node}',
      '/{org}/pipelines/{id}/{node}/metrics',
      '/{org}/quotas',
    ]);
  });

  it('of the role Contributor exclude writes of organizations, members, shares, roles, quotas and billing', () => {
    const missing = permissions.filter((slug) => !defaultRoles.contributor.permissions.includes(slug));
    expect(missing).toEqual([
      'billing_account:delete',
      'billing_account:role:delete',
      'billing_account:role:write',
      'billing_account:write',
      'billing_product:delete',
      'billing_product:write',
      'connection:delete',
      'connection:write',
      'organization:delete',
      'organization:write',
      'quota:delete',
      'quota:write',
      'resource_share:write',
      'role:delete',
      'role:write',
      'user:delete',
      'user:write',
    ]);
  });

  it('of the four sets are all permissions, without overlap', () => {
    const all = Object.values(permissionSets).flat();
    expect(all.toSorted()).toEqual([...permissions]);
    expect(expandGrants(['read', 'unknown', '__proto__', 'constructor'])).toEqual(new Set(permissionSets.read));
    expect(permissionSets.read).not.toContain('apikey:read');
  });
});
