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

export const Status = z.enum(STATUSES).openapi('PipelineStatusValue', {
  description:
    '`Disabled`: paused, or suspended (`suspension`). `Pending`: no worker runs it yet. `Initializing`: the input or output has not responded yet. `Running`: both have responded. `Throttled`: the source or destination limits the rate, or the buffer is full. `Erroring`: fails repeatedly or permanently, refuses every record, or its dead letters are full. `Unknown`: no recent report from its worker.',
});

export const Amount = z.object({ bytes: z.int(), records: z.int() }).openapi('Amount');
const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });
const counts = {
  ingress: Amount,
  egress: Amount,
  errors: z.int().openapi({ description: 'Records rejected permanently.' }),
};

const DeadLetters = z
  .object({
    waiting: z.int().openapi({ description: 'Dead letters that are stored now.' }),
    stored: z.int().openapi({ description: 'Stored since the pipeline was created.' }),
    dropped: z.int().openapi({ description: 'Deleted to make space, if the operator has configured that.' }),
    replayed: z.int().openapi({ description: 'Redelivered and accepted.' }),
  })
  .openapi('DeadLetterCounts');
const NextAttempt = z.iso.datetime().openapi({ description: 'When it is tried again. RFC 3339.' });

/** Why an enabled pipeline is suspended. */
export const SuspensionBody = z
  .object({
    reason: z.string().openapi({
      description: '`quota`: a quota is used up. `account_suspended`: the billing account is suspended.',
      example: 'quota',
    }),
    message: z.string(),
    until: Timestamp.nullable().openapi({ description: 'When the pipeline continues by itself. RFC 3339.' }),
  })
  .openapi('Suspension');
const suspension = SuspensionBody.nullable().openapi({
  description: 'Why an enabled pipeline is `Disabled`. It accepts no records until then.',
});

/** The state of a node in API responses. */
export const NodeStateBody = z
  .object({
    node_id: z.string(),
    node_slug: z.string(),
    component_type: z.enum(COMPONENT_TYPES),
    status: Status,
    ...counts,
    failed_attempts: z.int().openapi({
      description:
        'Attempts to read or write that failed while the node was `Erroring`, since the pipeline was created.',
    }),
    dead_letters: DeadLetters,
    error: z
      .object({ time: Timestamp, code: z.string(), message: z.string() })
      .nullable()
      .openapi({ description: 'The failure that is being retried; null after a success.' }),
    next_attempt_time: NextAttempt.nullable(),
    needs_attention: z.boolean().openapi({ description: 'A person has to fix the failure.' }),
    dropped: z
      .int()
      .openapi({ description: 'Records that this output did not receive because its overflow policy drops them.' }),
  })
  .openapi('PipelineNodeState');

/** The state of a pipeline in API responses. */
export const PipelineStateBody = z
  .object({
    pipeline_id: z.string(),
    status: Status,
    suspension,
    ...counts,
    last_ingested_time: Timestamp.nullable(),
    last_error: z
      .object({ time: Timestamp, node_id: z.string().optional(), code: z.string(), message: z.string() })
      .nullable(),
    needs_attention: z
      .object({ node_id: z.string(), code: z.string(), message: z.string(), next_attempt_time: NextAttempt })
      .nullable()
      .openapi({
        description:
          'A failure that a person has to fix, such as refused credentials or a destination that refuses every record: what it is and what to do. It is retried at growing intervals of up to 15 minutes, when the connector is saved, and on `POST /v1/{org}/pipelines/{id}/retry`.',
      }),
    dead_letters: DeadLetters,
    waiting: z.int().openapi({ description: 'Records in the buffer.' }),
    dropped: z.int().openapi({ description: 'Sum of the nodes.' }),
    lost: z
      .object({
        node_id: z.string().optional(),
        records: z.int(),
        exact: z.boolean().openapi({ description: 'False: at least that many.' }),
        since: Timestamp.openapi({ description: 'When the first loss was found. RFC 3339.' }),
        latest: Timestamp.openapi({ description: 'When the latest loss was found. RFC 3339.' }),
      })
      .nullable()
      .openapi({ description: 'Stored records that were lost because files of the buffer are missing or damaged.' }),
    nodes: z.array(NodeStateBody),
  })
  .openapi('PipelineState');

export type PipelineStateResponse = z.infer<typeof PipelineStateBody>;
