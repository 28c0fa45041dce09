import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { postgresDatabase, type Database, type DatabaseTimeouts } from './database.js';
import { NAMES, openEmbeddedPostgres, type Predecessor } from './embedded/open-embedded.js';
import { lockFolder, type LockMessages } from './folder-lock.js';
import { protectFolder } from './private-folder.js';

/** Where the database is. */
export interface DatabasePlace {
  /** Address of a PostgreSQL server. */
  url?: string | undefined;
  /** Folder of the embedded database. */
  folder: string;
  /** Programs of the PostgreSQL that wrote the embedded database, if it is an older one. */
  previousPostgres?: string | undefined;
  /** Time limits of connections. Default: those of `postgresDatabase`. */
  timeouts?: DatabaseTimeouts | undefined;
  /** Wording of the error if another process has the folder. */
  lockMessages?: LockMessages | undefined;
}

/** Folder of PGlite, the embedded database of earlier releases. */
const PGLITE = 'db';

/**
 * Opens the database: PostgreSQL at `url`, or the embedded one in `folder`, which it locks for this
 * process. Data of PGlite moves to PostgreSQL once.
 * @throws FolderInUseError when another process holds the folder
 * @throws FolderNotPrivateError when other users can read it, and that can't be changed
 * @throws EmbeddedPostgresError when PostgreSQL can't read the folder
 */
export async function openDatabase(place: DatabasePlace, log: Logger): Promise<Database> {
  const { url, folder, previousPostgres, timeouts, lockMessages } = place;
  if (url !== undefined) {
    return postgresDatabase(
      { connectionString: url },
      (error) => log.warn({ name: error.name }, 'idle database connection lost'),
      timeouts,
    );
  }
  protectFolder(folder, isOfDatabase);
  const lock = await lockFolder(folder, lockMessages);
  try {
    const predecessor = existsSync(join(folder, PGLITE)) ? pgliteIn(folder, log) : undefined;
    const database =
      (await openEmbeddedPostgres({ folder, previous: previousPostgres, predecessor, timeouts, log })) ??
      (await openPglite(folder));
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

/** Returns whether a folder contains an embedded database. */
export const hasEmbeddedDatabase = (folder: string): boolean =>
  [NAMES.data, PGLITE].some((name) => existsSync(join(folder, name)));

function pgliteIn(folder: string, log: Logger): Predecessor {
  return {
    open: () => openPglite(folder),
    async retire() {
      const path = join(folder, PGLITE);
      const kept = `${path}-pglite`;
      if (existsSync(path)) await rename(path, kept);
      log.info({ kept }, 'the folder of the former database is kept; remove it once you have a backup');
    },
  };
}

/** Loads PGlite on demand: its WebAssembly takes hundreds of megabytes of memory. */
async function openPglite(folder: string): Promise<Database> {
  const [{ PGlite }, { PrivateNodeFS }, { pgliteDatabase }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('./private-node-fs.js'),
    import('./pglite-database.js'),
  ]);
  return pgliteDatabase(await PGlite.create({ fs: new PrivateNodeFS(join(folder, PGLITE)) }));
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

/** Links to libraries are not: they lead to files that all users may read. */
const isOfDatabase = (name: string): boolean =>
  name !== NAMES.libraries &&
  (name.startsWith(PGLITE) || name.startsWith(NAMES.data) || name === 'master.key' || name.startsWith('service.lock'));
