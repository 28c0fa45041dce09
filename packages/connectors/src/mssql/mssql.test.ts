/**
 * There is no SQL Server that tests could start. These use a server written after MS-TDS 2.2: they
 * prove the encryption, the statements and what errors mean, not that SQL Server accepts the statements.
 */
import { expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { undeclaredFields } from '../../../../test/support/declared-fields.js';
import { attempt, outputContext } from '../../../../test/support/output-attempt.js';
import { Reader } from '../../../../test/support/postgresql-reading.js';
import { runTester } from '../../../../test/support/run-tester.js';
import {
  startTdsServer,
  type TdsAnswer,
  type TdsOptions,
  type TdsServer,
} from '../../../../test/support/tds-server.js';
import { createBatch, type TestOutcome } from '@connector-frame/engine/connector-api';
import { mssqlInput, mssqlOutput } from './index.js';

const PASSWORD = 'canary-mssql-password';
const certificate = createCertificate('localhost');

async function start(options: TdsOptions): Promise<TdsServer> {
  const server = await startTdsServer(options);
  onTestFinished(() => server.close());
  return server;
}

const base = (port: number) => ({ host: 'localhost', port, database: 'shop' });
const secrets = { password: PASSWORD };

async function testInput(port: number, method: object): Promise<TestOutcome> {
  const settings = { ...base(port), username: 'reader', ssl_method: method };
  const outcome = await runTester(mssqlInput.testConnection ?? (() => Promise.reject(new Error('none'))), {
    settings,
    secrets,
  });
  expect(undeclaredFields('input:mssql', outcome)).toEqual([]);
  expect(JSON.stringify(outcome)).not.toMatch(/canary|secret text/);
  return outcome;
}

const verify = (encrypted_verify_certificate: object = {}) => ({
  ssl_method: 'encrypted_verify_certificate',
  encrypted_verify_certificate,
});
const plain = { ssl_method: 'unencrypted' };
const columns = ['schema_name', 'table_name', 'column_name', 'type_name', 'place', 'in_key'];
const tables = {
  columns,
  rows: [
    ['dbo', 'a]b', 'id', 'bigint', '1', '1'],
    ['dbo', 'a]b', 'price', 'decimal', '2', '0'],
    ['dbo', 'a]b', 'at', 'datetime2', '3', '0'],
  ],
};

/** The password as MS-TDS 2.2.6.4 hides it: not encrypted. */
const hidden = Buffer.from(Buffer.from(PASSWORD, 'utf16le').map((byte) => (((byte << 4) | (byte >> 4)) & 255) ^ 0xa5));

test('sends no password to a server without TLS, or with another certificate', async () => {
  const stripping = await start({});
  expect(await testInput(stripping.port, verify())).toMatchObject({ reason: 'tls_failed' });
  const trusting = { ssl_method: 'encrypted_trust_server_certificate' };
  expect(await testInput(stripping.port, trusting)).toMatchObject({ reason: 'tls_failed' });
  expect(stripping.received().includes(hidden)).toBe(false);

  const other = await start({ certificate, answer: () => tables });
  expect(await testInput(other.port, verify())).toMatchObject({ reason: 'tls_failed' });
  const ca = { certificate: certificate.cert };
  expect(await testInput(other.port, verify({ ...ca, hostNameInCertificate: 'sql.acme.com' }))).toMatchObject({
    reason: 'tls_failed',
  });
  expect(await testInput(other.port, verify(ca))).toEqual({ ok: true, summary: 'Signed in, and may read 1 table' });
  expect(await testInput(other.port, trusting)).toMatchObject({ ok: true });
  expect(other.received().includes(hidden)).toBe(false);

  const open = await start({ answer: () => tables });
  expect(await testInput(open.port, plain)).toMatchObject({ ok: true });
  // The positive control: this is how a password looks without TLS.
  expect(open.received().includes(hidden)).toBe(true);
});

test('explains a refused login, without the words of the server', async () => {
  const wrong = await start({ refuses: 18456 });
  expect(await testInput(wrong.port, plain)).toMatchObject({ reason: 'invalid_credentials' });
  const absent = await start({ refuses: 4060 });
  expect(await testInput(absent.port, plain)).toMatchObject({ reason: 'not_found' });
});

test('reads rows in order after the last one, with exact numbers', async () => {
  const asked: [string, readonly unknown[]][] = [];
  const server = await start({
    answer(sql, values): TdsAnswer {
      if (sql.includes('sys.tables')) return tables;
      asked.push([sql.replaceAll(/\s+/g, ' '), values]);
      const row = [
        '9223372036854775807',
        '12345678901234567890.10',
        '2026-01-02T03:04:05.1234567',
        '9223372036854775807',
      ];
      return { columns: ['id', 'price', 'at', 'cf_place_0'], rows: asked.length === 1 ? [row] : [] };
    },
  });
  const config = {
    settings: { ...base(server.port), username: 'reader', ssl_method: plain, lookback_minutes: 0 },
    secrets,
  };
  const input = mssqlInput.createInput?.(config, outputContext('input:mssql'));
  if (input?.kind !== 'pages') throw new Error('no input');
  const reader = new Reader(input);
  expect(await reader.pass()).toEqual([
    {
      _schema: 'dbo',
      _table: 'a]b',
      id: '9223372036854775807',
      price: '12345678901234567890.10',
      at: '2026-01-02T03:04:05.1234567',
    },
  ]);
  expect(await reader.pass()).toEqual([]);
  await input.close?.();
  const [first, second] = asked;
  expect(first?.[0]).toContain(
    'FROM [dbo].[a]]b] t WHERE t.[id] IS NOT NULL ORDER BY t.[id] OFFSET 0 ROWS FETCH NEXT 1000',
  );
  expect(second?.[0]).toContain('t.[id] >= CONVERT(bigint, @p1, 0) AND ((t.[id] > CONVERT(bigint, @p2, 0)))');
  expect(second?.[1]).toEqual(['9223372036854775807', '9223372036854775807']);
});

test('creates a table, inserts parameters, and leaves out what an earlier attempt wrote', async () => {
  const statements: [string, readonly unknown[]][] = [];
  let created = false;
  const server = await start({
    answer(sql, values): TdsAnswer {
      statements.push([sql.replaceAll(/\s+/g, ' ').trim(), values]);
      if (sql.includes('CREATE TABLE')) created = true;
      if (sql.includes('sys.columns')) {
        const rows = [
          ['_record_id', 'varchar'],
          ['_record', 'nvarchar'],
        ];
        return { columns: ['column_name', 'type_name'], rows: created ? rows : [] };
      }
      if (sql.startsWith('SELECT')) return { columns: ['_record_id'], rows: [['b.0']] };
      return sql.startsWith('INSERT') && values.includes('b.0') ? { error: 2627 } : {};
    },
  });
  const config = {
    settings: { ...base(server.port), user: 'writer', ssl_method: 'unencrypted', schema: 'dbo' },
    secrets,
  };
  const output = mssqlOutput.createOutput?.(config, outputContext('output:mssql'));
  if (!output) throw new Error('no output');
  const batch = createBatch('b', [`{"n":1,"q":"'); DROP TABLE x; --"}`, '{"n":2}']);
  expect(await attempt(output, batch)).toMatchObject({ written: [1], failure: { code: 'retry' } });
  expect(await attempt(output, batch.pick([1]))).toMatchObject({ written: [2], rejected: [] });
  await output.close?.();
  const inserts = statements.filter(([sql]) => sql.startsWith('INSERT'));
  expect(inserts).toEqual([
    [
      'INSERT INTO [dbo].[records] ([_record_id], [_record]) VALUES (@p1, @p2), (@p3, @p4)',
      ['b.0', `{"n":1,"q":"'); DROP TABLE x; --"}`, 'b.1', '{"n":2}'],
    ],
    ['INSERT INTO [dbo].[records] ([_record_id], [_record]) VALUES (@p1, @p2)', ['b.1', '{"n":2}']],
  ]);
});
