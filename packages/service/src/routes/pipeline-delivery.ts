import { z } from '@hono/zod-openapi';
import { BusError, ConnectorError } from '@connector-frame/engine';
import { recordEffect, type Effect } from '../audit/record-effect.js';
import { ApiError, invalidRequest, notFound } from '../api-error.js';
import { organizationRoute, type OrganizationCall, type Route } from '../http/route.js';
import type { PipelineDelivery, PipelineEngine } from '../pipelines/engine.js';
import type { Pipeline, ReadTables } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Id, OrgAndId, integer } from './schemas.js';

const OrgIdAndNode = OrgAndId.extend({ node: Id });

/** Maximum bytes of a record in the retry queue. A larger one is left out. */
const MAX_DATA_BYTES = 64 * 1024;

const Timestamp = z.iso.datetime().openapi({ description: 'RFC 3339.' });
const RetryQueueMessage = z
  .object({
    created_at: Timestamp.openapi({ description: 'When the record was received, or first tried.' }),
    data: z.array(z.int()).optional().openapi({ description: 'Bytes of the record as JSON in UTF-8.' }),
    data_bytes: z.int().openapi({ description: 'Size of the record in bytes.' }),
    eligible_at: Timestamp.openapi({ description: 'When it is tried again; an estimate.' }),
    error_node_id: z.string(),
    last_error: z.string().openapi({ description: 'Code and message of the last failure.' }),
    last_seen_at: Timestamp.openapi({ description: 'When it was tried last.' }),
    omitted: z.boolean().openapi({ description: '`data` was left out because of its size.' }),
    retry_count: z.int(),
  })
  .openapi('RetryQueueMessage');

const Purge = z
  .object({
    purged: z.boolean(),
    records: z.int().openapi({ description: 'Records deleted from the buffer.' }),
    dead_letters: z.int().openapi({ description: 'Dead letters deleted.' }),
  })
  .openapi('PipelinePurgeResponse');

/**
 * Returns a pipeline and what waits in it.
 * @param nodeId the pipeline must contain this node
 * @throws ApiError 404, or 503 if another process runs pipelines
 */
export async function findDelivery(
  { store, engine }: { store: Pick<ReadTables, 'pipelines'>; engine: PipelineEngine },
  organizationId: string,
  id: string,
  nodeId?: string,
): Promise<{ pipeline: Pipeline; delivery: PipelineDelivery }> {
  const pipeline = await store.pipelines.get(organizationId, id);
  if (!pipeline) throw notFound();
  if (nodeId !== undefined && !pipeline.nodes.some((node) => node.id === nodeId)) throw notFound();
  const delivery = engine.delivery(id);
  if (delivery) return { pipeline, delivery };
  throw unavailable();
}

/** Cause of 503 where only the process that runs the pipeline can respond. */
export const NOT_RUNNING =
  'This process does not run the pipeline, or is restarting it; or the database does not respond. Retry after the number of seconds in `Retry-After`.';

/** The error for what only the process that runs the pipeline can do. */
export const unavailable = (
  message = 'This process does not run the pipeline, or is restarting it. Retry, or send the request to the process with ENGINE=on.',
): ApiError => new ApiError(503, 'unavailable', message, { headers: { 'Retry-After': '5' } });

/**
 * Runs an operation on what waits in a pipeline.
 * @throws ApiError 503 if the pipeline was stopped or restarted meanwhile, or the disk failed
 */
export async function whileRunning<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConnectorError) throw unavailable();
    const isStorage = error instanceof BusError || (error instanceof Error && 'syscall' in error);
    if (!isStorage) throw error;
    throw unavailable('What waits in the pipeline could not be read or changed. Check the disk of the service.');
  }
}

