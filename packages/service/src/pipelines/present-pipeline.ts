import { z } from '@hono/zod-openapi';
import type { Pipeline } from '../store/store.js';
import { EdgeBody, NodeBody } from './graph-bodies.js';
import type { NodeComponent } from './node-components.js';
import type { PipelineSchedule } from './schedules.js';

const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });

/** A pipeline in the list of pipelines that use a connector. */
export const PipelineUse = z
  .object({
    id: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    input_id: z.string().nullable().openapi({ description: 'Null if the pipeline has no input.' }),
    output_ids: z.array(z.string()),
  })
  .openapi('PipelineUse');

/** A pipeline in a list. */
export const PipelineRow = PipelineUse.extend({
  organization_id: z.string(),
  description: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  managed_by: z.literal('customer'),
  cron_schedule: z.string().optional().openapi({
    description:
      "When the input is read: the schedule among the input's settings, in UTC. Absent for an input without a schedule, which is read at intervals or receives records. Change it at the input.",
  }),
  next_cron_run_at: Timestamp.optional().openapi({
    description: 'The next run of `cron_schedule`. Absent while the pipeline is paused.',
  }),
  version: z.int().openapi({ description: 'Incremented by each change. The ETag is derived from it.' }),
}).openapi('PipelineRow');

/**
 * Describes a field of the public API that repeats another one.
 * @param goName its name for generators of Go, for which both would have the same
 */
const alias = (field: string, goName: string) => ({
  description: `The same as \`${field}\`.`,
  'x-go-name': goName,
});

export const PipelineBody = PipelineRow.extend({
  nodes: z.array(NodeBody),
  edges: z.array(EdgeBody),
  organizationId: z.string().openapi(alias('organization_id', 'OrganizationIdAlias')),
  createdAt: Timestamp.openapi(alias('created_at', 'CreatedAtAlias')),
  updatedAt: Timestamp.openapi(alias('updated_at', 'UpdatedAtAlias')),
}).openapi('Pipeline');

export function presentUse({ id, name, enabled, nodes }: Pipeline): z.output<typeof PipelineUse> {
  const idsOf = (componentType: string): string[] =>
    nodes.filter(({ component_type: type }) => type === componentType).map((node) => node.component_id);
  return { id, name, enabled, input_id: idsOf('input')[0] ?? null, output_ids: [...new Set(idsOf('output'))] };
}

/** @param schedule of its input, if that has one */
export function presentRow(pipeline: Pipeline, schedule?: PipelineSchedule): z.output<typeof PipelineRow> {
  return {
    ...presentUse(pipeline),
    organization_id: pipeline.organizationId,
    description: pipeline.description,
    created_at: pipeline.createdAt.toISOString(),
    updated_at: pipeline.updatedAt.toISOString(),
    managed_by: 'customer',
    ...schedule,
    version: pipeline.version,
  };
}

/** What a response shows of a pipeline that is not in its row. */
export interface PipelineDetails {
  schedule?: PipelineSchedule | undefined;
  /** The connectors of the nodes with overrides, by node id. */
  components?: ReadonlyMap<string, z.output<typeof NodeComponent>>;
}

/** Returns nodes and edges as stored, including client fields that the service does not know. */
export function presentPipeline(pipeline: Pipeline, { schedule, components }: PipelineDetails = {}) {
  const row = presentRow(pipeline, schedule);
  return {
    ...row,
    nodes: pipeline.nodes.map((node) => {
      const component = components?.get(node.id);
      return component ? { ...node, component } : node;
    }),
    edges: pipeline.edges,
    organizationId: row.organization_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
