import { inspect } from 'node:util';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { listenTcp, type Listener } from '../../../../test/support/listener.js';
import { startPostgres, type Postgres } from '../../../../test/support/postgres.js';
import { createEgress } from '@connector-frame/engine/egress';
import {
  type Batch,
  createBatch,
  type Output,
  systemClock,
  type WriteResult,
} from '@connector-frame/engine/connector-api';
import { createPostgresqlOutput } from './output.js';

const certificate = createCertificate('127.0.0.1');
const signal = new AbortController().signal;
let server: Postgres;
let admin: Client;
let url: URL;
const open: { close?(): Promise<unknown> }[] = [];

beforeAll(async () => {
  server = await startPostgres({
    settings: { ssl: 'on', ssl_cert_file: 'server.crt', ssl_key_file: 'server.key' },
    files: { 'server.crt': certificate.cert, 'server.key': certificate.key },
  });
});
beforeEach(async () => {
  url = new URL(await server.createDatabase());
  const client = new Client({ connectionString: url.href });
  await client.connect();
  open.push({ close: () => client.end() });
  admin = client;
});
afterAll(async () => {
  for (const each of open) await each.close?.();
  await server.close();
});

function create(
  settings: Record<string, unknown>,
  secrets: Record<string, unknown> = { password: url.password },
): Output {
  const [database, port] = [url.pathname.slice(1), Number(url.port)];
  const output = createPostgresqlOutput(
    { settings: { host: url.hostname, port, database, user: 'postgres', table: 't', ...settings }, secrets },
    { type: typeOf('output:postgresql'), egress: createEgress({ allow: ['127.0.0.0/8'] }), clock: systemClock },
  );
  open.push(output);
  return output;
}

const batch = (records: readonly unknown[], id = 'b'): Batch =>
  createBatch(
    id,
    records.map((each) => JSON.stringify(each)),
  );
const count = (from: number, to: number): { id: number }[] =>
  Array.from({ length: to - from }, (_each, index) => ({ id: from + index }));
const rows = async (sql = 'SELECT * FROM t ORDER BY id'): Promise<unknown[]> => (await admin.query(sql)).rows;

async function write(output: Output, ...records: unknown[]): Promise<WriteResult> {
  await output.open?.(signal);
  return output.write(batch(records), signal);
}

test('inserts fields into columns by name and type; absent fields get the default', async () => {
  await admin.query(`CREATE TABLE t (id bigint, "Mixed" text, at timestamptz, n numeric, list text[], doc jsonb, raw bytea,
    yes boolean DEFAULT true, made text DEFAULT 'here', half bigint GENERATED ALWAYS AS (id / 2) STORED)`);
  const output = create({});
  await output.open?.(signal);
  const line =
    `{"id":9223372036854775807,"n":1.234567890123456789012,"Mixed":{"a":1},"at":"2026-01-02T03:04:05.678901Z",
    "list":["a","b"],"doc":{"x":[1,null]},"raw":"\\\\xff","more":1}`.replaceAll(/\n\s*/g, '');
  expect(await output.write(createBatch('b', [line, '{"id":"4","yes":null,"made":"there"}']), signal)).toEqual({});
  expect(
    await rows(
      "SELECT id, n, \"Mixed\", at AT TIME ZONE 'UTC' = '2026-01-02 03:04:05.678901' AS at, list, doc, raw, yes, made FROM t ORDER BY id",
    ),
  ).toEqual([
    { id: '4', n: null, Mixed: null, at: null, list: null, doc: null, raw: null, yes: null, made: 'there' },
    {
      id: '9223372036854775807',
      n: '1.234567890123456789012',
      Mixed: '{"a":1}',
      at: true,
      list: ['a', 'b'],
      doc: { x: [1, null] },
      raw: Buffer.from([255]),
      yes: true,
      made: 'here',
    },
  ]);
});

test('inserts selected columns only, or the whole record into one column', async () => {
  await admin.query('CREATE TABLE t (id int, a text, b text, whole jsonb)');
  await write(create({ column_names: ['id', 'b'] }), { id: 1, a: 'left out', b: 'kept' });
  await write(create({ column_names: ['id'], record_column: 'whole' }), { id: 2, z: { deep: 1 } }, { z: 3 });
  expect(await rows()).toEqual([
    { id: 1, a: null, b: 'kept', whole: null },
    { id: 2, a: null, b: null, whole: { id: 2, z: { deep: 1 } } },
    { id: null, a: null, b: null, whole: { z: 3 } },
  ]);
  expect(await write(create({ column_names: ['id'] }), { other: 1 })).toEqual({
    rejected: [{ index: 0, reason: 'no_matching_column' }],
  });
});

