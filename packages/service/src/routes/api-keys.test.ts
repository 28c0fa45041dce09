import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, PUBLIC_URL, type Tenant, type TestService } from '../../../../test/support/service.js';

describe.each(eachDatabase())('API keys on $name (S16)', (databases) => {
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

  const create = (body: object, key = acme.key) => service.call('POST', `/v3/${acme.id}/api-keys`, { key, body });
  const list = () => service.call('GET', `/v3/${acme.id}/api-keys?limit=1000`, { key: acme.key });

  it('consist of a prefix and 256 random bits, and are returned once', async () => {
    const { status, body } = await create({ name: 'backend', permissions: ['read'] });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      organization_id: acme.id,
      name: 'backend',
      key: expect.stringMatching(/^cfk_[\w-]{43}$/),
      hint: `${body.key.slice(0, 6)}…${body.key.slice(-2)}`,
      permissions: ['read'],
      role_id: null,
      created_at: expect.any(String),
      expires_at: null,
      revoked_at: null,
    });
    const listed = await list();
    expect(listed.text).not.toContain(body.key);
    expect(listed.body.api_keys.map(({ id }: { id: string }) => id)).toContain(body.id);
  });

  it('can read their own record', async () => {
    const { body } = await create({ name: 'self', permissions: ['sessions:create'] });
    const { key: _key, ...self } = body;
    const answer = await service.call('GET', '/v3/api-keys/current', { key: body.key });
    expect(answer).toMatchObject({ status: 200, body: self });
    expect(answer.text).not.toContain(body.key);
  });

  it('are stored as an HMAC', async () => {
    const { body } = await create({ name: 'stored', permissions: ['read'] });
    const [row] = await service.database.script((run) => run(`select * from api_keys where id = '${body.id}'`));
    const digest = row?.['digest'];
    if (!(digest instanceof Uint8Array)) throw new Error('no digest');
    const stored = Buffer.from(digest);
    expect(stored).toHaveLength(32);
    expect(JSON.stringify(row)).not.toContain(body.key.slice(6, -2));
    const plain = await import('node:crypto').then(({ hash }) => hash?.('sha256', body.key, 'hex'));
    expect(stored.toString('hex')).not.toBe(plain);
    expect(stored).toEqual(service.vault.digest('api-key', body.key));
  });

  it('cannot grant permissions that they lack', async () => {
    const manager = await create({ name: 'manager', permissions: ['keys:manage', 'read'] });
    expect((await create({ name: 'more', permissions: ['write'] }, manager.body.key)).status).toBe(403);
    expect((await create({ name: 'same', permissions: ['read', 'read'] }, manager.body.key)).body.permissions).toEqual([
      'read',
    ]);
    const writer = await create({ name: 'writer', permissions: ['write'] });
    expect((await create({ name: 'none', permissions: ['write'] }, writer.body.key)).status).toBe(403);
    expect((await service.call('GET', '/v1/inputs', { key: writer.body.key })).status).toBe(403);
  });

  it('are rejected after their expiration', async () => {
    const expires_at = new Date(service.clock.now() + 10_000).toISOString();
    const { body } = await create({ name: 'short', permissions: ['read'], expires_at });
    expect(body.expires_at).toBe(expires_at);
    expect((await service.call('GET', '/v1/inputs', { key: body.key })).status).toBe(200);
    service.clock.advance(10_000);
    expect((await service.call('GET', '/v1/inputs', { key: body.key })).status).toBe(401);
    const past = new Date(service.clock.now() - 1).toISOString();
    expect((await create({ name: 'past', permissions: ['read'], expires_at: past })).status).toBe(400);
    const offset = new Date(service.clock.now() + 3_600_000).toISOString().replace('Z', '+00:00');
    expect((await create({ name: 'offset', permissions: ['read'], expires_at: offset })).status).toBe(201);
  });

  it('require a name, known permissions and a valid expiration', async () => {
    for (const body of [
      { name: 'x' },
      { name: 'x', permissions: [] },
      { name: 'x', permissions: ['all'] },
      { name: '', permissions: ['read'] },
      { name: 'x', permissions: ['read'], expires_at: 'soon' },
    ]) {
      expect([body, (await create(body)).status]).toEqual([body, 400]);
    }
  });

  it('are denied for requests with an Origin header', async () => {
    for (const origin of [PUBLIC_URL, 'https://app.example', 'null']) {
      const headers = { origin };
      for (const credential of [{ key: acme.key }, { headers: { ...headers, authorization: `ApiKey ${acme.key}` } }]) {
        const { status } = await service.call('GET', '/v1/inputs', { headers, ...credential });
        expect([origin, status]).toEqual([origin, 403]);
      }
    }
  });
});
