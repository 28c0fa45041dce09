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

/** Converts a failure of the connection test to an error of the pipeline. */
export function toConnectorError({ reason, message, hint }: Failure, afterMs?: number): ConnectorError {
  const kind: FailureKind = reason === 'rate_limited' ? 'throttled' : permanent.has(reason) ? 'permanent' : 'retry';
  return new ConnectorError(reason, hint ? `${message} ${hint}` : message, kind, afterMs);
}

/** Converts a network error to a `ConnectorError`; returns other errors unchanged. */
export function toNetworkError(error: unknown, subject: Subject): unknown {
  return error instanceof EgressError ? toConnectorError(unreachable(error.reason, subject)) : error;
}
