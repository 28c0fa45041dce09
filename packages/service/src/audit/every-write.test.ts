import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBilling } from '../../../../test/support/billing.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createEnrichments } from '../../../../test/support/enrichments-api.js';
import { exampleRule, fillPath, operationsOf, type Ids, type Operation } from '../../../../test/support/operations.js';
import {
  createTestService,
  type CallOptions,
  type Tenant,
  type TestService,
} from '../../../../test/support/service.js';
import { signedInUser, storedConnection } from '../../../../test/support/users.js';
import { bootstrap } from '../bootstrap.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

/** Rows that an operation appends: type and action, in the order of the rows. */
const expected: Record<string, string[]> = {
  createInput: ['input insert'],
  changeInput: ['input update'],
  replaceInput: ['input update'],
  deleteInput: ['input delete'],
  createEnrichment: ['enrichment insert'],
  changeEnrichment: ['enrichment update'],
  replaceEnrichment: ['enrichment update'],
  deleteEnrichment: ['enrichment delete'],
  createOutput: ['output insert'],
  changeOutput: ['output update'],
  replaceOutput: ['output update'],
  deleteOutput: ['output delete'],
  createPipeline: ['pipeline insert'],
  createOrganizationPipeline: ['pipeline insert'],
  changePipeline: ['pipeline update'],
  switchPipeline: ['pipeline update'],
  switchPipelineEdge: ['pipeline update'],
  deletePipeline: ['pipeline delete'],
  deleteV1Pipeline: ['pipeline delete'],
  graduateEdgeSchema: ['pipeline_data update'],
  resetEdgeSchema: ['pipeline_data update'],
  purgePipeline: ['pipeline_data delete'],
  purgePipelineNode: ['pipeline_data delete'],
  deleteDeadLetters: ['pipeline_data delete'],
  replayDeadLetters: ['pipeline_data update'],
  createSecret: ['secret insert'],
  changeSecret: ['secret update'],
  deleteSecret: ['secret delete'],
  createTransform: ['transform insert'],
  createV1Transform: ['transform insert'],
  changeTransform: ['transform update'],
  changeV1Transform: ['transform update'],
  deleteTransform: ['transform delete'],
  deleteV1Transform: ['transform delete'],
  buildIntegration: ['output insert', 'pipeline insert'],
  removeIntegration: ['pipeline delete'],
  createOrganization: ['organization insert'],
  changeOrganization: ['organization update'],
  describeOrganization: ['organization update'],
  deleteOrganization: ['organization delete'],
  deleteOwnTeam: ['organization delete'],
  createApiKey: ['api_key insert'],
  revokeApiKey: ['api_key delete'],
  createRoleKey: ['api_key insert'],
  changeRoleKey: ['api_key update'],
  regenerateRoleKey: ['api_key update'],
  revokeRoleKey: ['api_key delete'],
  createAlertRule: ['alert_rule insert'],
  replaceAlertRule: ['alert_rule update'],
  deleteAlertRule: ['alert_rule delete'],
  createRole: ['role insert'],
  changeRole: ['role update'],
  deleteRole: ['role delete'],
  addMember: ['user insert'],
  changeMember: ['user update'],
  removeMember: ['user delete'],
  leaveOrganization: ['user delete'],
  inviteUser: ['invitation insert'],
  withdrawInvitation: ['invitation delete'],
  changeConnection: ['connection update'],
  deleteConnection: ['connection delete'],
  createParentOrganization: ['organization insert', 'api_key insert'],
  overrideFeature: ['feature_flag insert'],
  resetFeature: ['feature_flag delete'],
  overrideUserFeature: ['feature_flag insert'],
  resetUserFeature: ['feature_flag delete'],
  shareResource: ['resource_share insert'],
  changeResourceShares: ['share_policy insert'],
  unshareResource: ['share_policy delete', 'resource_share delete'],
  // They change users without a role, and what users keep to themselves.
  createUser: [],
  deleteUser: [],
  resetUser: [],
  beginSecondFactor: [],
  resendVerification: [],
  logout: [],
  replaceStorageTypeCosts: ['storage_type_cost insert'],
  createQuota: ['quota insert'],
  replaceQuota: ['quota update'],
  deleteQuota: ['quota delete'],
  createBillingAccount: ['billing_account insert'],
  changeBillingAccount: ['billing_account update'],
  addBillingAccountOrganization: ['billing_member insert'],
  removeBillingAccountOrganization: ['billing_member update'],
  deleteBillingAccount: ['billing_account delete', 'billing_subscription update'],
  createBillingSubscription: ['billing_subscription update', 'billing_subscription insert'],
  cancelBillingSubscription: ['billing_subscription update', 'billing_subscription delete'],
  createBillingRole: ['billing_role insert'],
  changeBillingRole: ['billing_role update'],
  addBillingRoleUser: ['billing_role_user insert'],
  removeBillingRoleUser: ['billing_role_user delete'],
  deleteBillingRole: ['billing_role delete', 'billing_role_user delete'],
  createBillingProduct: ['billing_product insert'],
  changeBillingProduct: ['billing_product update'],
  deleteBillingProduct: ['billing_product delete'],
  // They change nothing that is configured or kept.
  mintSession: [],
  retryPipeline: [],
  triggerPipeline: [],
  testInputConnection: [],
  testOutputConnection: [],
  testEnrichmentConnection: [],
  tryEnrichment: [],
  tryCondition: [],
  tryTransform: [],
  testNodeConnection: [],
  previewInput: [],
  previewOutput: [],
  exportTransform: [],
  importTransform: [],
  tryOrganizationTransform: [],
  generateRecord: [],
};

