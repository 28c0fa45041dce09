import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { Logger } from 'pino';
import { embeddedDatabase, postgresDatabase, type Database } from './database.js';
import { lockFolder } from './folder-lock.js';
import { protectFolder } from './private-folder.js';
import { PrivateNodeFS } from './private-node-fs.js';

/**
 * Opens the database: PostgreSQL at `url`, or the embedded one in `folder`, which it locks for this
 * process.
 * @throws FolderInUseError when another process holds the folder
 * @throws FolderNotPrivateError when other users can read it, and that can't be changed
 */
export async function openDatabase(
  where: { url?: string | undefined; folder: string },
  log: Logger,
): Promise<Database> {
  if (where.url !== undefined) {
    return postgresDatabase(where.url, (error) => log.warn({ name: error.name }, 'idle database connection lost'));
  }
  protectFolder(where.folder, isOfDatabase);
  const lock = await lockFolder(where.folder);
  try {
    const database = embeddedDatabase(await PGlite.create({ fs: new PrivateNodeFS(join(where.folder, 'db')) }));
    return {
      ...database,
      close: async () => {
        await database.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Returns the ids of the master keys that a database requires; empty for a new one. Read-only. */
export async function requiredMasterKeyIds(database: Database): Promise<string[]> {
  return database.script(async (run) => {
    const [table] = await run(`select to_regclass('data_keys') is not null as present`);
    if (table?.['present'] !== true) return [];
    const rows = await run('select distinct master_key_id as id from data_keys');
    return rows.map((row) => String(row['id']));
  });
}

const isOfDatabase = (name: string): boolean =>
  name === 'db' || name === 'master.key' || name.startsWith('service.lock');
