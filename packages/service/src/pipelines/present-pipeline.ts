import { z } from '@hono/zod-openapi';
import type { Pipeline } from '../store/store.js';
import { EdgeBody, NodeBody } from './graph-bodies.js';

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
  version: z.int().openapi({ description: 'Incremented by each change. The ETag is derived from it.' }),
}).openapi('PipelineRow');

export const PipelineBody = PipelineRow.extend({
  nodes: z.array(NodeBody),
  edges: z.array(EdgeBody),
  organizationId: z.string().openapi({ description: 'The same as `organization_id`.' }),
  createdAt: Timestamp.openapi({ description: 'The same as `created_at`.' }),
  updatedAt: Timestamp.openapi({ description: 'The same as `updated_at`.' }),
}).openapi('Pipeline');

export function presentUse({ id, name, enabled, nodes }: Pipeline): z.output<typeof PipelineUse> {
  const idsOf = (componentType: string): string[] =>
    nodes.filter(({ component_type: type }) => type === componentType).map((node) => node.component_id);
  return { id, name, enabled, input_id: idsOf('input')[0] ?? null, output_ids: [...new Set(idsOf('output'))] };
}

export function presentRow(pipeline: Pipeline): z.output<typeof PipelineRow> {
  return {
    ...presentUse(pipeline),
    organization_id: pipeline.organizationId,
    description: pipeline.description,
    created_at: pipeline.createdAt.toISOString(),
    updated_at: pipeline.updatedAt.toISOString(),
    managed_by: 'customer',
    version: pipeline.version,
  };
}

/** Returns nodes and edges as stored, including client fields that the service does not know. */
export function presentPipeline(pipeline: Pipeline) {
  const row = presentRow(pipeline);
  return {
    ...row,
    nodes: pipeline.nodes,
    edges: pipeline.edges,
    organizationId: row.organization_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