/** Operations that only a user can call. */
const OF_USERS = ['beginSecondFactor', 'leaveOrganization', 'logout', 'resendVerification'];
/** They need an identity provider and a vendor: `sign-in/saml.test.ts`, `oauth/consents.test.ts`. */
const ELSEWHERE = ['createConnection', 'startOAuth'];

function bodyFor({ id, example }: Operation, team: string, ids: Ids): object | undefined {
  const nodes = [{ slug: 'in', component_id: ids['inputs'], component_type: 'input' }];
  const own: Record<string, object> = {
    changeInput: { name: 'Renamed' },
    replaceInput: { name: 'Replaced', config: {} },
    replaceOutput: { name: 'Replaced', config: {} },
    changeEnrichment: { name: 'Renamed' },
    createPipeline: { name: 'P', nodes },
    createOrganizationPipeline: { name: 'P', nodes },
    replayDeadLetters: { node_id: ids['nodes'] },
    buildIntegration: { input_id: ids['inputs'], name: 'Built' },
    removeIntegration: { pipeline_id: ids['pipelines'] },
    mintSession: { organization_id: team },
    addMember: { user_id: ids['unused'], role_id: 'reader' },
    changeConnection: { name: 'Renamed' },
    shareResource: { share_organization_ids: [team] },
    changeResourceShares: { share_with_all_new_children: true },
    createQuota: { ...example, organization_id: team },
    createBillingSubscription: { product_id: ids['products'] },
  };
  return own[id] ?? example;
}

/**
 * Calls every operation that may write. The operations come from the OpenAPI document, so that a new
 * one fails here until its rows are listed.
 */
