import { z } from '@hono/zod-openapi';
import type { StoredLetter } from '@connector-frame/engine';
import { recordEffect } from '../audit/record-effect.js';
import { invalidRequest, notFound } from '../api-error.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { RouteContext } from './context.js';
import { findDelivery, NOT_RUNNING, whileRunning } from './pipeline-delivery.js';
import { Id, OrgAndId, integer } from './schemas.js';

const LetterId = z.string().regex(/^[\w-]{1,64}\.\d{1,16}$/);
/** Maximum bytes of records in one response; further ones are left out. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const MAX_IDS = 1_000;

const Letter = z
  .object({
    id: z.string(),
    node_id: z.string(),
    time: z.iso.datetime().openapi({ description: 'When the record was rejected. RFC 3339.' }),
    reason: z.string().openapi({ description: 'Stable code or sentence. Contains no text of the destination.' }),
    record_id: z.string(),
    record_bytes: z.int(),
    replays: z.int().openapi({ description: 'How often it was redelivered and refused again.' }),
    replaying: z.boolean().openapi({ description: 'It waits for redelivery.' }),
    record: z.unknown().optional().openapi({ description: 'The record.' }),
    omitted: z.boolean().openapi({
      description: '`record` was left out because the response would be too large. Read it by its id.',
    }),
  })
  .openapi('DeadLetter');

const Selection = z
  .object({
    node_id: Id.optional().openapi({ description: 'All dead letters of this output.' }),
    ids: z.array(LetterId).min(1).max(MAX_IDS).optional().openapi({ description: 'These dead letters.' }),
  })
  .refine(({ node_id, ids }) => (node_id === undefined) !== (ids === undefined), 'Give either node_id or ids.')
  .openapi('DeadLetterSelection', { example: { node_id: '0b6c3c1e-5d3f-4a0e-9a51-2f4d2f9f0c11' } });

/**
 * Serializes a letter. The record is inserted as it is stored, so that its numbers keep all digits.
 */
function toJson(letter: StoredLetter, content: 'record' | 'omitted' | 'none'): string {
  const { id, nodeId, at, reason, recordId, line, replays, isReplaying } = letter;
  const about = JSON.stringify({
    id,
    node_id: nodeId,
    time: new Date(at).toISOString(),
    reason,
    record_id: recordId,
    record_bytes: Buffer.byteLength(line),
    replays,
    replaying: isReplaying,
    omitted: content === 'omitted',
  });
  return content === 'record' ? `${about.slice(0, -1)},"record":${line}}` : about;
}

