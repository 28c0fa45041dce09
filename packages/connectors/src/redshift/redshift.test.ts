/**
 * Against PostgreSQL, because the protocol and system catalog of Redshift derive from it. It lacks the
 * type SUPER and its functions, so the tests define those that are used.
 */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { attempt, outputContext } from '../../../../test/support/output-attempt.js';
import { startPostgres, type Postgres } from '../../../../test/support/postgres.js';
import { Reader } from '../../../../test/support/postgresql-reading.js';
import { runTester } from '../../../../test/support/run-tester.js';
import { createBatch, type ConnectorCode, type Output, type PageInput } from '@connector-frame/engine/connector-api';
import { createRedshiftInput, createRedshiftOutput, redshiftInput } from './index.js';

const PASSWORD = 'canary-redshift-password';
const { cert, key } = createCertificate('localhost');
let server: Postgres;
let admin: Client;

beforeAll(async () => {
  const settings = { ssl: 'on', ssl_cert_file: 'cert.pem', ssl_key_file: 'key.pem' };
  server = await startPostgres({ settings, files: { 'cert.pem': cert, 'key.pem': key } });
  admin = new Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`CREATE ROLE loader LOGIN PASSWORD '${PASSWORD}'; CREATE SCHEMA logs AUTHORIZATION loader;
    CREATE DOMAIN public.super AS json;
    CREATE FUNCTION json_parse(text) RETURNS super LANGUAGE sql AS 'SELECT $1::json';
    CREATE FUNCTION json_serialize(json) RETURNS text LANGUAGE sql AS 'SELECT $1::text'`);
});
afterAll(async () => {
  await admin.end();
  await server.close();
});

function config(more: object = {}) {
  const settings = {
    host: 'localhost',
    port: Number(new URL(server.url).port),
    database: 'postgres',
    username: 'loader',
  };
  return { settings: { ...settings, ...more }, secrets: { password: PASSWORD } };
}

function open(): { input: PageInput; output: Output } {
  const input = createRedshiftInput({ ca: cert }).createInput?.(
    config({ schemas: ['logs'] }),
    outputContext('input:amazon-redshift'),
  );
  const output = createRedshiftOutput({ ca: cert }).createOutput?.(
    config({ schema: 'logs' }),
    outputContext('output:amazon-redshift'),
  );
  if (input?.kind !== 'pages' || !output) throw new Error('no runtime');
  onTestFinished(async () => {
    await input.close?.();
    await output.close?.();
  });
  return { input, output };
}

test('writes each record once, and reads rows with exact values', async () => {
  const { input, output } = open();
  const batch = createBatch('b', ['{"n":1}', `{"q":"'; DROP TABLE x; --"}`]);
  expect(await attempt(output, batch)).toMatchObject({ rejected: [] });
  expect(await attempt(open().output, batch)).toMatchObject({ rejected: [] });
  const written = await admin.query('SELECT _record_id, _record::text FROM logs.records ORDER BY 1');
  expect(written.rows).toEqual([
    { _record_id: 'b.0', _record: '{"n":1}' },
    { _record_id: 'b.1', _record: `{"q":"'; DROP TABLE x; --"}` },
  ]);

  await admin.query(`CREATE TABLE logs.t (id bigint PRIMARY KEY, exact numeric(38,10), at timestamp, z timestamptz, yes bool, none int);
    INSERT INTO logs.t VALUES (9223372036854775807, 12345678901234567890.5, '2026-01-02 03:04:05.000001', '2026-01-02 03:04:05+01', true, NULL);
    GRANT SELECT ON logs.t TO loader`);
  const reader = new Reader(input);
  expect(await reader.pass()).toEqual([
    {
      _schema: 'logs',
      _table: 't',
      id: '9223372036854775807',
      exact: '12345678901234567890.5000000000',
      at: '2026-01-02T03:04:05.000001',
      z: '2026-01-02T02:04:05+00',
      yes: true,
      none: null,
    },
  ]);
  expect(await reader.pass()).toEqual([]);
});

const run = ({ testConnection }: ConnectorCode) =>
  testConnection && runTester(testConnection, config({ schemas: ['logs'] }));

test('signs in only to a server with a certificate of a public authority', async () => {
  expect(await run(redshiftInput)).toMatchObject({ reason: 'tls_failed' });
  expect(await run(createRedshiftInput({ ca: cert }))).toMatchObject({ ok: true });
});
