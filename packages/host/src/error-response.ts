import type { HostRouteError } from '@connector-frame/core/connect';
import { HostError } from './host-error.js';
import { json } from './json.js';
import { ServiceRequestError } from './service-request-error.js';

/**
 * Any failure as the browser may see it: our own words and a stable code, never the service's. What is lost on the way
 * goes to `report`.
 */
export function errorResponse(error: unknown, report: (error: unknown) => void): Response {
  const refusal = asHostError(error);
  if (refusal !== error || refusal.code === 'upstream_error') report(error);
  const body: HostRouteError = { code: refusal.code, message: refusal.message };
  return json(body, { status: refusal.status, headers: refusal.headers });
}

function asHostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  if (error instanceof ServiceRequestError) return upstreamRefusal(error);
  if (isUnreachable(error)) return new HostError('upstream_error', 'The connector service can’t be reached right now.');
  return new HostError('internal_error', 'Something went wrong on the server.');
}

/** 401 and 403 stay `upstream_error`: they are about this server's API key, and must not send a person to the sign-in page. */
function upstreamRefusal({ status, retryAfter }: ServiceRequestError): HostError {
  if (status === 404) return new HostError('not_found', 'The connector service has no such resource.');
  if (status === 409) return new HostError('conflict', 'This is in use or exists already.');
  if (status === 400 || status === 422) {
    return new HostError('invalid_request', 'The connector service did not accept the request.');
  }
  if (status === 429) {
    return new HostError('rate_limited', 'Too many requests. Try again in a moment.', {
      headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
    });
  }
  return new HostError('upstream_error', 'The connector service has a problem right now.');
}

/** What `fetch` throws: a TypeError for the network, a DOMException for a timeout. */
function isUnreachable(error: unknown): boolean {
  return (
    (error instanceof TypeError && error.message === 'fetch failed') ||
    (error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError'))
  );
}