/** Routes for the records of a pipeline that were rejected permanently. */
export function deadLetterRoutes(context: RouteContext): Route[] {
  const shared = { tag: 'Dead letters', params: OrgAndId, errorStatuses: { 503: NOT_RUNNING } } as const;
  const read = { permission: 'pipeline:data:read', session: 'deny' } as const;
  const write = { permission: 'pipeline:data:write', session: 'deny' } as const;
  const path = '/v1/{org}/pipelines/{id}/dead-letters';
  return [
    organizationRoute(
      {
        ...shared,
        method: 'get',
        path,
        operation: 'listDeadLetters',
        summary: 'List dead letters',
        description:
          'Records that were rejected permanently, with the reason. They are kept until they are replayed or deleted.',
        access: read,
        query: z.object({
          node_id: Id.optional().openapi({ description: 'Only those of this node.' }),
          limit: integer({ min: 1, max: 100, fallback: 10, description: 'Maximum number of dead letters.' }),
          after: LetterId.optional().openapi({ description: '`next_cursor` of the previous page.' }),
          meta_only: z.enum(['true', 'false']).default('false').openapi({ description: 'Leaves out the records.' }),
        }),
        response: {
          status: 200,
          description: 'By node, oldest first.',
          schema: z
            .object({
              dead_letters: z.array(Letter),
              pagination: z
                .object({
                  limit: z.int(),
                  next_cursor: z.string().nullable().openapi({ description: 'For `after`. Null on the last page.' }),
                })
                .openapi('DeadLetterPagination'),
            })
            .openapi('DeadLetterList'),
        },
      },
      async ({ organization, params, query: { node_id: nodeId, limit, after, meta_only } }) => {
        const { delivery } = await findDelivery(context, organization.id, params.id, nodeId);
        const found = await whileRunning(() =>
          delivery.deadLetters.list({
            ...(nodeId !== undefined && { nodeId }),
            ...(after !== undefined && { after }),
            limit: limit + 1,
          }),
        );
        const letters = found.slice(0, limit);
        let left = MAX_RESPONSE_BYTES;
        const rows = letters.map((letter) => {
          if (meta_only === 'true') return toJson(letter, 'none');
          left -= Buffer.byteLength(letter.line);
          return toJson(letter, left >= 0 ? 'record' : 'omitted');
        });
        const next = found.length > limit ? (letters.at(-1)?.id ?? null) : null;
        const pagination = JSON.stringify({ limit, next_cursor: next });
        return { status: 200, body: `{"dead_letters":[${rows.join()}],"pagination":${pagination}}` };
      },
    ),

    organizationRoute(
      {
        ...shared,
        method: 'get',
        path: `${path}/{letter}`,
        operation: 'readDeadLetter',
        summary: 'Read a dead letter',
        description: 'Contains the record, whatever its size, with all digits of its numbers.',
        access: read,
        params: OrgAndId.extend({ letter: LetterId }),
        response: { status: 200, description: 'The dead letter with its record.', schema: Letter },
      },
      async ({ organization, params }) => {
        const { delivery } = await findDelivery(context, organization.id, params.id);
        const letter = await whileRunning(() => delivery.deadLetters.get(params.letter));
        if (!letter) throw notFound();
        return { status: 200, body: toJson(letter, 'record') };
      },
    ),

    organizationRoute(
      {
        ...shared,
        method: 'post',
        path: `${path}/replay`,
        operation: 'replayDeadLetters',
        summary: 'Redeliver dead letters to their output',
        description:
          'Delivers the records to the same output again, at least once and outside of the order. A dead letter is deleted after its record is written. One that is refused again stays, with `replays` increased, until it is replayed again. Only dead letters of outputs can be replayed: what an input or a transform rejected has no output.',
        access: write,
        body: Selection,
        response: {
          status: 200,
          description: 'Number of dead letters that now wait for redelivery.',
          schema: z.object({ replaying: z.int() }).openapi('DeadLetterReplay'),
        },
      },
      async ({ organization, params, body: { node_id, ids = [] }, author }) => {
        const { delivery, pipeline } = await findDelivery(context, organization.id, params.id, node_id);
        const nodes = new Set(node_id === undefined ? ids.map((id) => id.slice(0, id.lastIndexOf('.'))) : [node_id]);
        for (const each of pipeline.nodes)
          if (nodes.has(each.id) && each.component_type !== 'output')
            throw invalidRequest('Only dead letters of an output can be replayed. Select those of an output.');
        const selection = node_id === undefined ? { ids } : { node_id };
        const effect = { organizationId: organization.id, pipelineId: params.id, action: 'update', selection } as const;
        const body = await recordEffect(
          context.store.auditLogs,
          author,
          new Date(context.clock.now()),
          effect,
          async () => {
            let replaying = 0;
            for (const each of nodes)
              replaying += await whileRunning(() =>
                delivery.deadLetters.replay(each, node_id === undefined ? ids : undefined),
              );
            return { replaying };
          },
        );
        return { status: 200, body };
      },
    ),

    organizationRoute(
      {
        ...shared,
        method: 'delete',
        path,
        operation: 'deleteDeadLetters',
        summary: 'Delete dead letters',
        description: 'Give `node_id`, `ids`, or `all=true`. Their records are lost.',
        access: write,
        query: z.object({
          node_id: Id.optional().openapi({ description: 'All dead letters of this node.' }),
          ids: z
            .string()
            .max(20_000)
            .transform((text) => text.split(','))
            .pipe(z.array(LetterId).max(MAX_IDS))
            .optional()
            .openapi({
              type: 'string',
              pattern: '^[\\w-]{1,64}\\.\\d{1,16}(,[\\w-]{1,64}\\.\\d{1,16})*$',
              description: `At most ${MAX_IDS} ids, separated by commas.`,
            }),
          all: z.literal('true').optional().openapi({ description: 'All dead letters of the pipeline.' }),
        }),
        response: {
          status: 200,
          description: 'Number of dead letters that were deleted.',
          schema: z.object({ deleted: z.int() }).openapi('DeadLetterDeletion'),
        },
      },
      async ({ organization, params, query: { node_id, ids, all }, author }) => {
        const { delivery } = await findDelivery(context, organization.id, params.id, node_id);
        if ([node_id, ids, all].filter((each) => each !== undefined).length !== 1)
          throw invalidRequest('Give exactly one of node_id, ids and all=true.');
        const selection = ids ? { ids } : node_id === undefined ? { all: true } : { node_id };
        const effect = { organizationId: organization.id, pipelineId: params.id, action: 'delete', selection } as const;
        const body = await recordEffect(
          context.store.auditLogs,
          author,
          new Date(context.clock.now()),
          effect,
          async () => ({
            deleted: await whileRunning(() =>
              ids ? delivery.deadLetters.delete(ids) : delivery.deadLetters.purge(node_id),
            ),
          }),
        );
        return { status: 200, body };
      },
    ),
  ];
}
