import { isRecord } from '@connector-frame/engine/connector-api';
import { at, text } from '../read.js';
import { nameIn, objectsOf, type SqlSession, type SqlValue } from './session.js';
import { MAX_TABLES, TIME_COLUMNS, TOO_MANY_TABLES } from './tables.js';

/** How the values of a column are read as text, and compared with such a text. */
export interface ColumnType {
  /** Whether a primary key of this type grows, or the column holds a time. */
  kind: 'whole' | 'time' | 'other';
  /** SQL for the value as text. */
  read(column: string): string;
  /** SQL for the value of a placeholder with such a text. */
  bind(placeholder: string): string;
}

/** What an input has to know about a product's SQL. */
export interface InputDialect {
  product: string;
  /** Quotes any name as an identifier. */
  quote(name: string): string;
  /** Placeholder of a parameter, counted from 1. */
  placeholder(index: number): string;
  /** Clause at the end of a sorted query that limits it to this many rows. */
  limit(rows: number): string;
  /**
   * Query for the columns of all tables that this user may read, in order: `schema_name`,
   * `table_name`, `column_name`, `type_name`, `in_key` (1 or 0).
   *
   * @param where condition on `schema_name` and `table_name`
   */
  columns(where: string): string;
  /** Returns `undefined` for a type that can't be compared. */
  columnType(name: string): ColumnType | undefined;
  /**
   * Returns SQL for the value of a column in a record, for types whose values the client would
   * change. Absent: all columns are selected as they are.
   */
  select?(column: string, type: string): SelectedValue;
}

export interface SelectedValue {
  sql: string;
  /** The value is a number as text. */
  isNumber?: true;
}

interface Column {
  name: string;
  typeName: string;
  type: ColumnType | undefined;
  inKey: boolean;
}

/** A column of the order in which rows are read. */
export interface OrderColumn {
  name: string;
  type: ColumnType;
}

/** How to read the rows of a table. */
export interface TablePlan {
  schema: string;
  name: string;
  /** Name in messages. Tables found through a schema share a generic one. */
  label: string;
  /** Cursor column, then the rest of the primary key. */
  order: readonly [OrderColumn, ...OrderColumn[]];
  /** All columns with their types, in the order of the table. */
  columns: readonly { name: string; typeName: string }[];
}

/** Why a table can't be read. */
export interface TableProblem {
  /** Index in the settings' `tables`; absent for tables found through a schema. */
  index?: number;
  field: 'table' | 'cursor_column';
  code: 'not_found' | 'no_cursor';
  message: string;
}

export interface InputPlan {
  tables: TablePlan[];
  problems: TableProblem[];
  /** Number of tables found through a schema that can't be read in an order. */
  skipped: number;
}

interface Table {
  schema: string;
  name: string;
  columns: Column[];
}

/**
 * Determines which tables to read, and each one's order: those that the settings list, otherwise all
 * of the schemas.
 *
 * @param schemas the first one is used for a listed table without a schema; empty: all
 */
export async function planTables(
  session: SqlSession,
  dialect: InputDialect,
  settings: Record<string, unknown>,
  schemas: readonly string[],
): Promise<InputPlan> {
  const listed = at(settings, 'tables');
  const rows = Array.isArray(listed) ? listed.filter(isRecord) : [];
  const plan: InputPlan = { tables: [], problems: [], skipped: 0 };
  if (rows.length > 0) {
    for (const [index, row] of rows.entries()) {
      const planned = await planListed(session, dialect, row, schemas);
      if ('order' in planned) plan.tables.push(planned);
      else plan.problems.push({ index, ...planned });
    }
    return plan;
  }
  const found = await findTables(session, dialect, schemas);
  if (found.length > MAX_TABLES) {
    return { ...plan, problems: [{ field: 'table', code: 'no_cursor', message: TOO_MANY_TABLES }] };
  }
  for (const table of found) {
    const order = orderBy(table, chooseCursor(table));
    if (order) plan.tables.push({ ...table, label: 'A table', order });
    else plan.skipped += 1;
  }
  return plan;
}

