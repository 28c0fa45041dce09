/** Against a real MariaDB server. */
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { undeclaredFields } from '../../../../test/support/declared-fields.js';
import { long } from '../../../../test/support/long.js';
import { startMariadb, type Mariadb } from '../../../../test/support/mariadb.js';
import { attempt, outputContext } from '../../../../test/support/output-attempt.js';
import { Reader } from '../../../../test/support/postgresql-reading.js';
import { runTester } from '../../../../test/support/run-tester.js';
import { createBatch, type Output, type PageInput, type TestOutcome } from '@connector-frame/engine/connector-api';
import { mysqlInput, mysqlOutput } from './index.js';

const PASSWORD = 'canary-mysql-password';
let server: Mariadb;
let now = Date.UTC(2026, 0, 1);
const clock = { now: () => now, sleep: () => Promise.resolve() };

beforeAll(async () => {
  server = await startMariadb();
  await server.admin
    .query(`CREATE USER reader@'%' IDENTIFIED BY '${PASSWORD}'; CREATE USER writer@'%' IDENTIFIED BY '${PASSWORD}';
    CREATE USER stranger@'%' IDENTIFIED BY '${PASSWORD}'`);
});
afterAll(() => server.close());
beforeEach(async () => {
  await server.admin.query(`DROP DATABASE IF EXISTS shop; CREATE DATABASE shop; USE shop;
    GRANT SELECT ON shop.* TO reader@'%'; GRANT SELECT, CREATE, INSERT ON shop.* TO writer@'%'`);
});

const query = (sql: string): Promise<unknown> => server.admin.query(sql);
const rowsOf = async (sql: string): Promise<unknown> => (await server.admin.query(sql))[0];

function inputConfig(settings: object, password = PASSWORD) {
  const base = { host: '127.0.0.1', port: server.port, database: 'shop', username: 'reader' };
  return { settings: { ...base, ...settings }, secrets: { password } };
}

function input(settings: object = {}): PageInput {
  const made = mysqlInput.createInput?.(inputConfig(settings), { ...outputContext('input:mysql'), clock });
  if (made?.kind !== 'pages') throw new Error('no input of pages');
  onTestFinished(async () => made.close?.());
  return made;
}

function output(settings: object = {}): Output {
  const config = inputConfig({ username: 'writer', ssl: false, ...settings });
  const made = mysqlOutput.createOutput?.(config, outputContext('output:mysql'));
  if (!made) throw new Error('no output');
  onTestFinished(async () => made.close?.());
  return made;
}

const batch = (...records: object[]) =>
  createBatch(
    'b',
    records.map((record) => JSON.stringify(record)),
  );

async function tested(
  kind: 'input' | 'output',
  settings: object,
  password?: string,
  ca?: string,
): Promise<TestOutcome> {
  const tester = kind === 'input' ? mysqlInput.testConnection : mysqlOutput.testConnection;
  const config = inputConfig({ ...(ca !== undefined && { ca_certificate: ca }), ...settings }, password);
  if (!tester) throw new Error('no tester');
  const outcome = await runTester(tester, config);
  expect(undeclaredFields(`${kind}:mysql`, outcome)).toEqual([]);
  return outcome;
}

test('reads every row once, whatever its types', async () => {
  await query(`CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, small INT, exact DECIMAL(40,20), f DOUBLE, at TIMESTAMP(6) NULL,
      local_time DATETIME, day DATE, raw VARBINARY(4), j JSON, yes BOOLEAN, none TEXT);
    SET time_zone = '+00:00';
    INSERT INTO t VALUES (18446744073709551615, -1, 12345678901234567890.5, 0.5, '2026-01-02 03:04:05.000001', '2026-01-02 03:04:05',
      '2026-01-02', x'deadbeef', '{"n": 1}', true, NULL)`);
  const reader = new Reader(input());
  const [record] = await reader.pass();
  expect(Object.entries(record ?? {})).toEqual([
    ['_schema', 'shop'],
    ['_table', 't'],
    ['id', '18446744073709551615'],
    ['small', -1],
    ['exact', '12345678901234567890.50000000000000000000'],
    ['f', 0.5],
    ['at', '2026-01-02T03:04:05.000001+00:00'],
    ['local_time', '2026-01-02T03:04:05'],
    ['day', '2026-01-02'],
    ['raw', '0xdeadbeef'],
    ['j', { n: 1 }],
    ['yes', 1],
    ['none', null],
  ]);
  expect(await reader.pass()).toEqual([]);
});

