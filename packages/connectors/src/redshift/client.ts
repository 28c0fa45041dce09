import type { ConnectionOptions } from 'node:tls';
import type { Egress, JsonValue } from '@connector-frame/engine/connector-api';
import { openSession, QueryError, type Database } from '../postgresql/client.js';
import { SqlError, type SessionLimits, type SqlFailure, type SqlSession } from '../_shared/sql/session.js';

export type RedshiftDatabase = Omit<Database, 'encryption'>;

/** Failures by SQLSTATE prefix; the first match applies. */
const states: readonly (readonly [start: string, failure: SqlFailure])[] = [
  ['28', 'invalid_credentials'],
  ['3D000', 'no_database'],
  ['40', 'conflict'],
  ['42501', 'forbidden'],
  ['42P01', 'no_table'],
  ['42703', 'no_column'],
  ['25006', 'read_only'],
  ['53300', 'busy'],
  ['53', 'full'],
  ['55P03', 'conflict'],
  ['57014', 'timeout'],
  ['57P', 'stopping'],
  ['22001', 'too_large'],
  ['22', 'invalid_value'],
  // A cast that a JSON document or a number does not allow.
  ['42804', 'invalid_value'],
  ['23502', 'missing_value'],
  ['23505', 'already_there'],
  ['23', 'constraint'],
  // Redshift's own errors; the most common one is a conflict of serializable transactions.
  ['XX000', 'conflict'],
];

function toSqlError(error: unknown): unknown {
  if (!(error instanceof QueryError)) return error;
  const found = states.find(([start]) => error.state.startsWith(start));
  return new SqlError(found?.[1] ?? 'rejected', error.state);
}

/**
 * Returns a function that signs in with the protocol of PostgreSQL, which Redshift speaks. Redshift's
 * certificates are those of a public authority: the connection is always encrypted and verified.
 *
 * @param tls authorities to trust instead
 */
export const openRedshift =
  (tls: ConnectionOptions = {}) =>
  async (
    database: RedshiftDatabase,
    egress: Egress,
    signal: AbortSignal,
    limits: SessionLimits,
  ): Promise<SqlSession> => {
    const encryption = { tries: [true], mayRefuse: false, tls };
    const session = await openSession({ ...database, encryption }, egress, signal, limits).catch((error: unknown) => {
      throw toSqlError(error);
    });
    const query: SqlSession['query'] = async (sql, values = []) => {
      try {
        const rows = await session.query(sql, values);
        const columns = Object.keys(rows[0] ?? {});
        return { columns, rows: rows.map((row) => columns.map((column) => toJson(row[column]))) };
      } catch (error) {
        throw toSqlError(error);
      }
    };
    try {
      await query('SET statement_timeout = 60000');
      // Times as ISO 8601, in UTC.
      await query(`SET TimeZone = 'UTC'`);
      await query(`SET DateStyle = 'ISO'`);
    } catch (error) {
      session.destroy();
      throw error;
    }
    return {
      query,
      get closed() {
        return session.closed;
      },
      end: () => session.end(),
      destroy: () => session.destroy(),
    };
  };

function toJson(value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return value;
  return JSON.stringify(value);
}
