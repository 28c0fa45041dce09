import { z } from '@hono/zod-openapi';
import type { ConnectorKind, ConnectorTypeData } from '@connector-frame/catalog/types';
import { requireConnector, requireCovered, requireCreate, requireKind, requireType } from '../auth/session-scope.js';
import { newConnector } from '../connectors/new-connector.js';
import { declaredSettings } from '../connectors/given-settings.js';
import { createPlanner, type Planner } from '../connectors/planner.js';
import { invalidConfig, type ConfigWrite } from '../connectors/plan-write.js';
import { ConnectorBody, presentConnector } from '../connectors/present-connector.js';
import { holdOutput } from '../connectors/referred-output.js';
import { storePlan } from '../connectors/store-plan.js';
import { notOwned } from '../connectors/not-owned.js';
import { sharesOf, type ShareDetails } from '../connectors/share-details.js';
import { ApiError, invalidRequest, notFound } from '../api-error.js';
import { requireOffered } from '../features/offered-types.js';
import { requireMatch, versionTag } from '../http/etag.js';
import { organizationRoute, type ResponseData, type OrganizationCall, type Route } from '../http/route.js';
import { notifyEngine } from '../pipelines/notify-engine.js';
import type { Connector, ConnectorSecrets, SecretNote, Tables } from '../store/store.js';
import { CONFIG_ERRORS, connectorBodies, TEST_ERRORS, textIssues, typeNamed } from './connector-bodies.js';
import { countTest, testPlan } from './connection-tests.js';
import type { RouteContext } from './context.js';
import { kindNames } from './kind-names.js';
import { Org, OrgAndId } from './schemas.js';

const TESTED = 'With `test_connection=true`, connects with the result first and saves only if that works.';
const CHANGE_ERRORS = {
  ...CONFIG_ERRORS,
  400: TEST_ERRORS[400],
  409: `${CONFIG_ERRORS[409]} With \`test_connection=true\`, also if the connector changed during the test (\`conflict\`; retry).`,
} as const;

/** Routes that create, change and replace connectors. */
export function connectorWriteRoutes(context: RouteContext, kind: ConnectorKind): Route[] {
  const planner = createPlanner(context, kind);
  const bodies = connectorBodies(kind);
  const { tag, name, write } = kindNames[kind];
  const access = { permission: `${kind}:write`, session: 'allow' } as const;
  const response = { status: 200, description: 'The stored connector.', schema: ConnectorBody } as const;
  const routes = [
    organizationRoute(
      {
        method: 'post',
        path: write,
        tag,
        operation: `create${name}`,
        summary: `Create an ${kind}`,
        description: `\`config\` must match the JSON Schemas of the type. \`settings\` are stored as given, without the defaults, and \`secrets\` are encrypted. With \`test_connection=true\`, connects first and saves only if that works.`,
        access,
        params: Org,
        query: TestQuery,
        body: bodies.create,
        idempotent: true,
        etag: true,
        response,
        errorStatuses: { ...CONFIG_ERRORS, 400: TEST_ERRORS[400] },
      },
      (call) => create(context, planner, kind, call),
      (call) => authorizeCreate(context, planner, kind, call),
    ),
    organizationRoute(
      {
        method: 'patch',
        path: `${write}/{id}`,
        tag,
        operation: `change${name}`,
        summary: `Update an ${kind}; absent properties are kept`,
        description: `\`config.settings\` replaces all settings; secrets are updated one by one. ${TESTED}`,
        access,
        params: OrgAndId,
        query: TestQuery,
        body: bodies.change,
        idempotent: true,
        conditional: true,
        etag: true,
        response,
        errorStatuses: CHANGE_ERRORS,
      },
      (call) => update(context, planner, kind, call),
      (call) => authorizeUpdate(context, kind, call),
    ),
    organizationRoute(
      {
        method: 'put',
        path: `${write}/{id}`,
        tag,
        operation: `replace${name}`,
        summary: `Replace an ${kind}; absent secrets are kept`,
        description: `Stores the same document as a POST. Settings that are absent are removed; secrets that are absent are kept, unless the destination changes. The type cannot change. Pipelines that run continue with the new configuration. ${TESTED}`,
        access,
        params: OrgAndId,
        query: TestQuery,
        body: bodies.replace,
        idempotent: true,
        conditional: true,
        etag: true,
        response,
        errorStatuses: CHANGE_ERRORS,
      },
      (call) => update(context, planner, kind, call),
      (call) => authorizeUpdate(context, kind, call),
    ),
  ];
  return routes.map((each): Route => ({ ...each, reveal: context.ingest.reveal }));
}

const TestQuery = z.object({
  test_connection: z.enum(['true', 'false']).optional().openapi({
    description: '`true`: connect with the configuration first, and save it only if that works.',
  }),
});

type Bodies = ReturnType<typeof connectorBodies>;
type CreateCall = OrganizationCall<unknown, z.output<typeof TestQuery>, z.output<Bodies['create']>>;
type UpdateCall = OrganizationCall<{ id: string }, z.output<typeof TestQuery>, z.output<Bodies['change']>>;

async function authorizeCreate(
  { flags }: RouteContext,
  planner: Planner,
  kind: ConnectorKind,
  { principal, organization, body }: CreateCall,
): Promise<void> {
  requireKind(principal, kind);
  requireCreate(principal);
  const type = planner.type(typeNamed(body));
  requireType(principal, type.type_id);
  await requireOffered(flags, type, principal, organization.id);
}

