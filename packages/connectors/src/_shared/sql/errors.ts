import {
  ConnectorError,
  EgressError,
  type EgressReason,
  type FailureKind,
} from '@connector-frame/engine/connector-api';
import { unreachable } from '../connection-test/failures.js';
import { failed, missing, type Failure } from '../connection-test/outcome.js';
import { SqlError, type SqlFailure } from './session.js';

/** A database server, and the JSON Pointers of the fields that configure the connection to it. */
export interface SqlSubject {
  /** Name in messages: `MySQL`. */
  product: string;
  fields: { host: string; user: string; password: string; database: string };
  /** Whether the configuration has a password. */
  hasPassword: boolean;
}

const egressErrors: Readonly<Record<EgressReason, readonly [message: string, kind: FailureKind]>> = {
  egress_refused: ['{} is on a network that is closed to connectors.', 'permanent'],
  invalid_address: ['The host of {} is not a valid address.', 'permanent'],
  invalid_header: ['The host of {} is not a valid address.', 'permanent'],
  dns_failed: ['The host name of {} could not be resolved.', 'retry'],
  connect_failed: ['{} could not be reached, or the connection broke.', 'retry'],
  timeout: ['{} did not respond in time.', 'retry'],
  tls_failed: [
    'Could not establish a TLS connection to {}: its certificate is not trusted, or it does not use TLS.',
    'permanent',
  ],
  redirected: ['The server is not {}.', 'permanent'],
  too_large: ['The response from {} is too large.', 'retry'],
  invalid_answer: ['The server is not {}.', 'retry'],
};

const failures: Readonly<Record<SqlFailure, readonly [code: string, message: string, kind: FailureKind]>> = {
  invalid_credentials: ['invalid_credentials', '{} rejected the login.', 'permanent'],
  forbidden: ['forbidden', 'This user may not do that in {}.', 'permanent'],
  no_database: ['not_found', 'There is no database by this name, or this user may not use it.', 'permanent'],
  no_table: ['not_found', 'The table does not exist.', 'permanent'],
  no_column: ['not_found', 'A column does not exist.', 'permanent'],
  read_only: ['read_only', '{} is read-only at the moment.', 'retry'],
  busy: ['rate_limited', '{} has reached its connection limit.', 'retry'],
  full: ['upstream_error', '{} lacks memory or disk space.', 'retry'],
  conflict: ['conflict', 'Conflict with another transaction on the server.', 'retry'],
  timeout: ['timeout', '{} took too long for one query.', 'retry'],
  stopping: ['connect_failed', '{} is starting or stopping, or ended the connection.', 'retry'],
  rejected: ['rejected', '{} rejected the statement for this table.', 'permanent'],
  invalid_value: ['rejected', '{} rejected a value.', 'permanent'],
  missing_value: ['rejected', '{} rejected a row without a value.', 'permanent'],
  no_such_reference: ['rejected', '{} rejected a row that refers to a missing one.', 'permanent'],
  already_there: ['rejected', '{} rejected a row that already exists.', 'permanent'],
  constraint: ['rejected', '{} rejected a row that violates a constraint.', 'permanent'],
  too_large: ['too_large', 'The statement is too large for {}.', 'permanent'],
};

/** Converts any failure of the connection or the server to an error without the server's text. */
export function toSqlConnectorError(error: unknown, product: string): ConnectorError {
  if (error instanceof ConnectorError) return error;
  if (error instanceof EgressError) {
    const [message, kind] = egressErrors[error.reason];
    return new ConnectorError(error.reason, message.replace('{}', product), kind);
  }
  if (error instanceof SqlError) {
    const [code, message, kind] = failures[error.failure];
    return new ConnectorError(code, message.replace('{}', product), kind);
  }
  return new ConnectorError('unexpected', `Unexpected error while connecting to ${product}.`, 'retry');
}

/** Converts a failed sign-in or query to the outcome of a connection test. */
export function toTestFailure(error: unknown, { product, fields, hasPassword }: SqlSubject): Failure {
  if (error instanceof EgressError) return unreachable(error.reason, { product, address: fields.host });
  if (!(error instanceof SqlError)) throw error;
  const [code, message] = failures[error.failure];
  switch (error.failure) {
    case 'invalid_credentials':
      if (!hasPassword) return missing(fields.password, 'The server asks for a password.');
      return failed('invalid_credentials', `${product} did not accept the user name and password.`, {
        at: [fields.user, fields.password],
      });
    case 'no_database':
      return failed('not_found', message, { at: [fields.database, fields.user] });
    case 'forbidden':
      return failed('forbidden', `${product} does not allow this user to do that.`, { at: fields.user });
    case 'busy':
      return failed('rate_limited', message.replace('{}', product), { hint: 'Try again in a minute.' });
    case 'timeout':
      return failed('timeout', message.replace('{}', product));
    default:
      return failed(code === 'not_found' ? 'not_found' : 'rejected', message.replace('{}', product));
  }
}
