import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCertificate, type Certificate } from '../../../../test/support/certificate.js';
import { startPostgres, type Postgres } from '../../../../test/support/postgres.js';
import { createEgress } from '@connector-frame/engine/egress';
import type { TestOutcome } from '@connector-frame/engine/connector-api';
import { testPostgresqlInput } from './test-input.js';

const PASSWORD = 'canary-postgres-password';
const certificate = createCertificate('localhost', '127.0.0.1');
const client = createCertificate('certified');
const other = createCertificate('localhost');

/** Access rules by role: client certificate only, with TLS only, without TLS only, or any. */
const rules = `
hostssl   all certified   all cert
hostnossl all encrypted   all reject
hostssl   all unencrypted all reject
host      all all         all scram-sha-256
`;

let secured: Postgres;
let plain: Postgres;
beforeAll(async () => {
  const ssl = { ssl: 'on', ssl_cert_file: 'server.crt', ssl_key_file: 'server.key', ssl_ca_file: 'clients.crt' };
  const files = {
    'server.crt': certificate.cert,
    'server.key': certificate.key,
    'clients.crt': client.cert,
    'pg_hba.conf': rules,
  };
  [secured, plain] = await Promise.all([startPostgres({ settings: ssl, files }), startPostgres()]);
  for (const { url } of [secured, plain]) {
    const admin = new Client({ connectionString: url });
    await admin.connect();
    await admin.query('CREATE TABLE notes (id int PRIMARY KEY); GRANT SELECT ON notes TO PUBLIC');
    for (const role of ['certified', 'encrypted', 'unencrypted', 'anyone']) {
      await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
    }
    await admin.end();
  }
});
afterAll(() => Promise.all([secured.close(), plain.close()]));

interface Attempt {
  /** Absent: the connector's default. */
  mode?: string;
  details?: Record<string, unknown>;
  username?: string;
  secrets?: Record<string, unknown>;
  host?: string;
}

function signIn(
  server: Postgres,
  { mode, details = {}, username = 'anyone', secrets = {}, host = '127.0.0.1' }: Attempt,
): Promise<TestOutcome> {
  const settings = {
    host,
    port: Number(new URL(server.url).port),
    database: 'postgres',
    username,
    ...(mode && { ssl_mode: { mode, [mode.replace('-', '_')]: details } }),
  };
  const egress = createEgress({ allow: ['127.0.0.0/8'], lookup: () => Promise.resolve(['127.0.0.1']) });
  const config = { settings, secrets: { password: PASSWORD, ...secrets } };
  return testPostgresqlInput(config, { egress, signal: new AbortController().signal });
}

const ca = ({ cert }: Certificate): Record<string, unknown> => ({ ca_certificate: cert });

test.each([
  ['disable', { anyone: true, encrypted: false, unencrypted: true }],
  ['allow', { anyone: true, encrypted: true, unencrypted: true }],
  ['prefer', { anyone: true, encrypted: true, unencrypted: true }],
  ['require', { anyone: true, encrypted: true, unencrypted: false }],
])('%s lets in %j where there is TLS', async (mode, expected) => {
  for (const [username, ok] of Object.entries(expected)) {
    expect(await signIn(secured, { mode, username })).toMatchObject(
      ok ? { ok } : { reason: 'forbidden', issues: [{ path: '/settings/username' }] },
    );
  }
});

test('without TLS on the other side, only what insists on it fails', async () => {
  for (const mode of ['disable', 'allow', 'prefer']) expect(await signIn(plain, { mode })).toMatchObject({ ok: true });
  for (const attempt of [{}, { mode: 'require' }])
    expect(await signIn(plain, attempt)).toMatchObject({ reason: 'tls_failed' });
  expect(await signIn(plain, { mode: 'verify-full', details: ca(certificate) })).toMatchObject({
    reason: 'tls_failed',
  });
});

test('verify-ca asks for the authority, verify-full for the name as well', async () => {
  const failed = { reason: 'tls_failed', issues: [{ path: '/settings/host' }] };
  for (const mode of ['verify-ca', 'verify-full']) {
    expect(await signIn(secured, { mode, details: ca(certificate) })).toMatchObject({ ok: true });
    expect(await signIn(secured, { mode, details: ca(other) })).toMatchObject(failed);
  }
  expect(await signIn(secured, { mode: 'verify-ca', details: ca(certificate), host: 'db.example' })).toMatchObject({
    ok: true,
  });
  expect(await signIn(secured, { mode: 'verify-full', details: ca(certificate), host: 'db.example' })).toMatchObject(
    failed,
  );
});

test('a client certificate goes along', async () => {
  const attempt = {
    mode: 'verify-full',
    username: 'certified',
    details: { ...ca(certificate), client_certificate: client.cert },
  };
  expect(await signIn(secured, { ...attempt, secrets: { client_key: client.key } })).toMatchObject({ ok: true });
  expect(await signIn(secured, { ...attempt, details: ca(certificate) })).toMatchObject({ reason: 'forbidden' });
});

test('what is no certificate, and a key that does not fit', async () => {
  expect(await signIn(secured, { mode: 'verify-ca', details: { ca_certificate: 'nonsense' } })).toMatchObject({
    reason: 'invalid_config',
    issues: [{ path: '/settings/ssl_mode/verify_ca/ca_certificate' }],
  });
  const details = { ...ca(certificate), client_certificate: client.cert };
  expect(await signIn(secured, { mode: 'verify-full', details, secrets: { client_key: other.key } })).toMatchObject({
    reason: 'invalid_config',
    issues: [{ path: '/settings/ssl_mode/verify_full/client_certificate' }, { path: '/secrets/client_key' }],
  });
});
