import { loadCatalog } from '@connector-frame/catalog';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startPostgres, type Postgres } from '../../../../../test/support/postgres.js';
import { createEgress } from '../../egress/index.js';
import type { DataRecord, JsonValue } from '../../records/record.js';
import { systemClock } from '../../runner/clock.js';
import type { PageInput } from '../../runner/ends.js';
import { parseExact } from '../exact-json.js';
import { createPostgresqlInput } from './input.js';

let server: Postgres;
let admin: Client;
let url: URL;
const opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  // Its transactions would hold up rows for a moment.
  server = await startPostgres({ settings: { autovacuum: 'off' } });
});
afterAll(() => server.close());
beforeEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()));
  const address = await server.createDatabase();
  url = new URL(address);
  admin = await connect();
});
afterAll(() => Promise.all(opened.map((close) => close())));

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: url.href });
  // Tests end connections from outside.
  client.on('error', () => undefined);
  await client.connect();
  opened.push(() => client.end().catch(() => undefined));
  return client;
}

function create(settings: Record<string, unknown> = {}): PageInput {
  const type = loadCatalog().get('input', 'postgresql');
  if (!type) throw new Error('no type');
  const input = createPostgresqlInput(
    {
      settings: {
        host: url.hostname,
        port: Number(url.port),
        database: url.pathname.slice(1),
        username: 'postgres',
        ssl_mode: { mode: 'disable' },
        ...settings,
      },
      secrets: { password: url.password },
    },
    { type, egress: createEgress({ allow: ['127.0.0.0/8'] }), clock: systemClock },
  );
  opened.push(async () => input.close?.());
  return input;
}

/** Reads as the engine does: what was delivered is committed, and the next call begins there. */
class Reader {
  cursor: JsonValue | undefined;
  pages = 0;
  readonly records: DataRecord[] = [];
  constructor(public input: PageInput) {}

  async pass(limit = Infinity): Promise<DataRecord[]> {
    const fresh: DataRecord[] = [];
    for await (const { records, cursor } of this.input.pages(this.cursor, new AbortController().signal)) {
      fresh.push(...records);
      this.records.push(...records);
      this.cursor = parseExact(JSON.stringify(cursor));
      this.pages += 1;
      if (this.pages >= limit) break;
    }
    return fresh;
  }

  ids(): unknown[] {
    return this.records.map((record) => record['id']);
  }
}

test('new rows of every table with a key come once, with where they are from', async () => {
  await admin.query(`CREATE TABLE a (id serial PRIMARY KEY, body text); CREATE TABLE b (id int, updated_at timestamptz);
    CREATE TABLE c (note text); INSERT INTO a (body) VALUES ('one'), ('two');
    INSERT INTO b VALUES (1, '2026-01-02 03:04:05.678901+00')`);
  const reader = new Reader(create());
  expect(await reader.pass()).toEqual([
    { _schema: 'public', _table: 'a', id: 1, body: 'one' },
    { _schema: 'public', _table: 'a', id: 2, body: 'two' },
    { _schema: 'public', _table: 'b', id: 1, updated_at: '2026-01-02T03:04:05.678901+00:00' },
  ]);
  expect(await reader.pass()).toEqual([]);
  await admin.query(`INSERT INTO a (body) VALUES ('three')`);
  expect(await reader.pass()).toEqual([{ _schema: 'public', _table: 'a', id: 3, body: 'three' }]);
  expect(await reader.pass()).toEqual([]);
});

test('values keep every digit', async () => {
  await admin.query(`CREATE TYPE pair AS (x int, y text);
    CREATE TABLE v (id bigint PRIMARY KEY, big bigint, exact numeric, small numeric, nan numeric, f float8, at timestamp,
      day date, raw bytea, list int[], nested text[][], j json, jb jsonb, p pair, yes boolean, none text, span interval,
      _table text);
    INSERT INTO v VALUES (9223372036854775807, 9007199254740993, 12345678901234567890.123456789012345678, 1.50, 'NaN',
      0.1, '2026-01-02 03:04:05.000001', '2026-01-02', '\\xdeadbeef', '{1,2}', '{{a,b},{c,d}}',
      '{"n": 12345678901234567890}', '{"n": 1.25, "s": "x\\u00e9"}', '(1,z)', true, NULL, '1 day', 'mine')`);
  expect(await new Reader(create()).pass()).toEqual([
    {
      _schema: 'public',
      _table: 'mine',
      id: '9223372036854775807',
      big: '9007199254740993',
      exact: '12345678901234567890.123456789012345678',
      small: 1.5,
      nan: 'NaN',
      f: 0.1,
      at: '2026-01-02T03:04:05.000001',
      day: '2026-01-02',
      raw: '\\xdeadbeef',
      list: [1, 2],
      nested: [
        ['a', 'b'],
        ['c', 'd'],
      ],
      j: { n: '12345678901234567890' },
      jb: { n: 1.25, s: 'xé' },
      p: { x: 1, y: 'z' },
      yes: true,
      none: null,
      span: '1 day',
    },
  ]);
});