async function create(
  context: RouteContext,
  planner: Planner,
  kind: ConnectorKind,
  call: CreateCall,
): Promise<ResponseData> {
  const { c, principal, organization, query, body, commit } = call;
  const type = planner.type(typeNamed(body));
  const name = body.name.trim();
  const description = body.description.trim();
  const given = { type, name, description, config: body.config, issues: textIssues(name, description) };
  const made = await newConnector(context, planner, given, { principal, organization });
  if (query.test_connection === 'true') {
    await countTest(context, { principal, organization, type });
    const { signal } = c.req.raw;
    await testPlan(context, type, made.plan, { before: undefined, organizationId: organization.id, signal });
  }
  return commit(async (tables) => saved(context, ...(await made.insert(tables))));
}

async function authorizeUpdate(
  { store }: RouteContext,
  kind: ConnectorKind,
  { principal, organization, params }: UpdateCall,
): Promise<void> {
  requireKind(principal, kind);
  requireConnector(principal, params.id);
  if (principal.type !== 'session' || principal.session.typeIds === undefined) return;
  const connector = await store.connectors.get(organization.id, kind, params.id);
  if (!connector) throw notFound();
  requireCovered(principal, connector.type);
}

async function update(
  context: RouteContext,
  planner: Planner,
  kind: ConnectorKind,
  call: UpdateCall,
): Promise<ResponseData> {
  const { principal, organization, params, body, commit } = call;
  const vault = await context.vault.ofOrganization(context.store, organization.id);
  const tested = call.query.test_connection === 'true' ? await testFirst(context, planner, kind, call) : undefined;
  const response = await commit(async (tables) => {
    const before = await tables.connectors.lock(organization.id, kind, params.id);
    if (!before) throw await notOwned(tables, organization.id, kind, params.id, principal);
    requireChangeable(before, call);
    // What the change leaves as it is was tested, too.
    if (tested !== undefined && tested !== before.version)
      throw new ApiError(409, 'conflict', 'The connector changed during the connection test. Try again.');
    const now = new Date(context.clock.now());
    const after: Connector = {
      ...before,
      name: body.name?.trim() ?? before.name,
      description: body.description?.trim() ?? before.description,
      version: before.version + 1,
      updatedAt: now,
    };
    const issues = textIssues(after.name, after.description);
    if (!body.config) {
      // A rename does not need a valid configuration, nor even an existing type.
      if (issues.length > 0) throw invalidConfig(issues);
      await tables.connectors.update(after);
      return respond(after, await tables.secrets.notes([after.id]), tables);
    }
    const type = planner.type(before.type);
    const found = { connector: before, secrets: await tables.secrets.ofConnector(before.id) };
    const write = { ...writeOf(type, body.config, found), issues };
    const plan = await planner.plan(write, { vault, tables, principal, organization });
    await holdOutput(tables, organization.id, plan.output);
    after.settings = plan.settings;
    after.refersTo = plan.output?.id ?? null;
    await tables.connectors.update(after);
    return respond(after, await storePlan(plan, { connector: after, tables, vault, now }), tables);
  });
  await notifyEngine(context, params.id);
  return response;

  async function respond(after: Connector, notes: SecretNote[], tables: Tables): Promise<ResponseData> {
    const shares = await sharesOf(tables, organization, 'component', [after]);
    return saved(context, after, notes, shares(after));
  }
}

/** Returns a change of a configuration. Settings that are not given stay. */
const writeOf = (
  type: ConnectorTypeData,
  { settings, secrets }: NonNullable<z.output<Bodies['change']>['config']>,
  before: ConnectorSecrets,
): ConfigWrite => ({
  type,
  // Settings stored by an earlier release may contain fields that the type no longer declares.
  settings: settings ?? declaredSettings(type, before.connector.settings),
  secrets,
  before,
});

/** @throws ApiError 412 if the caller read another version; 400 if its type would change */
function requireChangeable(before: Connector, { c, body }: UpdateCall): void {
  requireMatch(c.req.header('if-match'), versionTag(before.version));
  if ((typeNamed(body) ?? before.type) !== before.type) {
    throw invalidRequest("The type of a connector can't change. Create a new one.");
  }
}

/**
 * Connects with the configuration that a connector would have after a change.
 * @returns the version that the change was applied to
 * @throws ApiError 400 if that fails
 */
async function testFirst(
  context: RouteContext,
  planner: Planner,
  kind: ConnectorKind,
  call: UpdateCall,
): Promise<number> {
  const { c, principal, organization, params, body } = call;
  const { store, vault: vaults } = context;
  const before = await store.connectors.withSecrets(organization.id, params.id);
  if (before?.connector.kind !== kind) throw await notOwned(store, organization.id, kind, params.id, principal);
  requireChangeable(before.connector, call);
  const type = planner.type(before.connector.type);
  await countTest(context, { principal, organization, type });
  const vault = await vaults.ofOrganization(store, organization.id);
  const write = writeOf(type, body.config ?? { secrets: {} }, before);
  const plan = await planner.plan(write, { vault, tables: store, principal, organization });
  await testPlan(context, type, plan, { before, organizationId: organization.id, signal: c.req.raw.signal });
  return before.connector.version;
}

const saved = (
  { ingest }: RouteContext,
  connector: Connector,
  notes: SecretNote[],
  shares?: ShareDetails,
): ResponseData => ({
  status: 200,
  body: presentConnector(connector, notes, ingest.placeOf(connector), shares),
  headers: { ETag: versionTag(connector.version) },
});
