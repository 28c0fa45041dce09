import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@connector-frame/engine';
import type { Logger } from 'pino';
import {
  acquireEngineLease,
  readEngineIdentity,
  type EngineIdentity,
  type EngineLease,
} from '../pipelines/running/engine-lease.js';
import { seal } from '../secrets/cipher.js';
import { readKeyFile } from '../secrets/key-file.js';
import type { MasterKey } from '../secrets/master-key.js';
import { checkMasterKey, MasterKeyError } from '../secrets/vault.js';
import type { Database, Script } from '../store/database.js';
import { createEngineLeases, LEASE_KEY } from '../store/engine-leases.js';
import { createEngineState } from '../store/engine-state.js';
import { loadMigrations, schemaVersionOf } from '../store/migrate.js';
import { hasEmbeddedDatabase, requiredMasterKeyIds } from '../store/open-database.js';
import { digestOf, pagesOf, tablesIn, useStableText } from '../store/table-copy.js';
import { engineFilesIn, type EngineFile } from './engine-files.js';
import { alreadyThere, explainDisk, ExportWriter } from './export-writer.js';
import { FORMAT, SEAL_PURPOSE, sealContext, VERSION } from './format.js';
import { isMoved } from './moved-tables.js';
import {
  openStopped,
  STOP_IT,
  type TransferEnv,
  type TransferOptions,
  type Transferred,
} from './stopped-installation.js';
import { TransferError } from './transfer-error.js';

const CHUNK = 384 * 1024;

/**
 * Writes all of an installation that outlives a restart to one file. The pipelines must not run
 * meanwhile. The file contains no secret in plain text; records that wait in buffers are in plain
 * text.
 * @throws TransferError, FolderInUseError, EngineInUseError, MasterKeyError
 */
export async function exportInstallation(options: TransferOptions): Promise<Transferred & { bytes: number }> {
  const { env, log } = options;
  if (existsSync(options.file)) throw alreadyThere(options.file);
  if (env.DATABASE_URL === undefined && !hasEmbeddedDatabase(env.DATA_DIR))
    throw new TransferError(`${env.DATA_DIR} contains no database. Set DATA_DIR or DATABASE_URL as for the service.`);
  const database = await openStopped(env, log);
  try {
    const schemaVersion = await supportedVersion(database);
    const { current, ids } = await masterKeys(env, database);
    await requireBuffersInFiles(database);
    const lease = await holdEngine(database, join(env.DATA_DIR, 'engine'), log);
    try {
      return await write(options, { database, schemaVersion, current, ids, lease });
    } finally {
      await lease?.release();
    }
  } finally {
    await database.close();
  }
}

async function supportedVersion(database: Database): Promise<number> {
  const version = await database.script(schemaVersionOf);
  const newest = (await loadMigrations()).at(-1)?.version ?? 0;
  if (version === undefined || version === 0)
    throw new TransferError('The database is empty: there is nothing to export.');
  if (version > newest)
    throw new TransferError(
      `The database has schema version ${version}, but this release only supports ${newest}. Export it with the release that created it, or a later one.`,
    );
  return version;
}

async function requireBuffersInFiles(database: Database): Promise<void> {
  const isUsed = await database.script(async (run) => {
    if (!(await tablesIn(run)).includes('jetstream_streams')) return false;
    return (await run('select 1 from jetstream_streams limit 1')).length > 0;
  });
  if (isUsed)
    throw new TransferError(
      'The buffers of this service are in NATS JetStream, which an export does not contain. Back up PostgreSQL and JetStream instead.',
    );
}

async function masterKeys(env: TransferEnv, database: Database): Promise<{ current: MasterKey; ids: string[] }> {
  const current = env.MASTER_KEY ?? (env.DATABASE_URL === undefined ? await readKeyFile(env.DATA_DIR) : undefined);
  const previous = env.MASTER_KEY_PREVIOUS;
  const ids = await requiredMasterKeyIds(database);
  checkMasterKey(ids, { ...(current && { current }), ...(previous && { previous }) });
  if (!current) throw new MasterKeyError('MASTER_KEY is not set. Set it as for the service.');
  return { current, ids };
}

/**
 * Makes sure that no engine runs the pipelines until the lease is released, and that the folder has
 * the buffers of the last one. Returns `undefined` if none has ever run.
 */
