import { HostError } from './host-error.js';

/**
 * Any value is accepted: a page of another origin can't send this header without a preflight, and
 * the host allows none.
 */
export const requestHeader = 'connector-frame-request';

/**
 * Rejects requests that another site could make a signed-in browser send (CSRF). A write must be
 * JSON, which a plain form can't send, and come from this origin according to `Sec-Fetch-Site`, to
 * `Origin` where a browser lacks that header (plain http), or to our own request header.
 */
export function checkOrigin(request: Request): void {
  const { headers } = request;
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';');
  if (mediaType.trim().toLowerCase() !== 'application/json') {
    throw new HostError('invalid_request', 'Send the body as application/json.', { status: 415 });
  }
  if (headers.has(requestHeader)) return;
  const site = headers.get('sec-fetch-site');
  if (site === 'same-origin' || (site === null && isOwnOrigin(request))) return;
  throw new HostError(
    'forbidden',
    `Requests come from this origin's own pages. Elsewhere, set the header ${requestHeader}: 1.`,
  );
}

function isOwnOrigin(request: Request): boolean {
  const origin = request.headers.get('origin');
  const host = request.headers.get('host') ?? new URL(request.url).host;
  return origin !== null && URL.canParse(origin) && new URL(origin).host === host;
}
