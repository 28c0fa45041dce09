import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { permissions } from '../permissions.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const LATER = '2099-01-01T00:00:00.000Z';

const slugs = (role: { permissions: { slug: string }[] }) => role.permissions.map(({ slug }) => slug);
const names = (page: { roles: { name: string }[] }) => page.roles.map(({ name }) => name);

describe.each(eachDatabase())('roles on $name', (databases) => {
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

  const call = (method: string, path: string, body?: object, key = acme.key, org = acme.id) =>
    service.call(method, `/v2/${org}/${path}`, { key, ...(body ? { body } : {}) });
  const createRole = async (permission_ids: readonly string[], org = acme.id): Promise<string> =>
    (await call('POST', 'roles', { name: 'R', permission_ids }, acme.key, org)).body.id;
  const createKey = async (role_id: string, org = acme.id) =>
    (await call('POST', 'api_keys', { name: 'K', role_id, expiration_time: LATER }, acme.key, org)).body;
  const keyWith = async (permission_ids: readonly string[], org = acme.id) => {
    const role = await createRole(permission_ids, org);
    return { role, ...(await createKey(role, org)) };
  };

  it('are created, read, listed, changed and deleted', async () => {
    const created = await call('POST', 'roles', {
      name: 'Metrics',
      permission_ids: ['pipeline:read', 'pipeline:metrics:read', 'pipeline:read'],
    });
    expect(created).toMatchObject({
      status: 200,
      body: { name: 'Metrics', description: '', organization_id: acme.id, protected: false },
    });
    const { id } = created.body;
    expect(slugs(created.body)).toEqual(['pipeline:read', 'pipeline:metrics:read']);
    expect((await call('GET', `roles/${id}`)).body).toEqual(created.body);

    const renamed = await call('PATCH', `roles/${id}`, { name: 'Counts', description: 'd' });
    expect(renamed.body).toMatchObject({ name: 'Counts', description: 'd', permissions: created.body.permissions });
    const narrowed = await call('PATCH', `roles/${id}`, { permission_ids: ['pipeline:read'] });
    expect([narrowed.body.name, slugs(narrowed.body)]).toEqual(['Counts', ['pipeline:read']]);

    expect((await call('DELETE', `roles/${id}`)).status).toBe(200);
    for (const method of ['GET', 'DELETE']) expect((await call(method, `roles/${id}`)).status).toBe(404);
  });

  it('are listed with the default roles first, on every page', async () => {
    const fresh = await service.tenant('Pages');
    const list = async (query: string) =>
      (await service.call('GET', `/v2/${fresh.id}/roles${query}`, { key: fresh.key })).body;
    for (const name of ['A', 'B']) {
      const body = { name, permission_ids: ['input:read'] };
      await service.call('POST', `/v2/${fresh.id}/roles`, { key: fresh.key, body });
      service.clock.advance(1);
    }
    const all = await list('');
    expect(all.pagination).toEqual({ limit: 10, offset: 0, total: 5 });
    expect(names(all)).toEqual(['Admin', 'Contributor', 'Reader', 'A', 'B']);
    expect(names(await list('?limit=2'))).toEqual(['Admin', 'Contributor']);
    expect(names(await list('?limit=2&offset=2'))).toEqual(['Reader', 'A']);
    expect(names(await list('?limit=2&offset=4'))).toEqual(['B']);
    expect(slugs(all.roles[0])).toEqual([...permissions]);
    const known = (await service.call('GET', `/v2/${fresh.id}/roles/permissions?limit=1000`, { key: fresh.key })).body;
    expect(known.permissions.map(({ id }: { id: string }) => id)).toEqual([...permissions]);
    expect(known.pagination.total).toBe(permissions.length);
  });

  it('require a name and known permissions', async () => {
    for (const body of [
      { name: 'x' },
      { name: 'x', permission_ids: [] },
      { name: 'x', permission_ids: ['read'] },
      { name: 'x', permission_ids: ['pipeline:everything'] },
      { name: '', permission_ids: ['input:read'] },
      { name: 'x', permission_ids: ['input:read'], protected: true },
    ]) {
      expect([body, (await call('POST', 'roles', body)).status]).toEqual([body, 400]);
    }
  });

  it('that are protected cannot be changed or deleted', async () => {
    for (const id of ['admin', 'contributor', 'reader']) {
      expect((await call('GET', `roles/${id}`)).body).toMatchObject({ id, protected: true });
      const before = (await call('GET', `roles/${id}`)).text;
      expect((await call('PATCH', `roles/${id}`, { permission_ids: ['input:read'] })).status).toBe(403);
      expect((await call('DELETE', `roles/${id}`)).status).toBe(403);
      expect((await call('GET', `roles/${id}`)).text).toBe(before);
    }
  });

  it('are not deleted while a key has them', async () => {
    const { role, id } = await keyWith(['input:read']);
    const kept = await call('DELETE', `roles/${role}`);
    expect(kept).toMatchObject({
      status: 409,
      body: { error_type: 'conflict', additional_details: { api_keys: [{ id, name: 'K' }] } },
    });
    expect((await call('DELETE', `api_keys/${id}`)).status).toBe(200);
    expect((await call('DELETE', `roles/${role}`)).status).toBe(200);
  });

  it('are not deleted while a key is created with them', async () => {
    const role = await createRole(['input:read']);
    const [created, deleted] = await Promise.all([
      call('POST', 'api_keys', { name: 'K', role_id: role, expiration_time: LATER }),
      call('DELETE', `roles/${role}`),
    ]);
    expect([
      [200, 409],
      [400, 200],
    ]).toContainEqual([created.status, deleted.status]);
  });

  it('act on the next request of their keys', async () => {
    const { role, token } = await keyWith(['input:read']);
    const read = (kind: string) => service.call('GET', `/v1/${acme.id}/${kind}`, { key: token });
    expect([(await read('inputs')).status, (await read('outputs')).status]).toEqual([200, 403]);
    await call('PATCH', `roles/${role}`, { permission_ids: ['output:read'] });
    expect([(await read('inputs')).status, (await read('outputs')).status]).toEqual([403, 200]);
    const self = await service.call('GET', '/v3/api-keys/current', { key: token });
    expect(self.body).toMatchObject({ role_id: role, permissions: ['output:read'] });
  });

  it('end the sessions of keys that may no longer create them', async () => {
    const { role, token } = await keyWith(['session:create']);
    const session = await service.session({ ...acme, key: token });
    const read = () => service.call('GET', '/v1/inputs', { session });
    expect((await read()).status).toBe(200);
    await call('PATCH', `roles/${role}`, { permission_ids: ['input:read'] });
    expect(await read()).toMatchObject({ status: 401, body: { error_type: 'invalid_token' } });
  });

  describe('do not let a key exceed its own permissions', () => {
    const manager = ['role:read', 'role:write', 'apikey:read', 'apikey:write'];

    it('by a new role, or by changing its own', async () => {
      const { role, token } = await keyWith(manager);
      const more = { name: 'More', permission_ids: [...manager, 'input:read'] };
      for (const [method, path] of [
        ['POST', 'roles'],
        ['PATCH', `roles/${role}`],
      ] as const) {
        const { status, body } = await call(method, path, more, token);
        expect([method, status]).toEqual([method, 403]);
        expect(body.additional_details).toEqual({ missing_permissions: ['input:read'] });
      }
      expect(slugs((await call('GET', `roles/${role}`)).body)).toEqual(manager);
      expect((await call('POST', 'roles', { name: 'Same', permission_ids: manager }, token)).status).toBe(200);
    });

    it('by a key with a greater role, or with sets of permissions', async () => {
      const { token } = await keyWith(manager);
      for (const role_id of ['admin', 'contributor', 'reader', await createRole(['input:read'])]) {
        const { status } = await call('POST', 'api_keys', { name: 'K', role_id, expiration_time: LATER }, token);
        expect([role_id, status]).toEqual([role_id, 403]);
      }
      for (const set of ['read', 'keys:manage', 'sessions:create', 'input:read']) {
        const body = { name: 'K', permissions: [set] };
        expect((await service.call('POST', `/v3/${acme.id}/api-keys`, { key: token, body })).status).toBe(403);
      }
    });

    it('by the new token of a greater key', async () => {
      const { token } = await keyWith(manager);
      const keys = (await call('GET', 'api_keys?limit=1000')).body.api_keys;
      const admin = keys.find(({ role_id }: { role_id?: string }) => role_id === 'admin');
      const sets = await service.call('POST', `/v3/${acme.id}/api-keys`, {
        key: acme.key,
        body: { name: 'sets', permissions: ['read'] },
      });
      for (const id of [admin.id, sets.body.id]) {
        const { status, text } = await call('POST', `api_keys/${id}/regenerate`, {}, token);
        expect(status).toBe(403);
        expect(text).not.toContain('cfk_');
      }
      for (const key of [acme.key, sets.body.key]) {
        expect((await service.call('GET', '/v3/api-keys/current', { key })).status).toBe(200);
      }
    });

    it('by a role of the parent or of a team', async () => {
      const parents = await createRole(['input:read']);
      const teams = await createRole(['input:read'], acme.team);
      for (const [org, role] of [
        [acme.team, parents],
        [acme.id, teams],
        [acme.id, UNKNOWN],
      ] as const) {
        expect((await call('GET', `roles/${role}`, undefined, acme.key, org)).status).toBe(404);
        expect((await call('PATCH', `roles/${role}`, { name: 'x' }, acme.key, org)).status).toBe(404);
        expect((await call('DELETE', `roles/${role}`, undefined, acme.key, org)).status).toBe(404);
        const key = { name: 'K', role_id: role, expiration_time: LATER };
        expect((await call('POST', 'api_keys', key, acme.key, org)).status).toBe(400);
      }
      // A key of a team reaches neither the roles nor the keys of its parent.
      const { token } = await keyWith(manager, acme.team);
      for (const path of ['roles', `roles/${parents}`, 'api_keys']) {
        expect((await call('GET', path, undefined, token)).status).toBe(404);
      }
    });

    it('by a role in a row of another organization', async () => {
      const role = await createRole(['input:read'], acme.team);
      const { id, token } = await createKey('reader');
      await service.database.script((run) => run(`update api_keys set role_id = '${role}' where id = '${id}'`));
      service.clock.advance(1_000);
      const self = await service.call('GET', '/v3/api-keys/current', { key: token });
      expect(self.body.permissions).toEqual([]);
    });
  });
});
