import type { ColumnType, InputDialect } from '../_shared/sql/table-plan.js';
import { ID_COLUMN, RECORD_COLUMN, type OutputDialect } from '../_shared/sql/table-output.js';
import { toParameter } from './values.js';

const shared = {
  product: 'MySQL',
  quote: (name: string): string => `\`${name.replaceAll('`', '``')}\``,
  placeholder: (): string => '?',
};

const asText = (column: string): string => `CAST(${column} AS CHAR)`;
const cast = (kind: ColumnType['kind'], type: string): ColumnType => ({
  kind,
  read: asText,
  bind: (placeholder) => `CAST(${placeholder} AS ${type})`,
});
const bytes: ColumnType = {
  kind: 'other',
  read: (column) => `HEX(${column})`,
  bind: (placeholder) => `UNHEX(${placeholder})`,
};
const characters: ColumnType = { kind: 'other', read: asText, bind: (placeholder) => placeholder };

export const mysqlInputDialect: InputDialect = {
  ...shared,
  limit: (rows) => `LIMIT ${rows}`,
  columns: (where) => `
    SELECT * FROM (
      SELECT c.TABLE_SCHEMA AS schema_name, c.TABLE_NAME AS table_name, c.COLUMN_NAME AS column_name,
        c.COLUMN_TYPE AS type_name, c.COLUMN_KEY = 'PRI' AS in_key, c.ORDINAL_POSITION AS place
      FROM information_schema.COLUMNS c JOIN information_schema.TABLES t USING (TABLE_SCHEMA, TABLE_NAME)
      WHERE t.TABLE_TYPE = 'BASE TABLE'
    ) AS found
    WHERE ${where} ORDER BY schema_name, table_name, place`,
  columnType(name) {
    const [, base = '', rest = ''] = /^(\w+)(.*)$/.exec(name) ?? [];
    if (/^(?:tinyint|smallint|mediumint|int|bigint)$/.test(base))
      return cast('whole', rest.includes('unsigned') ? 'UNSIGNED' : 'SIGNED');
    if (base === 'datetime' || base === 'timestamp') return cast('time', 'DATETIME(6)');
    if (base === 'date') return cast('time', 'DATE');
    if (base === 'decimal') return cast('other', 'DECIMAL(65, 30)');
    if (base === 'binary' || base === 'varbinary') return bytes;
    return base === 'char' || base === 'varchar' || base === 'uuid' ? characters : undefined;
  },
};

export const mysqlOutputDialect: OutputDialect = {
  ...shared,
  maxParameters: 60_000,
  maxRows: 2_000,
  columns: `
    SELECT COLUMN_NAME AS column_name, DATA_TYPE AS type_name FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND coalesce(GENERATION_EXPRESSION, '') = ''
    ORDER BY ORDINAL_POSITION`,
  create: (schema, table) => `
    CREATE TABLE IF NOT EXISTS ${shared.quote(schema)}.${shared.quote(table)} (
      ${shared.quote(ID_COLUMN)} VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
      ${shared.quote('_loaded_at')} TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
      ${shared.quote(RECORD_COLUMN)} JSON NOT NULL
    )`,
  toValue: toParameter,
};
