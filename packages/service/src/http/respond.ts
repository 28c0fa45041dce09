/** On every answer of the API. No answer is ever stored, framed, or read by another site. */
export const apiHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Origin',
};

/** An answer in JSON with the headers of the API. Plain objects: the server has a fast way for them. */
export function respond(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  if (body === undefined) return new Response(null, { status, headers: { ...apiHeaders, ...headers } });
  return new Response(isMade(body) ? body : JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...apiHeaders, ...headers },
  });
}

const isMade = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || body instanceof Uint8Array;
