import type { HostRouteError } from '@connector-frame/core/connect';
import { HostError } from './host-error.js';
import { json } from './json.js';
import { ServiceRequestError } from './service-request-error.js';

/**
 * Converts any error to the response for the browser, with our own message and a stable code; the
 * service's message is never included. Calls `report` with errors whose details are omitted.
 */
export function errorResponse(error: unknown, report: (error: unknown) => void): Response {
  const failure = asHostError(error);
  if (failure !== error || failure.code === 'upstream_error') report(error);
  const { code, message, resource } = failure;
  const body: HostRouteError = { code, message, ...(resource && { resource }) };
  return json(body, { status: failure.status, headers: failure.headers });
}

function asHostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  if (error instanceof ServiceRequestError) return fromServiceError(error);
  if (isUnreachable(error)) return new HostError('upstream_error', 'The connector service can’t be reached right now.');
  return new HostError('internal_error', 'Something went wrong on the server.');
}

/**
 * 401 and 403 become `upstream_error`: they concern this server's API key and must not send the user
 * to the sign-in page.
 */
function fromServiceError({ status, retryAfter }: ServiceRequestError): HostError {
  if (status === 404) return new HostError('not_found', 'The connector service could not find it.');
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

/** `fetch` throws a TypeError for network failures and a DOMException for timeouts. */
function isUnreachable(error: unknown): boolean {
  return (
    (error instanceof TypeError && error.message === 'fetch failed') ||
    (error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError'))
  );
}
