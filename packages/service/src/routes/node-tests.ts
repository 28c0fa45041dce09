import { z } from '@hono/zod-openapi';
import { createPlanner } from '../connectors/planner.js';
import { openPlan } from '../connectors/plan-write.js';
import { notFound } from '../api-error.js';
import { organizationRoute, type Route } from '../http/route.js';
import { ConnectionTestPassed, countTest } from './connection-tests.js';
import { Config, TEST_ERRORS } from './connector-bodies.js';
import type { RouteContext } from './context.js';
import { Kind, OrgAndId, TypeId } from './schemas.js';

const TestNode = z
  .object({
    component_type: Kind,
    type: TypeId,
    config: Config,
  })
  .openapi('TestNode', {
    example: {
      component_type: 'output',
      type: 'http',
      config: {
        settings: { endpoint: 'https://logs.acme.com/ingest', method: 'POST', payload_structure: 'array' },
        secrets: { auth_headers: { value: { Authorization: 'Bearer example-token' } } },
      },
    },
  });

/** Routes that test what a node of a pipeline could connect to. */
export function nodeTestRoutes(context: RouteContext): Route[] {
  const { store, tests } = context;
  const planners = { input: createPlanner(context, 'input'), output: createPlanner(context, 'output') };
  return [
    organizationRoute(
      {
        method: 'post',
        path: '/v2/{org}/pipelines/{id}/test-connection',
        tag: 'Pipelines',
        operation: 'testNodeConnection',
        summary: 'Test a configuration for a node of a pipeline by connecting with it; saves nothing',
        description:
          'Like the connection tests of inputs and outputs, for a component that a pipeline does not have yet. Stored secrets can be referred to by `id`. Counted by rate limits of its own.',
        access: { permission: ['pipeline:write', 'input:write', 'output:write'], session: 'deny' },
        params: OrgAndId,
        body: TestNode,
        response: { status: 200, description: 'The connection works.', schema: ConnectionTestPassed },
        errorStatuses: TEST_ERRORS,
      },
      async ({ c, principal, organization, params, body }) => {
        if (!(await store.pipelines.get(organization.id, params.id))) throw notFound();
        const planner = planners[body.component_type];
        const type = planner.type(body.type);
        await countTest(context, { principal, organization, type });
        const vault = await context.vault.ofOrganization(store, organization.id);
        const scope = { vault, tables: store, principal, organization };
        const plan = await planner.plan({ type, ...body.config }, scope);
        return { status: 200, body: await tests.run(type, openPlan(plan, type), c.req.raw.signal) };
      },
    ),
  ];
}