test('finds a row that is committed after rows with larger keys, until the look back is over', async () => {
  await query('CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT)');
  const reader = new Reader(input({ lookback_minutes: 5 }));
  await query('INSERT INTO t (id, n) VALUES (1, 1), (3, 3)');
  await reader.pass();
  now += 4 * 60_000;
  await query('INSERT INTO t (id, n) VALUES (2, 2), (5, 5)');
  await reader.pass();
  now += 6 * 60_000;
  // Row 4 is older than the look back.
  await query('INSERT INTO t (id, n) VALUES (4, 4), (6, 6)');
  await reader.pass();
  reader.input = input({ lookback_minutes: 5 });
  await reader.pass();
  expect(reader.ids()).toEqual([1, 3, 2, 5, 6]);
});

test('pages through many rows with the same time, and continues from a cursor', async () => {
  await query(`CREATE TABLE t (part INT, name VARCHAR(20), updated_at DATETIME(6), PRIMARY KEY (part, name));
    INSERT INTO t SELECT seq % 3, concat('n', seq), '2026-01-01' FROM seq_1_to_3000`);
  const reader = new Reader(input());
  await reader.pass(2);
  reader.input = input();
  await reader.pass();
  expect(new Set(reader.records.map(({ name }) => name)).size).toBe(3_000);
  expect(reader.records).toHaveLength(3_000);
  expect(JSON.stringify(reader.cursor).length).toBeLessThan(60_000);
  await query(`UPDATE t SET updated_at = '2026-02-01' WHERE name = 'n77'`);
  expect(await reader.pass()).toMatchObject([{ name: 'n77', updated_at: '2026-02-01T00:00:00' }]);
});

test.runIf(long)('reads rows that are too large for one response, in smaller pages', async () => {
  await query(`CREATE TABLE t (id INT PRIMARY KEY, body LONGTEXT);
    INSERT INTO t SELECT seq, repeat('x', 400000) FROM seq_1_to_200; INSERT INTO t VALUES (201, repeat('y', 3000000))`);
  const reader = new Reader(input());
  await reader.pass();
  expect(reader.records).toHaveLength(201);
  expect(reader.records.at(-1)).toEqual({
    _schema: 'shop',
    _table: 't',
    id: 201,
    _omitted: 'too_large',
    _bytes: expect.any(Number),
  });
});

test('reads the other tables when one is missing, and quotes names', async () => {
  await query(
    'CREATE TABLE `a``; DROP TABLE keep; --` (`i``d` INT PRIMARY KEY); INSERT INTO `a``; DROP TABLE keep; --` VALUES (1)',
  );
  await query('CREATE TABLE keep (id INT PRIMARY KEY)');
  const tables = [{ table: 'gone' }, { table: 'a`; DROP TABLE keep; --', cursor_column: 'i`d' }];
  const reader = new Reader(input({ tables }));
  await expect(reader.pass()).rejects.toMatchObject({ code: 'not_found', kind: 'permanent' });
  expect(reader.records).toMatchObject([{ 'i`d': 1 }]);
  expect(await rowsOf('SELECT count(*) AS n FROM keep')).toEqual([{ n: 0 }]);
});

test('creates a table and writes each record once', async () => {
  const records = batch({ n: 1, big: 1 }, { text: `it's "quoted" \\ ; DROP` });
  const target = output();
  expect(await attempt(target, records)).toMatchObject({ rejected: [] });
  expect(await attempt(output(), records)).toMatchObject({ rejected: [] });
  expect(await rowsOf('SELECT _record_id AS id, cast(_record AS char) AS record FROM records ORDER BY 1')).toEqual([
    { id: 'b.0', record: '{"n":1,"big":1}' },
    { id: 'b.1', record: '{"text":"it\'s \\"quoted\\" \\\\ ; DROP"}' },
  ]);
});

