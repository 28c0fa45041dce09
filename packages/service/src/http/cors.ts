import { newApiHeaders } from './respond.js';

/**
 * CORS policy: only the origins that serve the form, and the consoles of the operator, can read
 * responses, and never with the browser's credentials.
 */
export interface Cors {
  /** Returns the CORS headers of a response. */
  answer(origin: string | undefined): Readonly<Record<string, string>>;
  preflight(request: Request): Response;
}

const EXPOSED = 'ETag, Idempotency-Replayed, RateLimit, RateLimit-Policy, Request-Id, Retry-After';
const METHODS = 'GET, POST, PUT, PATCH, DELETE';
const HEADERS = 'Authorization, Connector-Frame-Parent, Content-Type, Idempotency-Key, If-Match, If-None-Match';
const none = {};

/** @param origins those that can read responses */
export function createCors(origins: ReadonlySet<string>): Cors {
  return {
    answer: (origin) =>
      origin !== undefined && origins.has(origin)
        ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED }
        : none,

    preflight(request) {
      const origin = request.headers.get('origin');
      if (origin === null || !origins.has(origin)) return new Response(null, { status: 403, headers: newApiHeaders() });
      return new Response(null, {
        status: 204,
        headers: {
          ...newApiHeaders(),
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Allow-Methods': METHODS,
          'Access-Control-Allow-Headers': HEADERS,
          'Access-Control-Max-Age': '600',
        },
      });
    },
  };
}
