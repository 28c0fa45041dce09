import { readFileSync } from 'node:fs';
import { readMasterKey, type MasterKey } from '../../packages/service/src/secrets/master-key.js';
import type { Database, Script } from '../../packages/service/src/store/database.js';
import { loadMigrations, migrate } from '../../packages/service/src/store/migrate.js';

interface Row {
  id: string;
  [column: string]: unknown;
}

/**
 * Rows that the last release with format 1 wrote, through its own API, with the values that were entered:
 * `test/fixtures/secrets-format-1.json`. It is a recording; this code can't make it again.
 */
const recorded: {
  masterKey: string;
  schemaVersion: number;
  tables: Record<'organizations' | 'data_keys' | 'connectors' | 'secrets', Row[]>;
  /** Secrets in clear, by connector and field. */
  values: Record<string, Record<string, unknown>>;
} = JSON.parse(readFileSync(new URL('../fixtures/secrets-format-1.json', import.meta.url), 'utf8'));

/** `MASTER_KEY` of the recorded rows. */
export const format1MasterText = recorded.masterKey;

export const format1Master = (): MasterKey => readMasterKey(recorded.masterKey);

/** Every recorded connector, its organization, and its secrets in clear. */
export const format1Connectors = () =>
  recorded.tables.connectors.map(({ id, organization_id: team, kind, type, settings }) => ({
    id,
    team: String(team),
    kind: kind === 'input' ? ('input' as const) : ('output' as const),
    type: String(type),
    settings: Object(settings) as Record<string, unknown>,
    secrets: recorded.values[id] ?? {},
  }));

/** The recorded connector of a type; the first one of several. */
export function format1Connector(type: string) {
  const found = format1Connectors().find((each) => each.type === type);
  if (!found) throw new Error(`no connector of type ${type} was recorded`);
  return found;
}

/** Makes an empty database one of that release, upgraded to this one. */
export async function upgraded(database: Database): Promise<Database> {
  const migrations = await loadMigrations();
  await migrate(
    database,
    migrations.filter(({ version }) => version <= recorded.schemaVersion),
  );
  await database.script((run) => insert(run, ['organizations', 'data_keys', 'connectors', 'secrets']));
  await migrate(database, migrations);
  return database;
}

/** All rows as they were recorded, as a restored dump has them; nothing else is left. */
export const restoreAll = (database: Database): Promise<void> =>
  database.script(async (run) => {
    await run('truncate organizations, data_keys, idempotency_keys cascade');
    await withoutCheck(run, () => insert(run, ['organizations', 'data_keys', 'connectors', 'secrets']));
  });

/** Recorded rows of one table, in place of those there are now. */
export const restoreRows = (
  database: Database,
  table: 'data_keys' | 'secrets',
  ids: (row: Row) => boolean = () => true,
): Promise<void> =>
  database.script(async (run) => {
    await withoutCheck(run, async () => {
      for (const row of recorded.tables[table].filter(ids)) {
        const columns = table === 'secrets' ? ['sealed', 'destination'] : ['master_key_id', 'wrapped'];
        const set = columns.map((column) => `${column} = '${String(row[column])}'`).join(', ');
        await run(`update ${table} set ${set} where id = '${row.id}'`);
      }
    });
  });

/** The check refuses rows in format 1. A restored dump does not have it, and a writer of the database can drop it. */
async function withoutCheck(run: Script, work: () => Promise<void>): Promise<void> {
  await run('alter table secrets drop constraint secrets_destination_is_sealed');
  await work();
  await run('alter table secrets add constraint secrets_destination_is_sealed check (destination is null) not valid');
}

async function insert(run: Script, tables: (keyof typeof recorded.tables)[]): Promise<void> {
  for (const table of tables)
    for (const row of recorded.tables[table]) {
      const json = JSON.stringify(row).replaceAll("'", "''");
      await run(`insert into ${table} select * from json_populate_record(null::${table}, '${json}')`);
    }
}