test('fills the columns of a table, and rejects only the rows at fault', async () => {
  await query(`CREATE TABLE events (n BIGINT UNSIGNED PRIMARY KEY, at DATETIME(3), tags JSON, flag BOOLEAN, note VARCHAR(5) DEFAULT 'none',
    twice INT AS (n * 2))`);
  const line = '{"n":18446744073709551615,"at":"2026-01-02T05:04:05.678+02:00","tags":["a"],"flag":true,"twice":1}';
  const lines = [line, '{"n":2,"note":"too long"}', '{"n":3,"extra":1}', '{"n":"x"}', '{"n":3}', '{"other":1}'];
  expect(
    (await attempt(output({ table: 'events' }), createBatch('c', lines))).rejected.map(({ reason }) => reason).sort(),
  ).toEqual(['already_there', 'invalid_value', 'no_matching_column', 'too_large']);
  expect(
    await rowsOf(
      'SELECT cast(n AS char) AS n, cast(at AS char) AS at, cast(tags AS char) AS tags, flag, note FROM events ORDER BY 1',
    ),
  ).toEqual([
    { n: '18446744073709551615', at: '2026-01-02 03:04:05.678', tags: '["a"]', flag: 1, note: 'none' },
    { n: '3', at: null, tags: null, flag: null, note: 'none' },
  ]);
});

test('explains an invalid configuration', async () => {
  await query('CREATE TABLE t (id INT PRIMARY KEY)');
  expect(await tested('input', {})).toEqual({ ok: true, summary: 'Signed in, and may read 1 table' });
  expect(await tested('input', {}, 'wrong')).toMatchObject({ reason: 'invalid_credentials' });
  expect(await tested('input', { database: 'nowhere' })).toMatchObject({ reason: 'not_found' });
  expect(await tested('input', { username: 'stranger' })).toMatchObject({ reason: 'not_found' });
  expect(await tested('input', { tables: [{ table: 'shop.t' }, { table: 'u' }] })).toMatchObject({
    issues: [{ path: '/settings/tables/1/table' }],
  });
  expect(await tested('output', { username: 'writer', ssl: false, table: 't' })).toMatchObject({ ok: true });
  await query(`REVOKE CREATE ON shop.* FROM writer@'%'`);
  expect(await attempt(output(), batch({ n: 1 }))).toMatchObject({ failure: { code: 'forbidden', kind: 'permanent' } });
});

test('checks the certificate as configured, before it sends the password', async () => {
  await query('CREATE TABLE t (id INT PRIMARY KEY)');
  const named = { host: 'localhost' };
  const failedTls = { reason: 'tls_failed' };
  expect(await tested('input', { ssl_mode: 'verify_identity', ...named })).toMatchObject(failedTls);
  expect(await tested('input', { ssl_mode: 'verify_identity', ...named }, PASSWORD, server.ca)).toMatchObject({
    ok: true,
  });
  // The certificate is for `localhost`.
  expect(await tested('input', { ssl_mode: 'verify_identity' }, PASSWORD, server.ca)).toMatchObject(failedTls);
  expect(await tested('input', { ssl_mode: 'verify_ca' }, PASSWORD, server.ca)).toMatchObject({ ok: true });
  expect(await tested('output', { username: 'writer', ...named })).toMatchObject(failedTls);
  expect(await tested('output', { username: 'writer', ...named }, PASSWORD, server.ca)).toMatchObject({ ok: true });
});

const packet = (body: Buffer, sequence: number) =>
  Buffer.concat([Buffer.from([body.length, body.length >> 8, 0, sequence]), body]);

/** A server that greets like one without TLS, then asks for the password in the clear. */
async function startThief(): Promise<{ received: () => string; port: number }> {
  const chunks: Buffer[] = [];
  const thief: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    const greeting = Buffer.concat([
      Buffer.from([10]),
      Buffer.from('8.4.0\0'),
      Buffer.from([1, 0, 0, 0]),
      Buffer.from('12345678\0'),
      // Every capability but TLS (0x0800).
      Buffer.from([0xff, 0xf7, 0xff, 2, 0, 0xff, 0xc1, 21]),
      Buffer.alloc(10),
      Buffer.from('123456789012\0'),
      Buffer.from('mysql_clear_password\0'),
    ]);
    const clear = Buffer.concat([Buffer.from([0xfe]), Buffer.from('mysql_clear_password\0'), Buffer.from('x\0')]);
    socket.write(packet(greeting, 0));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      socket.write(packet(clear, 2));
    });
  });
  await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void thief.close());
  const address = thief.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    received: () => Buffer.concat(chunks).toString('latin1'),
  };
}

test.each(['preferred', 'required', 'verify_identity'])(
  'never sends the password in the clear (%s)',
  async (ssl_mode) => {
    const thief = await startThief();
    const outcome = await tested('input', { port: thief.port, ssl_mode });
    expect(outcome.ok).toBe(false);
    expect(thief.received()).not.toContain(PASSWORD);
    expect(JSON.stringify(outcome)).not.toContain(PASSWORD);
  },
);
