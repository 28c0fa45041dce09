import type { Script } from './database.js';

/** Rows per statement. */
const PAGE = 500;

/** Makes the text of a value the same on every server. For the transaction that reads or compares rows. */
export async function useStableText(run: Script): Promise<void> {
  await run(`set local timezone = 'UTC'`);
  await run(`set local bytea_output = 'hex'`);
  await run('set local extra_float_digits = 1');
}

/** Names of the tables in the current schema, quoted if necessary. */
export async function tablesIn(run: Script): Promise<string[]> {
  const tables = await run(
    `select quote_ident(table_name) as name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE' order by table_name`,
  );
  return tables.map((row) => String(row['name']));
}

/** Yields all rows of a table as JSON, page by page, in no order. The caller has a transaction. */
export async function* pagesOf(table: string, read: Script): AsyncGenerator<string[]> {
  await read(`declare rows no scroll cursor for select to_json(t)::text as row from ${table} t`);
  for (;;) {
    const page = await read(`fetch ${PAGE} from rows`);
    if (page.length === 0) break;
    yield page.map((row) => String(row['row']));
  }
  await read('close rows');
}

/** Inserts rows as `pagesOf` yields them, with the numbers of identity columns. */
export async function insertRows(table: string, rows: readonly string[], write: Script): Promise<void> {
  if (rows.length === 0) return;
  const list = literal(`[${rows.join(',')}]`);
  await write(
    `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, ${list})`,
  );
}

/** Makes identity columns continue after the highest number in their table. */
export async function continueIdentities(run: Script): Promise<void> {
  const columns = await run(
    `select c.oid::regclass::text as table, quote_ident(a.attname) as column,
       pg_get_serial_sequence(c.oid::regclass::text, a.attname) as sequence
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attidentity <> '' and c.relnamespace = current_schema()::regnamespace`,
  );
  for (const { table, column, sequence } of columns)
    await run(
      `select setval(${literal(String(sequence))}, (select coalesce(max(${String(column)}), 0) + 1 from ${String(table)}), false)`,
    );
}

/** Returns the number of rows and a hash of their content, whatever their order. */
export async function digestOf(table: string, run: Script): Promise<string> {
  const [row] = await run(
    `select count(*) || ' ' || coalesce(sum(('x' || left(md5(to_json(t)::text), 16))::bit(64)::bigint), 0) as digest
     from ${table} t`,
  );
  return String(row?.['digest']);
}

/** Quotes a string. `standard_conforming_strings` is on, so a backslash is a character. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
