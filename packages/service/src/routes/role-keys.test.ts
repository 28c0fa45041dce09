import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

describe.each(eachDatabase())('API keys with roles on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  const later = (milliseconds = 86_400_000) => new Date(service.clock.now() + milliseconds).toISOString();
  const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    service.call(method, `/v2/${acme.id}/api_keys${path}`, { key: acme.key, headers, ...(body ? { body } : {}) });
  const create = async (fields: object = {}) =>
    (await call('POST', '', { name: 'K', role_id: 'contributor', expiration_time: later(), ...fields })).body;
  const status = async (key: string) => (await service.call('GET', '/v3/api-keys/current', { key })).status;

  it('are created, read, listed, changed and revoked', async () => {
    const { token, ...key } = await create({ description: 'for tests' });
    expect(token).toMatch(/^cfk_[\w-]{43}$/);
    expect(key).toEqual({
      id: expect.any(String),
      organization_id: acme.id,
      name: 'K',
      description: 'for tests',
      role_id: 'contributor',
      token_version: 1,
      expiration_time: expect.any(String),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(await status(token)).toBe(200);
    expect((await call('GET', `/${key.id}`)).body).toEqual(key);
    const listed = await call('GET', '?limit=1000');
    expect(listed.body.api_keys).toContainEqual(key);
    expect(listed.text).not.toContain(token);

    const changed = await call('PATCH', `/${key.id}`, { name: 'Renamed' });
    expect(changed.body).toMatchObject({ name: 'Renamed', description: 'for tests', token_version: 1 });

    expect(await call('DELETE', `/${key.id}`)).toMatchObject({ status: 200, text: expect.stringMatching(/^".*"$/) });
    expect(await status(token)).toBe(401);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'x' }],
      ['DELETE', '', undefined],
      ['POST', '/regenerate', { expiration_time: later() }],
    ] as const) {
      expect([method, (await call(method, `/${key.id}${path}`, body)).status]).toEqual([method, 404]);
    }
    const ids = (await call('GET', '?limit=1000')).body.api_keys.map(({ id }: { id: string }) => id);
    expect(ids).not.toContain(key.id);
  });

  it('require a name, a role and a later expiration; role and expiration cannot be patched', async () => {
    const valid = { name: 'K', role_id: 'reader', expiration_time: later() };
    for (const body of [
      { ...valid, name: undefined },
      { ...valid, role_id: undefined },
      { ...valid, expiration_time: undefined },
      { ...valid, expiration_time: later(-1) },
      { ...valid, role_id: 'owner' },
      { ...valid, role_id: 'constructor' },
      { ...valid, permissions: ['read'] },
    ]) {
      expect([body, (await call('POST', '', body)).status]).toEqual([body, 400]);
    }
    const { id } = await create();
    for (const body of [{ role_id: 'admin' }, { expiration_time: later() }, { token_version: 9 }]) {
      expect((await call('PATCH', `/${id}`, body)).status).toBe(400);
    }
  });

  it('are shown without a role if they have permissions of their own', async () => {
    const { body: made } = await service.call('POST', `/v3/${acme.id}/api-keys`, {
      key: acme.key,
      body: { name: 'sets', permissions: ['read'] },
    });
    const { body } = await call('GET', `/${made.id}`);
    expect([Object.hasOwn(body, 'role_id'), Object.hasOwn(body, 'expiration_time')]).toEqual([false, false]);
    const regenerated = await call('POST', `/${made.id}/regenerate`, {});
    expect(await status(made.key)).toBe(401);
    const self = await service.call('GET', '/v3/api-keys/current', { key: regenerated.body.token });
    expect(self.body).toMatchObject({ id: made.id, permissions: ['read'], role_id: null, expires_at: null });
  });

  it('have a new token after regenerate; the old one and its sessions end', async () => {
    const { token, ...key } = await create();
    const session = await service.session({ ...acme, key: token });
    const read = (with_: string) => service.call('GET', '/v1/inputs', { session: with_ });
    expect((await read(session)).status).toBe(200);
    const { status: answer, body } = await call('POST', `/${key.id}/regenerate`, {});
    expect(answer).toBe(200);
    expect(body).toEqual({
      ...key,
      token: expect.stringMatching(/^cfk_/),
      token_version: 2,
      updated_at: body.updated_at,
    });
    expect([await status(token), await status(body.token)]).toEqual([401, 200]);
    expect(await read(session)).toMatchObject({ status: 401, body: { error_type: 'invalid_token' } });
    expect((await read(await service.session({ ...acme, key: body.token }))).status).toBe(200);
  });

  it('need an expiration_time to be regenerated after they expired', async () => {
    const { id, token } = await create({ expiration_time: later(10_000) });
    service.clock.advance(10_000);
    expect(await status(token)).toBe(401);
    expect((await call('POST', `/${id}/regenerate`, {})).status).toBe(422);
    expect((await call('POST', `/${id}/regenerate`, { expiration_time: later(-1) })).status).toBe(400);
    const expiration_time = later();
    const { body } = await call('POST', `/${id}/regenerate`, { expiration_time });
    expect(body).toMatchObject({ expiration_time, token_version: 2 });
    expect([await status(token), await status(body.token)]).toEqual([401, 200]);
  });

  it('are regenerated once by each of two requests at once', async () => {
    const { id } = await create();
    const answers = await Promise.all([1, 2].map(() => call('POST', `/${id}/regenerate`, {})));
    const tokens = answers.toSorted((a, b) => a.body.token_version - b.body.token_version);
    expect(tokens.map(({ body }) => body.token_version)).toEqual([2, 3]);
    expect(await Promise.all(tokens.map(({ body }) => status(body.token)))).toEqual([401, 200]);
  });

  it('are never replayed: a token is not stored for an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'replay' };
    const body = { name: 'K', role_id: 'reader', expiration_time: later() };
    const [one, two] = [await call('POST', '', body, headers), await call('POST', '', body, headers)];
    expect(one.body.id).not.toBe(two.body.id);
    const first = await call('POST', `/${one.body.id}/regenerate`, {}, headers);
    const second = await call('POST', `/${one.body.id}/regenerate`, {}, headers);
    expect([second.headers.get('idempotency-replayed'), second.body.token_version]).toEqual([null, 3]);
    expect(await status(first.body.token)).toBe(401);
    expect(await service.database.script((run) => run('select * from idempotency_keys'))).toEqual([]);
  });
});
