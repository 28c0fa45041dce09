import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { postgresDatabase, type Database } from '../../packages/service/src/store/database.js';
import { pgliteDatabase } from '../../packages/service/src/store/pglite-database.js';
import { loadMigrations, migrate } from '../../packages/service/src/store/migrate.js';
import { templateFolder, templateKey } from './database-template.js';
import { long } from './long.js';
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

/**
 * The database for a suite that does not depend on its kind: PostgreSQL, or PGlite where PostgreSQL
 * is missing. A query on PostgreSQL takes a fraction of the CPU time.
 */
export const anyDatabase = (): TestDatabases => (isMissing ? pglite() : postgresql());

/** The databases for a suite whose queries could differ between them: both in the long run. */
export const eachDatabase = (): TestDatabases[] => (long ? [pglite(), postgresql()] : [anyDatabase()]);

const isMissing = process.env['MISSING_PROGRAMS']?.split(',').includes('PostgreSQL') ?? false;

/** PGlite databases in memory. */
export function pglite(): TestDatabases {
  return {
    name: 'PGlite',
    open: openPglite,
    empty: async () => pgliteDatabase(await PGlite.create()),
    close: () => Promise.resolve(),
  };
}

/**
 * PostgreSQL databases. All suites of a process share one server, which starts on first use and ends
 * with the process.
 */
export function postgresql(): TestDatabases & { url(): Promise<string> } {
  return {
    name: 'PostgreSQL',
    url: async () => (await server()).postgres.createDatabase(),
    empty: async () => connect(await (await server()).postgres.createDatabase()),
    async open() {
      const { postgres, template } = await server();
      return connect(await postgres.createDatabase(template));
    },
    close: () => Promise.resolve(),
  };
}

interface Server {
  postgres: Postgres;
  /** Name of a database with the schema. */
  template: string;
}

let started: Promise<Server> | undefined;
const server = (): Promise<Server> => (started ??= startServer());

async function startServer(): Promise<Server> {
  const postgres = await startPostgres({ settings: { max_connections: '500' } });
  const url = await postgres.createDatabase();
  const database = connect(url);
  await migrate(database, await loadMigrations());
  await database.close();
  return { postgres, template: new URL(url).pathname.slice(1) };
}

/** Opens a connection pool on an existing database. */
export const connect = (url: string): Database => postgresDatabase({ connectionString: url }, () => undefined);

/**
 * Opens a copy of a template, because creating a database takes seconds. The template is kept until
 * PGlite or a migration changes.
 */
async function openPglite(): Promise<Database> {
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
