import { z } from '@hono/zod-openapi';
import { invalidRequest } from '../api-error.js';
import { histogramOf } from '../audit/histogram.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { AuditFilter, AuditLog } from '../store/audit-logs.js';
import type { ReadTables } from '../store/store.js';
import { AUDIT_ACTIONS, AUDIT_RESOURCES } from '../store/tables.js';
import type { RouteContext } from './context.js';
import { Id, Instant, integer, Org } from './schemas.js';

/** Bytes of a page after which it ends early: `old` and `new` can be large. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Rows that are read at once, so that few more than `MAX_PAGE_BYTES` are in memory. */
const CHUNK = 25;

const Action = z.enum(AUDIT_ACTIONS);
const ResourceType = z.enum(AUDIT_RESOURCES);
const instant = (description: string) => ({ type: 'string', format: 'date-time', description }) as const;

const filters = {
  resource_type: ResourceType.optional().openapi({ description: 'Only changes of resources of this type.' }),
  resource_id: Id.optional().openapi({
    description:
      'With `resource_type=pipeline`, the changes of its connectors and transforms while it used them are included.',
  }),
  actor_id: Id.optional().openapi({
    description: 'ID of a session, or of an API key or a user, which includes their sessions.',
  }),
  action: Action.optional().openapi({ description: 'Only changes of this kind.' }),
};

const ListQuery = z.object({
  limit: integer({ min: 1, max: 100, fallback: 50, description: 'Maximum number of changes.' }),
  cursor: z.uuid().optional().openapi({ description: '`next_cursor` of the previous page.' }),
  ...filters,
  from: Instant.optional().openapi(instant('RFC 3339. Inclusive.')),
  to: Instant.optional().openapi(instant('RFC 3339. Exclusive.')),
});

const HistogramQuery = z.object({
  from: Instant.openapi({ ...instant('RFC 3339. Inclusive.'), example: '2026-01-01T00:00:00Z' }),
  to: Instant.openapi({ ...instant('RFC 3339. Exclusive.'), example: '2026-02-01T00:00:00Z' }),
  buckets: integer({ min: 1, max: 500, fallback: 100, description: 'Number of intervals.' }),
  ...filters,
});

const Actor = z
  .object({
    id: z.string().openapi({ description: 'ID of the API key, the user or the session.' }),
    name: z.string(),
    email: z.string().optional().openapi({ description: 'Of a user.' }),
    auth_method: z.enum(['api_key', 'session', 'service', 'local', 'oidc', 'saml']).openapi({
      description:
        '`local`, `oidc` and `saml`: how the user signed in. `service`: the operator, through the environment or the command line.',
    }),
    api_key_id: z.string().optional().openapi({ description: 'The API key that created the session.' }),
    user_id: z.string().optional().openapi({ description: 'The user who created the session.' }),
    organization_id: z.string().optional().openapi({ description: 'The organization of the session.' }),
    role: z
      .object({
        id: z.string(),
        name: z.string(),
        organization_id: z.string(),
        inherited: z.boolean().openapi({ description: 'A key or a user of the parent acted on a team.' }),
      })
      .optional()
      .openapi({
        description: 'The role at the time of the change. Absent if the key has no role, or if the user had none yet.',
      }),
  })
  .openapi('AuditActor');

const State = z.record(z.string(), z.unknown()).nullable();
const Log = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    occurred_at: z.iso.datetime(),
    request_id: z
      .string()
      .openapi({ description: 'The `Request-Id` of the response to the change. Empty if there was no request.' }),
    action: Action,
    actor: Actor,
    resource: z.object({
      type: ResourceType.openapi({ description: '`pipeline_data`: purged or replayed records of a pipeline.' }),
      id: z.string(),
      old: State.openapi({ description: 'Before the change, without secrets. Null for `insert`.' }),
      new: State.openapi({
        description: 'After the change. A secret has `changed: true` if its value was set. Null for `delete`.',
      }),
    }),
  })
  .openapi('AuditLog');

const Counts = z.record(z.string(), z.int());
const Histogram = z
  .object({
    total: z.int(),
    bucket_seconds: z.number(),
    earliest_occurred_at: z.iso.datetime().optional().openapi({ description: 'Absent without changes.' }),
    latest_occurred_at: z.iso.datetime().optional(),
    buckets: z.array(
      z.object({
        index: z.int(),
        start: z.iso.datetime(),
        count: z.int(),
        by_action: Counts,
        by_resource_type: Counts,
      }),
    ),
  })
  .openapi('AuditLogHistogram');

