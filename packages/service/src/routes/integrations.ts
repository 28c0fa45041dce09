import { randomUUID } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import { newConnector } from '../connectors/new-connector.js';
import { createPlanner, type Planner } from '../connectors/planner.js';
import { organizationRoute, type ResponseData, type OrganizationCall, type Route } from '../http/route.js';
import { holdComponents } from '../pipelines/hold-components.js';
import { invalidPipeline } from '../pipelines/invalid-pipeline.js';
import { readGraph } from '../pipelines/read-graph.js';
import type { Pipeline, Tables } from '../store/store.js';
import { CONFIG_ERRORS } from './connector-bodies.js';
import type { RouteContext } from './context.js';
import { BuildIntegration, BuiltIntegration, DEV_NULL, RemoveIntegration } from './integration-bodies.js';
import { Org } from './schemas.js';

type BuildCall = OrganizationCall<unknown, unknown, z.output<typeof BuildIntegration>>;
type RemoveCall = OrganizationCall<unknown, unknown, z.output<typeof RemoveIntegration>>;

/** Routes that build and remove an input, a pipeline and an output together, atomically. */
export function integrationRoutes(context: RouteContext): Route[] {
  const planner = createPlanner(context, 'output');
  const tag = 'Integrations';
  return [
    organizationRoute(
      {
        method: 'post',
        path: '/v2/{org}/integrations',
        tag,
        operation: 'buildIntegration',
        summary: 'Create a pipeline from an input to a new or existing output',
        description: 'Atomic. Without `output`, creates one of type `dev-null`, which drops every record.',
        access: { permission: ['pipeline:write', 'output:write'], session: 'deny' },
        params: Org,
        body: BuildIntegration,
        idempotent: true,
        response: {
          status: 201,
          description: 'The new pipeline. `status` is its status at creation.',
          schema: BuiltIntegration,
        },
        errorStatuses: {
          ...CONFIG_ERRORS,
          400: `The input or the output does not exist (\`invalid_pipeline\`), or: ${CONFIG_ERRORS[400]}`,
        },
      },
      (call) => build(context, planner, call),
    ),

    organizationRoute(
      {
        method: 'post',
        path: '/v2/{org}/integrations/delete',
        tag,
        operation: 'removeIntegration',
        summary: 'Delete a pipeline with its input and output',
        description:
          'Atomic and idempotent: ids that do not exist are ignored. Keeps an input or output that another pipeline uses; `component_of` of the connector lists these pipelines.',
        access: { permission: ['pipeline:delete', 'input:delete', 'output:delete'], session: 'deny' },
        params: Org,
        body: RemoveIntegration,
        idempotent: true,
        response: {
          status: 204,
          description: 'Deleted, except for connectors that other pipelines use.',
        },
      },
      (call) => remove(context, call),
    ),
  ];
}

async function build(context: RouteContext, planner: Planner, call: BuildCall): Promise<ResponseData> {
  const { organization, body, commit } = call;
  const { name, description } = body;
  const output = await outputOf(context, planner, call);
  const pipeline = pipelineBetween(context, organization.id, { name, description }, body.input_id, output.id);
  // Read the status before the commit, so that it is stored with the response and replayed.
  const { status } = await context.engine.status(pipeline);
  const response = await commit(async (tables) => {
    await output.insert?.(tables);
    const problems = await holdComponents(tables, organization.id, pipeline.nodes);
    if (problems.length > 0) {
      const places: Record<string, string> = {
        '/nodes/0/component_id': '/input_id',
        '/nodes/1/component_id': '/output/id',
      };
      throw invalidPipeline(problems.map((problem) => ({ ...problem, path: places[problem.path] ?? problem.path })));
    }
    await tables.pipelines.insert(pipeline);
    return {
      status: 201,
      body: {
        pipeline_id: pipeline.id,
        input_id: body.input_id,
        output_id: output.id,
        status,
        enabled: pipeline.enabled,
      },
    };
  });
  context.engine.changed(pipeline.id, pipeline.nodes);
  return response;
}

const node = (type: 'input' | 'output', id: string) => ({
  slug: type,
  component_id: id,
  component_type: type,
  enabled: true,
});

/** Returns the referenced output, or a new one that is not stored yet. */
async function outputOf(
  context: RouteContext,
  planner: Planner,
  { principal, organization, body }: BuildCall,
): Promise<{ id: string; insert?(tables: Tables): Promise<unknown> }> {
  const { output = DEV_NULL } = body;
  if ('id' in output) return output;
  const given = { ...output, type: planner.type(output.type), name: output.name ?? body.name, description: '' };
  const made = await newConnector(context, planner, given, { principal, organization });
  return { id: made.connector.id, insert: (tables) => made.insert(tables) };
}

function pipelineBetween(
  { clock }: RouteContext,
  organizationId: string,
  about: Pick<Pipeline, 'name' | 'description'>,
  inputId: string,
  outputId: string,
): Pipeline {
  const now = new Date(clock.now());
  const edge = { from_node_instance_id: 'input', to_node_instance_id: 'output', conditions: { operator: 'always' } };
  return {
    id: randomUUID(),
    organizationId,
    ...about,
    enabled: true,
    ...readGraph({
      nodes: [node('input', inputId), node('output', outputId)],
      edges: [{ ...edge, name: '', description: '', disabled: false }],
    }),
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
}

async function remove({ engine }: RouteContext, { organization, body, commit }: RemoveCall): Promise<ResponseData> {
  const { cleanup, pipeline_id: pipelineId, input_id: inputId, output_id: outputId } = body;
  const response = await commit(async (tables) => {
    if (cleanup.pipeline && pipelineId !== undefined) {
      const pipeline = await tables.pipelines.lock(organization.id, pipelineId);
      if (pipeline) await tables.pipelines.remove(pipeline.id);
    }
    const ends = new Map<string, 'input' | 'output'>();
    if (cleanup.input && inputId !== undefined) ends.set(inputId, 'input');
    if (cleanup.output && outputId !== undefined) ends.set(outputId, 'output');
    await removeUnused(tables, organization.id, ends);
    return { status: 204 };
  });
  if (pipelineId !== undefined) engine.changed(pipelineId);
  return response;
}

/**
 * Removes the connectors that no pipeline uses. The row locks keep other transactions from adding
 * them to a pipeline between the check and the removal.
 */
async function removeUnused(
  tables: Tables,
  organizationId: string,
  ends: ReadonlyMap<string, 'input' | 'output'>,
): Promise<void> {
  for (const { id, kind } of await tables.connectors.lockAll([organizationId], [...ends.keys()])) {
    if (ends.get(id) !== kind) continue;
    const used = await tables.pipelines.usingAnywhere(id);
    if (used.length === 0) await tables.connectors.remove(id);
  }
}
