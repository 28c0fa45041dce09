import { countOf, fieldsOf, listOf } from './read.js';
import { HttpError } from './http-error.js';
import { nullIfNotFound, type Finder, type Scope } from './scope.js';

/** Maximum number of stored lines sent first. */
const firstLines = 50;

/** Delay in milliseconds before a browser reconnects a stream that broke off. */
const retry = 2_000;

export interface LogSource {
  serviceUrl: string;
  apiKey: string;
  finder: Finder;
}

/**
 * Streams the log of an input's pipeline as server-sent events: the most recent lines, or those
 * after the event `after`, and then each new line. Forwards the service's stream unchanged and
 * closes it when the browser disconnects.
 */
export async function followLog(source: LogSource, scope: Scope, id: string, after: string | null): Promise<Response> {
  const found = await source.finder.find(scope, id);
  if (!found) throw new HttpError(404, 'not_found', 'This connection has no pipeline.');
  const path = `/v2/${encodeURIComponent(scope.org)}/pipelines/${encodeURIComponent(found.pipelineId)}/logs`;

  const lines = listOf(fieldsOf(await scope.request(`${path}?limit=${firstLines}`).catch(nullIfNotFound))['entries']);
  const from = countOf(lines.at(-1)?.['sequence']);
  // A last sequence number below `after` means that the log restarted with the service.
  const seen = Number(after) <= from ? Number(after) : 0;
  const known = lines.filter(({ sequence }) => countOf(sequence) > seen);

  const closing = new AbortController();
  const upstream = await fetch(`${source.serviceUrl}${path}/stream`, {
    headers: { authorization: `ApiKey ${source.apiKey}`, accept: 'text/event-stream', 'last-event-id': String(from) },
    signal: closing.signal,
  });
  if (!upstream.ok || !upstream.body) {
    closing.abort();
    if (upstream.status === 404) source.finder.forget(scope, id);
    throw new HttpError(502, 'upstream_error', 'The log is not available right now.');
  }
  const reader = upstream.body.getReader();
  const first = known.map(
    (entry) => `id: ${countOf(entry['sequence'])}\nevent: entry\ndata: ${JSON.stringify(entry)}\n\n`,
  );
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(`retry: ${retry}\n\n${first.join('')}`)),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => closing.abort(),
  });
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  };
  return new Response(body, { headers });
}
