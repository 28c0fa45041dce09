import type { Context } from 'hono';
import { ApiError } from '../api-error.js';
import type { Principal } from '../auth/principal.js';
import type { Principals } from '../auth/principals.js';
import { eventStream, eventStreamHeaders, type ServerEvent } from './event-stream.js';

export interface LogStreams {
  /**
   * Opens a stream that ends with the client, the service, or the principal's permissions.
   * @throws ApiError 429 if the organization has too many
   */
  open(
    c: Context,
    principal: Principal,
    organizationId: string,
    events: (signal: AbortSignal) => AsyncIterable<ServerEvent>,
  ): Response;
}

export interface LogStreamsOptions {
  principals: Pick<Principals, 'lasts'>;
  /** Aborted when the service begins to shut down. */
  closing: AbortSignal;
}

/** Maximum number of open streams of logs, records and alerts per organization. */
const MOST_STREAMS = 50;
/** Milliseconds between the checks of an idle stream's permissions. */
const CHECK_MS = 5_000;

/** Returns the sequence after which a client resumes, if it sent one. */
export function lastEventId(c: Context): number | undefined {
  const text = /^\d{1,15}$/.exec(c.req.header('last-event-id') ?? '')?.[0];
  return text === undefined ? undefined : Number(text);
}

/** Creates the log streams of a service, which share one limit per organization. */
export function createLogStreams({ principals, closing }: LogStreamsOptions): LogStreams {
  const open = new Map<string, number>();

  /** Reserves one of the organization's streams. Returns a function that releases it, once. */
  function acquire(organizationId: string): () => void {
    const count = open.get(organizationId) ?? 0;
    if (count >= MOST_STREAMS) {
      const message = `An organization may have at most ${MOST_STREAMS} open streams. Close one first.`;
      throw new ApiError(429, 'rate_limited', message, { headers: { 'Retry-After': '10' } });
    }
    open.set(organizationId, count + 1);
    return () => {
      const left = (open.get(organizationId) ?? 1) - 1;
      if (left > 0) open.set(organizationId, left);
      else open.delete(organizationId);
    };
  }

  return {
    open(c, principal, organizationId, events) {
      // Hono drops the body of a HEAD response, so nothing would end the stream.
      if (c.req.method === 'HEAD') return new Response(null, { headers: eventStreamHeaders });
      const release = acquire(organizationId);
      const revoked = new AbortController();
      // The API key may be revoked or expire while the stream is open, also without new events.
      const check = async (): Promise<void> => {
        if (!(await principals.lasts(principal))) revoked.abort();
      };
      // Without the database, the check before the next event ends the stream.
      const timer = setInterval(() => void check().catch(() => undefined), CHECK_MS).unref();
      async function* allowed(signal: AbortSignal): AsyncGenerator<ServerEvent, void, void> {
        for await (const event of events(signal)) {
          await check();
          if (revoked.signal.aborted) return;
          yield event;
        }
      }
      const over = AbortSignal.any([closing, c.req.raw.signal, revoked.signal]);
      return eventStream(c, allowed, over, () => {
        clearInterval(timer);
        release();
      });
    },
  };
}
