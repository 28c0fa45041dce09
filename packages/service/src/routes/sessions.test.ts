import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, PARENT, type Tenant, type TestService } from '../../../../test/support/service.js';

describe.each(eachDatabase())('POST /v3/sessions on $name', (databases) => {
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

  const mint = (wish: object = {}, key = acme.key) =>
    service.call('POST', '/v3/sessions', { key, body: { organization_id: acme.team, ...wish } });

  it('returns a token, its expiration and its organization', async () => {
    const { status, body } = await mint();
    expect(status).toBe(200);
    const end = Math.floor(service.clock.now() / 1_000) * 1_000 + 1_800_000;
    expect(body).toEqual({
      session_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expires_at: new Date(end).toISOString(),
      organizationId: acme.team,
      ttl_seconds: 1_800,
    });
    expect(decodeJwt(body.session_token)).toMatchObject({ org: acme.team, exp: end / 1_000, parents: [PARENT] });
  });

  it('returns the organization of a session only to that session (S31)', async () => {
    const { body } = await mint();
    const read = (credential: { session: string } | { key: string }) => service.call('GET', '/v3/session', credential);
    const own = await read({ session: body.session_token });
    expect(own.status).toBe(200);
    expect(own.body).toEqual({ organization: { id: acme.team, name: expect.any(String) } });
    expect((await read({ key: acme.key })).status).toBe(403);
    expect((await service.call('GET', '/v3/session')).status).toBe(401);
  });

  it('accepts an API key in both headers and rejects other forms', async () => {
    const body = { organization_id: acme.team };
    for (const headers of [
      { 'x-api-key': acme.key },
      { authorization: `ApiKey ${acme.key}` },
      { authorization: `apikey  ${acme.key}` },
    ]) {
      expect((await service.call('POST', '/v3/sessions/', { body, headers })).status).toBe(200);
    }
    const wrong = [
      {},
      { 'x-api-key': 'wrong' },
      { 'x-api-key': `${acme.key} x` },
      { authorization: acme.key },
      { authorization: `Basic ${acme.key}` },
      { authorization: 'ApiKey' },
    ];
    for (const headers of wrong) {
      const answer = await service.call('POST', '/v3/sessions', { body, headers });
      expect([headers, answer.status, answer.body.error_type]).toEqual([headers, 401, 'unauthenticated']);
      expect(answer.headers.get('www-authenticate')).toBe('ApiKey, Bearer');
    }
    const bearer = await service.call('POST', '/v3/sessions', {
      body,
      headers: { authorization: `Bearer ${acme.key}` },
    });
    expect(bearer).toMatchObject({ status: 401, body: { error_type: 'invalid_token' } });
    const two = { 'x-api-key': acme.key, authorization: `ApiKey ${acme.key}` };
    expect((await service.call('POST', '/v3/sessions', { body, headers: two })).status).toBe(400);
  });

  it('clamps the lifetime to between 5 minutes and 1 hour', async () => {
    for (const [wish, ttl] of [
      [1, 300],
      [-5, 300],
      [300, 300],
      [900, 900],
      [3_600, 3_600],
      [86_400, 3_600],
    ]) {
      expect((await mint({ ttl_seconds: wish })).body.ttl_seconds).toBe(ttl);
    }
    for (const wish of [1.5, '900', null]) expect((await mint({ ttl_seconds: wish })).status).toBe(400);
  });

  it('rejects a session that would outlive its key', async () => {
    const expires_at = new Date(service.clock.now() + 900_000).toISOString();
    const { body } = await service.call('POST', `/v3/${acme.id}/api-keys`, {
      key: acme.key,
      body: { name: 'short', permissions: ['sessions:create'], expires_at },
    });
    expect((await mint({}, body.key)).status).toBe(400);
    expect((await mint({ ttl_seconds: 901 }, body.key)).status).toBe(400);
    expect((await mint({ ttl_seconds: 899 }, body.key)).status).toBe(200);
  });

  it('requires the sessions:create permission', async () => {
    const { body } = await service.call('POST', `/v3/${acme.id}/api-keys`, {
      key: acme.key,
      body: { name: 'reader', permissions: ['read', 'write'] },
    });
    expect(await mint({}, body.key)).toMatchObject({ status: 403, body: { error_type: 'forbidden' } });
  });

  it('restricts a session to types, a connector and origins, and rejects invalid restrictions', async () => {
    const made = await service.call('POST', `/v2/${acme.team}/outputs`, {
      key: acme.key,
      body: exampleBody(typeOf('output', 'http')),
    });
    const wish = { type_ids: ['http'], connector_id: made.body.id, parent_origins: [PARENT] };
    const { body } = await mint(wish);
    expect(decodeJwt(body.session_token)).toMatchObject({
      types: ['http'],
      connector: made.body.id,
      kind: 'output',
      parents: [PARENT],
    });
    expect((await mint({ connector_id: made.body.id, kind: 'input' })).status).toBe(404);
    const wrong = [
      { kind: 'pipeline' },
      { type_ids: [] },
      { type_ids: ['No'] },
      { type_ids: 'http' },
      { parent_origins: [] },
      { parent_origins: ['https://evil.example'] },
      { parent_origins: [`${PARENT}/`] },
      { parent_origins: ['*'] },
      { organization_id: 7 },
    ];
    for (const each of wrong) expect([each, (await mint(each)).status]).toEqual([each, 400]);
  });

  it('allows a team the origins of its parent and its own', async () => {
    const allow = (id: string, allowed_origins: string[]) =>
      service.call('PATCH', `/v3/${acme.id}/organizations/${id}`, { key: acme.key, body: { allowed_origins } });
    await allow(acme.id, ['https://parent.example']);
    await allow(acme.team, ['https://team.example', 'https://team.example']);
    const { body } = await mint();
    expect(decodeJwt(body.session_token)['parents']).toEqual([
      PARENT,
      'https://team.example',
      'https://parent.example',
    ]);
    expect((await mint({ parent_origins: ['https://team.example'] })).status).toBe(200);
  });
});
