import { loadMigrations, migrate } from '../migrate.js';
import type { Database, Script } from '../database.js';

/** Rows per statement. */
const PAGE = 500;

/**
 * Copies the schema and all rows of a database to an empty one, in one transaction, and compares
 * them. Throws if they differ.
 */
export async function copyDatabase(from: Database, to: Database): Promise<{ rows: number }> {
  return from.script(async (read) => {
    const [applied] = await read(`select to_regclass('schema_migrations') is not null as present`);
    // A service that was stopped during its first start.
    if (applied?.['present'] !== true) return { rows: 0 };
    const [newest] = await read('select coalesce(max(version), 0) as version from schema_migrations');
    const version = Number(newest?.['version']);
    await migrate(
      to,
      (await loadMigrations()).filter((each) => each.version <= version),
    );
    return to.script(async (write) => {
      // Triggers and foreign keys apply to changes, not to a copy.
      await write('set local session_replication_role = replica');
      let rows = 0;
      for (const table of await tablesOf(read)) rows += await copyTable(table, read, write);
      return { rows };
    });
  });
}

async function tablesOf(read: Script): Promise<string[]> {
  const tables = await read(
    `select quote_ident(table_name) as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' order by table_name`,
  );
  return tables.map((row) => String(row['name']));
}

async function copyTable(table: string, read: Script, write: Script): Promise<number> {
  // The migrations have written the list of themselves.
  await write(`delete from ${table}`);
  await read(`declare rows no scroll cursor for select to_json(t)::text as row from ${table} t`);
  for (;;) {
    const page = await read(`fetch ${PAGE} from rows`);
    if (page.length === 0) break;
    const list = literal(`[${page.map((row) => String(row['row'])).join(',')}]`);
    await write(`insert into ${table} select * from json_populate_recordset(null::${table}, ${list})`);
  }
  await read('close rows');
  const [before, after] = [await digest(table, read), await digest(table, write)];
  if (before !== after) throw new Error(`The copy of the table ${table} differs from the original.`);
  return Number(before.split(' ', 1)[0]);
}

/** Returns the number of rows and a hash of their content. */
async function digest(table: string, run: Script): Promise<string> {
  const [row] = await run(
    `select count(*) || ' ' || coalesce(md5(string_agg(text, '' order by text collate "C")), '') as digest
     from (select md5(to_json(t)::text) as text from ${table} t) rows`,
  );
  return String(row?.['digest']);
}

/** Quotes a string. `standard_conforming_strings` is on, so a backslash is a character. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
