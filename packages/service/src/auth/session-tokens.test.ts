import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { createSessionTokens } from './session-tokens.js';

const databases = anyDatabase();
let service: TestService;
let acme: Tenant;
let genuine: string;

beforeAll(async () => {
  service = await createTestService({ database: await databases.open() });
  acme = await service.tenant('Northwind');
  genuine = await service.session(acme);
});
afterAll(() => service.store.close());

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
const decode = (part = ''): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString());
const hmac = (text: string, key: Uint8Array, hash = 'sha256') => createHmac(hash, key).update(text).digest('base64url');

/**
 * Builds a token like `genuine`, correctly signed, with the given changes: only they can be the
 * reason for a rejection.
 */
function forge(header: object = {}, claims: object = {}, remove: readonly string[] = [], hash = 'sha256'): string {
  const [head, payload] = genuine.split('.');
  const changed: Record<string, unknown> = { ...decode(payload), ...claims };
  for (const name of remove) delete changed[name];
  const text = `${encode({ ...decode(head), ...header })}.${encode(changed)}`;
  return `${text}.${hmac(text, service.master.derive('sessions'), hash)}`;
}

const call = (session: string) => service.call('GET', '/v1/inputs', { session });

describe('session tokens (S14)', () => {
  it('accepts its own tokens, and a token signed with its own key', async () => {
    expect((await call(genuine)).status).toBe(200);
    expect((await call(forge())).status).toBe(200);
    const [head, payload] = genuine.split('.');
    expect(decode(head)).toEqual({ alg: 'HS256', typ: 'embed-session+jwt' });
    expect(decode(payload)).toMatchObject({ org: acme.team, parents: ['https://app.example'] });
  });

  it('rejects all other tokens with the same response', async () => {
    const now = Math.floor(service.clock.now() / 1_000);
    const [head = '', payload = '', signature = ''] = genuine.split('.');
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const rsa = `${encode({ alg: 'RS256', typ: 'embed-session+jwt' })}.${payload}`;
    const rfc7515 =
      'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const forged: Record<string, string> = {
      'the example of RFC 7515, A.1': rfc7515,
      'the unsecured example of RFC 7515, A.5':
        'eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.',
      'alg none': `${encode({ alg: 'none', typ: 'embed-session+jwt' })}.${payload}.`,
      'alg None': `${encode({ alg: 'None', typ: 'embed-session+jwt' })}.${payload}.`,
      'alg none with the signature': `${encode({ alg: 'none', typ: 'embed-session+jwt' })}.${payload}.${signature}`,
      'HS512 with our key': forge({ alg: 'HS512' }, {}, [], 'sha512'),
      'HS384 with our key': forge({ alg: 'HS384' }, {}, [], 'sha384'),
      'RS256 with a key of theirs': `${rsa}.${sign('sha256', Buffer.from(rsa), privateKey).toString('base64url')}`,
      'HS256 with a public key': (() => {
        const text = `${head}.${payload}`;
        return `${text}.${hmac(text, Buffer.from(publicKey.export({ type: 'spki', format: 'pem' })))}`;
      })(),
      'an empty key': `${head}.${payload}.${hmac(`${head}.${payload}`, Buffer.alloc(0))}`,
      'another key': `${head}.${payload}.${hmac(`${head}.${payload}`, randomBytes(32))}`,
      'another purpose of the master key': `${head}.${payload}.${hmac(`${head}.${payload}`, service.master.derive('data keys'))}`,
      'no signature': `${head}.${payload}.`,
      'two parts': `${head}.${payload}`,
      'five parts': `${genuine}.x.y`,
      'changed claims': `${head}.${encode({ ...decode(payload), org: acme.id })}.${signature}`,
      'a signature cut short': genuine.slice(0, -4),
      kid: forge({ kid: '../../dev/null' }),
      jwk: forge({ jwk: { kty: 'oct', k: 'AAAA' } }),
      jku: forge({ jku: 'https://evil.example/keys' }),
      x5u: forge({ x5u: 'https://evil.example/cert' }),
      crit: forge({ crit: ['exp'], exp: now + 60 }),
      'crit of an unknown': forge({ crit: ['b64'], b64: false }),
      'another typ': forge({ typ: 'JWT' }),
      'no typ': forge({ typ: undefined }),
      'another issuer': forge({}, { iss: 'someone' }),
      'no issuer': forge({}, {}, ['iss']),
      'another audience': forge({}, { aud: 'someone' }),
      'no audience': forge({}, {}, ['aud']),
      'no exp': forge({}, {}, ['exp']),
      'no iat': forge({}, {}, ['iat']),
      'no jti': forge({}, {}, ['jti']),
      'exp as text': forge({}, { exp: String(now + 600) }),
      'far exp': forge({}, { exp: now + 3_601 }),
      'very far exp': forge({}, { exp: 9_999_999_999 }),
      'far exp, hidden by a late iat': forge({}, { iat: now + 600, exp: now + 4_100 }),
      nbf: forge({}, { nbf: now + 600 }),
      'no organization': forge({}, {}, ['org']),
      'an organization that is gone': forge({}, { org: 'gone' }),
      'a key that is gone': forge({}, { key: 'gone' }),
      'an unknown kind': forge({}, { kind: 'pipeline' }),
      'types as text': forge({}, { types: 'okta-systemlog' }),
      'an API key': acme.key,
      nothing: '.',
    };
    for (const [name, token] of Object.entries(forged)) {
      const { status, body, headers } = await call(token);
      expect([name, status, body.error_type]).toEqual([name, 401, 'invalid_token']);
      expect(headers.get('www-authenticate'), name).toBe('Bearer');
    }
  });

  it('returns token_expired for an expired session', async () => {
    const token = await service.session(acme, { ttl_seconds: 300 });
    expect((await call(token)).status).toBe(200);
    service.clock.advance(299_000);
    expect((await call(token)).status).toBe(200);
    service.clock.advance(1_000);
    expect(await call(token)).toMatchObject({ status: 401, body: { error_type: 'token_expired' } });
  });

  it('accepts sessions of the previous master key', async () => {
    const [old, current] = [randomBytes(32), randomBytes(32)];
    const scope = { organizationId: 'o', apiKeyId: 'k', keyVersion: 1, parentOrigins: [] };
    const { token } = await createSessionTokens([old], service.clock).mint(scope, 300);
    expect(await createSessionTokens([current, old], service.clock).verify(token)).toMatchObject(scope);
    await expect(createSessionTokens([current], service.clock).verify(token)).rejects.toMatchObject({ status: 401 });
  });
});