/** Routes that show, retry and purge what waits in a pipeline. */
export function pipelineDeliveryRoutes(context: RouteContext): Route[] {
  const tag = 'Pipelines';
  const write = { permission: 'pipeline:write', session: 'deny' } as const;
  const purge = {
    method: 'post',
    tag,
    access: { permission: 'pipeline:data:write', session: 'deny' },
    response: { status: 200, description: 'What was deleted.', schema: Purge },
    errorStatuses: { 503: NOT_RUNNING },
  } as const;

  async function purgeOf(
    { organization, params, author }: OrganizationCall<{ id: string }, unknown, unknown>,
    nodeId?: string,
  ) {
    const { delivery } = await findDelivery(context, organization.id, params.id, nodeId);
    const effect: Effect = {
      organizationId: organization.id,
      pipelineId: params.id,
      action: 'delete',
      selection: nodeId === undefined ? {} : { node_id: nodeId },
    };
    const deleted = await recordEffect(
      context.store.auditLogs,
      author,
      new Date(context.clock.now()),
      effect,
      async () => {
        const { records, deadLetters } = await whileRunning(() => delivery.purge(nodeId));
        return { records, dead_letters: deadLetters };
      },
    );
    return { status: 200, body: { purged: true, ...deleted } } as const;
  }

  return [
    organizationRoute(
      {
        method: 'get',
        path: '/v1/{org}/data/retry/{id}/{node}',
        tag,
        operation: 'readRetryQueue',
        summary: 'List records that wait for another delivery attempt',
        description:
          'The records of one output whose last delivery failed and is retried, with the error. Records that were not tried yet, and dead letters, are not included.',
        access: { permission: 'pipeline:data:read', session: 'deny' },
        params: OrgIdAndNode,
        query: z.object({
          limit: integer({ min: 1, max: 10, fallback: 10, description: 'Maximum number of records.' }),
          meta_only: z
            .enum(['true', 'false'])
            .default('false')
            .openapi({ description: 'Leaves out `data` of all records.' }),
        }),
        response: { status: 200, description: 'Oldest first.', schema: z.array(RetryQueueMessage) },
        errorStatuses: { 503: NOT_RUNNING },
      },
      async ({ organization, params, query }) => {
        const { delivery } = await findDelivery(context, organization.id, params.id, params.node);
        const records = await whileRunning(async () => delivery.waitingRecords(params.node, query.limit));
        const body = records.map((record) => {
          const data = Buffer.from(record.line);
          const omitted = data.length > MAX_DATA_BYTES;
          return {
            created_at: new Date(record.since).toISOString(),
            ...(!omitted && query.meta_only === 'false' && { data: [...data] }),
            data_bytes: data.length,
            eligible_at: new Date(record.retryAt).toISOString(),
            error_node_id: params.node,
            last_error: record.error,
            last_seen_at: new Date(record.failedAt).toISOString(),
            omitted,
            retry_count: record.attempts,
          };
        });
        return { status: 200, body };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path: '/v1/{org}/pipelines/{id}/retry',
        tag,
        operation: 'retryPipeline',
        summary: 'Retry now',
        description:
          'Ends all waits before another attempt, for example after a revoked token was renewed. Saving the connector does the same.',
        access: write,
        params: OrgAndId,
        response: {
          status: 200,
          description: 'Number of waits that ended; 0 if nothing was waiting.',
          schema: z.object({ retried: z.int() }).openapi('PipelineRetryResponse'),
        },
        errorStatuses: { 503: NOT_RUNNING },
      },
      async ({ organization, params }) => {
        const { delivery } = await findDelivery(context, organization.id, params.id);
        return { status: 200, body: { retried: await whileRunning(async () => delivery.retryNow()) } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path: '/v2/{org}/pipelines/{id}/trigger',
        tag,
        operation: 'triggerPipeline',
        summary: 'Read a polled input now',
        description:
          'Reads the source now instead of at the next interval. Has no further effect while it is being read, so that two requests at once read it once.',
        access: write,
        params: OrgAndId,
        response: { status: 200, description: 'A sentence.', schema: z.string(), example: 'The input is read now.' },
        errorStatuses: {
          400: 'The pipeline is paused, or its input is not polled; or the request is malformed.',
          503: NOT_RUNNING,
        },
      },
      async ({ organization, params }) => {
        const { pipeline, delivery } = await findDelivery(context, organization.id, params.id);
        if (!pipeline.enabled) throw invalidRequest('The pipeline is paused. Resume it first.');
        const { suspension } = await context.engine.status(pipeline);
        if (suspension) throw invalidRequest(suspension.message);
        if (!(await whileRunning(async () => delivery.trigger())))
          throw invalidRequest('The input of this pipeline is not polled. It receives what others send.');
        return { status: 200, body: JSON.stringify('The input is read now.') };
      },
    ),

    organizationRoute(
      {
        ...purge,
        path: '/v3/{org}/pipelines/{id}/nodes/{node}/purge',
        operation: 'purgePipelineNode',
        summary: 'Delete the backlog and the dead letters of a node',
        description:
          'Deletes the buffered records that wait for this output, and its dead letters; other outputs keep theirs. For an input, deletes its whole buffer. The pipeline pauses meanwhile. The pipeline log tells how many were deleted.',
        params: OrgIdAndNode,
      },
      (call) => purgeOf(call, call.params.node),
    ),

    organizationRoute(
      {
        ...purge,
        path: '/v3/{org}/pipelines/{id}/purge',
        operation: 'purgePipeline',
        summary: 'Delete the backlog and the dead letters of a pipeline',
        description: 'The same for all nodes of the pipeline.',
        params: OrgAndId,
      },
      (call) => purgeOf(call),
    ),
  ];
}
