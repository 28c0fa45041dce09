import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { giveTo, type Launch } from './account.js';
import type { Binaries } from './binaries.js';

/** Where a server runs, and with what. */
export interface ServerPlace {
  binaries: Binaries;
  launch: Launch;
  /** Environment variables with which the programs find their libraries. */
  environment: Readonly<Record<string, string>>;
  /** Folder of the database. */
  data: string;
  /** Folder for the socket, with a path that is short enough for one. */
  sockets: string;
  /** Receives what the server reports, one line each. */
  onLine: (line: string) => void;
}

/** A running server, reached only through a socket in a folder that is closed to other users. */
export interface PostgresProcess {
  readonly host: string;
  readonly user: string;
  /** Resolves when the server has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Lets running transactions roll back, writes everything, and ends the server. */
  stop(): Promise<void>;
}

/** Superuser of the embedded database. */
export const USER = 'connector_frame';

const READY_POLL_MS = 50;
const ACCEPT_MS = 5_000;
/** Signals that end a server, with the milliseconds that it has until the next one. */
const STOP_SIGNALS = [
  ['SIGINT', 20_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;
const MAX_ATTEMPTS = 60;
const BLOCKED_MS = 500;

/**
 * Settings for the server of one process: durable, small, and reachable from this machine only.
 * Source: https://www.postgresql.org/docs/18/runtime-config.html
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0600',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  max_connections: '24',
  shared_buffers: '16MB',
  work_mem: '2MB',
  maintenance_work_mem: '16MB',
  autovacuum_max_workers: '1',
  max_parallel_workers: '0',
  jit: 'off',
  huge_pages: 'off',
  // No replication: a smaller log of changes.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  min_wal_size: '32MB',
  max_wal_size: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '',
  log_checkpoints: 'off',
  // Statements contain values.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/**
 * Creates an empty database in `data`, which must not exist. Everything is on disk when this
 * resolves.
 */
export async function initialize({ binaries, launch, environment, data, onLine }: ServerPlace): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  await giveTo(data, launch);
  const options = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const child = run(
    launch,
    binaries.initdb,
    ['-D', await realpath(data), '-U', USER, '--auth-local=trust', '--auth-host=reject', ...options],
    environment,
  );
  const lines: string[] = [];
  readLines(child, (line) => lines.push(line));
  await ended(child);
  if (child.exitCode === 0) return;
  for (const line of lines) onLine(line);
  throw new Error(
    `The database could not be created in ${data}. ${lines.findLast((line) => /error|fatal/i.test(line)) ?? ''}`,
  );
}

/**
 * Starts the server of `data` and waits until it accepts connections. A server that a killed process
 * left behind is stopped first. The caller holds the lock of the folder.
 */
export async function startPostgres(place: ServerPlace): Promise<PostgresProcess> {
  await stopOrphan(place.data);
  for (let attempt = 1; ; attempt += 1) {
    let isBlocked = false;
    const server = await tryToStart({
      ...place,
      onLine(line) {
        isBlocked ||= line.includes('shared memory block');
        place.onLine(line);
      },
    });
    if (server) return server;
    // If the main process of a server was killed, its other processes end within moments.
    if (!isBlocked || attempt === MAX_ATTEMPTS)
      throw new Error(`The database in ${place.data} could not be started. Its messages are in the log.`);
    await sleep(BLOCKED_MS);
  }
}

/** Returns `undefined` if the server ended before it accepted connections. */
async function tryToStart(place: ServerPlace): Promise<PostgresProcess | undefined> {
  const { binaries, launch, environment, data, sockets: host, onLine } = place;
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: host });
  const child = run(
    launch,
    binaries.postgres,
    ['-D', await realpath(data), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    environment,
  );
  readLines(child, onLine);
  // A process that exits early has no time to wait for the server.
  const interrupt = (): void => void child.kill('SIGINT');
  process.once('exit', interrupt);
  child.once('exit', () => process.removeListener('exit', interrupt));
  const end = ended(child);
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null && child.pid !== undefined;
  const stop = async (): Promise<void> => {
    for (const [signal, ms] of STOP_SIGNALS) {
      if (!isRunning()) return;
      child.kill(signal);
      await Promise.race([end, sleep(ms, undefined, { ref: false })]);
    }
  };
  // Recovery after a crash takes as long as it takes, while the server lives.
  while (isRunning()) {
    if (await accepts(host)) return { host, user: USER, ended: end, stop };
    await Promise.race([end, sleep(READY_POLL_MS)]);
  }
  return undefined;
}

function run(
  launch: Launch,
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const [first = program, ...rest] = [...launch.prefix, program, ...args];
  return spawn(first, rest, {
    cwd: '/',
    // Nothing of this process, whose environment contains keys.
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function readLines(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', onLine);
}

/** Resolves when a process has ended, or could not be started. */
async function ended(child: ChildProcess): Promise<void> {
  await once(child, 'exit').catch(() => undefined);
}

async function accepts(host: string): Promise<boolean> {
  const client = new Client({ host, user: USER, database: 'postgres', connectionTimeoutMillis: ACCEPT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Stops a server on the folder whose service was killed. Two servers would destroy the data. */
async function stopOrphan(data: string): Promise<void> {
  for (const [signal, ms] of STOP_SIGNALS) {
    const pid = await orphanOf(data);
    if (pid === undefined) return;
    process.kill(pid, signal);
    for (let waited = 0; waited < ms && (await orphanOf(data)) !== undefined; waited += READY_POLL_MS)
      await sleep(READY_POLL_MS);
  }
}

/**
 * Returns the process id of a server on the folder. The id in its file may belong to another
 * process by now.
 */
async function orphanOf(data: string): Promise<number | undefined> {
  try {
    const pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n', 1)[0]);
    if (!Number.isInteger(pid) || pid <= 1) return undefined;
    return (await worksIn(pid, await realpath(data))) ? pid : undefined;
  } catch {
    return undefined;
  }
}

async function worksIn(pid: number, folder: string): Promise<boolean> {
  // A server works in its folder.
  if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`)) === folder;
  const { stdout } = await promisify(execFile)('ps', ['-p', `${pid}`, '-o', 'command=']);
  return stdout.includes(folder);
}
