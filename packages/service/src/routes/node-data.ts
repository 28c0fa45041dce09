import { z } from '@hono/zod-openapi';
import type { RecordSample } from '@connector-frame/engine';
import { forbidden, notFound } from '../api-error.js';
import type { ServerEvent } from '../http/event-stream.js';
import type { LogStreams } from '../http/log-streams.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { RouteContext } from './context.js';
import { NOT_RUNNING, unavailable } from './pipeline-delivery.js';
import { Id, Org } from './schemas.js';

/** The route that shows records while they pass a node. */
export function nodeDataRoutes({ store, engine, nodeData }: RouteContext, streams: LogStreams): Route[] {
  return [
    organizationRoute(
      {
        method: 'get',
        path: '/v1/{org}/data/{node}',
        tag: 'Pipelines',
        operation: 'watchNodeData',
        summary: 'Watch the records that pass a node',
        description:
          'Server-sent events: each `event: record` is a record that left the node, as JSON, with its `time` and its size in `bytes`. It is a sample: at most 50 records a second, and none larger than 64 KiB: then `omitted` is `true`. `skipped` counts the records since the previous event that are not shown. Delivery never waits for a reader. A record that is delivered again can be shown again. Nothing is stored, so a stream cannot resume. With `NODE_DATA=off` every request is 403.',
        access: { permission: 'pipeline:data:read', session: 'deny' },
        params: Org.extend({ node: Id }),
        response: {
          status: 200,
          description: 'Stream of records.',
          schema: z.string(),
          contentType: 'text/event-stream',
          example:
            'event: record\ndata: {"time":"2026-01-31T12:00:00.000Z","bytes":15,"skipped":0,"omitted":false,"record":{"severity":3}}\n\n',
        },
        errorStatuses: { 503: NOT_RUNNING },
      },
      async ({ c, principal, organization, params }) => {
        if (!nodeData) throw forbidden('The operator does not allow watching records: NODE_DATA is off.');
        const pipeline = await store.pipelines.ofNode(organization.id, params.node);
        if (!pipeline) throw notFound();
        const { id } = pipeline;
        if (!engine.delivery(id)) throw unavailable();
        async function* events(signal: AbortSignal): AsyncGenerator<ServerEvent, void, void> {
          const samples = engine.samples(id, params.node, signal);
          for await (const sample of samples ?? []) yield { event: 'record', data: toJson(sample) };
        }
        return streams.open(c, principal, organization.id, events);
      },
    ),
  ];
}

/** Serializes a sample. The record is inserted as it is, so that its numbers keep all digits. */
function toJson({ at, line, bytes, skipped }: RecordSample): string {
  const about = JSON.stringify({ time: new Date(at).toISOString(), bytes, skipped, omitted: line === undefined });
  return line === undefined ? about : `${about.slice(0, -1)},"record":${inEvent(line)}}`;
}

/**
 * Returns a line as JSON that an event can contain: a carriage return would end the event's line. A
 * line that is no JSON, which the next node rejects, is shown as text.
 */
function inEvent(line: string): string {
  try {
    const record: unknown = JSON.parse(line);
    return line.includes('\r') ? JSON.stringify(record) : line;
  } catch {
    return JSON.stringify(line);
  }
}