test('a row that is committed late, with a smaller key, is not missed', async () => {
  await admin.query(`CREATE TABLE t (id serial PRIMARY KEY, body text); INSERT INTO t (body) VALUES ('first')`);
  const reader = new Reader(create());
  await reader.pass();
  const slow = await connect();
  await slow.query(`BEGIN; INSERT INTO t (body) VALUES ('late')`);
  await slow.query(`SAVEPOINT s; INSERT INTO t (body) VALUES ('late, in a savepoint')`);
  await admin.query(`INSERT INTO t (body) VALUES ('quick')`);
  await reader.pass();
  await reader.pass();
  await slow.query('COMMIT');
  await admin.query(`INSERT INTO t (body) VALUES ('after')`);
  await reader.pass();
  await reader.pass();
  expect(new Set(reader.ids())).toEqual(new Set([1, 2, 3, 4, 5]));
  expect(reader.records).toHaveLength(5);
});

test('a row that is too young when it is passed, and changed again and again, comes in the end', async () => {
  await admin.query(`CREATE TABLE t (id serial PRIMARY KEY, n int); INSERT INTO t (n) VALUES (0)`);
  const reader = new Reader(create());
  await reader.pass();
  const other = await connect();
  for (let turn = 0; turn < 4; turn += 1) {
    // Somebody's open transaction makes all that is written after it too young.
    await other.query('BEGIN; SELECT txid_current()');
    if (turn === 0) await admin.query('INSERT INTO t (n) VALUES (0)');
    await admin.query('UPDATE t SET n = n + 1 WHERE id = 2');
    if (turn > 0) await admin.query('INSERT INTO t (n) VALUES (9)');
    await reader.pass();
    await other.query('COMMIT');
  }
  await reader.pass();
  expect(new Set(reader.ids())).toEqual(new Set([1, 2, 3, 4, 5]));
});

test('many rows with one time, in pages', async () => {
  await admin.query(`CREATE TABLE t (id int PRIMARY KEY, updated_at timestamptz);
    INSERT INTO t SELECT n, '2026-01-01' FROM generate_series(1, 12000) n ORDER BY random()`);
  const tables = [{ table: 't', cursor_column: 'updated_at' }];
  const reader = new Reader(create({ tables }));
  await reader.pass(3);
  // Another process goes on from the cursor.
  reader.input = create({ tables });
  await reader.pass();
  expect(reader.ids()).toEqual(Array.from({ length: 12_000 }, (_each, index) => index + 1));
  expect(reader.pages).toBeGreaterThan(10);
  await admin.query(`UPDATE t SET updated_at = '2026-02-01' WHERE id = 77`);
  expect(await reader.pass()).toMatchObject([{ id: 77, updated_at: '2026-02-01T00:00:00+00:00' }]);
});

test('a table without a key, a time that is absent, and one that is far ahead', async () => {
  await admin.query(`CREATE TABLE t (id int, created_at timestamp);
    INSERT INTO t VALUES (1, now()), (1, now()), (2, NULL), (3, 'infinity')`);
  const reader = new Reader(create());
  await reader.pass();
  expect(reader.ids()).toEqual([1, 1, 3]);
  await admin.query(`INSERT INTO t VALUES (4, now())`);
  await reader.pass();
  await admin.query(`INSERT INTO t VALUES (5, now()); UPDATE t SET created_at = now() WHERE id = 2`);
  await reader.pass();
  expect(reader.ids()).toEqual([1, 1, 3, 4, 5, 2]);
});

test('an emptied table that counts from one again, one that was rewritten, one that was made anew', async () => {
  await admin.query(`CREATE TABLE t (id serial PRIMARY KEY); INSERT INTO t SELECT FROM generate_series(1, 5000)`);
  const reader = new Reader(create());
  await reader.pass();
  await reader.pass();
  await admin.query('VACUUM FULL t');
  expect(await reader.pass()).toEqual([]);
  await admin.query('TRUNCATE t RESTART IDENTITY; INSERT INTO t DEFAULT VALUES');
  expect((await reader.pass()).map(({ id }) => id)).toEqual([1]);
  await admin.query('DROP TABLE t; CREATE TABLE t (id serial PRIMARY KEY); INSERT INTO t DEFAULT VALUES');
  expect((await reader.pass()).map(({ id }) => id)).toEqual([1]);
  expect(await reader.pass()).toEqual([]);
});