async function planListed(
  session: SqlSession,
  dialect: InputDialect,
  row: Record<string, unknown>,
  schemas: readonly string[],
): Promise<TablePlan | Omit<TableProblem, 'index'>> {
  const given = text(row, 'table') ?? '';
  const label = `The table ${given}`;
  const table = await findNamed(session, dialect, given, schemas);
  if (!table)
    return { field: 'table', code: 'not_found', message: `${label} does not exist, or this user may not read it.` };
  const wanted = text(row, 'cursor_column');
  const cursor = wanted === undefined ? chooseCursor(table) : table.columns.find(({ name }) => name === wanted);
  if (!cursor && wanted !== undefined)
    return { field: 'cursor_column', code: 'not_found', message: `${label} has no column ${wanted}.` };
  if (!cursor)
    return { field: 'cursor_column', code: 'no_cursor', message: `${label} has no cursor column. Specify one.` };
  const order = orderBy(table, cursor);
  if (order) return { ...table, label, order };
  return {
    field: 'cursor_column',
    code: 'no_cursor',
    message: `${label} cannot be read in the order of this column: it needs a number, time or text, and a primary key.`,
  };
}

/** Finds a table by its name, or by schema and name. */
async function findNamed(
  session: SqlSession,
  dialect: InputDialect,
  given: string,
  schemas: readonly string[],
): Promise<Table | undefined> {
  const [schema] = schemas;
  const dot = given.indexOf('.');
  const split: [string | undefined, string][] = [
    [schema, given],
    ...(dot > 0 ? [[given.slice(0, dot), given.slice(dot + 1)] satisfies [string, string]] : []),
  ];
  for (const [of, name] of split) {
    const values = of === undefined ? [name] : [name, of];
    const where = `table_name = ${dialect.placeholder(1)}${of === undefined ? '' : ` AND schema_name = ${dialect.placeholder(2)}`}`;
    const [table] = await readTables(session, dialect, where, values);
    if (table) return table;
  }
  return undefined;
}

function findTables(session: SqlSession, dialect: InputDialect, schemas: readonly string[]): Promise<Table[]> {
  const places = schemas.map((_schema, index) => dialect.placeholder(index + 1));
  return readTables(session, dialect, places.length > 0 ? `schema_name IN (${places.join(', ')})` : '1 = 1', schemas);
}

async function readTables(
  session: SqlSession,
  dialect: InputDialect,
  where: string,
  values: readonly SqlValue[],
): Promise<Table[]> {
  const tables = new Map<string, Table>();
  for (const row of objectsOf(await session.query(dialect.columns(where), values))) {
    const [schema, name] = [nameIn(row, 'schema_name'), nameIn(row, 'table_name')];
    const key = JSON.stringify([schema, name]);
    const table = tables.get(key) ?? { schema, name, columns: [] };
    tables.set(key, table);
    table.columns.push({
      name: nameIn(row, 'column_name'),
      typeName: nameIn(row, 'type_name').toLowerCase(),
      type: dialect.columnType(nameIn(row, 'type_name').toLowerCase()),
      inKey: Number(row['in_key']) === 1,
    });
  }
  return [...tables.values()];
}

/** Chooses a single-column primary key of whole numbers, otherwise a time column with a common name. */
function chooseCursor({ columns }: Table): Column | undefined {
  const key = columns.filter(({ inKey }) => inKey);
  const [only] = key;
  if (key.length === 1 && only?.type?.kind === 'whole') return only;
  return TIME_COLUMNS.flatMap((time) =>
    columns.filter(({ name, type }) => name.toLowerCase() === time && type?.kind === 'time'),
  )[0];
}

function orderBy({ columns }: Table, cursor: Column | undefined): TablePlan['order'] | undefined {
  const key = columns.filter(({ inKey }) => inKey);
  // Without a key, a page could end between rows with the same value.
  if (!cursor?.type || key.length === 0) return undefined;
  const rest = key.filter((column) => column !== cursor);
  const ties = rest.flatMap(({ name, type }) => (type ? [{ name, type }] : []));
  return ties.length < rest.length ? undefined : [{ name: cursor.name, type: cursor.type }, ...ties];
}
