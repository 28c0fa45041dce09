import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../clock.js';
import { DATABASE_KEY } from '../pipelines/running/engine-lease.js';
import { createKeyFile, readKeyFile } from '../secrets/key-file.js';
import type { MasterKey } from '../secrets/master-key.js';
import { checkMasterKey, MasterKeyError, openVault } from '../secrets/vault.js';
import { createStore } from '../store/create-store.js';
import type { Script } from '../store/database.js';
import { LEASE_KEY } from '../store/engine-leases.js';
import { applyMigrations, loadMigrations, lockMigrations, type Migration } from '../store/migrate.js';
import { protectFolder } from '../store/private-folder.js';
import { continueIdentities, tablesIn } from '../store/table-copy.js';
import { createEngineDraft } from './engine-draft.js';
import { isUsed } from './engine-files.js';
import { explainDisk } from './export-writer.js';
import type { Header } from './format.js';
import { insertTables } from './insert-tables.js';
import { MOVED_TABLES } from './moved-tables.js';
import { readExport, type ExportEvent } from './read-export.js';
import { openStopped, type TransferEnv, type TransferOptions, type Transferred } from './stopped-installation.js';
import { TransferError } from './transfer-error.js';

/**
 * Reads a file that `exportInstallation` has written into an empty installation. The file is
 * verified first. The rows and the engine's folder appear together at the end; before that, the
 * import can be repeated.
 * @throws TransferError, FolderInUseError, MasterKeyError
 */
export async function importInstallation(options: TransferOptions): Promise<Transferred> {
  const { env, file, log, onProgress = () => undefined } = options;
  const migrations = await loadMigrations();
  const newest = migrations.at(-1)?.version ?? 0;
  const header = await verify(options, newest);
  onProgress('the file is complete');
  const keys = await masterKeys(env, header, file);
  const folder = join(env.DATA_DIR, 'engine');
  if (await isUsed(folder))
    throw new TransferError(`${folder} is not empty. Import into a DATA_DIR without buffers of another service.`);
  protectFolder(env.DATA_DIR, (name) => name.startsWith('engine'));
  const database = await openStopped(env, log);
  try {
    await database.script(requireEmpty);
    const current = keys.current ?? (await createKeyFile(env.DATA_DIR));
    const draft = await createEngineDraft(folder);
    const events = readExport(file, newest);
    let isCommitted = false;
    try {
      const firstTable = await draft.write(events, { ...keys, current }, options.signal);
      const name = randomUUID();
      await draft.identify(header.engine, name);
      onProgress(`engine: ${draft.files} files`);
      const rows = await database.script(async (run) => {
        const count = await fill(run, { header, migrations, name, firstTable, events, options });
        options.signal?.throwIfAborted();
        await draft.moveInto();
        return count;
      });
      isCommitted = true;
      await openVault(createStore(database), { ...keys, current }, systemClock);
      return { schema_version: newest, master_key_ids: [current.id], rows, files: draft.files };
    } catch (error) {
      throw draft.isMoved && !isCommitted ? unknownEnd(folder, error) : explainDisk(error, folder);
    } finally {
      await events.return(undefined);
      await draft.discard();
    }
  } finally {
    await database.close();
  }
}

/** Reads the whole file, so that a damaged one changes nothing. */
async function verify({ file, signal }: TransferOptions, newest: number): Promise<Header> {
  let header: Header | undefined;
  for await (const event of readExport(file, newest)) {
    signal?.throwIfAborted();
    if (event.event === 'header') ({ header } = event);
  }
  // `readExport` has thrown for a file without one.
  if (!header) throw new TransferError(`${file} is empty.`);
  return header;
}

/** `current` is absent if a new embedded database gets its own key. */
async function masterKeys(
  env: TransferEnv,
  { master_key_ids: ids }: Header,
  file: string,
): Promise<{ current?: MasterKey; previous?: MasterKey }> {
  const isEmbedded = env.DATABASE_URL === undefined;
  const current = env.MASTER_KEY ?? (isEmbedded ? await readKeyFile(env.DATA_DIR) : undefined);
  const previous = env.MASTER_KEY_PREVIOUS;
  checkMasterKey(ids, { ...(current && { current }), ...(previous && { previous }) }, file);
  if (!current && !(isEmbedded && previous))
    throw new MasterKeyError('MASTER_KEY is not set. Set it to the key of the new installation.');
  return { ...(current && { current }), ...(previous && { previous }) };
}

async function requireEmpty(run: Script): Promise<void> {
  const tables = await tablesIn(run);
  const own = tables.find((table) => table === 'schema_migrations' || Object.hasOwn(MOVED_TABLES, table));
  if (own !== undefined)
    throw new TransferError(
      `The database is not empty: it has the table ${own}. Import into a new database, before the first start of the service.`,
    );
}

interface Filling {
  header: Header;
  migrations: readonly Migration[];
  /** New name of the database. */
  name: string;
  firstTable: ExportEvent | undefined;
  events: AsyncGenerator<ExportEvent>;
  options: TransferOptions;
}

async function fill(run: Script, { header, migrations, name, firstTable, events, options }: Filling): Promise<number> {
  // A service that starts meanwhile waits for the end of the transaction.
  await lockMigrations(run);
  await requireEmpty(run);
  await applyMigrations(
    run,
    migrations.filter(({ version }) => version <= header.schema_version),
  );
  const rows = await insertTables(run, { firstTable, events, ...options });
  await continueIdentities(run);
  await applyMigrations(run, migrations);
  await renew(run, name);
  return rows;
}

/**
 * Makes the engine's folder of the exported installation unusable with this database, and raises the
 * lease's token, so that an engine of the exported installation is fenced.
 */
async function renew(run: Script, name: string): Promise<void> {
  await run(`update engine_state set version = version + 1, value = '"${name}"' where key = '${DATABASE_KEY}'`);
  await run(
    `update engine_state set version = version + 1,
       value = json_build_object('token', coalesce((value::json ->> 'token')::bigint, 0) + 1)::text
     where key = '${LEASE_KEY}'`,
  );
}

const unknownEnd = (folder: string, cause: unknown): TransferError =>
  new TransferError(
    `The connection to the database was lost at the end of the import. If the database has tables, it is complete. If not, remove ${folder} and import again.`,
    { cause },
  );
