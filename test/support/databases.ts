import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { embeddedDatabase, postgresDatabase, type Database } from '../../packages/service/src/store/database.js';
import { loadMigrations, migrate } from '../../packages/service/src/store/migrate.js';
import { templateFolder, templateKey } from './database-template.js';
import { startPostgres, type Postgres } from './postgres.js';

/** A kind of database to run a suite on. */
export interface TestDatabases {
  name: string;
  /** A new database with the schema. */
  open(): Promise<Database>;
  /** A new database with nothing in it. */
  empty(): Promise<Database>;
  close(): Promise<void>;
}

/** PGlite in memory. */
export function embedded(): TestDatabases {
  return {
    name: 'PGlite',
    open: openEmbedded,
    empty: async () => embeddedDatabase(await PGlite.create()),
    close: () => Promise.resolve(),
  };
}

/** PostgreSQL, started with the first `open`. */
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

/** A pool on a database that exists. */
export const connect = (url: string): Database => postgresDatabase(url, () => undefined);

/** Making a database takes seconds, copying one does not: the copy is kept until PGlite or a migration changes. */
async function openEmbedded(): Promise<Database> {
  const file = await templateFile();
  const template = new Blob([readFileSync(file)]);
  return embeddedDatabase(await PGlite.create({ loadDataDir: template }));
}

async function templateFile(): Promise<string> {
  const migrations = await loadMigrations();
  const file = join(templateFolder, `pglite-${templateKey(migrations)}.tar`);
  if (existsSync(file)) return file;
  const client = await PGlite.create();
  const database = embeddedDatabase(client);
  await migrate(database, migrations);
  const dump = await client.dumpDataDir('none');
  await client.close();
  mkdirSync(templateFolder, { recursive: true });
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, Buffer.from(await dump.arrayBuffer()));
  // Two test processes may both have made one; either is fine, half of one is not.
  renameSync(mine, file);
  rmSync(mine, { force: true });
  return file;
}
