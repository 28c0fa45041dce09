import { getAt } from '@connector-frame/catalog/validate';
import { statusFailure, type Subject } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';

/**
 * HTTP statuses for error codes that servers agree on: `extensions.code` as in Apollo Server, or
 * `type` as GitHub sends it.
 * https://www.apollographql.com/docs/apollo-server/data/errors#built-in-error-codes
 */
const STATUSES: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPES: 403,
  RATE_LIMITED: 429,
  THROTTLED: 429,
  INTERNAL_SERVER_ERROR: 500,
};

/** @throws PollError if a GraphQL response reports errors, even next to data */
export function rejectGraphqlErrors(body: unknown, subject: Subject): void {
  const errors: unknown = getAt(body, '/errors');
  if (!Array.isArray(errors) || errors.length === 0) return;
  const codes = errors.flatMap((error: unknown) => [getAt(error, '/extensions/code'), getAt(error, '/type')]);
  const status = codes.flatMap((code) => (typeof code === 'string' ? (STATUSES[code.toUpperCase()] ?? []) : [])).at(0);
  if (status === undefined) {
    const message = `${subject.product} reported an error instead of the requested data.`;
    throw new PollError(failed('rejected', message), 'retry');
  }
  const kind = status === 429 ? 'throttled' : status === 500 ? 'retry' : 'permanent';
  throw new PollError(statusFailure(status, subject), kind);
}
