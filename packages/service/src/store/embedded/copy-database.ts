import type { Database, Script } from '../database.js';
import { loadMigrations, migrate, schemaVersionOf } from '../migrate.js';
import { continueIdentities, digestOf, insertRows, pagesOf, tablesIn, useStableText } from '../table-copy.js';

/**
 * Copies the schema and all rows of a database to an empty one, in one transaction, and compares
 * them. Throws if they differ.
 */
export async function copyDatabase(from: Database, to: Database): Promise<{ rows: number }> {
  return from.script(async (read) => {
    const version = await schemaVersionOf(read);
    // A service that was stopped during its first start.
    if (version === undefined) return { rows: 0 };
    await migrate(
      to,
      (await loadMigrations()).filter((each) => each.version <= version),
    );
    await useStableText(read);
    return to.script(async (write) => {
      // Triggers and foreign keys apply to changes, not to a copy.
      await write('set local session_replication_role = replica');
      await useStableText(write);
      let rows = 0;
      for (const table of await tablesIn(read)) rows += await copyTable(table, read, write);
      await continueIdentities(write);
      return { rows };
    });
  });
}

async function copyTable(table: string, read: Script, write: Script): Promise<number> {
  // The migrations have written the list of themselves.
  await write(`delete from ${table}`);
  for await (const page of pagesOf(table, read)) await insertRows(table, page, write);
  const [before, after] = [await digestOf(table, read), await digestOf(table, write)];
  if (before !== after) throw new Error(`The copy of the table ${table} differs from the original.`);
  return Number(before.split(' ', 1)[0]);
}
