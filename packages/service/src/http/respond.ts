/** Headers of every API response: it is never cached, framed, or read by another site. */
export const apiHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Origin',
};

/**
 * Creates a JSON response with the API headers. They are plain objects, because @hono/node-server
 * has a fast path for those.
 */
export function respond(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  if (body === undefined) return new Response(null, { status, headers: { ...apiHeaders, ...headers } });
  return new Response(isMade(body) ? body : JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...apiHeaders, ...headers },
  });
}

const isMade = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || body instanceof Uint8Array;
