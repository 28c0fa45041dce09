import { z } from '@hono/zod-openapi';
import { COMPONENT_TYPES, type PipelineStatus } from '@connector-frame/engine';

const STATUSES = [
  'Unknown',
  'Pending',
  'Initializing',
  'Running',
  'Disabled',
  'Erroring',
  'Throttled',
] as const satisfies readonly PipelineStatus[];

export const Status = z.enum(STATUSES).openapi({
  description:
    '`Disabled`: paused. `Pending`: no worker runs it yet. `Initializing`: the input or output has not responded yet. `Running`: both have responded. `Throttled`: the source or destination limits the rate, or the buffer is full. `Erroring`: fails repeatedly or permanently. `Unknown`: no recent report from its worker.',
});

export const Amount = z.object({ bytes: z.int(), records: z.int() }).openapi('Amount');
const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });
const counts = {
  ingress: Amount,
  egress: Amount,
  errors: z.int().openapi({ description: 'Records rejected permanently.' }),
};

/** The state of a pipeline in API responses. */
export const PipelineStateBody = z
  .object({
    pipeline_id: z.string(),
    status: Status,
    ...counts,
    last_ingested_time: Timestamp.nullable(),
    last_error: z
      .object({ time: Timestamp, node_id: z.string().optional(), code: z.string(), message: z.string() })
      .nullable(),
    waiting: z.int().openapi({ description: 'Records in the buffer.' }),
    nodes: z.array(
      z.object({
        node_id: z.string(),
        node_slug: z.string(),
        component_type: z.enum(COMPONENT_TYPES),
        status: Status,
        ...counts,
      }),
    ),
  })
  .openapi('PipelineState');

export type PipelineStateResponse = z.infer<typeof PipelineStateBody>;
