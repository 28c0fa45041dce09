import type { PollMeaning } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';

/**
 * Error codes that servers agree on: `extensions.code` as in Apollo Server, or `type` as GitHub
 * sends it. https://www.apollographql.com/docs/apollo-server/data/errors#built-in-error-codes
 */
const MEANINGS: ReadonlyMap<string, PollMeaning> = new Map([
  ['UNAUTHENTICATED', 'invalid_credentials'],
  ['UNAUTHORIZED', 'invalid_credentials'],
  ['FORBIDDEN', 'forbidden'],
  ['INSUFFICIENT_SCOPES', 'forbidden'],
  ['RATE_LIMITED', 'throttled'],
  ['THROTTLED', 'throttled'],
]);

/**
 * Returns what the errors of a GraphQL response mean, even next to data. `undefined`: no errors, or
 * unknown ones of a failed request, whose status says more.
 */
export function graphqlMeaning(body: unknown, status: number): PollMeaning | undefined {
  const errors: unknown = getAt(body, '/errors');
  if (!Array.isArray(errors) || errors.length === 0) return undefined;
  const codes = errors.flatMap((error: unknown) => [getAt(error, '/extensions/code'), getAt(error, '/type')]);
  const known = codes.flatMap((code) => (typeof code === 'string' ? (MEANINGS.get(code.toUpperCase()) ?? []) : []));
  return known[0] ?? (status < 300 ? 'retry' : undefined);
}
