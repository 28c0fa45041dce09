/** What a connection to an SQL database can do, and what its errors mean. */
import type { JsonValue } from '@connector-frame/engine/connector-api';

/** A parameter of a statement. Numbers are bound as text, so that they keep all digits. */
export type SqlValue = string | null;

/** A result with its column names, in the order of the statement. */
export interface SqlResult {
  columns: readonly string[];
  rows: readonly (readonly JsonValue[])[];
}

/** An authenticated connection. */
export interface SqlSession {
  /** @throws SqlError, EgressError */
  query(sql: string, values?: readonly SqlValue[]): Promise<SqlResult>;
  /** Whether the connection is closed, by either side. */
  readonly closed: boolean;
  /** Terminates the session and closes the connection. */
  end(): Promise<void>;
  /** Closes the connection immediately. */
  destroy(): void;
}

export interface SessionLimits {
  /** Milliseconds to wait for the result of one query. */
  queryMs: number;
  /** Maximum bytes of one query's result. */
  maxBytes: number;
}

/** Errors of a server, independent of the product. */
export type SqlFailure =
  | 'invalid_credentials'
  | 'forbidden'
  | 'no_database'
  | 'no_table'
  | 'no_column'
  | 'read_only'
  | 'busy'
  | 'full'
  | 'conflict'
  | 'timeout'
  | 'stopping'
  | 'rejected'
  | RowFailure;

/** Errors that are the fault of a row. */
export type RowFailure =
  | 'invalid_value'
  | 'missing_value'
  | 'no_such_reference'
  | 'already_there'
  | 'constraint'
  | 'too_large';

const rowFailures: ReadonlySet<string> = new Set<RowFailure>([
  'invalid_value',
  'missing_value',
  'no_such_reference',
  'already_there',
  'constraint',
  'too_large',
]);

/** The server returned an error. Does not expose the server's message. */
export class SqlError extends Error {
  readonly failure: SqlFailure;

  /** @param code the server's error number */
  constructor(failure: SqlFailure, code: string | number) {
    super(`SQL error ${code}`);
    this.failure = failure;
  }
}

/** Returns why a row was rejected, or `undefined` if the error is not the fault of a row. */
export function rowFailureOf(error: unknown): string | undefined {
  return error instanceof SqlError && rowFailures.has(error.failure) ? error.failure : undefined;
}

/** Converts a result to one object per row. */
export const objectsOf = ({ columns, rows }: SqlResult): Record<string, JsonValue>[] =>
  rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));

/** Returns a value that the server's catalog always has, such as a name, as text. */
export function nameIn(row: Readonly<Record<string, JsonValue>>, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}