/** Routes for the log of changes of an organization's resources. */
export function auditLogRoutes({ store }: RouteContext): Route[] {
  const shared = {
    method: 'get',
    tag: 'Audit log',
    access: { permission: 'organization:logs:read', session: 'deny' },
    params: Org,
  } as const;
  return [
    organizationRoute(
      {
        ...shared,
        path: '/v3/{org}/audit_logs',
        operation: 'listAuditLogs',
        summary: 'List the changes of resources',
        description:
          'Each change of a connector, secret, transform, pipeline, share, API key, role, member, invitation, connection, feature flag or organization, with its author and the states before and after it, kept for AUDIT_LOG_DAYS days.',
        query: ListQuery,
        response: {
          status: 200,
          description: 'Newest first. A page with large states ends before `limit`.',
          schema: z
            .object({
              logs: z.array(Log),
              pagination: z
                .object({
                  limit: z.int(),
                  next_cursor: z.string().optional().openapi({ description: 'Absent on the last page.' }),
                })
                .openapi('CursorPagination'),
            })
            .openapi('AuditLogList'),
        },
      },
      async ({ organization, query: { limit, cursor, ...query } }) => {
        const { logs, hasMore } = await readPage(store, organization.id, filterOf(query), limit, cursor);
        const last = logs.at(-1);
        const pagination = { limit, ...(hasMore && last && { next_cursor: last.id }) };
        return { status: 200, body: { logs: logs.map(present), pagination } };
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v3/{org}/audit_logs/histogram',
        operation: 'readAuditLogHistogram',
        summary: 'Count the changes of resources over time',
        description:
          'Counts by interval, by action and by type of resource, for a chart above the list. The filters are those of the list.',
        query: HistogramQuery,
        response: {
          status: 200,
          description: 'Intervals of equal length, oldest first, without gaps.',
          schema: Histogram,
        },
      },
      async ({ organization, query: { buckets, ...query } }) => {
        const { from, to } = query;
        if (from.getTime() >= to.getTime()) throw invalidRequest('from must be before to.');
        const counts = await store.auditLogs.count(organization.id, { ...filterOf(query), from, to }, buckets);
        return { status: 200, body: histogramOf(counts, { from, to, buckets }) };
      },
    ),
  ];
}

interface FilterQuery extends Pick<AuditFilter, 'action' | 'from' | 'to'> {
  resource_type?: AuditFilter['resourceType'];
  resource_id?: string | undefined;
  actor_id?: string | undefined;
}

const filterOf = ({ resource_type, resource_id, actor_id, ...rest }: FilterQuery): AuditFilter => ({
  resourceType: resource_type,
  resourceId: resource_id,
  actorId: actor_id,
  ...rest,
});

/** Reads up to `limit` rows, fewer if they exceed `MAX_PAGE_BYTES`, but at least one. */
async function readPage(
  { auditLogs }: Pick<ReadTables, 'auditLogs'>,
  organizationId: string,
  filter: AuditFilter,
  limit: number,
  cursor: string | undefined,
): Promise<{ logs: AuditLog[]; hasMore: boolean }> {
  const logs: AuditLog[] = [];
  let bytes = 0;
  for (;;) {
    const wanted = Math.min(CHUNK, limit - logs.length);
    const found = await auditLogs.list(organizationId, filter, wanted + 1, logs.at(-1)?.id ?? cursor);
    for (const log of found.slice(0, wanted)) {
      bytes += Buffer.byteLength(JSON.stringify([log.old, log.new]));
      if (bytes > MAX_PAGE_BYTES && logs.length > 0) return { logs, hasMore: true };
      logs.push(log);
    }
    if (found.length <= wanted) return { logs, hasMore: false };
    if (logs.length === limit) return { logs, hasMore: true };
  }
}

const present = (log: AuditLog): z.output<typeof Log> => ({
  id: log.id,
  organization_id: log.organizationId,
  occurred_at: log.occurredAt.toISOString(),
  request_id: log.requestId,
  action: log.action,
  actor: log.actor,
  resource: { type: log.resourceType, id: log.resourceId, old: log.old, new: log.new },
});
