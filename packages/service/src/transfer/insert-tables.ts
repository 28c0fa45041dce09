import type { Script } from '../store/database.js';
import { digestOf, insertRows, tablesIn, useStableText } from '../store/table-copy.js';
import { MOVED_TABLES } from './moved-tables.js';
import type { ExportEvent } from './read-export.js';
import { TransferError } from './transfer-error.js';

/** Rows of a statement, and characters. */
const MAX_ROWS = 500;
const MAX_CHARACTERS = 4 * 1024 * 1024;

export interface InsertOptions {
  file: string;
  firstTable: ExportEvent | undefined;
  /** What follows the first table. */
  events: AsyncGenerator<ExportEvent>;
  onProgress?: (line: string) => void;
  signal?: AbortSignal;
}

/**
 * Inserts the rows of all tables, and compares them with the export. Constraints that depend on
 * other rows are added again at the end, which checks all rows. Unlike a change of
 * `session_replication_role`, that needs no superuser.
 * @returns the number of rows
 */
export async function insertTables(run: Script, options: InsertOptions): Promise<number> {
  const { file, onProgress = () => undefined, signal } = options;
  await useStableText(run);
  const known = new Set(await tablesIn(run));
  const constraints = await dropConstraints(run);
  let total = 0;
  let table = '';
  let rows: string[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    signal?.throwIfAborted();
    await insertRows(table, rows, run);
    rows = [];
    characters = 0;
  };
  for await (const event of following(options.firstTable, options.events)) {
    if (event.event === 'table') {
      // Names are part of statements.
      if (!Object.hasOwn(MOVED_TABLES, event.name) || !known.has(event.name))
        throw new TransferError(`${file} has a table that this release does not know: ${event.name}.`);
      table = event.name;
    } else if (event.event === 'row') {
      rows.push(event.row);
      characters += event.row.length;
      if (rows.length >= MAX_ROWS || characters >= MAX_CHARACTERS) await flush();
    } else if (event.event === 'table end') {
      await flush();
      if ((await digestOf(table, run)) !== event.digest)
        throw new TransferError(`The rows of the table ${table} differ from those in ${file} after the import.`);
      if (event.count > 0) onProgress(`${table}: ${event.count} rows`);
      total += event.count;
    }
  }
  for (const { table: name, constraint, definition } of constraints)
    await run(`alter table ${name} add constraint ${constraint} ${definition}`);
  return total;
}

async function* following(first: ExportEvent | undefined, rest: AsyncGenerator<ExportEvent>) {
  if (first) yield first;
  yield* rest;
}

interface Constraint {
  table: string;
  constraint: string;
  definition: string;
}

/** Drops foreign keys, and checks that existing rows need not pass. */
async function dropConstraints(run: Script): Promise<Constraint[]> {
  const found = await run(
    `select c.conrelid::regclass::text as table, quote_ident(c.conname) as constraint,
       pg_get_constraintdef(c.oid) as definition, t.relname as name
     from pg_constraint c join pg_class t on t.oid = c.conrelid
     where t.relnamespace = current_schema()::regnamespace and (c.contype = 'f' or (c.contype = 'c' and not c.convalidated))`,
  );
  const constraints = found
    .filter(({ name }) => Object.hasOwn(MOVED_TABLES, String(name)))
    .map((row) => ({
      table: String(row['table']),
      constraint: String(row['constraint']),
      definition: String(row['definition']),
    }));
  for (const { table, constraint } of constraints) await run(`alter table ${table} drop constraint ${constraint}`);
  return constraints;
}
