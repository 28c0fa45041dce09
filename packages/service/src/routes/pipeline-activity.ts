import { z } from '@hono/zod-openapi';
import { notFound } from '../api-error.js';
import type { ServerEvent } from '../http/event-stream.js';
import { lastEventId, type LogStreams } from '../http/log-streams.js';
import { organizationRoute, type Route } from '../http/route.js';
import { LOG_EVENT, LogEntryBody, presentLogEntry } from '../pipelines/log-body.js';
import { PipelineMetricsBody, presentMetrics } from '../pipelines/metrics-body.js';
import type { RouteContext } from './context.js';
import { OrgAndId, integer } from './schemas.js';

/** Routes for the recent metrics and logs of a pipeline. */
export function pipelineActivityRoutes({ store, engine }: RouteContext, streams: LogStreams): Route[] {
  const shared = {
    method: 'get',
    tag: 'Pipelines',
    params: OrgAndId,
  } as const;
  const readLogs = { permission: 'pipeline:logs:read', session: 'deny' } as const;

  async function find(organizationId: string, id: string): Promise<string> {
    const pipeline = await store.pipelines.get(organizationId, id);
    if (!pipeline) throw notFound();
    return pipeline.id;
  }

  return [
    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/{id}/metrics',
        operation: 'readPipelineMetrics',
        access: { permission: 'pipeline:metrics:read', session: 'deny' },
        summary: 'Read the throughput of a pipeline in the last ten minutes',
        description: 'Measured since the engine started. Excludes the current interval.',
        response: { status: 200, description: 'Oldest first.', schema: PipelineMetricsBody },
      },
      async ({ organization, params }) => {
        const id = await find(organization.id, params.id);
        return { status: 200, body: presentMetrics(id, engine.metrics(id)) };
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/{id}/logs',
        operation: 'readPipelineLog',
        access: readLogs,
        summary: 'Read the recent log entries of a pipeline',
        description: 'At most the last 200 entries, also of before a restart. They never contain records or secrets.',
        query: z.object({
          limit: integer({ min: 1, max: 500, fallback: 100, description: 'Maximum number of entries.' }),
        }),
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: z.object({ entries: z.array(LogEntryBody) }).openapi('PipelineLog'),
        },
      },
      async ({ organization, params, query }) => {
        const id = await find(organization.id, params.id);
        return { status: 200, body: { entries: (await engine.log(id, query.limit)).map(presentLogEntry) } };
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/{id}/logs/stream',
        operation: 'followPipelineLog',
        access: readLogs,
        resumes: true,
        summary: 'Stream the log of a pipeline',
        description:
          'Server-sent events: the stored entries, then new ones. Each is an `event: entry` with data as in `entries` of `logs`. `Last-Event-ID` resumes after that entry. Sends a comment every 15 seconds to keep the connection open.',
        response: {
          status: 200,
          description: 'Stream of log entries.',
          schema: z.string(),
          contentType: 'text/event-stream',
          example: LOG_EVENT,
        },
      },
      async ({ c, principal, organization, params }) => {
        const id = await find(organization.id, params.id);
        const after = lastEventId(c);
        const entries = async function* (signal: AbortSignal): AsyncGenerator<ServerEvent, void, void> {
          for await (const entry of engine.tail(id, signal, after))
            yield { id: String(entry.sequence), event: 'entry', data: JSON.stringify(presentLogEntry(entry)) };
        };
        return streams.open(c, principal, organization.id, entries);
      },
    ),
  ];
}
