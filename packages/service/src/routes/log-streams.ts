import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Principal } from '../auth/principal.js';
import { notFound } from '../api-error.js';
import type { ServerEvent } from '../http/event-stream.js';
import { lastEventId, type LogStreams } from '../http/log-streams.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { LogFilter, LogStart } from '../pipelines/engine.js';
import { LOG_EVENT, presentFollowedEntry } from '../pipelines/log-body.js';
import type { RouteContext } from './context.js';
import { Id, Instant, Org, OrgAndId } from './schemas.js';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as `5m`, in milliseconds. */
const Duration = z
  .string()
  .regex(/^\d{1,6}[smhd]$/, 'Must be a number with a unit: 30s, 5m, 1h or 7d.')
  .transform((text) => Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? 0));

const since = Instant.optional().openapi({
  type: 'string',
  format: 'date-time',
  description: 'Begins with entries of this time. RFC 3339. Default: all stored entries.',
});
const SinceQuery = z.object({ since });
const StartQuery = z
  .object({
    since,
    last: Duration.optional().openapi({
      type: 'string',
      pattern: '^[0-9]{1,6}[smhd]$',
      description: 'Begins with entries of this long ago: `30s`, `5m`, `1h`, `7d`. Not together with `since`.',
    }),
  })
  .refine((query) => query.since === undefined || query.last === undefined, {
    path: ['last'],
    error: 'Use either since or last.',
  });

const PipelineNode = OrgAndId.extend({ node: Id });

const DESCRIPTION =
  'Server-sent events: the stored entries in order, then new ones, each an `event: entry` with a JSON object. `Last-Event-ID` resumes after that entry, over all pipelines and over restarts, without a gap or a repeat while the entries are stored. A client that reads too slowly is disconnected and resumes. Sends a comment every 15 seconds to keep the connection open.';

const RESPONSE = {
  status: 200,
  description: 'Stream of log entries.',
  schema: z.string(),
  contentType: 'text/event-stream',
  example: LOG_EVENT,
} as const;

interface StreamCall {
  c: Context;
  principal: Principal;
  query: { since?: Date | undefined; last?: number | undefined };
}

/** Routes that stream the logs of an organization, its API, its pipelines and their nodes. */
export function logStreamRoutes({ store, engine, clock }: RouteContext, streams: LogStreams): Route[] {
  const shared = { method: 'get', tag: 'Logs', description: DESCRIPTION, resumes: true, response: RESPONSE } as const;
  const pipelineAccess = { permission: 'pipeline:logs:read', session: 'deny' } as const;

  function startOf({ c, query }: StreamCall): LogStart {
    const after = lastEventId(c);
    if (after !== undefined) return { after };
    const from = query.last === undefined ? query.since?.getTime() : clock.now() - query.last;
    return from === undefined ? {} : { since: from };
  }

  function stream(call: StreamCall, filter: LogFilter): Response {
    const start = startOf(call);
    async function* entries(signal: AbortSignal): AsyncGenerator<ServerEvent, void, void> {
      for await (const entry of engine.followLogs(filter, signal, start))
        yield { id: String(entry.sequence), event: 'entry', data: JSON.stringify(presentFollowedEntry(entry)) };
    }
    return streams.open(call.c, call.principal, filter.organizationId, entries);
  }

  return [
    organizationRoute(
      {
        ...shared,
        path: '/v1/{org}/logs',
        operation: 'followLogs',
        access: { permission: ['organization:logs:read', 'pipeline:logs:read'], session: 'deny' },
        summary: 'Stream the logs of an organization: its pipelines and changing requests',
        params: Org,
        query: StartQuery,
      },
      (call) => stream(call, { organizationId: call.organization.id }),
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v1/{org}/logs/api',
        operation: 'followApiLog',
        access: { permission: 'organization:logs:read', session: 'deny' },
        summary: 'Stream the changing requests to an organization',
        params: Org,
        query: SinceQuery,
      },
      (call) => stream(call, { organizationId: call.organization.id, source: 'api' }),
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v1/{org}/logs/pipelines',
        operation: 'followPipelineLogs',
        access: pipelineAccess,
        summary: 'Stream the logs of all pipelines of an organization',
        params: Org,
        query: SinceQuery,
      },
      (call) => stream(call, { organizationId: call.organization.id, source: 'pipelines' }),
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v1/{org}/logs/pipelines/{id}',
        operation: 'followLogsOfPipeline',
        access: pipelineAccess,
        summary: 'Stream the log of a pipeline, with the times to begin at',
        params: OrgAndId,
        query: StartQuery,
      },
      async (call) => {
        const pipeline = await store.pipelines.get(call.organization.id, call.params.id);
        if (!pipeline) throw notFound();
        return stream(call, { organizationId: call.organization.id, pipelineId: pipeline.id });
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v1/{org}/logs/pipelines/{id}/{node}',
        operation: 'followLogsOfNode',
        access: pipelineAccess,
        summary: 'Stream the log of a node of a pipeline',
        params: PipelineNode,
        query: StartQuery,
      },
      async (call) => {
        const pipeline = await store.pipelines.get(call.organization.id, call.params.id);
        const nodeId = pipeline?.nodes.find(({ id }) => id === call.params.node)?.id;
        if (!pipeline || nodeId === undefined) throw notFound();
        return stream(call, { organizationId: call.organization.id, pipelineId: pipeline.id, nodeId });
      },
    ),
  ];
}
