import { z } from '@hono/zod-openapi';
import { ApiError, notFound } from '../api-error.js';
import { eventStream, eventStreamHeaders, type ServerEvent } from '../http/event-stream.js';
import { organizationRoute, type Route } from '../http/route.js';
import { LogEntryBody, presentLogEntry } from '../pipelines/log-body.js';
import { PipelineMetricsBody, presentMetrics } from '../pipelines/metrics-body.js';
import type { RouteContext } from './context.js';
import { OrgAndId } from './schemas.js';

/** Maximum number of open log streams per organization. */
const MOST_STREAMS = 50;

/** Routes for the recent metrics and logs of a pipeline. */
export function pipelineActivityRoutes({ store, engine, principals, closing }: RouteContext): Route[] {
  const shared = {
    method: 'get',
    tag: 'Pipelines',
    params: OrgAndId,
  } as const;
  const readLogs = { permission: 'pipeline:logs:read', session: 'deny' } as const;
  const streams = new Map<string, number>();

  async function find(organizationId: string, id: string): Promise<string> {
    const pipeline = await store.pipelines.get(organizationId, id);
    if (!pipeline) throw notFound();
    return pipeline.id;
  }

  /**
   * Reserves one of the organization's log streams.
   * @returns a function that releases it
   * @throws ApiError 429 if all are in use
   */
  function acquireStream(organizationId: string): () => void {
    const open = streams.get(organizationId) ?? 0;
    if (open >= MOST_STREAMS) {
      const message = `An organization may have at most ${MOST_STREAMS} open log streams. Close one first.`;
      throw new ApiError(429, 'rate_limited', message, { headers: { 'Retry-After': '10' } });
    }
    streams.set(organizationId, open + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (streams.get(organizationId) ?? 1) - 1;
      if (left > 0) streams.set(organizationId, left);
      else streams.delete(organizationId);
    };
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
        query: z.object({ limit: z.coerce.number().int().min(1).max(500).default(100) }),
        response: { status: 200, description: 'Oldest first.', schema: z.object({ entries: z.array(LogEntryBody) }) },
      },
      async ({ organization, params, query }) => {
        const id = await find(organization.id, params.id);
        return { status: 200, body: { entries: engine.log(id, query.limit).map(presentLogEntry) } };
      },
    ),

    organizationRoute(
      {
        ...shared,
        path: '/v2/{org}/pipelines/{id}/logs/stream',
        operation: 'followPipelineLog',
        access: readLogs,
        summary: 'Stream the log of a pipeline',
        description:
          'Server-sent events: the stored entries, then new ones. Each is an `event: entry` with data as in `entries` of `logs`. `Last-Event-ID` resumes after that entry. Sends a comment every 15 seconds to keep the connection open.',
        response: {
          status: 200,
          description: 'Stream of log entries.',
          schema: z.string(),
          contentType: 'text/event-stream',
        },
      },
      async ({ c, principal, organization, params }) => {
        const id = await find(organization.id, params.id);
        // Hono drops the body of a HEAD response, so nothing would end the stream.
        if (c.req.method === 'HEAD') return new Response(null, { headers: eventStreamHeaders });
        const last = /^\d{1,16}$/.exec(c.req.header('last-event-id') ?? '')?.[0];
        const release = acquireStream(organization.id);
        async function* entries(signal: AbortSignal): AsyncGenerator<ServerEvent, void, void> {
          for await (const entry of engine.tail(id, signal, Number(last ?? 0))) {
            // The API key may be revoked or expire while the stream is open.
            if (!(await principals.lasts(principal))) return;
            yield { id: String(entry.sequence), event: 'entry', data: presentLogEntry(entry) };
          }
        }
        return eventStream(c, entries, AbortSignal.any([closing, c.req.raw.signal]), release);
      },
    ),
  ];
}
