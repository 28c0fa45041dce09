import { EgressError } from '../../egress/index.js';
import { EndError, type FailureKind } from '../../runner/ends.js';
import { unreachable, type Subject } from '../connection-test/failures.js';
import type { Failure } from '../connection-test/outcome.js';
import type { TestFailureReason } from '../connection-test/tester.js';

/** Failures that last until a user changes something. */
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

/** Converts a failure of the connection test to an error of the pipeline. */
export function endError({ reason, message, hint }: Failure, afterMs?: number): EndError {
  const kind: FailureKind = reason === 'rate_limited' ? 'throttled' : permanent.has(reason) ? 'permanent' : 'retry';
  return new EndError(reason, hint ? `${message} ${hint}` : message, kind, afterMs);
}

/** Converts a network error to an `EndError`; returns other errors unchanged. */
export function onTheWay(error: unknown, subject: Subject): unknown {
  return error instanceof EgressError ? endError(unreachable(error.reason, subject)) : error;
}
