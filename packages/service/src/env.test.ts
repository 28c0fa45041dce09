import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EnvironmentError, readEnv } from './env.js';

const KEY = 'a'.repeat(64);

describe('readEnv', () => {
  it('returns defaults for an empty environment', () => {
    expect(readEnv({})).toMatchObject({
      SERVICE_PORT: 4_000,
      SERVICE_HOST: '127.0.0.1',
      DATA_DIR: '.data',
      ALLOWED_PARENT_ORIGINS: [],
      LOG_LEVEL: 'info',
      DEAD_LETTERS_MAX_BYTES: 16_777_216,
      DEAD_LETTERS_MAX_COUNT: 100_000,
      DEAD_LETTERS_WHEN_FULL: 'block',
      OUTPUT_BUFFER_BYTES: 268_435_456,
      OUTPUT_SPILL_BYTES: 4_294_967_296,
      MIN_FREE_BYTES: 268_435_456,
      RATE_LIMIT_TEST: { points: 5, seconds: 60 },
      RATE_LIMIT_TEST_KEY: { points: 60, seconds: 60 },
      RATE_LIMIT_TEST_TYPE: { points: 15, seconds: 60 },
      RATE_LIMIT_TEST_ORGANIZATION: { points: 30, seconds: 60 },
    });
    expect(readEnv({ SERVICE_PORT: '', DATABASE_URL: '', OTHER: 'x' }).SERVICE_PORT).toBe(4_000);
  });

  it('reads every variable', () => {
    const env = readEnv({
      SERVICE_PORT: '0',
      PUBLIC_URL: 'https://connect.example/base/',
      ALLOWED_PARENT_ORIGINS: 'https://app.example, http://localhost:3000,',
      DATABASE_URL: 'postgres://user:secret@db.example/name',
      MASTER_KEY: KEY,
      EGRESS_ALLOW: '10.1.0.0/16,fd00::/8',
      TRUST_PROXY: '10.0.0.1',
      RATE_LIMIT_KEY: '600/30',
      RATE_LIMIT_SESSION: 'off',
      DRAIN_DELAY_MS: '5000',
      SYSLOG_PORTS: '7000',
    });
    expect(env).toMatchObject({
      SERVICE_PORT: 0,
      PUBLIC_URL: 'https://connect.example/base',
      ALLOWED_PARENT_ORIGINS: ['https://app.example', 'http://localhost:3000'],
      EGRESS_ALLOW: ['10.1.0.0/16', 'fd00::/8'],
      RATE_LIMIT_KEY: { points: 600, seconds: 30 },
      RATE_LIMIT_SESSION: null,
      DRAIN_DELAY_MS: 5_000,
      SYSLOG_PORTS: { first: 7_000, last: 7_000 },
    });
    expect(env.MASTER_KEY?.id).toMatch(/^[0-9a-f]{16}$/);
  });

  it.each([
    ['SERVICE_PORT', '65536', 'a port'],
    ['OUTPUT_BUFFER_BYTES', '1000', 'bytes, at least 1048576'],
    ['OUTPUT_BUFFER_BYTES', '256 MiB', 'bytes, at least 1048576'],
    ['OUTPUT_SPILL_BYTES', '2097152', 'at least OUTPUT_BUFFER_BYTES'],
    ['MIN_FREE_BYTES', '-1', 'bytes'],
    ['SERVICE_PORT', '-1', 'a port'],
    ['SERVICE_PORT', '4000x', 'a port'],
    ['PUBLIC_URL', 'connect.example', 'https://connect.example'],
    ['PUBLIC_URL', 'https://connect.example/?x', 'https://connect.example'],
    ['ALLOWED_PARENT_ORIGINS', 'https://app.example/path', 'https://app.example'],
    ['ALLOWED_PARENT_ORIGINS', '*', 'https://app.example'],
    ['ALLOWED_PARENT_ORIGINS', 'http://app.example', 'https://app.example'],
    ['EMBED_ORIGINS', 'frame.example', 'origins'],
    ['NATS_URL', 'http://nats:4222', 'nats://user:password@host:4222'],
    ['NATS_URL', 'nats://user:canary@nats:4222', 'DATABASE_URL must be set together with NATS_URL'],
    ['ENGINE', 'shared', 'DATABASE_URL must be set together with ENGINE=shared'],
    ['NATS_TLS_KEY', '/key.pem', 'NATS_TLS_CERT must be set together'],
    ['NATS_PREFIX', 'a.b', 'letters, digits'],
    ['NATS_STREAMS', '0', 'a number of JetStream streams'],
    ['DATABASE_URL', 'mysql://db', 'postgres://'],
    ['DEAD_LETTERS_MAX_BYTES', '1000', 'bytes'],
    ['DEAD_LETTERS_MAX_COUNT', '0', 'records'],
    ['DEAD_LETTERS_WHEN_FULL', 'drop', 'drop_oldest'],
    ['MASTER_KEY', 'canary-secret', 'openssl rand'],
    ['MASTER_KEY_PREVIOUS', 'canary-secret', 'openssl rand'],
    ['EGRESS_ALLOW', '10.0.0.0/33', 'CIDR'],
    ['TRUST_PROXY', 'proxy.internal', 'CIDR'],
    ['SYSLOG_PORTS', '6613-6514', '6514-6613'],
    ['SYSLOG_PORTS', '0', '6514-6613'],
    ['SYSLOG_HOST', 'logs.example', '0.0.0.0'],
    ['SYSLOG_TLS_KEY', '/key.pem', 'SYSLOG_TLS_CERT must be set together'],
    ['RATE_LIMIT_ADDRESS', '0/60', '600/60'],
    ['RATE_LIMIT_TEST', '5', '600/60'],
    ['LOG_LEVEL', 'loud', 'debug'],
    ['METRICS_TOKEN', 'canary-short', 'at least 16'],
    ['SERVICE_API_KEY', 'canary key', '16 to 200'],
    ['BOOTSTRAP_ORGANIZATION', 'Northwind', 'SERVICE_API_KEY must be set'],
    ['DRAIN_DELAY_MS', '60001', 'milliseconds'],
    ['CONSOLE_ORIGINS', 'https://console.example/app', 'origins'],
    ['OIDC_ISSUER', 'http://login.example', 'https://login.example'],
    ['OIDC_ISSUER', 'https://login.example', 'OIDC_CLIENT_ID must be set together'],
    ['OIDC_CLIENT_ID', 'canary-id', 'set together with OIDC_ISSUER'],
    ['LOCAL_ACCOUNTS', 'yes', '"on"'],
    ['LOCAL_MFA', 'off', '"optional"'],
    ['USER_SESSION_HOURS', '721', 'hours'],
    ['SMTP_URL', 'mail.example', 'smtps://'],
    ['SMTP_URL', 'smtps://user:canary@mail.example', 'MAIL_FROM must be set together'],
    ['MAIL_FROM', 'a@example.com\nBcc: canary@example.com', 'an address'],
    ['BOOTSTRAP_ADMIN_EMAIL', 'canary', 'e-mail address'],
    ['BOOTSTRAP_ADMIN_EMAIL', 'ana@example.com', 'BOOTSTRAP_ORGANIZATION must be set together'],
    ['RATE_LIMIT_SIGN_IN', '10', '600/60'],
  ])('rejects %s=%s with a hint and without secret values', (name, value, hint) => {
    const read = () => readEnv({ [name]: value });
    expect(read).toThrow(EnvironmentError);
    expect(read).toThrow(hint);
    expect(read).toThrow(name);
    expect(read).not.toThrow('canary');
  });

  it('rejects an identity provider together with local accounts, and an administrator who cannot sign in', () => {
    const provider = { OIDC_ISSUER: 'https://login.example', OIDC_CLIENT_ID: 'x' };
    expect(readEnv(provider)).toMatchObject({ LOCAL_ACCOUNTS: 'off', OIDC_TRUST_EMAIL: 'off' });
    expect(() => readEnv({ ...provider, LOCAL_ACCOUNTS: 'on' })).toThrow('LOCAL_ACCOUNTS must be "off"');
    const first = { BOOTSTRAP_ORGANIZATION: 'N', SERVICE_API_KEY: KEY, BOOTSTRAP_ADMIN_EMAIL: 'Ana@Example.com' };
    expect(() => readEnv({ ...first, LOCAL_ACCOUNTS: 'on' })).toThrow('POST /v1/{org}/invites');
    expect(readEnv({ ...first, ...provider }).BOOTSTRAP_ADMIN_EMAIL).toBe('ana@example.com');
  });

  it('reports all invalid variables in one error', () => {
    expect(() => readEnv({ SERVICE_PORT: 'x', LOG_LEVEL: 'loud' })).toThrow(/SERVICE_PORT[\s\S]*LOG_LEVEL/);
  });
});

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('are read without the line break at the end', () => {
    const env = readEnv({
      MASTER_KEY_FILE: file('master-key', `${KEY}\n`),
      DATABASE_URL_FILE: file('database-url', 'postgres://user:secret @db.example/name\r\n'),
      DATABASE_URL: '',
    });
    expect(env.MASTER_KEY?.id).toBe(readEnv({ MASTER_KEY: KEY }).MASTER_KEY?.id);
    expect(env.DATABASE_URL).toBe('postgres://user:secret @db.example/name');
  });

  it.each([
    ['that is missing', { DATABASE_URL_FILE: '/nowhere/canary' }, 'DATABASE_URL_FILE must be the path of a file that'],
    ['that is empty', { DATABASE_URL_FILE: file('empty', '\n') }, 'DATABASE_URL_FILE must be the path of a file that'],
    ['beside the variable', { METRICS_TOKEN: KEY, METRICS_TOKEN_FILE: '/nowhere' }, 'METRICS_TOKEN_FILE must be unset'],
    ['with another format', { MASTER_KEY_FILE: file('bad', 'canary-secret') }, 'MASTER_KEY must be 32 random bytes'],
  ])('rejects a file %s, without its content', (_case, environment, hint) => {
    expect(() => readEnv(environment)).toThrow(EnvironmentError);
    expect(() => readEnv(environment)).toThrow(hint);
    expect(() => readEnv(environment)).not.toThrow('canary');
  });
});
