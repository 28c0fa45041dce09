import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { newApiHeaders } from './respond.js';

/** One server-sent event, as a browser's `EventSource` reads it. */
export interface ServerEvent {
  /**
   * A client that reconnects sends it as `Last-Event-ID`. `id` and `event` must not contain line
   * breaks. Absent in streams that can't resume.
   */
  id?: string;
  event: string;
  /** JSON without line breaks. */
  data: string;
}

export const eventStreamHeaders: Readonly<Record<string, string>> = {
  ...newApiHeaders(),
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
};

/** Milliseconds between comments. They keep proxies from closing an idle connection. */
const HEARTBEAT = 15_000;

/**
 * Streams server-sent events until `events` ends, the client disconnects, or `signal` is aborted. If
 * `events` throws, the stream ends, and the client reconnects.
 * @param events receives a signal that is aborted when the stream ends
 * @param ended called once when the stream ends
 */
export function eventStream(
  c: Context,
  events: (signal: AbortSignal) => AsyncIterable<ServerEvent>,
  signal: AbortSignal,
  ended: () => void = () => undefined,
): Response {
  const response = streamSSE(c, async (stream) => {
    const leaving = new AbortController();
    let isWriting = true;
    const heartbeat = setInterval(() => {
      // Skip the heartbeat while the client has unread events.
      if (!isWriting) void stream.write(':\n\n');
    }, HEARTBEAT);
    stream.onAbort(() => {
      clearInterval(heartbeat);
      leaving.abort();
    });
    // Also rejects a pending write, which would otherwise wait for a client that does not read.
    const abort = (): void => stream.abort();
    signal.addEventListener('abort', abort);
    try {
      // Send a comment immediately, so that the headers go out.
      await stream.write(': here\n\n');
      isWriting = false;
      for await (const { id, event, data } of events(AbortSignal.any([leaving.signal, signal]))) {
        isWriting = true;
        await stream.writeSSE({ ...(id !== undefined && { id }), event, data });
        if (stream.aborted) break;
        isWriting = false;
      }
    } catch {
      // Hono would print the error, which may contain values of a query. If the cause persists, the
      // request of the client that reconnects fails, and that is logged.
    } finally {
      ended();
      clearInterval(heartbeat);
      signal.removeEventListener('abort', abort);
    }
  });
  for (const [name, value] of Object.entries(eventStreamHeaders)) response.headers.set(name, value);
  return response;
}
