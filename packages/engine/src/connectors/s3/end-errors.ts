import { EgressError } from '../../egress/index.js';
import { EndError, type FailureKind } from '../../runner/ends.js';
import { unreachable, type Subject } from '../connection-test/failures.js';
import type { Failure } from '../connection-test/outcome.js';
import type { TestFailureReason } from '../connection-test/tester.js';

/** What a person must change before it can go on. */
const permanent: ReadonlySet<TestFailureReason> = new Set([
  'invalid_config',
  'unsupported',
  'invalid_credentials',
  'forbidden',
  'not_found',
  'egress_refused',
  'tls_failed',
  'redirected',
]);

/** The outcome of a connection test, as a pipeline tells it. */
export function endError({ reason, message, hint }: Failure, afterMs?: number): EndError {
  const kind: FailureKind = reason === 'rate_limited' ? 'throttled' : permanent.has(reason) ? 'permanent' : 'retry';
  return new EndError(reason, hint ? `${message} ${hint}` : message, kind, afterMs);
}

/** What became of a request that did not come through; other errors pass as they are. */
export function onTheWay(error: unknown, subject: Subject): unknown {
  return error instanceof EgressError ? endError(unreachable(error.reason, subject)) : error;
}
