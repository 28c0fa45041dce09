import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { createBilling } from '../../../../test/support/billing.js';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createEnrichments } from '../../../../test/support/enrichments-api.js';
import { exampleRule, fillPath, operationsOf, type Operation } from '../../../../test/support/operations.js';
import {
  createTestService,
  type CallOptions,
  type Tenant,
  type TestService,
} from '../../../../test/support/service.js';
import { signedInUser, storedConnection, type SignedIn } from '../../../../test/support/users.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

interface World {
  tenant: Tenant;
  /** An administrator. */
  user: SignedIn;
  /** Ids for `{id}` in paths and for id fields in bodies, by resource. */
  ids: Record<string, string>;
}

/**
 * Uses ids of A with an API key or session of B. The calls are generated from the OpenAPI document,
 * so that a new route is covered or fails here.
 */
describe.each(eachDatabase())('isolation of organizations on $name (S05)', (databases) => {
  let service: TestService;
  let operations: Operation[];
  let a: World;
  let b: World;

  async function world(name: string): Promise<World> {
    const tenant = await service.tenant(name);
    const create = async (kind: 'input' | 'output', type: string): Promise<string> => {
      const body = exampleBody(typeOf(kind, type));
      return (await service.call('POST', `/v2/${tenant.team}/${kind}s`, { key: tenant.key, body })).body.id;
    };
    const keys = await service.call('GET', `/v3/${tenant.id}/api-keys`, { key: tenant.key });
    const inputs = await create('input', 'okta-systemlog');
    const outputs = await create('output', 'http');
    const make = async (path: string, body: object) =>
      (await service.call('POST', `/v2/${tenant.team}/${path}`, { key: tenant.key, body })).body;
    const transforms = (await make('transforms', { name: 'T', config: { operations: [] } })).id;
    const secrets = (await make('secrets', { name: 'S', value: 'value' })).id;
    const pipelines = (await make('integrations', { input_id: inputs, name: 'P', output: { id: outputs } }))
      .pipeline_id;
    const role = { name: 'R', permission_ids: ['input:read'] };
    const { body: made } = await service.call('POST', `/v2/${tenant.team}/roles`, { key: tenant.key, body: role });
    const roles: string = made.id;
    const { body: pipeline } = await service.call('GET', `/v2/${tenant.team}/pipelines/${pipelines}`, {
      key: tenant.key,
    });
    const nodes = pipeline.nodes[0].id;
    const member = await signedInUser(service, tenant.team, 'reader');
    const [identity] = await service.store.users.identities([member.id]);
    const invitation = { email: 'bo@example.com', role_id: 'reader' };
    await service.call('POST', `/v1/${tenant.team}/invites`, { key: tenant.key, body: invitation });
    const invitations = await service.call('GET', `/v1/${tenant.team}/invites`, { key: tenant.key });
    const rule = { ...exampleRule, pipeline_ids: [pipelines] };
    const { body: ruleMade } = await service.call('POST', `/v3/${tenant.team}/alert_rules`, {
      key: tenant.key,
      body: rule,
    });
    const rules: string = ruleMade.id;
    return {
      tenant,
      user: await signedInUser(service, tenant.id, 'admin'),
      ids: {
        users: member.id,
        user_auth_provider_id: identity?.id ?? '',
        invites: invitations.body.invites[0].id,
        connections: await storedConnection(service, tenant.team),
        organization_id: tenant.team,
        inputs,
        outputs,
        alert_rules: rules,
        pipelines,
        transforms,
        secrets,
        nodes,
        'dead-letters': `${nodes}.1`,
        organizations: tenant.team,
        'api-keys': keys.body.api_keys[0].id,
        api_keys: keys.body.api_keys[0].id,
        roles,
        ...(await createEnrichments(service, tenant.team, tenant.key)),
        ...(await createBilling(
          (method, path, body) => service.call(method, path, { key: tenant.key, ...(body && { body }) }),
          tenant.team,
        )),
      },
    };
  }

  /** Returns all database rows that a tenant owns, as JSON. */
  const everythingOf = ({ tenant }: World) =>
    service.database.script(async (run) => {
      const owned: unknown[] = [];
      for (const table of [
        'connectors',
        'secrets',
        'organization_secrets',
        'api_keys',
        'data_keys',
        'pipelines',
        'transforms',
        'roles',
        'invitations',
        'sso_connections',
        'alert_rules',
      ]) {
        owned.push(
          await run(`select * from ${table} where organization_id in ('${tenant.id}', '${tenant.team}') order by id`),
        );
      }
      owned.push(await run(`select * from memberships where organization_id = '${tenant.team}' order by user_id`));
      owned.push(
        await run(`select * from pipeline_components where organization_id = '${tenant.team}' order by connector_id`),
      );
      for (const table of [
        'billing_products',
        'billing_accounts',
        'billing_members',
        'billing_subscriptions',
        'billing_roles',
        'billing_role_users',
        'quotas',
      ])
        owned.push(await run(`select * from ${table} where owner_organization_id = '${tenant.id}' order by id`));
      owned.push(await run(`select * from organizations where id in ('${tenant.id}', '${tenant.team}') order by id`));
      return JSON.stringify(owned);
    });

  beforeAll(async () => {
    const signIn = { localAccounts: true };
    service = await createTestService({ database: await databases.open(), settings: { signIn } });
    // The operator is above organizations.
    operations = (await operationsOf(service.app)).filter(({ isPublic, isOperator }) => !isPublic && !isOperator);
    a = await world('A');
    b = await world('B');
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  /** An API key and a user of a tenant, who may both do everything there. */
  const callersOf = ({ tenant, user }: World): CallOptions[] => [{ key: tenant.key }, { user: user.token }];

  const send = (operation: Operation, path: string, credential: CallOptions, body = operation.example) =>
    service.call(operation.method, path, { ...credential, ...(body ? { body } : {}) });

  it('returns the same 404 for a foreign organization as for an unknown one', async () => {
    const before = await everythingOf(a);
    const under = operations.filter(({ params }) => params.includes('org') || params.includes('parent_org'));
    expect(under.length).toBeGreaterThan(15);
    for (const operation of under) {
      const foreign = { org: a.tenant.team, parent_org: a.tenant.id };
      const nowhere = { org: UNKNOWN, parent_org: UNKNOWN };
      for (const caller of callersOf(b)) {
        const got = await send(operation, fillPath(operation, foreign, a.ids), caller);
        const unknown = await send(operation, fillPath(operation, nowhere, a.ids), caller);
        expect([operation.id, got.status, got.text]).toEqual([operation.id, 404, unknown.text]);
      }
    }
    expect(await everythingOf(a)).toBe(before);
  });

  it('returns the same 404 for foreign IDs as for unknown ones', async () => {
    const before = await everythingOf(a);
    const withIds = operations.filter(
      ({ params, query }) => params.includes('id') || query.some(([name]) => name === 'component_id'),
    );
    expect(withIds.length).toBeGreaterThan(8);
    const own = { org: b.tenant.team, parent_org: b.tenant.id };
    const nowhere = Object.fromEntries(Object.keys(a.ids).map((name) => [name, UNKNOWN]));
    const session = await service.session(b.tenant);
    for (const operation of withIds) {
      const credentials = [...callersOf(b), ...(operation.session === 'allow' ? [{ session }] : [])];
      for (const credential of credentials) {
        const got = await send(operation, fillPath(operation, own, a.ids), credential);
        const unknown = await send(operation, fillPath(operation, own, nowhere), credential);
        expect([operation.id, got.status, got.text]).toEqual([operation.id, 404, unknown.text]);
      }
    }
    expect(await everythingOf(a)).toBe(before);
  });

  it('returns 403 for a session outside its organization', async () => {
    const before = await everythingOf(a);
    const session = await service.session(b.tenant);
    for (const operation of operations.filter(({ params }) => params.includes('org'))) {
      for (const org of [a.tenant.team, b.tenant.id, UNKNOWN]) {
        const { status } = await send(operation, fillPath(operation, { org, parent_org: org }, a.ids), { session });
        expect([operation.id, status]).toEqual([operation.id, 403]);
      }
    }
    expect(await everythingOf(a)).toBe(before);
  });

  it('returns the same response for foreign IDs in a body as for unknown ones', async () => {
    const before = await everythingOf(a);
    const inBodies = operations.flatMap((operation) => operation.idFields.map((field) => ({ operation, field })));
    expect(inBodies.length).toBeGreaterThan(3);
    for (const { operation, field } of inBodies) {
      const kind = ['outputs', 'enrichments'].find((each) => operation.path.includes(`/${each}`)) ?? 'inputs';
      const foreign: Record<string, string | undefined> = {
        user_id: a.ids['users'],
        user_auth_provider_id: a.ids['user_auth_provider_id'],
        default_role_id: a.ids['roles'],
        organization_id: a.tenant.team,
        connector_id: a.ids['inputs'],
        id: a.ids[kind],
        input_id: a.ids['inputs'],
        output_id: a.ids['outputs'],
        pipeline_id: a.ids['pipelines'],
        node_id: a.ids['nodes'],
        role_id: a.ids['roles'],
        billing_account_id: a.ids['accounts'],
        product_id: a.ids['products'],
      };
      if (foreign[field] === undefined)
        throw new Error(`${operation.id} takes an id this test does not know: ${field}.`);
      const path = fillPath(operation, { org: b.tenant.team, parent_org: b.tenant.id }, b.ids);
      // A quota is either of an organization or of an account.
      const isOwned = operation.idFields.includes('organization_id') && field !== 'billing_account_id';
      const own = { organization_id: isOwned ? b.tenant.team : undefined };
      const body = (value: string) => ({ ...operation.example, ...own, [field]: value });
      for (const caller of callersOf(b)) {
        const got = await send(operation, path, caller, body(foreign[field]));
        const unknown = await send(operation, path, caller, body(UNKNOWN));
        // Building, keys, members and connections report the unknown id as an invalid field of the body.
        // Removing ignores unknown ids.
        const isField =
          /^(createRoleKey|createQuota|createBillingSubscription|inviteUser|addMember|createConnection|changeConnection)$/.test(
            operation.id,
          );
        const status =
          { buildIntegration: 400, removeIntegration: 204 }[operation.id] ??
          (isField || field === 'role_id' ? 400 : 404);
        expect([operation.id, field, got.status, got.text]).toEqual([operation.id, field, status, unknown.text]);
      }
    }
    expect(await everythingOf(a)).toBe(before);
  });

  it('returns the same 400 for an alert rule with a foreign pipeline as for one with an unknown one', async () => {
    const before = await everythingOf(a);
    const path = `/v3/${b.tenant.team}/alert_rules`;
    const make = (id: string) =>
      service.call('POST', path, { key: b.tenant.key, body: { ...exampleRule, pipeline_ids: [id] } });
    const got = await make(a.ids['pipelines'] ?? '');
    expect([got.status, got.text]).toEqual([400, (await make(UNKNOWN)).text]);
    expect(got.body.additional_details.issues).toMatchObject([{ path: '/pipeline_ids/0' }]);
    expect(await everythingOf(a)).toBe(before);
  });

  it('returns 404 for a reference to a foreign secret', async () => {
    const [secret] = await service.store.secrets.ofConnector(a.ids['inputs'] ?? '');
    const body = exampleBody(typeOf('input', 'okta-systemlog'));
    const secrets = { api_key: { id: secret?.id } };
    const sent = { key: b.tenant.key, body: { ...body, config: { ...body.config, secrets } } };
    expect((await service.call('POST', `/v2/${b.tenant.team}/inputs`, sent)).status).toBe(404);
  });

  it('shows a caller nothing of an organization that is not its own', async () => {
    for (const caller of callersOf(b)) {
      const who = (id: string) => service.call('GET', `/v1/users?organization_id=${id}`, caller);
      const [own, foreign, unknown] = [await who(b.tenant.team), await who(a.tenant.team), await who(UNKNOWN)];
      expect([own.status, foreign.status, foreign.text]).toEqual([200, 403, unknown.text]);
      const { body } = await service.call('GET', '/v3/feature_flags', caller);
      expect(Object.keys(body.organizations).sort()).toEqual([b.tenant.id, b.tenant.team].sort());
      const list = await service.call('GET', '/v1/organizations', caller);
      const listed = list.body.organizations.map(({ id }: { id: string }) => id);
      expect(listed.sort()).toEqual([b.tenant.id, b.tenant.team].sort());
    }
  });

  it('isolates teams from each other and from their parent', async () => {
    const { body: sister } = await service.call('POST', `/v3/${a.tenant.id}/organizations`, {
      key: a.tenant.key,
      body: { name: 'Sister' },
    });
    const { body: made } = await service.call('POST', `/v3/${sister.id}/api-keys`, {
      key: a.tenant.key,
      body: { name: 'team key', permissions: ['read', 'write', 'sessions:create'] },
    });
    const list = (org: string) => service.call('GET', `/v1/${org}/inputs`, { key: made.key });
    expect((await list(sister.id)).status).toBe(200);
    expect((await list(a.tenant.team)).status).toBe(404);
    expect((await list(a.tenant.id)).status).toBe(404);
    const session = { organization_id: a.tenant.team };
    expect((await service.call('POST', '/v3/sessions', { key: made.key, body: session })).status).toBe(404);
  });
});
