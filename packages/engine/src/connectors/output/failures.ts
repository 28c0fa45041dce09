import type { EgressReason } from '../../egress/index.js';
import { EndError, type FailureKind } from '../../runner/ends.js';

/** By reason: what is said when there was no answer, and whether a person must mend it. */
const ways: Readonly<Record<EgressReason, [code: string, kind: FailureKind, say: (product: string) => string]>> = {
  egress_refused: [
    'egress_refused',
    'permanent',
    () => 'The address is on a network that is closed to connectors. Ask your administrator to open it.',
  ],
  dns_failed: ['dns_failed', 'retry', () => 'There is no server by this name.'],
  connect_failed: ['connect_failed', 'retry', (product) => `${product} could not be reached, or broke off.`],
  timeout: ['timeout', 'retry', (product) => `${product} did not answer in time.`],
  tls_failed: [
    'tls_failed',
    'permanent',
    (product) => `No secure connection to ${product}: its certificate is not trusted, or there is none.`,
  ],
  redirected: ['redirected', 'permanent', () => 'The address leads on to another site. Enter the one where it ends.'],
  invalid_address: ['invalid_config', 'permanent', () => 'This is not an address we can connect to.'],
  invalid_header: [
    'invalid_config',
    'permanent',
    () => 'A header or credential holds a character that can not be sent.',
  ],
  too_large: ['unexpected_answer', 'retry', (product) => `${product} answered at a length we do not read.`],
  invalid_answer: ['unexpected_answer', 'retry', (product) => `Something answered, but not as ${product} does.`],
};

/** There was no answer. */
export function egressFailure(reason: EgressReason, product: string): EndError {
  const [code, kind, say] = ways[reason];
  return new EndError(code, capital(say(product)), kind);
}

/** An answer in a shape that the product does not have: a page of something in between, most often. */
export function unexpected(product: string, kind: FailureKind = 'retry'): EndError {
  return new EndError('unexpected_answer', `Something answered, but not as ${product} does.`, kind);
}

/** What a status says where the product gives it no meaning of its own. Never for a success. */
export function statusFailure(
  { status, headers }: { status: number; headers: Headers },
  product: string,
  now: number,
): EndError {
  const name = capital(product);
  const afterMs = retryAfter(headers, now);
  if (status === 429 || (status === 503 && afterMs !== undefined)) return throttled(product, afterMs);
  const [code, kind, message] = meaning(status, name);
  return new EndError(code, `${message} (HTTP ${status}).`, kind, afterMs);
}

/** The other side asks for less. */
export function throttled(product: string, afterMs?: number): EndError {
  return new EndError('rate_limited', `${capital(product)} asks us to wait.`, 'throttled', afterMs);
}

function meaning(status: number, name: string): [code: string, kind: FailureKind, message: string] {
  if (status === 401) return ['invalid_credentials', 'permanent', `${name} did not accept the credentials`];
  if (status === 403) return ['forbidden', 'permanent', `${name} does not allow this with these credentials`];
  if (status === 404) return ['not_found', 'permanent', `${name} has nothing at this address`];
  if (status >= 500) return ['upstream_error', 'retry', `${name} has a problem of its own`];
  // In time it may go: too slow, still busy with the same, too early.
  if ([408, 409, 425].includes(status)) return ['upstream_error', 'retry', `${name} could not take it just now`];
  if (status >= 400) return ['rejected', 'permanent', `${name} refused the request`];
  return ['unexpected_answer', 'permanent', `Something answered, but not as expected of ${name}`];
}

/** Milliseconds that `Retry-After` asks for: seconds, or a date. RFC 9110, 10.2.3 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
