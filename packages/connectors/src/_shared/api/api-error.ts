import {
  ConnectorError,
  EgressError,
  type FailureKind,
  type TestFailureReason,
} from '@connector-frame/engine/connector-api';
import { unreachable, type Subject } from '../connection-test/failures.js';
import type { Failure } from '../connection-test/outcome.js';

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

/** A failed request, with the outcome of a connection test that describes it. */
export class ApiError extends ConnectorError {
  readonly outcome: Failure;

  constructor(outcome: Failure, kind: FailureKind, afterMs?: number) {
    const { reason, message, hint } = outcome;
    super(reason, hint ? `${message} ${hint}` : message, kind, afterMs);
    this.outcome = outcome;
  }
}

/** Converts a failure of the connection test to an error of the pipeline. */
export function toConnectorError(failure: Failure, afterMs?: number): ApiError {
  const { reason } = failure;
  const kind: FailureKind = reason === 'rate_limited' ? 'throttled' : permanent.has(reason) ? 'permanent' : 'retry';
  return new ApiError(failure, kind, afterMs);
}

/** Converts a network error to a `ConnectorError`; returns other errors unchanged. */
export function toNetworkError(error: unknown, subject: Subject): unknown {
  return error instanceof EgressError ? toConnectorError(unreachable(error.reason, subject)) : error;
}