describe('the audit log', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;
  let operations: Operation[];
  /** An output of the parent. */
  let shared: string;

  let operator: string;

  const call = (method: string, path: string, body?: unknown, headers = {}, credential: CallOptions = acmeKey()) =>
    service.call(method, path, { ...credential, headers, ...(body === undefined ? {} : { body }) });
  const acmeKey = (): CallOptions => ({ key: acme.key });

  /** Returns a credential that may call an operation. */
  async function callerOf({ id, isOperator }: Operation, team: string): Promise<CallOptions> {
    if (isOperator) return { key: operator };
    if (!OF_USERS.includes(id)) return acmeKey();
    const { id: userId, token } = await signedInUser(service, team, 'reader');
    const user = await service.store.users.get(userId);
    const updatedAt = new Date(service.clock.now());
    const factor = { totp: null, totpStep: 0, totpCreatedAt: null, recoveryCodes: [] };
    await service.store.users.setCredentials({ userId, password: 'x', ...factor, updatedAt });
    if (user) await service.store.users.change({ ...user, emailVerifiedAt: null });
    return { user: token };
  }

  /** A user without a role. */
  async function unusedUser(): Promise<string> {
    const body = { email: `${randomUUID()}@example.com` };
    return (await call('POST', '/v1/users', body, {}, { key: operator })).body.id;
  }

  /** Creates one of each resource in a new team. */
  async function world(): Promise<{ team: string; ids: Ids }> {
    const team = (await call('POST', `/v3/${acme.id}/organizations`, { name: 'Team' })).body.id;
    const make = async (path: string, body: object) => (await call('POST', `/v2/${team}/${path}`, body)).body.id;
    const input = (name: string) => make('inputs', { name, type: 'monad-http', config: {} });
    const output = (name: string) => make('outputs', { name, type: 'dev-null', config: {} });
    const [inputs, outputs, used] = [await input('In'), await output('Out'), await input('Used')];
    const built = await call('POST', `/v2/${team}/integrations`, { input_id: used, name: 'P' });
    const pipelines = built.body.pipeline_id;
    const { body: pipeline } = await call('GET', `/v2/${team}/pipelines/${pipelines}`);
    const edges = pipeline.edges.map((edge: object) => ({ ...edge, schema_detection_spec: { enabled: true } }));
    await call('PATCH', `/v2/${team}/pipelines/${pipelines}`, { edges });
    const nodes = pipeline.nodes.find((node: { component_type: string }) => node.component_type === 'output').id;
    const expiration_time = '2099-01-01T00:00:00Z';
    const key = await make('api_keys', { role_id: 'reader', name: 'K', expiration_time });
    await expect
      .poll(async () => (await call('POST', `/v1/${team}/pipelines/${pipelines}/retry`)).status, { timeout: 30_000 })
      .toBe(200);
    const schema = `/v3/${team}/pipelines/${pipelines}/edges/${edges[0].id}/schema-detection`;
    await expect.poll(async () => (await call('GET', schema)).body.learning_start).toBeDefined();
    await call('POST', `/v1/${team}/invites`, { email: 'bo@example.com', role_id: 'reader' });
    const invites = await call('GET', `/v1/${team}/invites`);
    return {
      team,
      ids: {
        users: (await signedInUser(service, team, 'reader')).id,
        unused: (await signedInUser(service, acme.id, 'reader')).id,
        invites: invites.body.invites[0].id,
        connections: await storedConnection(service, team),
        inputs,
        outputs,
        pipelines,
        nodes,
        edges: pipeline.edges[0].id,
        transforms: await make('transforms', { name: 'T', config: { operations: [] } }),
        secrets: await make('secrets', { name: 'S', value: 'a secret value' }),
        roles: await make('roles', { name: 'R', permission_ids: ['input:read'] }),
        organizations: team,
        api_keys: key,
        'api-keys': key,
        resource_shares: shared,
        ...(await createEnrichments(service, team, acme.key)),
        alert_rules: (await call('POST', `/v3/${team}/alert_rules`, exampleRule)).body.id,
        ...(await createBilling(call, team)),
      },
    };
  }

  const pathFor = (operation: Operation, team: string, ids: Ids) =>
    `${fillPath(operation, { org: team, parent_org: acme.id }, ids)}${operation.id === 'deleteDeadLetters' ? '?all=true' : ''}`;

  const rows = (condition = '') =>
    service.database.script((run) =>
      run(`select resource_type || ' ' || action as row, request_id from audit_logs ${condition} order by sequence`),
    );

  /** Everything that is configured, to notice a change without a row. */
  const configured = () =>
    service.database.script(async (run) => {
      const tables = ['organizations', 'api_keys', 'roles', 'connectors', 'secrets', 'organization_secrets'];
      tables.push('transforms', 'pipelines', 'alert_rules', 'resource_shares', 'share_policies', 'invitations');
      tables.push('sso_connections', 'feature_overrides');
      tables.push('storage_type_costs', 'quotas');
      tables.push('billing_accounts', 'billing_members', 'billing_products', 'billing_subscriptions');
      tables.push('billing_roles', 'billing_role_users');
      const found: unknown[] = [await run('select * from memberships order by user_id, organization_id')];
      for (const table of tables) found.push(await run(`select * from ${table} order by id`));
      return JSON.stringify(found);
    });

  beforeAll(async () => {
    const settings = { signIn: { localAccounts: true } };
    const mailer = { send: () => Promise.resolve() };
    service = await createTestService({ database: await databases.open(), run: {}, settings, mailer });
    const { store, vault: secrets, clock } = service;
    operator = (await bootstrap({ store, secrets, clock }, { organization: 'Operator' })).apiKey;
    acme = await service.tenant('Northwind');
    const output = { name: 'Shared', type: 'dev-null', config: {} };
    shared = (await call('POST', `/v2/${acme.id}/outputs`, output)).body.id;
    operations = (await operationsOf(service.app)).filter(
      ({ id, isPublic, method }) => !isPublic && method !== 'GET' && !ELSEWHERE.includes(id),
    );
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
  });

  it('has the expected rows for every operation that writes', async () => {
    expect(operations.map(({ id }) => id).toSorted()).toEqual(Object.keys(expected).toSorted());
    let { team, ids } = await world();
    for (const operation of operations) {
      const caller = await callerOf(operation, team);
      const users = operation.id === 'deleteUser' ? await unusedUser() : (ids['users'] ?? '');
      const before = [await configured(), await rows()];
      const path = pathFor(operation, team, { ...ids, users });
      const body = bodyFor(operation, team, ids);
      const { status, headers, text } = await call(operation.method, path, body, {}, caller);
      const ofRequest = await rows(`where request_id = '${headers.get('request-id')}'`);
      const found = ofRequest.map(({ row }) => row);
      // Previews need a body of the same type, and import a text.
      if (!/^test|^trigger|^preview|^importTransform$/.test(operation.id))
        expect([200, 201, 202, 204], `${operation.id}: ${text}`).toContain(status);
      expect([operation.id, found]).toEqual([operation.id, expected[operation.id]]);
      expect(await rows(), operation.id).toHaveLength((before[1]?.length ?? 0) + found.length);
      const isChanged = before[0] !== (await configured());
      if (!found.includes('pipeline_data delete') && !found.includes('pipeline_data update'))
        expect([operation.id, isChanged]).toEqual([operation.id, found.length > 0]);
      const isRemoved = found.some((row) => String(row).endsWith(' delete'));
      if (operation.id === 'removeIntegration' || isRemoved) ({ team, ids } = await world());
    }
  });

  it('has no row of a rejected request', async () => {
    const { team, ids } = await world();
    const weak = (await call('POST', `/v3/${team}/api-keys`, { name: 'weak', permissions: ['session:create'] })).body
      .key;
    const before = [await configured(), await rows()];
    for (const operation of operations) {
      const body = bodyFor(operation, team, ids);
      const caller = operation.isOperator ? { key: operator } : acmeKey();
      if (operation.permissions.length > 0 && operation.id !== 'mintSession') {
        const refused = await call(operation.method, pathFor(operation, team, ids), body, {}, { key: weak });
        expect([operation.id, refused.status]).toEqual([operation.id, 403]);
      }
      if (operation.params.some((name) => name !== 'org' && name !== 'parent_org')) {
        const unknown = Object.fromEntries(Object.keys(ids).map((name) => [name, UNKNOWN]));
        const missing = await call(operation.method, pathFor(operation, team, unknown), body, {}, caller);
        expect([operation.id, missing.status]).toEqual([operation.id, 404]);
      }
      if (operation.example) {
        const wrong = await call(operation.method, pathFor(operation, team, ids), { unknown_field: true }, {}, caller);
        expect([operation.id, wrong.status]).toEqual([operation.id, 400]);
      }
    }
    expect([await configured(), await rows()]).toEqual(before);
  });

  it('has one row for a repeated Idempotency-Key, with the ID of the first request', async () => {
    const { team } = await world();
    const before = (await rows()).length;
    const body = { name: 'Once', type: 'monad-http', config: {} };
    const send = () => call('POST', `/v2/${team}/inputs`, body, { 'idempotency-key': 'once' });
    const [first, again] = [await send(), await send()];
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await rows()).slice(before)).toEqual([
      { row: 'input insert', request_id: first.headers.get('request-id') },
    ]);
  });

  it('has no row if the change is rolled back, and no change without its row', async () => {
    const { team, ids } = await world();
    const before = [await configured(), await rows()];
    await service.database.script((run) => run('alter table audit_logs rename column old to other'));
    const { status } = await call('PATCH', `/v2/${team}/inputs/${ids['inputs']}`, { name: 'Lost' });
    await service.database.script((run) => run('alter table audit_logs rename column other to old'));
    expect(status).toBe(500);
    expect([await configured(), await rows()]).toEqual(before);
  });
});