test('rejects only the bad rows', async () => {
  await admin.query(`CREATE TABLE ref (id int PRIMARY KEY); CREATE TABLE t (id int PRIMARY KEY CHECK (id < 1000),
    n int NOT NULL DEFAULT 0, r int REFERENCES ref DEFERRABLE INITIALLY DEFERRED, word text)`);
  await admin.query('INSERT INTO t (id) VALUES (77)');
  const records: unknown[] = count(0, 500);
  records[3] = { id: 'three' };
  records[50] = { id: 50, n: null };
  records[100] = { id: 2_000 };
  records[200] = { id: 200, r: 9 };
  records[300] = { id: 300, word: 'a\u0000b' };
  records[301] = { id: 99999999999 };
  records[499] = { id: 498 };
  expect(await write(create({}), ...records)).toEqual({
    rejected: expect.arrayContaining([
      { index: 3, reason: 'invalid_value' },
      { index: 50, reason: 'missing_value' },
      { index: 77, reason: 'already_there' },
      { index: 100, reason: 'constraint' },
      { index: 200, reason: 'no_such_reference' },
      { index: 300, reason: 'invalid_value' },
      { index: 301, reason: 'invalid_value' },
      { index: 499, reason: 'already_there' },
    ]) as unknown,
  });
  expect(await rows('SELECT count(*)::int AS n FROM t')).toEqual([{ n: 500 - 8 + 1 }]);
});

test('skips a redelivered batch by record id or by a unique key', async () => {
  await admin.query('CREATE TABLE t (id int, record_id text UNIQUE); CREATE TABLE u (id int PRIMARY KEY)');
  const output = create({ id_column: 'record_id' });
  const whole = batch(count(0, 10), 'one');
  await output.open?.(signal);
  await output.write(whole.pick([4, 5]), signal);
  expect(await output.write(whole, signal)).toEqual({});
  await output.write(batch(count(0, 1), 'two'), signal);
  expect(await rows('SELECT count(*)::int AS n FROM t')).toEqual([{ n: 11 }]);
  const skipping = create({ table: 'u', skip_existing: true });
  await write(skipping, ...count(0, 5));
  expect(await write(skipping, ...count(3, 8))).toEqual({});
  expect(await rows('SELECT count(*)::int AS n FROM u')).toEqual([{ n: 8 }]);
});

