import { ConnectorError, type EgressReason, type FailureKind } from '@connector-frame/engine/connector-api';

/** Error code, kind and message by egress error. `permanent`: requires a change by the user. */
const egressErrors: Readonly<
  Record<EgressReason, [code: string, kind: FailureKind, message: (product: string) => string]>
> = {
  egress_refused: [
    'egress_refused',
    'permanent',
    () => 'The address is on a network that is closed to connectors. Ask your administrator to open it.',
  ],
  dns_failed: ['dns_failed', 'retry', () => 'The host name could not be resolved.'],
  connect_failed: [
    'connect_failed',
    'retry',
    (product) => `${product} could not be reached, or closed the connection.`,
  ],
  timeout: ['timeout', 'retry', (product) => `${product} did not respond in time.`],
  tls_failed: [
    'tls_failed',
    'permanent',
    (product) =>
      `Could not establish a TLS connection to ${product}: its certificate is not trusted, or it does not use TLS.`,
  ],
  redirected: ['redirected', 'permanent', () => 'The address redirects to another site. Enter the final address.'],
  invalid_address: ['invalid_config', 'permanent', () => 'This is not a valid address.'],
  invalid_header: [
    'invalid_config',
    'permanent',
    () => 'A header or credential contains a character that cannot be sent.',
  ],
  too_large: ['unexpected_answer', 'retry', (product) => `${product} returned a response that is too large.`],
  invalid_answer: [
    'unexpected_answer',
    'retry',
    (product) => `Unexpected response: it does not appear to come from ${product}.`,
  ],
};

/** Converts an egress error (no usable response) to a `ConnectorError`. */
export function egressFailure(reason: EgressReason, product: string): ConnectorError {
  const [code, kind, message] = egressErrors[reason];
  return new ConnectorError(code, capital(message(product)), kind);
}

/**
 * The response does not have the product's format; most often it is a page served by an
 * intermediary.
 */
export function unexpected(product: string, kind: FailureKind = 'retry'): ConnectorError {
  return new ConnectorError(
    'unexpected_answer',
    `Unexpected response: it does not appear to come from ${product}.`,
    kind,
  );
}

/**
 * Maps an HTTP status to an error, for statuses to which the product assigns no specific meaning.
 * Do not call it for a success.
 *
 * @param now milliseconds since the epoch, for `Retry-After` dates
 */
export function statusFailure(
  { status, headers }: { status: number; headers: Headers },
  product: string,
  now: number,
): ConnectorError {
  const name = capital(product);
  const afterMs = retryAfter(headers, now);
  if (status === 429 || (status === 503 && afterMs !== undefined)) return throttled(product, afterMs);
  const [code, kind, message] = meaning(status, name);
  return new ConnectorError(code, `${message} (HTTP ${status}).`, kind, afterMs);
}

/** The server limits the request rate. */
export function throttled(product: string, afterMs?: number): ConnectorError {
  return new ConnectorError(
    'rate_limited',
    `${capital(product)} is limiting the rate of requests.`,
    'throttled',
    afterMs,
  );
}

function meaning(status: number, name: string): [code: string, kind: FailureKind, message: string] {
  if (status === 401) return ['invalid_credentials', 'permanent', `${name} did not accept the credentials`];
  if (status === 403) return ['forbidden', 'permanent', `${name} does not allow this with these credentials`];
  if (status === 404) return ['not_found', 'permanent', `${name} has nothing at this address`];
  if (status >= 500) return ['upstream_error', 'retry', `${name} returned a server error`];
  // Temporary: request timeout, conflict with a request in progress, too early.
  if ([408, 409, 425].includes(status))
    return ['upstream_error', 'retry', `${name} could not process the request at this time`];
  if (status >= 400) return ['rejected', 'permanent', `${name} refused the request`];
  return ['unexpected_answer', 'permanent', `Unexpected response: it does not appear to come from ${name}`];
}

/**
 * Returns the delay in `Retry-After`, in milliseconds; the header holds seconds or a date.
 * RFC 9110, 10.2.3
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
