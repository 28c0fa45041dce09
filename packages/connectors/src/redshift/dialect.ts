import type { JsonValue } from '@connector-frame/engine/connector-api';
import type { SqlValue } from '../_shared/sql/session.js';
import { ID_COLUMN, RECORD_COLUMN, type OutputColumn, type OutputDialect } from '../_shared/sql/table-output.js';
import type { ColumnType, InputDialect, SelectedValue } from '../_shared/sql/table-plan.js';

const shared = {
  product: 'Redshift',
  quote: (name: string): string => `"${name.replaceAll('"', '""')}"`,
  placeholder: (index: number): string => `$${index}`,
};

const cast = (kind: ColumnType['kind'], type: string): ColumnType => ({
  kind,
  read: (column) => `${column}::varchar`,
  bind: (placeholder) => `${placeholder}::${type}`,
});

const types: Readonly<Record<string, ColumnType>> = {
  int2: cast('whole', 'bigint'),
  int4: cast('whole', 'bigint'),
  int8: cast('whole', 'bigint'),
  date: cast('time', 'date'),
  timestamp: cast('time', 'timestamp'),
  timestamptz: cast('time', 'timestamptz'),
  varchar: cast('other', 'varchar'),
  bpchar: cast('other', 'varchar'),
  text: cast('other', 'varchar'),
};

/** As text: the client would round numbers and times. */
function select(column: string, type: string): SelectedValue {
  switch (type) {
    case 'bool':
      return { sql: column };
    case 'int2':
    case 'int4':
    case 'int8':
    case 'numeric':
    case 'float4':
    case 'float8':
      return { sql: `${column}::varchar`, isNumber: true };
    case 'timestamp':
    case 'timestamptz':
      return { sql: `REPLACE(${column}::varchar, ' ', 'T')` };
    case 'super':
      return { sql: `JSON_SERIALIZE(${column})` };
    default:
      return { sql: `${column}::varchar` };
  }
}

/** Redshift has the system catalog of PostgreSQL 8. */
export const redshiftInputDialect: InputDialect = {
  ...shared,
  limit: (rows) => `LIMIT ${rows}`,
  columns: (where) => `
    SELECT * FROM (
      SELECT n.nspname::varchar AS schema_name, c.relname::varchar AS table_name, a.attname::varchar AS column_name,
        t.typname::varchar AS type_name, a.attnum AS place, CASE WHEN k.conrelid IS NULL THEN 0 ELSE 1 END AS in_key
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p' AND a.attnum = ANY(k.conkey)
      WHERE c.relkind = 'r' AND SUBSTRING(n.nspname::varchar, 1, 3) <> 'pg_' AND n.nspname <> 'information_schema'
        AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
    ) AS found
    WHERE ${where} ORDER BY schema_name, table_name, place`,
  columnType: (name) => types[name],
  select,
};

function toValue(value: JsonValue, { type }: OutputColumn): SqlValue {
  if (value === null) return null;
  if (type === 'super' || typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

export const redshiftOutputDialect: OutputDialect = {
  ...shared,
  // A statement has at most 32,767 parameters.
  maxParameters: 30_000,
  maxRows: 2_000,
  columns: `
    SELECT a.attname::varchar AS column_name, t.typname::varchar AS type_name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'v') ORDER BY a.attnum`,
  create: (schema, table) => `
    CREATE TABLE IF NOT EXISTS ${shared.quote(schema)}.${shared.quote(table)} (
      ${shared.quote(ID_COLUMN)} VARCHAR(64) NOT NULL PRIMARY KEY,
      ${shared.quote('_loaded_at')} TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
      ${shared.quote(RECORD_COLUMN)} SUPER NOT NULL
    )`,
  bind: (placeholder, { type }) => (type === 'super' ? `JSON_PARSE(${placeholder})` : placeholder),
  // Primary keys are only a hint for the query planner.
  looksUpIds: true,
  toValue,
};
