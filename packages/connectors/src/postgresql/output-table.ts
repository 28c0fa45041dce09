import { ConnectorError } from '@connector-frame/engine/connector-api';
import { at, text, texts } from '../_shared/read.js';
import { findTable, quoted } from './find-table.js';
import type { Query } from './client.js';

/** The target table, and the columns to fill. */
export interface OutputTable {
  /** Quoted name in SQL. */
  sql: string;
  /** Columns that receive the field of the same name. */
  columns: readonly string[];
  /** Column for the whole record. */
  record?: { name: string; type: string };
  /** Column for the record ID. */
  id?: { name: string; type: string };
  /** The `ON CONFLICT` clause at the end of the statement, or an empty string. */
  onConflict: string;
}

const described = `
  SELECT n.nspname AS schema, c.relname AS name,
    (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'takes',
        coalesce(to_jsonb(a) ->> 'attgenerated', '') = '' AND coalesce(to_jsonb(a) ->> 'attidentity', '') <> 'a'
        AND has_column_privilege(c.oid, a.attnum, 'INSERT')) ORDER BY a.attnum)
      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text AS columns
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p', 'v', 'f')`;

interface Column {
  name: string;
  type: string;
  /** Whether it accepts values (it is not generated) and this user may insert them. */
  takes: boolean;
}

/**
 * Looks up the table and columns that the settings name.
 * @throws ConnectorError `not_found` or `forbidden`, permanent
 */
export async function describeOutputTable(query: Query, settings: Record<string, unknown>): Promise<OutputTable> {
  const name = text(settings, 'table') ?? '';
  const row = await findTable(query, described, name);
  if (!row) throw new ConnectorError('not_found', `The table ${name} does not exist.`, 'permanent');
  const columns = readColumns(row['columns']);
  const column = (configured: string | undefined): Column | undefined => {
    if (configured === undefined) return undefined;
    const found = columns.find((each) => each.name === configured);
    if (!found) throw new ConnectorError('not_found', `The table ${name} has no column ${configured}.`, 'permanent');
    if (found.takes) return found;
    throw new ConnectorError(
      'forbidden',
      `This user may not insert into the column ${configured} of ${name}.`,
      'permanent',
    );
  };
  const record = column(text(settings, 'record_column'));
  const id = column(text(settings, 'id_column'));
  const chosen = texts(settings, 'column_names').flatMap((configured) => column(configured) ?? []);
  const fields = (chosen.length > 0 ? chosen : columns.filter(({ takes }) => takes))
    .map((each) => each.name)
    .filter((each) => each !== record?.name && each !== id?.name);
  if (fields.length === 0 && !record)
    throw new ConnectorError('forbidden', `This user may not insert into the table ${name}.`, 'permanent');
  return {
    sql: `${quoted(String(row['schema']))}.${quoted(String(row['name']))}`,
    columns: fields,
    ...(record && { record }),
    ...(id && { id }),
    onConflict: conflict(id, at(settings, 'skip_existing') === true),
  };
}

function conflict(id: Column | undefined, skip: boolean): string {
  if (skip) return ' ON CONFLICT DO NOTHING';
  return id ? ` ON CONFLICT (${quoted(id.name)}) DO NOTHING` : '';
}

function readColumns(value: unknown): Column[] {
  const columns: unknown = typeof value === 'string' ? JSON.parse(value) : [];
  return (Array.isArray(columns) ? columns : []).map((column) => ({
    name: String(at(column, 'name')),
    type: String(at(column, 'type')),
    takes: at(column, 'takes') === true,
  }));
}