test('a disconnect leaves no partial batch', async () => {
  await admin.query(`CREATE TABLE t (id int, a int, b int);
    CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.b = 13 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NEW; END $$;
    CREATE TRIGGER cut BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION cut()`);
  const output = create({});
  const records = [
    { id: 1, a: 1 },
    { id: 2, b: 13 },
  ];
  await expect(write(output, ...records)).rejects.toMatchObject({ code: 'connect_failed', kind: 'retry' });
  expect(await rows()).toEqual([]);
  await admin.query('DROP TRIGGER cut ON t');
  expect(await output.write(batch(records), signal)).toEqual({});
  expect(await rows('SELECT id FROM t ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
});

test('retries after a deadlock; a missing table or column is permanent', async () => {
  await admin.query(`CREATE TABLE t (id int, n int);
    CREATE FUNCTION busy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'busy' USING ERRCODE = CASE NEW.n WHEN 1 THEN '40P01' WHEN 2 THEN '40001' WHEN 3 THEN '53300' ELSE 'P0001' END; END $$;
    CREATE TRIGGER busy BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION busy()`);
  const output = create({});
  for (const n of [1, 2, 3]) await expect(write(output, { n })).rejects.toMatchObject({ kind: 'retry' });
  expect(await write(output, { n: 4 })).toEqual({ rejected: [{ index: 0, reason: 'refused_by_trigger' }] });
  await admin.query('DROP TRIGGER busy ON t; ALTER TABLE t RENAME n TO m');
  await expect(write(output, { n: 1 })).rejects.toMatchObject({ code: 'not_found', kind: 'permanent' });
  expect(await write(output, { m: 1 })).toEqual({});
  await admin.query('ALTER TABLE t RENAME TO elsewhere');
  await expect(write(output, { m: 1 })).rejects.toMatchObject({ code: 'not_found', kind: 'permanent' });
  await expect(write(output, { m: 1 })).rejects.toMatchObject({ message: 'The table t does not exist.' });
});

test('reports missing tables and columns', async () => {
  await admin.query(`CREATE TABLE t (id int, record_id text)`);
  const failing = (settings: Record<string, unknown>): Promise<unknown> => write(create(settings), { id: 1 });
  await expect(failing({ table: 'nowhere' })).rejects.toMatchObject({ kind: 'permanent' });
  await expect(failing({ column_names: ['ID'] })).rejects.toMatchObject({ kind: 'permanent' });
  await expect(failing({ id_column: 'record_id' })).rejects.toMatchObject({
    code: 'invalid_config',
    message: "The column for the record's ID needs a unique index.",
  });
  await admin.query(`CREATE ROLE stranger LOGIN PASSWORD 'x'`);
  await expect(write(create({ user: 'stranger' }, { password: 'x' }), {})).rejects.toMatchObject({ kind: 'permanent' });
  await admin.query(`DROP ROLE stranger`);
});

test('does not interpolate names and values into statements', async () => {
  const name = `x"; DROP TABLE keep; --`;
  await admin.query(`CREATE TABLE keep (id int); CREATE TABLE "x""; DROP TABLE keep; --" (id int, "a""b' $1" text)`);
  await write(create({ table: name }), { id: 1, [`a"b' $1`]: `'); DROP TABLE keep; --` });
  expect(await rows(`SELECT * FROM "x""; DROP TABLE keep; --"`)).toEqual([
    { id: 1, [`a"b' $1`]: `'); DROP TABLE keep; --` },
  ]);
  expect(await rows('SELECT count(*)::int AS n FROM keep')).toEqual([{ n: 0 }]);
});

test.each([
  ['', true],
  ['?sslmode=disable', false],
  ['?sslmode=prefer', true],
  ['?sslmode=require', true],
])('a connection string with %j: TLS is %s', async (rest, encrypted) => {
  await admin.query('CREATE TABLE t (id int, ssl boolean DEFAULT (SELECT NULL::boolean))').catch(() => undefined);
  await admin.query(`CREATE TABLE IF NOT EXISTS t (id int, ssl boolean);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      SELECT s.ssl INTO NEW.ssl FROM pg_stat_ssl s WHERE s.pid = pg_backend_pid(); RETURN NEW; END $$;
    CREATE TRIGGER note BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION note()`);
  await write(create({ host: 'nowhere.invalid' }, { connection_string: `${url.href}${rest}` }), { id: 1 });
  expect(await rows('SELECT id, ssl FROM t')).toEqual([{ id: 1, ssl: encrypted }]);
});

test('rejects a closed network before a byte is sent, and an invalid configuration at once', async () => {
  const listener = await listenTcp(() => undefined);
  const context = { type: typeOf('output:postgresql'), egress: createEgress({ allow: [] }), clock: systemClock };
  const settings = { host: '127.0.0.1', port: listener.port, database: 'a', user: 'b', table: 't' };
  const output = createPostgresqlOutput({ settings, secrets: {} }, context);
  await expect(output.open?.(signal)).rejects.toMatchObject({ code: 'egress_refused', kind: 'permanent' });
  expect(listener.connections()).toBe(0);
  await listener.close();
  expect(() => createPostgresqlOutput({ settings, secrets: { connection_string: 'mysql://a' } }, context)).toThrow(
    expect.objectContaining({ code: 'invalid_config', kind: 'permanent' }),
  );
});

test("no error quotes a secret or a record of the server's text", async () => {
  const canaries = ['canary-password', 'canary-record', 'canary-upstream'];
  const listeners: Listener[] = [];
  for (const state of ['28P01', '22P02', '23505', '42P01', 'XX000', '57P01', 'canary-password']) {
    const fields = [
      'SERROR',
      `C${state}`,
      ...['M', 'D', 'H', 'W', 't', 'c', 'n'].map((key) => `${key}${canaries.join(' ')}`),
    ];
    const text = Buffer.from(`${fields.map((field) => `${field}\0`).join('')}\0`);
    const head = Buffer.alloc(5, 'E');
    head.writeInt32BE(text.length + 4, 1);
    const listener = await listenTcp((socket) =>
      socket.on('data', (sent) => {
        // Declines TLS, then responds to every message with an error.
        socket.write(sent.length === 8 ? 'N' : Buffer.concat([head, text]));
      }),
    );
    listeners.push(listener);
    const output = create({ host: '127.0.0.1', port: listener.port }, { password: canaries[0] });
    const error: unknown = await write(output, { note: canaries[1] }).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(Error);
    for (const canary of canaries) expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(canary);
  }
  await Promise.all(listeners.map((each) => each.close()));
  await admin.query('CREATE TABLE t (id int)');
  const result = await write(create({}), { id: 'canary-record' });
  expect(inspect(result)).not.toContain('canary');
});

test('a hanging write ends on abort, and close leaves no connection', async () => {
  await admin.query('CREATE TABLE t (id int)');
  const output = create({});
  const stop = new AbortController();
  await output.open?.(signal);
  await admin.query('BEGIN; LOCK TABLE t');
  const writing = output.write(batch([{ id: 1 }]), stop.signal).catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 50));
  stop.abort();
  expect(await writing).toBeInstanceOf(Error);
  await admin.query('ROLLBACK');
  expect(await output.write(batch([{ id: 1 }]), signal)).toEqual({});
  await output.close?.();
  const sessions = `SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE application_name = 'connector-frame' AND datname = current_database()`;
  await expect.poll(() => rows(sessions)).toEqual([{ n: 0 }]);
});
