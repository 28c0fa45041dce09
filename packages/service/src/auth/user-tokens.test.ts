import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, PARENT, type Tenant, type TestService } from '../../../../test/support/service.js';
import { signedInUser, signIn, type SignedIn } from '../../../../test/support/users.js';

const CONSOLE = 'https://console.example';
const databases = anyDatabase();
let service: TestService;
let acme: Tenant;
let ana: SignedIn;

beforeAll(async () => {
  const settings = { consoleOrigins: [CONSOLE] };
  service = await createTestService({ database: await databases.open(), settings });
  acme = await service.tenant('Northwind');
  ana = await signedInUser(service, acme.id, 'admin');
});
afterAll(async () => {
  await service.store.close();
  await databases.close();
});

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
const decode = (part = ''): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString());
const hmac = (text: string, key: Uint8Array, hash = 'sha256') => createHmac(hash, key).update(text).digest('base64url');

/** Builds a token like `from`, correctly signed, with the given changes. */
function forge(from: string, header: object = {}, claims: object = {}, remove: readonly string[] = []): string {
  const [head, payload] = from.split('.');
  const changed: Record<string, unknown> = { ...decode(payload), ...claims };
  for (const name of remove) delete changed[name];
  const text = `${encode({ ...decode(head), ...header })}.${encode(changed)}`;
  return `${text}.${hmac(text, service.master.derive('users'))}`;
}

const call = (user: string) => service.call('GET', `/v1/${acme.team}/inputs`, { user });
const refresh = (refresh_token: string) => service.call('POST', '/v1/login/refresh', { body: { refresh_token } });
const tokenOf = ({ signInId: id }: SignedIn, generation = 1) =>
  service.userTokens.refresh({ id, generation }, 12 * 3_600);

describe('access tokens of users (S14)', () => {
  it('are accepted as issued', async () => {
    expect((await call(ana.token)).status).toBe(200);
    expect((await call(forge(ana.token))).status).toBe(200);
    const [head, payload] = ana.token.split('.');
    expect(decode(head)).toEqual({ alg: 'HS256', typ: 'user-access+jwt' });
    expect(Object.keys(decode(payload)).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'sid', 'sub']);
  });

  it('are rejected if anything else is in them, or if they are another kind of token', async () => {
    const now = Math.floor(service.clock.now() / 1_000);
    const [head = '', payload = '', signature = ''] = ana.token.split('.');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const rsa = `${encode({ alg: 'RS256', typ: 'user-access+jwt' })}.${payload}`;
    const bo = await signedInUser(service, acme.id, 'reader');
    const session = await service.session(acme);
    const keyOf = (purpose: string) =>
      `${head}.${payload}.${hmac(`${head}.${payload}`, service.master.derive(purpose))}`;
    const withKey = (token: string, purpose: string) => {
      const text = token.slice(0, token.lastIndexOf('.'));
      return `${text}.${hmac(text, service.master.derive(purpose))}`;
    };
    const forged: Record<string, string> = {
      'alg none': `${encode({ alg: 'none', typ: 'user-access+jwt' })}.${payload}.`,
      'alg none with the signature': `${encode({ alg: 'none', typ: 'user-access+jwt' })}.${payload}.${signature}`,
      'RS256 with a key of theirs': `${rsa}.${sign('sha256', Buffer.from(rsa), privateKey).toString('base64url')}`,
      'another key': `${head}.${payload}.${hmac(`${head}.${payload}`, randomBytes(32))}`,
      'the key of sessions': keyOf('sessions'),
      'no signature': `${head}.${payload}.`,
      kid: forge(ana.token, { kid: 'x' }),
      jwk: forge(ana.token, { jwk: { kty: 'oct', k: 'AAAA' } }),
      crit: forge(ana.token, { crit: ['exp'], exp: now + 60 }),
      'typ JWT': forge(ana.token, { typ: 'JWT' }),
      'typ of a session': forge(ana.token, { typ: 'embed-session+jwt' }),
      'a refresh token': await tokenOf(ana),
      'a refresh token with the typ of an access token': forge(await tokenOf(ana), { typ: 'user-access+jwt' }),
      'a session with the typ of an access token': withKey(forge(session, { typ: 'user-access+jwt' }), 'users'),
      'another issuer': forge(ana.token, {}, { iss: 'someone' }),
      'another audience': forge(ana.token, {}, { aud: 'connector-frame/refresh' }),
      'no exp': forge(ana.token, {}, {}, ['exp']),
      'far exp': forge(ana.token, {}, { exp: now + 601 }),
      'far exp, hidden by a late iat': forge(ana.token, {}, { iat: now + 600, exp: now + 1_200 }),
      'no sign-in': forge(ana.token, {}, {}, ['sid']),
      'a sign-in that is gone': forge(ana.token, {}, { sid: 'gone' }),
      'the sign-in of another user': forge(ana.token, {}, { sid: bo.signInId }),
      'another user': forge(ana.token, {}, { sub: bo.id }),
      'an API key': acme.key,
    };
    for (const [name, token] of Object.entries(forged)) {
      const { status, body, headers } = await call(token);
      expect([name, status, body.error_type]).toEqual([name, 401, 'invalid_token']);
      expect(headers.get('www-authenticate'), name).toBe('Bearer');
    }
    expect((await service.call('GET', '/v1/inputs', { session: forge(session) })).status).toBe(401);
  });

  it('expire after ten minutes, and end with the sign-in', async () => {
    const { token } = await signIn(service, ana);
    service.clock.advance(599_000);
    expect((await call(token)).status).toBe(200);
    service.clock.advance(1_000);
    expect(await call(token)).toMatchObject({ status: 401, body: { error_type: 'token_expired' } });
    const next = await signIn(service, ana);
    expect((await service.call('POST', '/v1/login/logout', { user: next.token })).status).toBe(204);
    expect(await call(next.token)).toMatchObject({ status: 401, body: { error_type: 'invalid_token' } });
    expect((await refresh(await tokenOf({ ...ana, ...next }))).status).toBe(401);
  });

  it('are accepted from consoles only, API keys from no page, and sessions from the form only', async () => {
    const session = await service.session(acme);
    const { token: user } = await signIn(service, ana);
    const from = async (origin: string, credential: object, path = '/v1/inputs') => {
      const { status, headers } = await service.call('GET', path, { ...credential, headers: { origin } });
      return [status, headers.get('access-control-allow-origin')];
    };
    const form = 'https://connect.example';
    expect(await from(CONSOLE, { user })).toEqual([200, CONSOLE]);
    expect(await from(form, { user })).toEqual([403, form]);
    expect(await from(PARENT, { user })).toEqual([403, null]);
    expect(await from(form, { session })).toEqual([200, form]);
    expect(await from(CONSOLE, { session })).toEqual([403, CONSOLE]);
    expect(await from(CONSOLE, { key: acme.key })).toEqual([403, CONSOLE]);
    const preflight = await service.app.request('/v1/inputs', { method: 'OPTIONS', headers: { origin: CONSOLE } });
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, CONSOLE]);
  });
});