test('a table that is gone and a column that has another name are told, the others go on', async () => {
  await admin.query(`CREATE TABLE a (id serial PRIMARY KEY); CREATE TABLE b (id serial PRIMARY KEY);
    CREATE TABLE c (id serial PRIMARY KEY)`);
  const tables = [{ table: 'a' }, { table: 'b', cursor_column: 'id' }, { table: 'c' }];
  const reader = new Reader(create({ tables }));
  await reader.pass();
  await admin.query(`DROP TABLE a; ALTER TABLE b RENAME id TO number; INSERT INTO c DEFAULT VALUES`);
  await expect(reader.pass()).rejects.toMatchObject({
    code: 'not_found',
    kind: 'permanent',
    message: 'The table a is not there.',
  });
  expect(reader.ids()).toEqual([1]);
  const one = new Reader(create({ tables: tables.slice(1) }));
  await expect(one.pass()).rejects.toMatchObject({ kind: 'permanent', message: 'The table b has no column id.' });
  expect(one.ids()).toEqual([1]);
});

test('a table of a schema whose time column is gone is told', async () => {
  await admin.query(`CREATE TABLE a (updated_at timestamptz); CREATE TABLE b (id serial PRIMARY KEY)`);
  const reader = new Reader(create());
  await reader.pass();
  await admin.query('ALTER TABLE a DROP updated_at');
  await expect(reader.pass()).rejects.toMatchObject({ code: 'not_found', kind: 'permanent' });
});

test('a view has no order of its own', async () => {
  await admin.query('CREATE VIEW w AS SELECT 1 AS id');
  await expect(new Reader(create({ tables: [{ table: 'w' }] })).pass()).rejects.toMatchObject({ kind: 'permanent' });
});

test('nothing is written, and names are only names', async () => {
  const name = `x"; DROP TABLE keep; --`;
  await admin.query(`CREATE TABLE keep (id int PRIMARY KEY);
    CREATE TABLE "x""; DROP TABLE keep; --" ("c""x" int PRIMARY KEY); INSERT INTO "x""; DROP TABLE keep; --" VALUES (1)`);
  const reader = new Reader(create({ tables: [{ table: name, cursor_column: 'c"x' }] }));
  expect(await reader.pass()).toMatchObject([{ 'c"x': 1, _table: name }]);
  expect((await admin.query('SELECT count(*)::int AS n FROM keep')).rows).toEqual([{ n: 0 }]);
});

test('a row too large for a batch is named, not passed over, and memory stays bounded', async () => {
  await admin.query(`CREATE TABLE t (id serial PRIMARY KEY, body text);
    INSERT INTO t (body) SELECT repeat('x', 400000) FROM generate_series(1, 100);
    INSERT INTO t (body) VALUES (repeat('y', 3000000)), ('small')`);
  const reader = new Reader(create());
  const sizes: number[] = [];
  for await (const { records } of reader.input.pages(undefined, new AbortController().signal))
    sizes.push(records.length);
  expect(sizes.length).toBeGreaterThan(1);
  expect((await reader.pass()).slice(-2)).toEqual([
    { _schema: 'public', _table: 't', id: '101', _omitted: 'too_large', _bytes: 3_000_020 },
    { _schema: 'public', _table: 't', id: 102, body: 'small' },
  ]);
});

test('10,000 rows while others write, with the connection cut again and again: none missed', async () => {
  await admin.query('CREATE TABLE t (id bigserial PRIMARY KEY, worker int, n int)');
  const perWorker = 2_500;
  const writers = [0, 1, 2, 3].map(async (worker) => {
    const client = await connect();
    for (let n = 0; n < perWorker;) {
      const rows = Math.min(perWorker - n, 1 + Math.floor(Math.random() * 80));
      await client.query('BEGIN');
      for (const half of [Math.ceil(rows / 2), Math.floor(rows / 2)]) {
        await client.query('INSERT INTO t (worker, n) SELECT $1, $2 + i FROM generate_series(0, $3 - 1) i', [
          worker,
          n,
          half,
        ]);
        n += half;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
      }
      await client.query('COMMIT');
    }
  });
  let writing = true;
  const written = Promise.all(writers).then(() => (writing = false));
  const reader = new Reader(create());
  let cuts = 0;
  let largest = 0;
  for (let turn = 0, calm = 0; calm < 2; turn += 1) {
    const before = reader.records.length;
    const cut = turn % 4 === 3 && cuts < 5;
    const passing = reader
      .pass()
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'connect_failed', kind: 'retry' }));
    if (cut) {
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'connector-frame' AND datname = current_database()`);
      cuts += 1;
      reader.input = create();
    }
    await passing;
    largest = Math.max(largest, reader.records.length - before);
    if (!writing && reader.records.length === before && !cut) calm += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await written;
  const seen = new Map<string, number>();
  for (const { worker, n } of reader.records) {
    const key = JSON.stringify([worker, n]);
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  expect(seen.size).toBe(4 * perWorker);
  // What was cut was not delivered here, so it comes once.
  expect(reader.records.length).toBe(4 * perWorker);
  expect(cuts).toBeGreaterThan(0);
}, 60_000);
