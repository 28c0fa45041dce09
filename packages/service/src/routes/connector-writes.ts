import { z } from '@hono/zod-openapi';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { requireConnector, requireCovered, requireCreate, requireKind, requireType } from '../auth/session-scope.js';
import { newConnector } from '../connectors/new-connector.js';
import { declaredSettings } from '../connectors/given-settings.js';
import { createPlanner, type Planner } from '../connectors/planner.js';
import { invalidConfig, openPlan } from '../connectors/plan-write.js';
import { ConnectorBody, presentConnector } from '../connectors/present-connector.js';
import { storePlan } from '../connectors/store-plan.js';
import { notOwned } from '../connectors/not-owned.js';
import { sharesOf, type ShareDetails } from '../connectors/share-details.js';
import { invalidRequest, notFound } from '../api-error.js';
import { requireMatch, versionTag } from '../http/etag.js';
import { organizationRoute, type ResponseData, type OrganizationCall, type Route } from '../http/route.js';
import { notifyEngine } from '../pipelines/notify-engine.js';
import type { Connector, SecretNote, Tables } from '../store/store.js';
import { CONFIG_ERRORS, connectorBodies, TEST_ERRORS, textIssues, typeNamed } from './connector-bodies.js';
import { countTest } from './connection-tests.js';
import type { RouteContext } from './context.js';
import { Org, OrgAndId } from './schemas.js';

/** Routes that create, change and replace connectors. */
export function connectorWriteRoutes(context: RouteContext, kind: ConnectorKind): Route[] {
  const planner = createPlanner(context, kind);
  const bodies = connectorBodies(kind);
  const tag = kind === 'input' ? 'Inputs' : 'Outputs';
  const Kind = tag.slice(0, -1);
  const access = { permission: `${kind}:write`, session: 'allow' } as const;
  const response = { status: 200, description: 'The stored connector.', schema: ConnectorBody } as const;
  const routes = [
    organizationRoute(
      {
        method: 'post',
        path: `/v2/{org}/${kind}s`,
        tag,
        operation: `create${Kind}`,
        summary: `Create an ${kind}`,
        description: `\`config\` must match the JSON Schemas of the type. \`settings\` are stored as given, without the defaults, and \`secrets\` are encrypted. With \`test_connection=true\`, connects first and saves only if that works.`,
        access,
        params: Org,
        query: z.object({
          test_connection: z
            .enum(['true', 'false'])
            .optional()
            .openapi({ description: '`true`: connect before saving. Default: save without connecting.' }),
        }),
        body: bodies.create,
        idempotent: true,
        etag: true,
        response,
        errorStatuses: { ...CONFIG_ERRORS, 400: TEST_ERRORS[400] },
      },
      (call) => create(context, planner, kind, call),
      (call) => authorizeCreate(planner, kind, call),
    ),
    organizationRoute(
      {
        method: 'patch',
        path: `/v2/{org}/${kind}s/{id}`,
        tag,
        operation: `change${Kind}`,
        summary: `Update an ${kind}; absent properties are kept`,
        description: '`config.settings` replaces all settings; secrets are updated one by one.',
        access,
        params: OrgAndId,
        body: bodies.change,
        idempotent: true,
        conditional: true,
        etag: true,
        response,
        errorStatuses: CONFIG_ERRORS,
      },
      (call) => update(context, planner, kind, call),
      (call) => authorizeUpdate(context, kind, call),
    ),
    organizationRoute(
      {
        method: 'put',
        path: `/v2/{org}/${kind}s/{id}`,
        tag,
        operation: `replace${Kind}`,
        summary: `Replace an ${kind}; absent secrets are kept`,
        description: `Stores the same document as a POST. Settings that are absent are removed; secrets that are absent are kept, unless the destination changes. The type cannot change. Pipelines that run continue with the new configuration.`,
        access,
        params: OrgAndId,
        body: bodies.replace,
        idempotent: true,
        conditional: true,
        etag: true,
        response,
        errorStatuses: CONFIG_ERRORS,
      },
      (call) => update(context, planner, kind, call),
      (call) => authorizeUpdate(context, kind, call),
    ),
  ];
  return routes.map((each): Route => ({ ...each, reveal: context.ingest.reveal }));
}

type Bodies = ReturnType<typeof connectorBodies>;
type CreateCall = OrganizationCall<
  unknown,
  { test_connection?: 'true' | 'false' | undefined },
  z.output<Bodies['create']>
>;
type UpdateCall = OrganizationCall<{ id: string }, unknown, z.output<Bodies['change']>>;

function authorizeCreate(planner: Planner, kind: ConnectorKind, { principal, body }: CreateCall): void {
  requireKind(principal, kind);
  requireCreate(principal);
  requireType(principal, planner.type(typeNamed(body)).type_id);
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
    await context.tests.run(type, openPlan(made.plan, type), c.req.raw.signal);
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
  if (principal.type === 'key' || principal.session.typeIds === undefined) return;
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
  const { c, principal, organization, params, body, commit } = call;
  const vault = await context.vault.ofOrganization(context.store, organization.id);
  const response = await commit(async (tables) => {
    const before = await tables.connectors.lock(organization.id, kind, params.id);
    if (!before) throw await notOwned(tables, organization.id, kind, params.id, principal);
    requireMatch(c.req.header('if-match'), versionTag(before.version));
    if ((typeNamed(body) ?? before.type) !== before.type) {
      throw invalidRequest("The type of a connector can't change. Create a new one.");
    }
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
    const plan = await planner.plan(
      {
        type,
        // Settings stored by an earlier release may contain fields that the type no longer
        // declares.
        settings: body.config.settings ?? declaredSettings(type, before.settings),
        secrets: body.config.secrets,
        before: { connector: before, secrets: await tables.secrets.ofConnector(before.id) },
        issues,
      },
      { vault, tables, principal, organization },
    );
    after.settings = plan.settings;
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
