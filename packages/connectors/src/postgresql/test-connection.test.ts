import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { undeclaredFields } from '../../../../test/support/declared-fields.js';
import { startPostgres, type Postgres } from '../../../../test/support/postgres.js';
import { runTester } from '../../../../test/support/run-tester.js';
import type { TestOutcome } from '@connector-frame/engine/connector-api';
import { testPostgresqlInput } from './test-connection.js';
import { testPostgresqlOutput } from './test-connection.js';

const PASSWORD = 'canary-postgres-password';

const setUp = `
  CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}';
  CREATE ROLE stranger LOGIN PASSWORD '${PASSWORD}';
  CREATE SCHEMA logs;
  CREATE SCHEMA empty;
  CREATE TABLE logs.events (id bigint PRIMARY KEY, body jsonb);
  CREATE TABLE logs."Mixed Case" (id bigint PRIMARY KEY);
  CREATE TABLE logs.hidden (id bigint);
  CREATE TABLE public.notes (id bigint PRIMARY KEY);
  CREATE SCHEMA plain;
  CREATE TABLE plain.words (word text);
  CREATE TABLE plain.times (word text, created_at timestamptz);
  GRANT SELECT ON public.notes TO reader;
  GRANT USAGE ON SCHEMA logs, empty, plain TO reader;
  GRANT SELECT ON plain.words, plain.times TO reader;
  GRANT SELECT, INSERT ON logs.events TO reader;
  GRANT SELECT, INSERT (id) ON logs."Mixed Case" TO reader;
  ALTER ROLE reader SET search_path = logs;`;

let server: Postgres;
let host: string;
let port: number;

beforeAll(async () => {
  server = await startPostgres();
  const url = new URL(server.url);
  host = url.hostname;
  port = Number(url.port);
  const admin = new Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(setUp);
  await admin.end();
});
afterAll(() => server.close());

async function read(
  changes: Record<string, unknown> = {},
  secrets: Record<string, unknown> = { password: PASSWORD },
): Promise<TestOutcome> {
  const settings = { host, port, database: 'postgres', username: 'reader', ssl_mode: { mode: 'disable' }, ...changes };
  const outcome = await runTester(testPostgresqlInput, { settings, secrets });
  expect(undeclaredFields('input:postgresql', outcome)).toEqual([]);
  return outcome;
}

async function write(
  changes: Record<string, unknown> = {},
  secrets: Record<string, unknown> = { password: PASSWORD },
): Promise<TestOutcome> {
  const settings = { host, port, database: 'postgres', user: 'reader', table: 'logs.events', ...changes };
  const outcome = await runTester(testPostgresqlOutput, { settings, secrets });
  expect(undeclaredFields('output:postgresql', outcome)).toEqual([]);
  return outcome;
}

describe('input', () => {
  test('counts the tables it may read', async () => {
    expect(await read()).toEqual({ ok: true, summary: 'Signed in, and may read 1 table' });
    expect(await read({ schemas: ['logs'] })).toEqual({ ok: true, summary: 'Signed in, and may read 2 tables' });
  });

  test('reports a missing schema and one without readable tables', async () => {
    expect(await read({ schemas: ['logs', 'nowhere'] })).toMatchObject({
      reason: 'not_found',
      issues: [{ path: '/settings/schemas/1' }],
    });
    expect(await read({ schemas: ['empty'] })).toMatchObject({
      reason: 'forbidden',
      issues: [{ path: '/settings/schemas' }],
    });
    expect(await read({ username: 'stranger' })).toMatchObject({
      reason: 'forbidden',
      issues: [{ path: '/settings/schemas' }],
    });
  });

  test('counts tables without a cursor column', async () => {
    expect(await read({ schemas: ['plain'] })).toEqual({
      ok: true,
      summary: 'Signed in, and may read 1 table; 1 more has no cursor column',
    });
    expect(await read({ tables: [{ table: 'plain.times' }, { table: 'plain.words' }] })).toMatchObject({
      reason: 'invalid_config',
      issues: [{ path: '/settings/tables/1/cursor_column' }],
    });
  });

  test('reports listed tables that are missing, not readable, or lack the column', async () => {
    expect(await read({ tables: [{ table: 'logs.events', cursor_column: 'id' }, { table: 'notes' }] })).toMatchObject({
      reason: 'not_found',
      message: 'Signed in, but the table notes does not exist.',
      issues: [{ path: '/settings/tables/1/table' }],
    });
    expect(await read({ tables: [{ table: 'public.notes' }] })).toMatchObject({ ok: true });
    expect(await read({ tables: [{ table: 'logs.hidden' }] })).toMatchObject({
      reason: 'forbidden',
      issues: [{ path: '/settings/tables/0/table' }],
    });
    expect(await read({ tables: [{ table: 'events', cursor_column: 'when' }] })).toMatchObject({
      reason: 'not_found',
      issues: [{ path: '/settings/tables/0/cursor_column' }],
    });
  });

  test('reports a wrong password, user and database', async () => {
    const wrong = {
      reason: 'invalid_credentials',
      issues: [{ path: '/settings/username' }, { path: '/secrets/password' }],
    };
    expect(await read({}, { password: 'wrong' })).toMatchObject(wrong);
    expect(await read({ username: 'nobody' })).toMatchObject(wrong);
    expect(await read({ database: 'nowhere' })).toMatchObject({
      reason: 'not_found',
      issues: [{ path: '/settings/database' }],
    });
  });

  test("reports a missing password instead of using this service's environment", async () => {
    const before = process.env['PGPASSWORD'];
    process.env['PGPASSWORD'] = PASSWORD;
    try {
      expect(await read({}, {})).toMatchObject({
        reason: 'invalid_config',
        issues: [{ path: '/secrets/password', code: 'required' }],
      });
    } finally {
      if (before === undefined) delete process.env['PGPASSWORD'];
      else process.env['PGPASSWORD'] = before;
    }
  });

  test('reports Entra sign-in as unsupported', async () => {
    expect(await read({ entra_service_principal_auth: true })).toMatchObject({ reason: 'unsupported' });
  });
});

