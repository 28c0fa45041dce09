import { readdir, readFile } from 'node:fs/promises';
import type { Database, Script } from './database.js';

/** One file of `migrations/`: `0001_init.sql` is version 1. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
}

// An arbitrary number, but the same for every replica.
const LOCK = 7_214_033_901;

/** Reads the migrations that come with this package, in order. */
export async function loadMigrations(): Promise<Migration[]> {
  const folder = new URL('../../migrations/', import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: await readFile(new URL(name, folder), 'utf8'),
    })),
  );
}

/** Returns the version of the schema, or `undefined` for a database without one. */
export async function schemaVersionOf(run: Script): Promise<number | undefined> {
  const [table] = await run(`select to_regclass('schema_migrations') is not null as present`);
  if (table?.['present'] !== true) return undefined;
  const [row] = await run('select coalesce(max(version), 0) as version from schema_migrations');
  return Number(row?.['version']);
}

/**
 * Applies all new migrations in one transaction. Replicas that start together take turns.
 * @throws Error when the database is newer than this release, so that an old replica never writes
 *   to a schema that it does not know
 */
export const migrate = (database: Database, migrations: readonly Migration[]): Promise<void> =>
  database.script((run) => applyMigrations(run, migrations));

/** Makes others that apply migrations wait until the transaction ends. */
export async function lockMigrations(run: Script): Promise<void> {
  await run(`select pg_advisory_xact_lock(${LOCK})`);
}

/** Does the same in the transaction of `run`. */
export async function applyMigrations(run: Script, migrations: readonly Migration[]): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  await lockMigrations(run);
  await run(
    'create table if not exists schema_migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())',
  );
  const present = (await schemaVersionOf(run)) ?? 0;
  if (present > newest) {
    throw new Error(
      `The database has schema version ${present}, but this release only supports ${newest}. Start the release that created it, or a later one.`,
    );
  }
  for (const migration of migrations.filter((each) => each.version > present)) {
    await run(migration.sql);
    await run(`insert into schema_migrations (version, name) values (${migration.version}, '${migration.name}')`);
  }
}
