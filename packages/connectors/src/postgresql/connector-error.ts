import {
  ConnectorError,
  EgressError,
  type EgressReason,
  type FailureKind,
} from '@connector-frame/engine/connector-api';
import type { Failure } from '../_shared/connection-test/outcome.js';
import { QueryError } from './session.js';

const ways: Readonly<Record<EgressReason, readonly [message: string, kind: FailureKind]>> = {
  egress_refused: ['PostgreSQL is on a network that is closed to connectors.', 'permanent'],
  invalid_address: ['The host of PostgreSQL is not an address we can connect to.', 'permanent'],
  invalid_header: ['The host of PostgreSQL is not an address we can connect to.', 'permanent'],
  dns_failed: ['There is no PostgreSQL server by this name.', 'retry'],
  connect_failed: ['PostgreSQL could not be reached, or the connection broke.', 'retry'],
  timeout: ['PostgreSQL did not answer in time.', 'retry'],
  tls_failed: ['No secure connection to PostgreSQL: its certificate is not trusted, or it has none.', 'permanent'],
  redirected: ['What answers is not PostgreSQL.', 'permanent'],
  too_large: ['The answer of PostgreSQL is larger than we take.', 'retry'],
  invalid_answer: ['What answers is not PostgreSQL.', 'retry'],
};

/**
 * Errors by SQLSTATE prefix; the first match applies.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const states: readonly (readonly [start: string, code: string, message: string, kind: FailureKind])[] = [
  ['28', 'invalid_credentials', 'PostgreSQL rejected the login.', 'permanent'],
  ['3D000', 'not_found', 'There is no database by this name.', 'permanent'],
  ['40', 'conflict', 'Conflict with another transaction on the server.', 'retry'],
  ['42501', 'forbidden', 'This user may not do that in PostgreSQL.', 'permanent'],
  ['42P01', 'not_found', 'The table does not exist.', 'permanent'],
  ['42703', 'not_found', 'A column does not exist.', 'permanent'],
  ['42', 'rejected', 'PostgreSQL can not do this with the table as it is.', 'permanent'],
  ['25006', 'read_only', 'The server takes no changes at the moment.', 'retry'],
  ['53300', 'rate_limited', 'PostgreSQL has no connection left.', 'retry'],
  ['53', 'upstream_error', 'PostgreSQL lacks memory or disk space.', 'retry'],
  ['55P03', 'conflict', 'Conflict with another transaction on the server.', 'retry'],
  ['57014', 'timeout', 'PostgreSQL took too long for one query.', 'retry'],
  ['57P', 'connect_failed', 'PostgreSQL is starting or stopping, or ended the connection.', 'retry'],
];

/**
 * Converts any failure of the connection or the server to an `ConnectorError` without the server's text.
 */
export function endError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  if (error instanceof EgressError) {
    const [message, kind] = ways[error.reason];
    return new ConnectorError(error.reason, message, kind);
  }
  if (error instanceof QueryError) {
    const [, code, message, kind] = states.find(([start]) => error.state.startsWith(start)) ?? [];
    if (code && message) return new ConnectorError(code, message, kind);
    return new ConnectorError('rejected', 'PostgreSQL refused the request.', 'retry');
  }
  return new ConnectorError('unexpected', 'Unexpected error while connecting to PostgreSQL.', 'retry');
}

/** Converts a configuration failure of the connection test, which uses the same parser. */
export function invalidConfig({ message }: Failure): ConnectorError {
  return new ConnectorError('invalid_config', message, 'permanent');
}
