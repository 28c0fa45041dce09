import { apiHeaders } from './respond.js';

/** One event of a stream, as a browser's `EventSource` reads it. */
export interface ServerEvent {
  /** Sent back as `Last-Event-ID` by who comes again. No line break in it, nor in `event`. */
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

/** Milliseconds between comments: proxies close what is silent. */
const HEARTBEAT = 15_000;

/**
 * Server-sent events, until there are no more, the client leaves, or `signal` is aborted.
 * @param events told by its signal when nobody listens any more
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
    // It may rest at an event that nobody asks to go on from.
    iterator.return?.().catch(() => undefined);
    ended();
  };
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // At once, so that the headers go out.
        controller.enqueue(encoder.encode(': here\n\n'));
        if (leaving.signal.aborted) return;
        heartbeat = setInterval(() => {
          // A slow reader has enough to read.
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(':\n\n'));
        }, HEARTBEAT);
      },
      async pull(controller) {
        try {
          const next = await iterator.next();
          // Nobody is left to tell.
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
