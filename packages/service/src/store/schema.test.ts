import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { afterAll, describe, expect, it } from 'vitest';
import { connect, pglite, postgresql } from '../../../../test/support/databases.js';
import { loadMigrations, migrate } from './migrate.js';
import * as tables from './tables.js';

const described = Object.fromEntries(
  Object.values(tables)
    .filter((table) => is(table, PgTable))
    .map((table) => [
      getTableName(table),
      Object.values(getTableColumns(table))
        .map((column) => `${column.name} ${column.getSQLType().replace(' (3)', '')}${column.notNull ? '' : ' null'}`)
        .sort(),
    ]),
);

describe.each([pglite(), postgresql()])('the schema on $name', (databases) => {
  afterAll(() => databases.close());

  it('matches the table definitions of the queries', async () => {
    const database = await databases.open();
    const rows = await database.script((run) =>
      run(
        `select c.relname as table, a.attname || ' ' || regexp_replace(format_type(a.atttypid, a.atttypmod), '\\(3\\)', '')
           || case when a.attnotnull then '' else ' null' end as column
         from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'public' and c.relkind = 'r' and a.attnum > 0 and c.relname <> 'schema_migrations'`,
      ),
    );
    const actual: Record<string, string[]> = {};
    for (const { table, column } of rows) {
      (actual[String(table)] ??= []).push(String(column).replace('character varying', 'varchar'));
    }
    for (const columns of Object.values(actual)) columns.sort();
    expect(described).toEqual(actual);
    await database.close();
  });

  it('is migrated once by concurrent replicas', async () => {
    const database = await databases.open();
    const migrations = await loadMigrations();
    await Promise.all([migrate(database, migrations), migrate(database, migrations)]);
    const rows = await database.script((run) => run('select version from schema_migrations order by version'));
    expect(rows).toEqual(migrations.map(({ version }) => ({ version })));
    await database.close();
  });

  it('is unchanged after a failed migration', async () => {
    const database = await databases.open();
    const next = ((await loadMigrations()).at(-1)?.version ?? 0) + 1;
    const broken = { version: next, name: 'broken', sql: 'create table half (id int); create table half (id int);' };
    await expect(migrate(database, [...(await loadMigrations()), broken])).rejects.toThrow('half');
    const rows = await database.script((run) =>
      run(`select to_regclass('half') as half, max(version) as version from schema_migrations`),
    );
    expect(rows).toEqual([{ half: null, version: next - 1 }]);
    await database.close();
  });

  it('is rejected by an older release', async () => {
    const database = await databases.open();
    await database.script((run) => run(`insert into schema_migrations values (999, 'later')`));
    await expect(migrate(database, await loadMigrations())).rejects.toThrow('schema version 999');
    await database.close();
  });
});

describe('a new PostgreSQL database', () => {
  const databases = postgresql();
  afterAll(() => databases.close());

  it('is set up by several replicas at once', async () => {
    const url = await databases.url();
    const replicas = Array.from({ length: 5 }, () => connect(url));
    const migrations = await loadMigrations();
    await Promise.all(replicas.map((replica) => migrate(replica, migrations)));
    const [row] = (await replicas[0]?.script((run) => run('select count(*)::int as n from schema_migrations'))) ?? [];
    expect(row).toEqual({ n: migrations.length });
    await Promise.all(replicas.map((replica) => replica.close()));
  });
});