async function holdEngine(database: Database, folder: string, log: Logger): Promise<EngineLease | undefined> {
  const leases = createEngineLeases(database.queries);
  const [identity, holder] = [await readEngineIdentity(folder), await leases.current()];
  if (holder && holder.holder !== identity?.engine)
    throw new TransferError(
      `The engine ${holder.holder} runs the pipelines of this database, or was killed a few seconds ago. ${STOP_IT}`,
    );
  const { hasRun, last } = await lastEngine(database);
  if (!identity && !hasRun) return undefined;
  if (!identity || (last !== undefined && last !== identity.engine)) throw otherFolder(folder, identity, last);
  return acquireEngineLease({
    folder,
    state: createEngineState(database.queries),
    leases,
    clock: systemClock,
    log,
    lockMessages: { what: 'The folder of the engine', advice: STOP_IT },
  });
}

function otherFolder(folder: string, identity: EngineIdentity | undefined, last: string | undefined): TransferError {
  const own = identity ? `has the buffers of the engine ${identity.engine}` : 'has no buffers';
  const wanted = last === undefined ? 'The pipelines ran' : `The pipelines ran last in the engine ${last}`;
  return new TransferError(
    `${wanted}, but ${folder} ${own}. Set DATA_DIR to the folder of that engine. If it is lost, start the service once with this DATA_DIR.`,
  );
}

/** Returns whether an engine has run, and the last one that has counted usage. */
async function lastEngine(database: Database): Promise<{ hasRun: boolean; last: string | undefined }> {
  return database.script(async (run) => {
    const [lease] = await run(`select 1 from engine_state where key = '${LEASE_KEY}'`);
    const [table] = await run(`select to_regclass('usage_writers') is not null as present`);
    const [writer] =
      table?.['present'] === true
        ? await run('select holder from usage_writers order by written_at desc, sequence desc limit 1')
        : [];
    return { hasRun: lease !== undefined, last: writer && String(writer['holder']) };
  });
}

interface Source {
  database: Database;
  schemaVersion: number;
  current: MasterKey;
  ids: readonly string[];
  lease: EngineLease | undefined;
}

async function write(options: TransferOptions, source: Source): Promise<Transferred & { bytes: number }> {
  const { file, env, onProgress = () => undefined } = options;
  const { database, schemaVersion, current, lease } = source;
  const folder = join(env.DATA_DIR, 'engine');
  const files: EngineFile[] = [];
  const skipped = (name: string): void => onProgress(`${join(folder, name)} does not belong to the engine: left out`);
  if (lease) for await (const each of engineFilesIn(folder, skipped)) files.push(each);
  const sealing = files.some(({ isSealed }) => isSealed) ? [current.id] : [];
  const ids = [...new Set([...source.ids, ...sealing])];
  const writer = await ExportWriter.create(file);
  try {
    await writer.header({
      format: FORMAT,
      version: VERSION,
      schema_version: schemaVersion,
      exported_at: new Date().toISOString(),
      master_key_ids: ids,
      engine: lease?.holder ?? null,
    });
    for (const each of files) await writeFile(each, folder, current, writer, options.signal);
    onProgress(`engine: ${files.length} files`);
    const rows = await database.script((run) => writeTables(run, writer, onProgress, options.signal));
    if (lease?.lost.aborted) throw new TransferError(`Another process runs the pipelines now. ${STOP_IT}`);
    const { bytes } = await writer.finish();
    return { schema_version: schemaVersion, master_key_ids: ids, rows, files: files.length, bytes };
  } catch (error) {
    await writer.discard();
    throw explainDisk(error, file);
  }
}

async function writeFile(
  { path, isSealed }: EngineFile,
  folder: string,
  key: MasterKey,
  writer: ExportWriter,
  signal: AbortSignal | undefined,
): Promise<void> {
  await writer.begin({ section: 'file', path, ...(isSealed && { sealed_by: key.id }) });
  const handle = await open(join(folder, path), 'r');
  try {
    if (isSealed) {
      await writer.data(seal(key.derive(SEAL_PURPOSE), sealContext(path), await handle.readFile()));
    } else {
      const buffer = Buffer.alloc(CHUNK);
      for (;;) {
        signal?.throwIfAborted();
        const { bytesRead } = await handle.read(buffer, 0, CHUNK, null);
        if (bytesRead === 0) break;
        await writer.data(buffer.subarray(0, bytesRead));
      }
    }
  } finally {
    await handle.close();
  }
  await writer.end('file');
}

/** Writes all tables as they are at one time. */
async function writeTables(
  run: Script,
  writer: ExportWriter,
  onProgress: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  await run('set transaction isolation level repeatable read, read only');
  await useStableText(run);
  let rows = 0;
  for (const table of (await tablesIn(run)).filter(isMoved)) {
    await writer.begin({ section: 'table', name: table });
    const before = rows;
    for await (const page of pagesOf(table, run)) {
      signal?.throwIfAborted();
      await writer.rows(page);
      rows += page.length;
    }
    await writer.end('table', await digestOf(table, run));
    if (rows > before) onProgress(`${table}: ${rows - before} rows`);
  }
  return rows;
}
