import { readFileSync } from 'node:fs';
import { readMasterKey, type MasterKey } from '../../packages/service/src/secrets/master-key.js';
import type { Database, Script } from '../../packages/service/src/store/database.js';
import { loadMigrations, migrate } from '../../packages/service/src/store/migrate.js';

interface Row {
  id: string;
  [column: string]: unknown;
}

/**
 * Rows that the last release with format 1 wrote through its own API, with the entered values:
 * `test/fixtures/secrets-format-1.json`. It is a recording; the current code can't recreate it.
 */
const recorded: {
  masterKey: string;
  schemaVersion: number;
  tables: Record<'organizations' | 'data_keys' | 'connectors' | 'secrets', Row[]>;
  /** Plaintext secrets, by connector and field. */
  values: Record<string, Record<string, unknown>>;
} = JSON.parse(readFileSync(new URL('../fixtures/secrets-format-1.json', import.meta.url), 'utf8'));

/** `MASTER_KEY` of the recorded rows. */
export const format1MasterText = recorded.masterKey;

export const format1Master = (): MasterKey => readMasterKey(recorded.masterKey);

/** Returns every recorded connector with its organization and its plaintext secrets. */
export const format1Connectors = () =>
  recorded.tables.connectors.map(({ id, organization_id: team, kind, type, settings }) => ({
    id,
    team: String(team),
    kind: kind === 'input' ? ('input' as const) : ('output' as const),
    type: String(type),
    settings: Object(settings) as Record<string, unknown>,
    secrets: recorded.values[id] ?? {},
  }));

/** Returns the first recorded connector of a type. */
export function format1Connector(type: string) {
  const found = format1Connectors().find((each) => each.type === type);
  if (!found) throw new Error(`no connector of type ${type} was recorded`);
  return found;
}

/**
 * Fills an empty database with that release's schema and rows, then migrates it to the current
 * schema.
 */
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

/** Restores all rows as recorded, as from a dump, and removes all others. */
export const restoreAll = (database: Database): Promise<void> =>
  database.script(async (run) => {
    await run('truncate organizations, data_keys, idempotency_keys cascade');
    await withoutCheck(run, () => insert(run, ['organizations', 'data_keys', 'connectors', 'secrets']));
  });

/** Restores the recorded rows of one table over the current ones. */
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

/**
 * Runs `work` without the check constraint, which rejects rows in format 1. A restored dump does
 * not have it, and someone with write access to the database can drop it.
 */
async function withoutCheck(run: Script, work: () => Promise<void>): Promise<void> {
  await run('alter table secrets drop constraint secrets_destination_is_sealed');
  await work();
  await run('alter table secrets add constraint secrets_destination_is_sealed check (destination is null) not valid');
}

async function insert(run: Script, tables: (keyof typeof recorded.tables)[]): Promise<void> {
  for (const table of tables)
    for (const row of recorded.tables[table]) {
      const json = JSON.stringify(row).replaceAll("'", "''");
      // Columns of later releases get their defaults.
      const columns = Object.keys(row).join(', ');
      await run(
        `insert into ${table} (${columns}) select ${columns} from json_populate_record(null::${table}, '${json}')`,
      );
    }
}
