import type { JsonValue } from '@connector-frame/engine/connector-api';
import type { SqlValue } from '../_shared/sql/session.js';
import { ID_COLUMN, RECORD_COLUMN, type OutputColumn, type OutputDialect } from '../_shared/sql/table-output.js';
import type { ColumnType, InputDialect, SelectedValue } from '../_shared/sql/table-plan.js';
import { toUtc } from '../_shared/sql/utc.js';

const shared = {
  product: 'SQL Server',
  quote: (name: string): string => `[${name.replaceAll(']', ']]')}]`,
  placeholder: (index: number): string => `@p${index}`,
};

/** Style 126 is ISO 8601, 1 is hexadecimal with `0x`. */
const converted = (kind: ColumnType['kind'], text: string, type: string, style: number): ColumnType => ({
  kind,
  read: (column) => `CONVERT(${text}, ${column}, ${style})`,
  bind: (placeholder) => `CONVERT(${type}, ${placeholder}, ${style})`,
});

const types: Readonly<Record<string, ColumnType>> = {
  ...Object.fromEntries(
    ['tinyint', 'smallint', 'int', 'bigint'].map((name) => [name, converted('whole', 'varchar(20)', 'bigint', 0)]),
  ),
  ...Object.fromEntries(
    ['date', 'datetime', 'smalldatetime'].map((name) => [name, converted('time', 'varchar(40)', name, 126)]),
  ),
  datetime2: converted('time', 'varchar(40)', 'datetime2(7)', 126),
  datetimeoffset: converted('time', 'varchar(40)', 'datetimeoffset(7)', 126),
  // A rowversion.
  timestamp: converted('other', 'varchar(18)', 'binary(8)', 1),
  uniqueidentifier: converted('other', 'varchar(36)', 'uniqueidentifier', 0),
  ...Object.fromEntries(
    ['char', 'varchar', 'nchar', 'nvarchar'].map((name): [string, ColumnType] => [
      name,
      { kind: 'other', read: (column) => column, bind: (placeholder) => placeholder },
    ]),
  ),
};

/** The client would round decimal numbers and times, and return other types as objects. */
function select(column: string, type: string): SelectedValue {
  switch (type) {
    case 'decimal':
    case 'numeric':
      return { sql: `CONVERT(varchar(50), ${column})`, isNumber: true };
    case 'money':
    case 'smallmoney':
      return { sql: `CONVERT(varchar(50), ${column}, 2)`, isNumber: true };
    case 'bigint':
      return { sql: `CONVERT(varchar(20), ${column})`, isNumber: true };
    case 'date':
    case 'time':
    case 'datetime':
    case 'smalldatetime':
    case 'datetime2':
    case 'datetimeoffset':
      return { sql: `CONVERT(varchar(40), ${column}, 126)` };
    case 'binary':
    case 'varbinary':
    case 'timestamp':
      return { sql: `CONVERT(varchar(max), ${column}, 1)` };
    case 'xml':
    case 'sql_variant':
      return { sql: `CONVERT(nvarchar(max), ${column})` };
    case 'clr':
      return { sql: `${column}.ToString()` };
    default:
      return { sql: column };
  }
}

export const mssqlInputDialect: InputDialect = {
  ...shared,
  limit: (rows) => `OFFSET 0 ROWS FETCH NEXT ${rows} ROWS ONLY`,
  columns: (where) => `
    SELECT * FROM (
      SELECT s.name AS schema_name, o.name AS table_name, c.name AS column_name,
        COALESCE(TYPE_NAME(c.system_type_id), 'clr') AS type_name, c.column_id AS place,
        CASE WHEN k.column_id IS NULL THEN 0 ELSE 1 END AS in_key
      FROM sys.tables o JOIN sys.schemas s ON s.schema_id = o.schema_id
      JOIN sys.columns c ON c.object_id = o.object_id
      LEFT JOIN sys.indexes i ON i.object_id = o.object_id AND i.is_primary_key = 1
      LEFT JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.column_id = c.column_id
      WHERE HAS_PERMS_BY_NAME(QUOTENAME(s.name) + '.' + QUOTENAME(o.name), 'OBJECT', 'SELECT') = 1
    ) AS found
    WHERE ${where} ORDER BY schema_name, table_name, place`,
  columnType: (name) => types[name],
  select,
};

function toValue(value: JsonValue, { type }: OutputColumn): SqlValue {
  if (value === null) return null;
  if (typeof value === 'boolean') return type === 'bit' ? String(Number(value)) : String(value);
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value === 'number') return String(value);
  if (type === 'datetime2') return toUtc(value, 'T', 7);
  return /^(?:datetime|smalldatetime|date|time)$/.test(type) ? toUtc(value, 'T', 3) : value;
}

export const mssqlOutputDialect: OutputDialect = {
  ...shared,
  // A statement has at most 2,100 parameters, and `VALUES` 1,000 rows.
  maxParameters: 2_000,
  maxRows: 1_000,
  columns: `
    SELECT c.name AS column_name, COALESCE(TYPE_NAME(c.system_type_id), 'clr') AS type_name FROM sys.columns c
    WHERE c.object_id = OBJECT_ID(QUOTENAME(@p1) + '.' + QUOTENAME(@p2))
      AND c.is_identity = 0 AND c.is_computed = 0 AND c.system_type_id <> 189
    ORDER BY c.column_id`,
  create: (schema, table) => `
    CREATE TABLE ${shared.quote(schema)}.${shared.quote(table)} (
      ${shared.quote(ID_COLUMN)} varchar(64) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY,
      ${shared.quote('_loaded_at')} datetime2 NOT NULL DEFAULT SYSUTCDATETIME(),
      ${shared.quote(RECORD_COLUMN)} nvarchar(max) NOT NULL
    )`,
  toValue,
};
