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
  version: z.int().openapi({ description: 'Incremented by each change. The ETag is derived from it.' }),
}).openapi('PipelineRow');

export const PipelineBody = PipelineRow.extend({ nodes: z.array(NodeBody), edges: z.array(EdgeBody) }).openapi(
  'Pipeline',
);

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
    version: pipeline.version,
  };
}

/** Returns nodes and edges as stored, including client fields that the service does not know. */
export const presentPipeline = (pipeline: Pipeline) => ({
  ...presentRow(pipeline),
  nodes: pipeline.nodes,
  edges: pipeline.edges,
});
