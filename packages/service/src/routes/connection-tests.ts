import { z } from '@hono/zod-openapi';
import type { ConnectorKind, ConnectorTypeData } from '@connector-frame/catalog/types';
import { ConnectorError, type GrantedTokens, type ReplaceableSecrets } from '@connector-frame/engine/connector-api';
import { idOf, type Principal } from '../auth/principal.js';
import { requireConnector, requireCovered, requireKind, requireType } from '../auth/session-scope.js';
import { createPlanner } from '../connectors/planner.js';
import { openPlan, type WritePlan } from '../connectors/plan-write.js';
import { resealsOf } from '../connectors/store-plan.js';
import { notOwned } from '../connectors/not-owned.js';
import { ApiError, invalidRequest } from '../api-error.js';
import type { TestResult } from '../connectors/test-connection.js';
import { grantIn } from '../oauth/grant.js';
import { tokensOf } from '../oauth/granted-tokens.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { ConnectorSecrets } from '../store/store.js';
import { connectorBodies, TEST_ERRORS, typeNamed } from './connector-bodies.js';
import type { RouteContext } from './context.js';
import { kindNames } from './kind-names.js';
import { Org } from './schemas.js';

/** Response of a connection test that passed. */
export const ConnectionTestPassed = z
  .object({
    message: z.literal('success'),
    summary: z.string().optional().openapi({ description: 'Result of the test, in one sentence.' }),
    duration_ms: z.int(),
  })
  .openapi('ConnectionTestPassed');

/** Routes that test an unsaved configuration by connecting with it. */
export function connectionTestRoutes(context: RouteContext, kind: ConnectorKind): Route[] {
  const { store } = context;
  const planner = createPlanner(context, kind);
  const { tag, name, write } = kindNames[kind];
  return [
    organizationRoute(
      {
        method: 'post',
        path: `${write}/test-connection`,
        tag,
        operation: `test${name}Connection`,
        summary: 'Test a configuration by connecting with it; saves nothing',
        description:
          'Connects to the vendor with the settings and secrets of the request, for at most 15 seconds. With `id`, secrets that are absent are those that the connector has stored, unless the destination changes. Counted by rate limits of its own.',
        access: { permission: `${kind}:write`, session: 'allow' },
        params: Org,
        body: connectorBodies(kind).test,
        response: { status: 200, description: 'The connection works.', schema: ConnectionTestPassed },
        errorStatuses: TEST_ERRORS,
      },
      async ({ c, principal, organization, body }) => {
        requireKind(principal, kind);
        const type = planner.type(typeNamed(body));
        requireType(principal, type.type_id);
        await countTest(context, { principal, organization, type });
        const before = body.id === undefined ? undefined : await storedConnector(body.id);
        const vault = await context.vault.ofOrganization(store, organization.id);
        const { settings } = body.config;
        const plan = await planner.plan(
          { type, settings, secrets: body.config.secrets, ...(before && { before }) },
          { vault, tables: store, principal, organization },
        );
        await store.secrets.reseal(resealsOf(plan, vault));
        return {
          status: 200,
          body: await testPlan(context, type, plan, {
            before,
            organizationId: organization.id,
            signal: c.req.raw.signal,
          }),
        };

        async function storedConnector(id: string): Promise<ConnectorSecrets> {
          requireConnector(principal, id);
          const found = await store.connectors.withSecrets(organization.id, id);
          if (found?.connector.kind !== kind) throw await notOwned(store, organization.id, kind, id, principal);
          requireCovered(principal, found.connector.type);
          if (found.connector.type !== type.type_id)
            throw invalidRequest('The connector with this id has another type.');
          return found;
        }
      },
    ),
  ];
}

/**
 * Connects with the configuration of a plan.
 * @throws ApiError as `tests.run` does
 */
export async function testPlan(
  context: Pick<RouteContext, 'exchanges' | 'refresher' | 'tests'>,
  type: ConnectorTypeData,
  plan: WritePlan,
  { before, ...call }: { before: ConnectorSecrets | undefined; organizationId: string; signal: AbortSignal },
): Promise<TestResult> {
  const config = openPlan(plan, type);
  const connected = tokensOf(
    new Map(plan.changed.flatMap(({ field, value, consent }) => (consent ? [[field, grantIn(value)] as const] : []))),
  );
  if (!before) return context.tests.run(type, config, { ...call, tokens: connected });
  const secrets = keptSecrets(context, before, plan);
  const kept = plan.kept.map(({ secret }) => secret);
  const stored = context.refresher.of(type, before.connector, secrets, kept);
  const tokens: GrantedTokens = {
    has: (field) => connected.has(field) || stored.has(field),
    get: (field, rejected) => (connected.has(field) ? connected : stored).get(field, rejected),
  };
  for (const { field } of kept)
    if (stored.has(field) && Object.hasOwn(config.secrets, field)) config.secrets[field] = await freshToken(field);
  return context.tests.run(type, config, { ...call, secrets, tokens });

  async function freshToken(field: string): Promise<string> {
    try {
      return await stored.get(field);
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      const details = {
        reason: error.code,
        issues: [{ path: `/secrets/${field}`, code: 'pattern', message: error.message }],
      };
      throw new ApiError(400, 'test_failed', error.message, { details });
    }
  }
}

/**
 * Returns those stored secrets that a plan keeps: a test that makes the vendor replace one must store
 * the replacement.
 */
export const keptSecrets = (
  { exchanges }: Pick<RouteContext, 'exchanges'>,
  { connector }: ConnectorSecrets,
  { kept }: WritePlan,
): ReplaceableSecrets =>
  exchanges.of(connector, { key: null, fields: new Set(kept.map(({ secret }) => secret.field)) });

/**
 * Counts one connection test against its session, API key or user, then against the connector type within
 * the organization, then against the organization. Stops at the first limit that is exceeded, so
 * that a caller that keeps retrying does not use up the limits it shares with the rest of its
 * organization.
 * @throws ApiError 429 with `Retry-After`
 */
export async function countTest(
  { limits }: Pick<RouteContext, 'limits'>,
  { principal, organization, type }: { principal: Principal; organization: { id: string }; type: { type_id: string } },
): Promise<void> {
  await limits.consume({ [principal.type === 'session' ? 'test' : 'test_key']: idOf(principal) });
  await limits.consume({ test_type: `${organization.id} ${type.type_id}` });
  await limits.consume({ test_organization: organization.id });
}
