import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, postgresql } from '../../../../test/support/databases.js';
import { createTestClock, createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { signedInUser, signIn } from '../../../../test/support/users.js';

const call = (replica: TestService, method: string, path: string, key: string, body?: object) =>
  replica.call(method, path, { key, ...(body ? { body } : {}) });

/** Two replicas on one database: a revocation on one takes effect on the other within a second. */
describe('revocation on two replicas (S15)', () => {
  const databases = postgresql();
  const clock = createTestClock();
  let one: TestService;
  let two: TestService;

  beforeAll(async () => {
    const first = await databases.open();
    one = await createTestService({ database: first, clock });
    const { connectionString = '' } = first.pool?.options ?? {};
    two = await createTestService({ database: connect(connectionString), clock, master: one.master });
  });
  afterAll(async () => {
    await one.store.close();
    await two.store.close();
    await databases.close();
  });

  async function tenantWithKey(expires_at?: string): Promise<Tenant & { keyId: string; session: string }> {
    const tenant = await one.tenant(`tenant ${Math.random()}`);
    const { body } = await one.call('POST', `/v3/${tenant.id}/api-keys`, {
      key: tenant.key,
      body: { name: 'backend', permissions: ['sessions:create', 'read'], ...(expires_at ? { expires_at } : {}) },
    });
    const session = await one.session({ ...tenant, key: body.key }, { ttl_seconds: 300 });
    return { ...tenant, key: body.key, keyId: body.id, session };
  }

  const statuses = async ({ key, session }: { key: string; session: string }) => {
    const answers = [one, two].flatMap((replica) => [
      replica.call('GET', '/v1/inputs', { key }),
      replica.call('GET', '/v1/inputs', { session }),
    ]);
    return (await Promise.all(answers)).map(({ status }) => status);
  };

  it('rejects a revoked key and its sessions', async () => {
    const admin = await one.tenant('Northwind');
    const { body } = await one.call('POST', `/v3/${admin.id}/api-keys`, {
      key: admin.key,
      body: { name: 'backend', permissions: ['sessions:create', 'read'] },
    });
    const session = await one.session({ ...admin, key: body.key });
    expect(await statuses({ key: body.key, session })).toEqual([200, 200, 200, 200]);
    const revoked = await one.call('DELETE', `/v3/${admin.id}/api-keys/${body.id}`, { key: admin.key });
    expect(revoked.body.revoked_at).toEqual(expect.any(String));
    expect((await one.call('GET', '/v1/inputs', { session })).status).toBe(401);
    clock.advance(1_000);
    expect(await statuses({ key: body.key, session })).toEqual([401, 401, 401, 401]);
    const again = await two.call('DELETE', `/v3/${admin.id}/api-keys/${body.id}`, { key: admin.key });
    expect(again.body.revoked_at).toBe(revoked.body.revoked_at);
  });

  it('rejects a key and its sessions after the key expires', async () => {
    const expiry = new Date(clock.now() + 301_000).toISOString();
    const { key, session } = await tenantWithKey(expiry);
    expect(await statuses({ key, session })).toEqual([200, 200, 200, 200]);
    clock.advance(302_000);
    expect(await statuses({ key, session })).toEqual([401, 401, 401, 401]);
  });

  async function keyWithRole() {
    const tenant = await one.tenant(`tenant ${Math.random()}`);
    const { body: role } = await call(one, 'POST', `/v2/${tenant.id}/roles`, tenant.key, {
      name: 'R',
      permission_ids: ['input:read', 'session:create'],
    });
    const expiration_time = '2099-01-01T00:00:00Z';
    const { body: key } = await call(one, 'POST', `/v2/${tenant.id}/api_keys`, tenant.key, {
      name: 'K',
      role_id: role.id,
      expiration_time,
    });
    const session = await one.session({ ...tenant, key: key.token });
    const reads = async (token: string = key.token) =>
      Promise.all([one, two].map(async (each) => (await call(each, 'GET', `/v1/${tenant.team}/inputs`, token)).status));
    const ofSession = () =>
      Promise.all([one, two].map(async (each) => (await each.call('GET', '/v3/session', { session })).status));
    expect([await reads(), await ofSession()]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    return { tenant, role: role.id, key, reads, ofSession };
  }

  describe('applies on the next request of every replica', () => {
    it('of a changed role', async () => {
      const { tenant, role, reads, ofSession } = await keyWithRole();
      const body = { permission_ids: ['output:read'] };
      await call(two, 'PATCH', `/v2/${tenant.id}/roles/${role}`, tenant.key, body);
      expect([await reads(), await ofSession()]).toEqual([
        [403, 403],
        [401, 401],
      ]);
    });

    it('of a regenerated key', async () => {
      const { tenant, key, reads, ofSession } = await keyWithRole();
      const path = `/v2/${tenant.id}/api_keys/${key.id}/regenerate`;
      const { body } = await call(two, 'POST', path, tenant.key, {});
      expect([await reads(), await ofSession(), await reads(body.token)]).toEqual([
        [401, 401],
        [401, 401],
        [200, 200],
      ]);
    });

    it('of a revoked key', async () => {
      const { tenant, key, reads, ofSession } = await keyWithRole();
      await call(two, 'DELETE', `/v2/${tenant.id}/api_keys/${key.id}`, tenant.key);
      expect([await reads(), await ofSession()]).toEqual([
        [401, 401],
        [401, 401],
      ]);
    });
  });

  it('applies the changed role, the removal and the sign-out of a user on the next request of every replica', async () => {
    const tenant = await one.tenant(`tenant ${Math.random()}`);
    const ana = await signedInUser(one, tenant.id, 'contributor');
    const session = await one.session(tenant);
    const path = `/v2/${tenant.team}/transforms`;
    const writes = async (user = ana.token) =>
      Promise.all([one, two].map(async (each) => (await each.call('POST', path, { user, body: {} })).status));
    expect(await writes()).toEqual([400, 400]);
    await two.call('PATCH', `/v1/${tenant.id}/users/${ana.id}`, { key: tenant.key, body: { role_id: 'reader' } });
    expect(await writes()).toEqual([403, 403]);
    await one.call('PATCH', `/v1/${tenant.id}/users/${ana.id}`, { key: tenant.key, body: { role_id: 'admin' } });
    expect(await writes()).toEqual([400, 400]);
    expect((await two.call('POST', '/v1/login/logout', { user: ana.token })).status).toBe(204);
    expect(await writes()).toEqual([401, 401]);
    const { token } = await signIn(one, ana);
    expect(await writes(token)).toEqual([400, 400]);
    await two.call('DELETE', `/v1/${tenant.id}/users/${ana.id}`, { key: tenant.key });
    expect(await writes(token)).toEqual([401, 401]);
    expect((await one.call('GET', '/v3/session', { session })).status).toBe(200);
  });

  it('rejects sessions of a deleted organization', async () => {
    const tenant = await one.tenant('Globex');
    const session = await one.session(tenant);
    const read = (replica: TestService) => replica.call('GET', '/v1/inputs', { session });
    expect([(await read(one)).status, (await read(two)).status]).toEqual([200, 200]);
    const path = `/v3/${tenant.id}/organizations/${tenant.team}`;
    expect((await two.call('DELETE', path, { key: tenant.key })).status).toBe(204);
    clock.advance(1_000);
    expect([(await read(one)).status, (await read(two)).status]).toEqual([401, 401]);
    expect((await read(one)).body.error_type).toBe('invalid_token');
  });
});