describe('refresh tokens', () => {
  it('are exchanged once; using one again ends the sign-in for the thief and the user', async () => {
    const bo = await signedInUser(service, acme.id, 'reader');
    const first = await tokenOf(bo);
    const second = await refresh(first);
    expect(second.body).toMatchObject({ token_type: 'Bearer', expires_in: 600, email: bo.email });
    expect((await call(second.body.access_token)).status).toBe(200);
    const third = await refresh(second.body.refresh_token);
    expect(third.status).toBe(200);
    expect((await refresh(first)).status).toBe(401);
    expect((await refresh(third.body.refresh_token)).status).toBe(401);
    expect((await call(third.body.access_token)).status).toBe(401);
  });

  it('may be repeated for ten seconds, because a response can be lost', async () => {
    const bo = await signedInUser(service, acme.id, 'reader');
    const first = await tokenOf(bo);
    const both = await Promise.all([refresh(first), refresh(first)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    service.clock.advance(9_000);
    const lost = await refresh(first);
    expect(lost.status).toBe(200);
    expect((await refresh(lost.body.refresh_token)).status).toBe(200);
    const carl = await signedInUser(service, acme.id, 'reader');
    const old = await tokenOf(carl);
    expect((await refresh(old)).status).toBe(200);
    service.clock.advance(10_000);
    expect((await refresh(old)).status).toBe(401);
  });

  it('never outlive the sign-in, and are no access tokens', async () => {
    const bo = await signedInUser(service, acme.id, 'reader');
    service.clock.advance(12 * 3_600_000 - 5_000);
    const { body } = await refresh(await service.userTokens.refresh({ id: bo.signInId, generation: 1 }, 60));
    expect(body.expires_in).toBe(5);
    service.clock.advance(5_000);
    expect((await refresh(body.refresh_token)).status).toBe(401);
    for (const token of [ana.token, forge(await tokenOf(ana), { typ: 'user-access+jwt' }), acme.key, 'x'])
      expect((await refresh(token)).status).toBe(401);
  });
});
