import { apiHeaders } from './respond.js';

/** One server-sent event, as a browser's `EventSource` reads it. */
export interface ServerEvent {
  /**
   * A client that reconnects sends it as `Last-Event-ID`. `id` and `event` must not contain line
   * breaks.
   */
  id: string;
  event: string;
  /** Sent as JSON. */
  data: unknown;
}

export const eventStreamHeaders: Readonly<Record<string, string>> = {
  ...apiHeaders,
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
};

/** Milliseconds between comments. They keep proxies from closing an idle connection. */
const HEARTBEAT = 15_000;

/**
 * Streams server-sent events until `events` ends, the client disconnects, or `signal` is aborted.
 * @param events receives a signal that is aborted when the stream ends
 * @param ended called once when the stream ends
 */
export function eventStream(
  events: (signal: AbortSignal) => AsyncIterable<ServerEvent>,
  signal: AbortSignal,
  ended: () => void = () => undefined,
): Response {
  const leaving = new AbortController();
  const iterator = events(AbortSignal.any([leaving.signal, signal]))[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let heartbeat: NodeJS.Timeout | undefined;
  let left = false;
  const end = (): void => {
    if (leaving.signal.aborted) return;
    clearInterval(heartbeat);
    signal.removeEventListener('abort', end);
    leaving.abort();
    // The generator may be suspended at a `yield`: `return()` runs its cleanup.
    iterator.return?.().catch(() => undefined);
    ended();
  };
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Send a comment immediately, so that the headers go out.
        controller.enqueue(encoder.encode(': here\n\n'));
        if (leaving.signal.aborted) return;
        heartbeat = setInterval(() => {
          // Skip the heartbeat while the client has unread events.
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(':\n\n'));
        }, HEARTBEAT);
      },
      async pull(controller) {
        try {
          const next = await iterator.next();
          // The client disconnected while the next event was pending; `enqueue` would throw.
          if (left) return;
          if (!next.done) return controller.enqueue(encoder.encode(textOf(next.value)));
          end();
          controller.close();
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      cancel() {
        left = true;
        end();
      },
    },
    { highWaterMark: 4 },
  );
  return new Response(body, { headers: eventStreamHeaders });
}

const textOf = ({ id, event, data }: ServerEvent): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
