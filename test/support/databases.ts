import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { postgresDatabase, type Database } from '../../packages/service/src/store/database.js';
import { pgliteDatabase } from '../../packages/service/src/store/pglite-database.js';
import { loadMigrations, migrate } from '../../packages/service/src/store/migrate.js';
import { templateFolder, templateKey } from './database-template.js';
import { startPostgres, type Postgres } from './postgres.js';

/** A kind of database to run a suite on. */
export interface TestDatabases {
  name: string;
  /** Creates a database with the schema. */
  open(): Promise<Database>;
  /** Creates a database without any tables. */
  empty(): Promise<Database>;
  close(): Promise<void>;
}

/** PGlite databases in memory. */
export function embedded(): TestDatabases {
  return {
    name: 'PGlite',
    open: openEmbedded,
    empty: async () => pgliteDatabase(await PGlite.create()),
    close: () => Promise.resolve(),
  };
}

/** PostgreSQL databases. The server starts on first use. */
export function postgresql(): TestDatabases & { url(): Promise<string> } {
  let server: Promise<Postgres> | undefined;
  const url = async () => (await (server ??= startPostgres())).createDatabase();
  return {
    name: 'PostgreSQL',
    url,
    empty: async () => connect(await url()),
    async open() {
      const database = connect(await url());
      await migrate(database, await loadMigrations());
      return database;
    },
    close: async () => (await server)?.close(),
  };
}

/** Opens a connection pool on an existing database. */
export const connect = (url: string): Database => postgresDatabase({ connectionString: url }, () => undefined);

/**
 * Opens a copy of a template, because creating a database takes seconds. The template is kept until
 * PGlite or a migration changes.
 */
async function openEmbedded(): Promise<Database> {
  const file = await templateFile();
  const template = new Blob([readFileSync(file)]);
  return pgliteDatabase(await PGlite.create({ loadDataDir: template }));
}

async function templateFile(): Promise<string> {
  const migrations = await loadMigrations();
  const file = join(templateFolder, `pglite-${templateKey(migrations, '@electric-sql/pglite')}.tar`);
  if (existsSync(file)) return file;
  const client = await PGlite.create();
  const database = pgliteDatabase(client);
  await migrate(database, migrations);
  const dump = await client.dumpDataDir('none');
  await client.close();
  mkdirSync(templateFolder, { recursive: true });
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, Buffer.from(await dump.arrayBuffer()));
  // Two test processes may both create the file. Renaming is atomic, so neither reads a partial
  // one.
  renameSync(mine, file);
  rmSync(mine, { force: true });
  return file;
}
