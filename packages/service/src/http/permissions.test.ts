import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { createBilling } from '../../../../test/support/billing.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { fillPath, operationsOf, type Operation } from '../../../../test/support/operations.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { defaultRoles, expandGrants, permissions, permissionSets, type Permission } from '../permissions.js';

const isRead = ({ permissions: needed }: Operation) => needed.every((slug) => slug.endsWith(':read'));

/**
 * The matrix of permissions and routes. It is generated from the OpenAPI document, so that a new
 * route is covered without a change here.
 */
describe('permissions of API keys', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;
  let operations: Operation[];
  let ids: Record<string, string>;

  /** Creates a key with exactly these permissions. */
  async function keyWith(permission_ids: readonly Permission[]): Promise<string> {
    const role = await service.call('POST', `/v2/${acme.id}/roles`, {
      key: acme.key,
      body: { name: 'generated', permission_ids },
    });
    return keyOf(role.body.id);
  }

  async function keyOf(role_id: string): Promise<string> {
    const expiration_time = new Date(service.clock.now() + 86_400_000).toISOString();
    const { status, body } = await service.call('POST', `/v2/${acme.id}/api_keys`, {
      key: acme.key,
      body: { name: 'generated', role_id, expiration_time },
    });
    expect(status).toBe(200);
    return body.token;
  }

  const send = (operation: Operation, key: string) =>
    service.call(operation.method, fillPath(operation, { org: acme.team, parent_org: acme.id }, ids), {
      key,
      // Without a valid body, an accepted write has no effect on the next one.
      ...(operation.example ? { body: { unknown_field: true } } : {}),
    });
  const withoutStream = () => operations.filter(({ isStream }) => !isStream);

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
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
    ids = {
      inputs,
      outputs,
      pipelines,
      nodes: body.nodes[0].id,
      edges: body.edges[0].id,
      transforms: await create('transforms', { name: 'T', config: { operations: [] } }),
      secrets: await create('secrets', { name: 'S', value: 'value' }),
      roles: await create('roles', { name: 'R', permission_ids: ['input:read'] }),
      organizations: acme.team,
      resource_shares: shared.body.id,
      api_keys: key,
      'api-keys': key,
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

  it('are needed by every route except those that show a caller itself', () => {
    const open = operations.filter((operation) => operation.permissions.length === 0).map(({ id }) => id);
    expect(open.sort()).toEqual(['readCurrentApiKey', 'readSession']);
  });

  it('are each required, and named by the rejection', async () => {
    for (const missing of permissions) {
      const rest = permissions.filter((slug) => slug !== missing);
      const key = await keyWith(rest);
      for (const operation of operations.filter((each) => each.permissions.includes(missing))) {
        const { status, body } = await send(operation, key);
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
    const keys = new Map<string, string>();
    for (const operation of withoutStream().filter((each) => each.permissions.length > 0)) {
      // A write without its body or on a missing resource is 400 or 404, after the permission check.
      if (operation.method === 'DELETE') continue;
      const name = operation.permissions.join(' ');
      const needed = permissions.filter((slug) => operation.permissions.includes(slug));
      const key = keys.get(name) ?? (await keyWith(needed));
      keys.set(name, key);
      expect([operation.id, (await send(operation, key)).status]).not.toEqual([operation.id, 403]);
    }
  });

  it('of the role Reader read everything and change nothing', async () => {
    const key = await keyOf('reader');
    for (const operation of withoutStream()) {
      const { status, body } = await send(operation, key);
      if (operation.id === 'readSession') continue;
      if (isRead(operation)) expect([200, 404, 503], `${operation.id}: ${body.error}`).toContain(status);
      else expect([operation.id, status]).toEqual([operation.id, 403]);
    }
    const reads = withoutStream().filter(
      ({ id, params, method }) =>
        method === 'GET' && !/Session|DeadLetter|Retry/.test(id) && !params.includes('type_id'),
    );
    for (const operation of reads)
      expect([operation.id, (await send(operation, key)).status]).toEqual([operation.id, 200]);
  });

  it('of a role for metrics show pipelines and metrics, and nothing else', async () => {
    const key = await keyWith(['pipeline:read', 'pipeline:metrics:read']);
    const allowed: string[] = [];
    for (const operation of operations) {
      const { status } = await send(operation, key);
      if (status !== 403) allowed.push(operation.path.replace(/^\/v\d/, ''));
    }
    expect([...new Set(allowed)].sort()).toEqual([
      '/api-keys/current',
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

  it('of the role Contributor exclude writes of organizations, shares, roles, quotas and billing', () => {
    const missing = permissions.filter((slug) => !defaultRoles.contributor.permissions.includes(slug));
    expect(missing).toEqual([
      'billing_account:delete',
      'billing_account:role:delete',
      'billing_account:role:write',
      'billing_account:write',
      'billing_product:delete',
      'billing_product:write',
      'organization:delete',
      'organization:write',
      'quota:delete',
      'quota:write',
      'resource_share:write',
      'role:delete',
      'role:write',
    ]);
  });

  it('of the four sets are all permissions, without overlap', () => {
    const all = Object.values(permissionSets).flat();
    expect(all.toSorted()).toEqual([...permissions]);
    expect(expandGrants(['read', 'unknown', '__proto__', 'constructor'])).toEqual(new Set(permissionSets.read));
    expect(permissionSets.read).not.toContain('apikey:read');
  });
});
