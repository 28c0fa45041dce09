import { isRecord } from '@connector-frame/engine/connector-api';
import { at, text, texts } from '../_shared/read.js';
import { MAX_TABLES, TIME_COLUMNS, TOO_MANY_TABLES } from '../_shared/sql/tables.js';
import { findTable, quoted } from './find-table.js';
import type { Query } from './client.js';

/** A column as described by the system catalog. */
interface Column {
  name: string;
  /** Type as written in a cast: `character varying(20)`. */
  type: string;
  /** Name of the base type: `int8`, `timestamptz`. */
  base: string;
}

/** How to read the rows of a table. */
export interface TablePlan {
  schema: string;
  name: string;
  /** Name in messages. Tables found through a schema share a generic one. */
  label: string;
  /**
   * OID and file node of the table. Changes when the table is recreated, rewritten or truncated.
   */
  identity: string;
  /** Quoted name in SQL. */
  sql: string;
  cursor: Column;
  /**
   * Tie-breakers for rows with the same cursor value: SQL expressions on `ROW`, and their types.
   */
  ties: readonly { sql: string; type: string }[];
}

/** Why a table can't be read. */
export interface TableProblem {
  /** Index in the settings' `tables`; absent for a table found through a schema. */
  index?: number;
  field: 'table' | 'cursor_column';
  code: 'not_found' | 'forbidden' | 'no_cursor';
  message: string;
}

export interface InputPlan {
  tables: TablePlan[];
  problems: TableProblem[];
  /**
   * Quoted names of tables found through a schema without a usable cursor column. Not a problem,
   * since the settings don't list them.
   */
  skipped: string[];
}

/** Alias of a row in queries; no real column is likely to have this name. */
export const ROW = '"whole row"';

const found = `SELECT oid::text AS oid FROM pg_class WHERE oid = to_regclass($1)`;

const ofSchemas = `
  SELECT c.oid::text AS oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
  ORDER BY n.nspname, c.relname LIMIT ${MAX_TABLES + 1}`;

const described = `
  SELECT c.oid::text AS oid, n.nspname AS schema, c.relname AS name, c.relkind IN ('r', 'p') AS plain,
    coalesce(pg_relation_filenode(c.oid), 0)::text AS file,
    has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AS readable,
    (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'base', y.typname)
        ORDER BY a.attnum)
      FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text AS columns,
    (SELECT json_agg(a.attname ORDER BY k.place)
      FROM pg_index i CROSS JOIN unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
      WHERE i.indrelid = c.oid AND i.indisprimary)::text AS key
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = ANY($1::oid[]) ORDER BY n.nspname, c.relname`;

/**
 * Determines which tables to read, and each one's cursor column. Queries only the system catalog.
 */
export async function planInput(query: Query, settings: Record<string, unknown>): Promise<InputPlan> {
  const chosen = at(settings, 'tables');
  const rows = Array.isArray(chosen) ? chosen.filter(isRecord) : [];
  if (rows.length > 0) return planChosen(query, rows);
  const schemas = texts(settings, 'schemas');
  const oids = (await query(ofSchemas, [schemas.length > 0 ? schemas : ['public']])).map((row) => row['oid']);
  const plan: InputPlan = { tables: [], problems: [], skipped: [] };
  if (oids.length > MAX_TABLES) {
    return { ...plan, problems: [{ field: 'table', code: 'no_cursor', message: TOO_MANY_TABLES }] };
  }
  for (const row of oids.length === 0 ? [] : await query(described, [oids])) {
    const table = readTable(row);
    const cursor = chooseCursor(table);
    if (cursor) plan.tables.push(createPlan(table, cursor, 'A table'));
    else plan.skipped.push(sqlName(table));
  }
  return plan;
}

async function planChosen(query: Query, rows: readonly Record<string, unknown>[]): Promise<InputPlan> {
  const plan: InputPlan = { tables: [], problems: [], skipped: [] };
  for (const [index, row] of rows.entries()) {
    const name = text(row, 'table') ?? '';
    const oid = (await findTable(query, found, name))?.['oid'];
    const [description] = oid === undefined ? [] : await query(described, [[oid]]);
    const planned = planTable(description && readTable(description), row, `The table ${name}`);
    if ('sql' in planned) plan.tables.push(planned);
    else plan.problems.push({ index, ...planned });
  }
  return plan;
}

function planTable(
  table: Table | undefined,
  row: Record<string, unknown>,
  label: string,
): TablePlan | Omit<TableProblem, 'index'> {
  if (!table) return { field: 'table', code: 'not_found', message: `${label} does not exist.` };
  if (!table.plain) return { field: 'table', code: 'not_found', message: `${label} is a view. Name a table.` };
  if (!table.readable) return { field: 'table', code: 'forbidden', message: `${label} may not be read by this user.` };
  const configured = text(row, 'cursor_column');
  const cursor = configured === undefined ? chooseCursor(table) : table.columns.find(({ name }) => name === configured);
  if (!cursor && configured !== undefined)
    return { field: 'cursor_column', code: 'not_found', message: `${label} has no column ${configured}.` };
  if (!cursor)
    return { field: 'cursor_column', code: 'no_cursor', message: `${label} has no cursor column. Specify one.` };
  return createPlan(table, cursor, label);
}

interface Table {
  schema: string;
  name: string;
  oid: string;
  file: string;
  plain: boolean;
  readable: boolean;
  columns: Column[];
  key: string[];
}

function readTable(row: Record<string, unknown>): Table {
  const columns: unknown = JSON.parse(text(row, 'columns') ?? '[]');
  const key: unknown = JSON.parse(text(row, 'key') ?? '[]');
  return {
    schema: String(row['schema']),
    name: String(row['name']),
    oid: String(row['oid']),
    file: String(row['file']),
    plain: row['plain'] === true,
    readable: row['readable'] === true,
    columns: (Array.isArray(columns) ? columns : []).map((column) => ({
      name: String(at(column, 'name')),
      type: String(at(column, 'type')),
      base: String(at(column, 'base')),
    })),
    key: texts({ key }, 'key'),
  };
}

/** Chooses a single-column integer primary key, otherwise a time column with a common name. */
function chooseCursor({ columns, key }: Table): Column | undefined {
  const [only] = key.length === 1 ? columns.filter(({ name }) => name === key[0]) : [];
  if (only && isWhole(only)) return only;
  return TIME_COLUMNS.flatMap((time) => columns.filter((each) => each.name === time && isTime(each)))[0];
}

export const isWhole = ({ base }: { base: string }): boolean => ['int2', 'int4', 'int8'].includes(base);
export const isTime = ({ base }: { base: string }): boolean => ['timestamp', 'timestamptz', 'date'].includes(base);

const sqlName = ({ schema, name }: Pick<Table, 'schema' | 'name'>): string => `${quoted(schema)}.${quoted(name)}`;

function createPlan({ schema, name, oid, file, columns, key }: Table, cursor: Column, label: string): TablePlan {
  const rest = columns.filter((column) => key.includes(column.name) && column.name !== cursor.name);
  return {
    schema,
    name,
    label,
    identity: `${oid}.${file}`,
    sql: sqlName({ schema, name }),
    cursor,
    // Without a primary key, use the row's physical location (`ctid`): it only has to be stable
    // from one page to the next.
    ties:
      key.length > 0
        ? rest.map((column) => ({ sql: `${ROW}.${quoted(column.name)}`, type: column.type }))
        : [
            { sql: `${ROW}.tableoid`, type: 'oid' },
            { sql: `${ROW}.ctid`, type: 'tid' },
          ],
  };
}
