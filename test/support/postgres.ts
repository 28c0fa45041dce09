import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port.js';

export interface Postgres {
  /**
   * Connection URL of a superuser on an empty database, including the password:
   * `postgres://postgres:...@127.0.0.1:5555/postgres`.
   */
  url: string;
  /**
   * Creates a database and returns its connection URL.
   * @param template name of a database to copy, which has no connections. Default: an empty one
   */
  createDatabase(template?: string): Promise<string>;
  /** Sends a signal to the server and all its processes: `SIGSTOP`, `SIGCONT`, `SIGKILL`. */
  signal(signal: NodeJS.Signals): void;
  /** Stops the server if it runs, and starts it again on the same port and data. */
  restart(): Promise<void>;
  /** Stops the server, and keeps its data for `restart`. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export interface PostgresOptions {
  /** Server settings, as in postgresql.conf: `{ ssl: 'on' }`. */
  settings?: Readonly<Record<string, string>>;
  /** Files to write to the data folder before the start, readable only by the server. */
  files?: Readonly<Record<string, string>>;
}

/**
 * Starts a real PostgreSQL on a free port of 127.0.0.1, with password authentication, in a
 * temporary folder. It is not safe against power loss. It stops when this process ends, even if
 * this process is killed.
 */
export async function startPostgres({ settings = {}, files = {} }: PostgresOptions = {}): Promise<Postgres> {
  const bin = findBinaries();
  const account = unprivilegedAccount();
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  const password = randomBytes(16).toString('hex');
  try {
    initialize(bin, folder, password, account);
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, 'data', name);
      writeFileSync(path, text, { mode: 0o600 });
      if (account) chownSync(path, account.uid, account.gid);
    }
    let server = await launch(bin, folder, settings, account);
    const url = `postgres://postgres:${password}@127.0.0.1:${server.port}/postgres`;
    return {
      url,
      createDatabase: (template) => createDatabase(url, template),
      signal(signal) {
        const pid = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
        const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
        for (const each of [pid, ...children.map(Number)]) process.kill(each, signal);
      },
      stop: () => server.stop(),
      async restart() {
        await server.stop();
        server = await launch(bin, folder, settings, account, server.port);
      },
      close: async () => {
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

interface Account {
  uid: number;
  gid: number;
}

function findBinaries(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
  if (!found)
    throw new Error(
      'No PostgreSQL here. Install it: apt-get install postgresql (Debian, Ubuntu), brew install postgresql (macOS).',
    );
  return found;
}

/** Returns an account to run as if this process is root, which PostgreSQL rejects. */
function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      continue;
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as.');
}

function initialize(bin: string, folder: string, password: string, account: Account | undefined): void {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account) {
    chownSync(folder, account.uid, account.gid);
    chownSync(passwordFile, account.uid, account.gid);
  }
  const options = ['--no-sync', '--no-locale', '--encoding=UTF8', '--username=postgres', '--auth=scram-sha-256'];
  execFileSync(join(bin, 'initdb'), [...options, `--pwfile=${passwordFile}`, '-D', join(folder, 'data')], {
    cwd: folder,
    stdio: 'pipe',
    ...account,
  });
}

/**
 * Starts the server on a free port. Another process may take the port before the server binds it,
 * so this makes up to three attempts.
 */
async function launch(
  bin: string,
  folder: string,
  settings: Readonly<Record<string, string>>,
  account: Account | undefined,
  fixedPort?: number,
): Promise<{ port: number; stop(): Promise<void> }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = fixedPort ?? (await freePort());
    const server = spawnTied(
      join(bin, 'postgres'),
      ['-D', join(folder, 'data'), ...flags({ ...settings, port: String(port) })],
      folder,
      account,
    );
    try {
      await ready(server);
      return { port, stop: () => stop(server) };
    } catch (error) {
      await stop(server);
      if (attempt === 3) throw error;
    }
  }
}

function flags(settings: Readonly<Record<string, string>>): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'off',
    shared_buffers: '16MB',
    lc_messages: 'C',
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * Starts a command through a shell. This process's end of the shell's standard input closes when
 * this process ends for any reason; the shell then stops the server and deletes the folder.
 */
function spawnTied(command: string, args: string[], folder: string, account: Account | undefined): ChildProcess {
  const script = '"$@" & pid=$!; read -r word; kill -INT $pid; wait $pid; [ "$word" = keep ] || rm -rf "$0"';
  return spawn('/bin/sh', ['-c', script, folder, command, ...args], {
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
    ...account,
  });
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-8_192);
      if (log.includes('ready to accept connections')) resolve();
      // Clients that reconnect meanwhile are refused, which the server logs as FATAL too.
      if (
        /FATAL:(?!\s+the database system is (?:starting up|not yet accepting connections))|PANIC|system is shut down/.test(
          log,
        )
      )
        reject(new Error(`PostgreSQL did not start:\n${log}`));
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
  });
}

function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    server.once('exit', () => resolve());
    server.stdin?.on('error', () => undefined).end('keep\n');
  });
}

async function createDatabase(url: string, template = 'template1'): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  } finally {
    await client.end();
  }
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}
