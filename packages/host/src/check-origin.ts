import { HostError } from './host-error.js';

/** Any value will do: a page of another origin can't send this header without a preflight, which nobody here answers. */
export const requestHeader = 'connector-frame-request';

/**
 * Refuses what another site's page could make a signed-in browser send. A write is JSON (a plain form can't send that),
 * and comes from this origin: `Sec-Fetch-Site` says so, or, where a browser has no such header (plain http), `Origin` does,
 * or the caller sets a header of ours.
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