function address(user: string, password: string, rest = ''): string {
  return `postgresql://${user}:${password}@${host}:${port}/postgres${rest}`;
}

function byString(connection_string: string): Promise<TestOutcome> {
  return write({ host: 'nowhere.invalid' }, { connection_string });
}

describe('output', () => {
  test.each(['logs.events', 'events', 'LOGS.EVENTS', 'Mixed Case', 'logs."Mixed Case"'])(
    'passes if it may insert into %s',
    async (table) => {
      expect(await write({ table })).toEqual({ ok: true, summary: 'Signed in, and may insert into the table' });
    },
  );

  test.each(['nowhere', 'logs.nowhere', 'a b c', 'a.b.c.d', '"', "'; DROP TABLE logs.events; --"])(
    'reports that the table %s does not exist',
    async (table) => {
      expect(await write({ table })).toMatchObject({ reason: 'not_found', issues: [{ path: '/settings/table' }] });
    },
  );

  test('reports a missing INSERT privilege and a missing column', async () => {
    expect(await write({ table: 'hidden' })).toMatchObject({
      reason: 'forbidden',
      issues: [{ path: '/settings/table' }],
    });
    expect(await write({ column_names: ['id', 'body'] })).toMatchObject({ ok: true });
    expect(await write({ column_names: ['id', 'Body'] })).toMatchObject({
      reason: 'not_found',
      issues: [{ path: '/settings/column_names/1' }],
    });
  });

  test('accepts a connection string', async () => {
    const onString = { issues: [{ path: '/secrets/connection_string' }] };
    expect(await byString(address('reader', PASSWORD))).toMatchObject({ ok: true });
    expect(await byString(address('reader', PASSWORD, '?sslmode=disable'))).toMatchObject({ ok: true });
    expect(await byString(address('reader', PASSWORD, '?sslmode=require'))).toMatchObject({
      reason: 'tls_failed',
      ...onString,
    });
    expect(await byString(address('reader', 'wrong'))).toMatchObject({ reason: 'invalid_credentials', ...onString });
    expect(await byString(address('reader', PASSWORD, '?sslmode=verify-full&sslrootcert=/etc/passwd'))).toMatchObject({
      reason: 'unsupported',
      ...onString,
    });
    for (const nonsense of ['host=a user=b', 'mysql://a:b@c/d', 'postgresql://%zz@c/d', 'postgresql:///d']) {
      expect(await byString(nonsense)).toMatchObject({ reason: 'invalid_config', ...onString });
    }
  });
});

test('leaves no connection behind', async () => {
  const admin = new Client({ connectionString: server.url });
  await admin.connect();
  const count = async (): Promise<unknown> =>
    (await admin.query(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = 'reader'`)).rows;
  await expect.poll(count).toEqual([{ n: 0 }]);
  await admin.end();
});
