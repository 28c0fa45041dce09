import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase, eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { pageClient } from '../../../../test/support/sign-in/page-client.js';
import { signedInUser, signIn, storedConnection } from '../../../../test/support/users.js';
import { bootstrap } from '../bootstrap.js';

describe.each(eachDatabase())('users on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let operator: string;

  beforeAll(async () => {
    const signIn = { localAccounts: true, passwordCost: { logN: 4, r: 8, p: 1 } };
    service = await createTestService({ database: await databases.open(), settings: { signIn } });
    acme = await service.tenant('Northwind');
    const { store, vault: secrets, clock } = service;
    operator = (await bootstrap({ store, secrets, clock }, { organization: 'Operator' })).apiKey;
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  const members = async (org: string, key = acme.key, query = '') => {
    const { body } = await service.call('GET', `/v1/${org}/users${query}`, { key });
    return body;
  };
  const patch = (org: string, id: string, role_id: string, credential: object = { key: acme.key }) =>
    service.call('PATCH', `/v1/${org}/users/${id}`, { ...credential, body: { role_id } });
  const remove = (org: string, id: string, credential: object = { key: acme.key }) =>
    service.call('DELETE', `/v1/${org}/users/${id}`, credential);
  const roleWith = async (...permission_ids: string[]): Promise<string> => {
    const { body } = await service.call('POST', `/v2/${acme.id}/roles`, {
      key: acme.key,
      body: { name: 'R', permission_ids },
    });
    return body.id;
  };

  it('have inherited roles in the teams of their organization, to which those of the team add', async () => {
    const tenant = await service.tenant('Inherited');
    const ana = await signedInUser(service, tenant.id, 'reader');
    service.clock.advance(1);
    const bo = await signedInUser(service, tenant.team, 'contributor');
    const list = await members(tenant.team, tenant.key);
    expect(list).toMatchObject({
      users: [
        {
          id: ana.id,
          email: ana.email,
          role_id: 'reader',
          role_name: 'Reader',
          inherited: true,
          source_organization_id: tenant.id,
          source_organization_name: 'Inherited',
          auth_provider: { provider: 'oidc', user_id: ana.id },
        },
        { id: bo.id, role_id: 'contributor', inherited: false, source_organization_id: tenant.team },
      ],
      pagination: { total: 2 },
    });
    expect((await members(tenant.id, tenant.key)).users).toHaveLength(1);
    const page = await members(tenant.team, tenant.key, '?limit=1&offset=1');
    expect(page).toMatchObject({ users: [{ id: bo.id }], pagination: { limit: 1, offset: 1, total: 2 } });

    const add = { user_id: ana.id, role_id: await roleIn(tenant, ['input:write']) };
    expect((await service.call('POST', `/v1/${tenant.team}/users`, { key: tenant.key, body: add })).status).toBe(200);
    const who = await service.call('GET', `/v1/users?organization_id=${tenant.team}`, { user: ana.token });
    const slugs = who.body.organization_role.permissions.map(({ slug }: { slug: string }) => slug);
    expect(slugs).toEqual(expect.arrayContaining(['input:write', 'pipeline:read']));
    expect((await members(tenant.team, tenant.key)).users).toHaveLength(2);
    const inParent = await service.call('GET', `/v1/users?organization_id=${tenant.id}`, { user: ana.token });
    expect(JSON.stringify(inParent.body)).not.toContain('input:write');
  });

  async function roleIn(tenant: Tenant, permission_ids: string[]): Promise<string> {
    const body = { name: 'R', permission_ids };
    return (await service.call('POST', `/v2/${tenant.team}/roles`, { key: tenant.key, body })).body.id;
  }

  it('cannot change an inherited role in the team', async () => {
    const ana = await signedInUser(service, acme.id, 'reader');
    for (const answer of [await patch(acme.team, ana.id, 'admin'), await remove(acme.team, ana.id)])
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining('parent organization')]);
    const leave = await service.call('POST', `/v1/${acme.team}/users/leave`, { user: ana.token });
    expect([leave.status, leave.body.error]).toEqual([400, expect.stringContaining('inherited')]);
  });

  it('lose and gain permissions on the next request, and their tokens with the last role', async () => {
    const ana = await signedInUser(service, acme.id, 'reader');
    const write = () => service.call('POST', `/v2/${acme.team}/transforms`, { user: ana.token, body: {} });
    const read = () => service.call('GET', `/v2/${acme.team}/transforms`, { user: ana.token });
    expect([(await write()).status, (await read()).status]).toEqual([403, 200]);
    expect((await patch(acme.id, ana.id, 'contributor')).body).toMatchObject({ id: ana.id, role_id: 'contributor' });
    expect((await write()).status).toBe(400);
    await patch(acme.id, ana.id, await roleWith('input:read'));
    expect([(await write()).status, (await read()).status]).toEqual([403, 403]);
    expect((await remove(acme.id, ana.id)).body).toEqual({});
    expect((await read()).status).toBe(401);
    expect(await service.store.users.get(ana.id)).toBeUndefined();
  });

  it('name the permission that they lack, and the organization that it is about', async () => {
    const ana = await signedInUser(service, acme.team, 'reader');
    const answer = await service.call('POST', `/v2/${acme.team}/secrets`, { user: ana.token, body: {} });
    expect(answer.body).toMatchObject({
      error: 'Your role in this organization lacks the permission "secrets:write".',
      additional_details: { missing_permissions: ['secrets:write'] },
    });
    expect((await service.call('GET', `/v1/${acme.id}/inputs`, { user: ana.token })).status).toBe(404);
    const list = await service.call('GET', '/v1/organizations', { user: ana.token });
    expect(list.body.organizations).toMatchObject([{ id: acme.team }]);
  });

  it('cannot give what they lack, in a role, a key, an invitation or to a member', async () => {
    const limited = ['user:read', 'user:write', 'user:delete', 'role:write', 'apikey:write', 'input:read'];
    const ana = await signedInUser(service, acme.id, await roleWith(...limited));
    const bo = await signedInUser(service, acme.team, 'reader');
    const boss = await signedInUser(service, acme.id, 'admin');
    const user = ana.token;
    const expiration_time = '2099-01-01T00:00:00Z';
    const attempts: [method: string, path: string, body?: object][] = [
      ['POST', `/v2/${acme.id}/roles`, { name: 'X', permission_ids: ['secrets:write'] }],
      ['POST', `/v2/${acme.id}/api_keys`, { name: 'X', role_id: 'admin', expiration_time }],
      ['POST', `/v3/${acme.id}/api-keys`, { name: 'X', permissions: ['write'] }],
      ['POST', `/v1/${acme.id}/invites`, { email: 'x@example.com', role_id: 'admin' }],
      ['POST', `/v1/${acme.id}/users`, { user_id: bo.id, role_id: 'admin' }],
      ['PATCH', `/v1/${acme.id}/users/${ana.id}`, { role_id: 'admin' }],
      ['PATCH', `/v1/${acme.id}/users/${boss.id}`, { role_id: await roleWith('input:read') }],
      ['DELETE', `/v1/${acme.id}/users/${boss.id}`],
    ];
    for (const [method, path, body] of attempts) {
      const answer = await service.call(method, path, { user, ...(body && { body }) });
      expect([path, answer.status, answer.body.additional_details.missing_permissions.length > 0]).toEqual([
        path,
        403,
        true,
      ]);
    }
    const own = await service.call('POST', `/v2/${acme.id}/roles`, {
      user,
      body: { name: 'Own', permission_ids: ['input:read'] },
    });
    expect(own.status).toBe(200);
    expect((await service.call('GET', `/v1/${acme.id}/users`, { user: boss.token })).status).toBe(200);
  });

  it('cannot leave an organization without an administrator, also two at the same time', async () => {
    const tenant = await service.tenant('Alone');
    const [ana, bo] = [
      await signedInUser(service, tenant.id, 'admin'),
      await signedInUser(service, tenant.id, 'admin'),
    ];
    const leave = (user: string) => service.call('POST', `/v1/${tenant.id}/users/leave`, { user });
    const both = await Promise.all([leave(ana.token), leave(bo.token)]);
    expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
    const last = both[0]?.status === 409 ? ana : bo;
    const user = { user: last.token };
    for (const answer of [await patch(tenant.id, last.id, 'reader', user), await remove(tenant.id, last.id, user)])
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining('last administrator')]);
    // In a team, the administrators of the parent remain.
    const carl = await signedInUser(service, tenant.team, 'admin');
    const left = await service.call('POST', `/v1/${tenant.team}/users/leave`, { user: carl.token });
    expect([left.status, left.body]).toEqual([200, {}]);
    // A key is another way in.
    expect((await remove(tenant.id, last.id, { key: tenant.key })).status).toBe(200);
    expect((await service.call('POST', `/v1/${tenant.id}/users/leave`, { key: tenant.key })).status).toBe(403);
  });

  it('of another organization cannot be added, and are not told apart from unknown ones', async () => {
    const other = await service.tenant('Other');
    const stranger = await signedInUser(service, other.id, 'reader');
    const add = (user_id: string, credential: object = { key: acme.key }) =>
      service.call('POST', `/v1/${acme.id}/users`, { ...credential, body: { user_id, role_id: 'reader' } });
    const [foreign, unknown] = [await add(stranger.id), await add('unknown')];
    expect([foreign.status, foreign.text]).toEqual([400, unknown.text]);
    expect((await add(stranger.id, { key: operator })).status).toBe(404);
    const both = await add((await signedInUser(service, acme.team, 'reader')).id);
    expect(both.status).toBe(200);
    expect((await add(both.body.id)).status).toBe(409);
  });

  it('of a connection belong to its organization alone', async () => {
    const other = await service.tenant('With a connection');
    const connectionId = await storedConnection(service, other.id);
    const ana = await signedInUser(service, other.id, 'reader');
    const user = await service.store.users.get(ana.id);
    if (user)
      await service.database.script((run) =>
        run(`update users set connection_id = '${connectionId}' where id = '${ana.id}'`),
      );
    const mine = await bootstrapIn('Operators own');
    const body = { user_id: ana.id, role_id: 'admin' };
    expect((await service.call('POST', `/v1/${mine.organizationId}/users`, { key: mine.apiKey, body })).status).toBe(
      400,
    );
    expect((await service.call('POST', `/v1/${other.team}/users`, { key: other.key, body })).status).toBe(200);
    const path = `/v3/${other.id}/connections/${connectionId}`;
    expect((await service.call('DELETE', path, { key: other.key })).status).toBe(204);
    expect(await service.store.users.get(ana.id)).toBeUndefined();
    expect((await service.call('GET', '/v3/feature_flags', { user: ana.token })).status).toBe(401);
  });

  const bootstrapIn = (organization: string) => {
    const { store, vault: secrets, clock } = service;
    return bootstrap({ store, secrets, clock }, { organization });
  };

  it('are named in the audit log, with the role that they acted by, also in their sessions', async () => {
    const tenant = await service.tenant('Audited');
    const ana = await signedInUser(service, tenant.id, 'admin');
    const { body: made, headers } = await service.call('POST', `/v2/${tenant.team}/transforms`, {
      user: ana.token,
      body: { name: 'T', config: { operations: [] } },
    });
    const { body: session } = await service.call('POST', '/v3/sessions', {
      user: ana.token,
      body: { organization_id: tenant.team },
    });
    const input = { name: 'I', type: 'demo', config: { settings: {} } };
    await service.call('POST', `/v2/${tenant.team}/inputs`, { session: session.session_token, body: input });
    const log = await service.call('GET', `/v3/${tenant.team}/audit_logs?actor_id=${ana.id}`, { key: tenant.key });
    const [ofSession, ofUser] = log.body.logs;
    expect(ofUser).toMatchObject({
      action: 'insert',
      request_id: headers.get('request-id'),
      resource: { type: 'transform', id: made.id },
      actor: {
        id: ana.id,
        name: 'Ana',
        email: ana.email,
        auth_method: 'oidc',
        role: { id: 'admin', name: 'Admin', organization_id: tenant.id, inherited: true },
      },
    });
    expect(ofSession.actor).toMatchObject({ auth_method: 'session', user_id: ana.id, email: ana.email });
    await patch(tenant.id, ana.id, 'reader', { key: tenant.key });
    const changes = await service.call('GET', `/v3/${tenant.id}/audit_logs?resource_type=user`, { key: tenant.key });
    expect(changes.body.logs[0]).toMatchObject({
      action: 'update',
      actor: { auth_method: 'api_key' },
      resource: { id: ana.id, old: { email: ana.email, role_id: 'admin' }, new: { role_id: 'reader' } },
    });
  });

  it('create keys that say who created them, and that remain without them', async () => {
    const ana = await signedInUser(service, acme.id, 'admin');
    const body = { name: 'K', role_id: 'reader', expiration_time: '2099-01-01T00:00:00Z' };
    const made = await service.call('POST', `/v2/${acme.id}/api_keys`, { user: ana.token, body });
    expect(made.body.created_by).toEqual({ type: 'user', id: ana.id, name: 'Ana' });
    await remove(acme.id, ana.id);
    expect((await service.call('GET', `/v1/${acme.id}/inputs`, { key: made.body.token })).status).toBe(200);
    const byKey = await service.call('POST', `/v2/${acme.id}/api_keys`, { key: acme.key, body });
    expect(byKey.body.created_by).toMatchObject({ type: 'api_key', name: 'bootstrap' });
    const current = await service.call('GET', '/v3/api-keys/current', { key: acme.key });
    expect(current.body.created_by).toEqual({ type: 'service', id: 'bootstrap', name: 'bootstrap' });
  });

  it('create sessions, which end with the sign-in, the permission and the organization', async () => {
    const ana = await signedInUser(service, acme.id, 'contributor');
    const mint = (organization_id: string, user = ana.token, ttl_seconds = 900) =>
      service.call('POST', '/v3/sessions', { user, body: { organization_id, ttl_seconds } });
    const open = async (): Promise<string> => (await mint(acme.team)).body.session_token;
    const uses = async (session: string) =>
      (await service.call('GET', `/v1/${acme.team}/inputs/x`, { session })).status;
    const first = await open();
    expect(await uses(first)).toBe(404);
    await patch(acme.id, ana.id, 'reader');
    expect([await uses(first), (await mint(acme.team)).status]).toEqual([401, 403]);
    await patch(acme.id, ana.id, 'contributor');
    const other = await service.tenant('Sessions');
    expect((await mint(other.team)).status).toBe(404);
    const second = await open();
    await service.call('POST', '/v1/login/logout', { user: ana.token });
    expect(await uses(second)).toBe(401);
    const { token, signInId } = await signIn(service, ana);
    service.clock.advance(12 * 3_600_000 - 600_000);
    const late = await service.userTokens.access({ id: signInId, userId: ana.id }, 600);
    expect([(await mint(acme.team, late.token)).status, token === late.token]).toEqual([400, false]);
  });

  it('end with their role: a role that somebody has cannot be deleted', async () => {
    const role = await roleWith('input:read');
    const ana = await signedInUser(service, acme.id, role);
    const invite = { email: 'invited@example.com', role_id: role };
    await service.call('POST', `/v1/${acme.id}/invites`, { key: acme.key, body: invite });
    const path = `/v2/${acme.id}/roles/${role}`;
    const { status, body } = await service.call('DELETE', path, { key: acme.key });
    expect([status, body.additional_details]).toEqual([
      409,
      { users: [{ id: ana.id, email: ana.email }], invitations: [{ id: expect.any(String), email: invite.email }] },
    ]);
  });

  it('are created, reset and deleted by the operator', async () => {
    const create = (email: string) => service.call('POST', '/v1/users', { key: operator, body: { email } });
    const { body: user } = await create('New@Example.com');
    expect(user).toMatchObject({ email: 'new@example.com', username: 'new@example.com', auth_providers: [] });
    expect((await create('new@example.com')).status).toBe(409);
    const { body: link } = await service.call('POST', `/v1/users/${user.id}/reset`, { key: operator });
    const page = await pageClient(service).get(link.url.slice('https://connect.example'.length));
    expect(page.html).toContain('Choose a new password');
    expect((await service.call('DELETE', `/v1/users/${user.id}`, { key: operator })).status).toBe(204);
    expect((await service.call('DELETE', `/v1/users/${user.id}`, { key: operator })).status).toBe(404);
    const member = await signedInUser(service, acme.id, 'reader');
    expect((await service.call('DELETE', `/v1/users/${member.id}`, { key: operator })).status).toBe(409);
  });

  it('are answered for keys as well, as far as a key has what a user has', async () => {
    const { body } = await service.call('GET', `/v1/users?organization_id=${acme.team}`, { key: acme.key });
    expect(body).toMatchObject({
      username: 'bootstrap',
      auth_provider: { provider: 'api_key' },
      organization_role: { role_id: 'admin', inherited: true, source_organization_id: acme.id },
    });
    expect(body).not.toHaveProperty('email');
    expect((await service.call('GET', '/v1/users', { key: acme.key })).status).toBe(400);
    const session = await service.session(acme);
    expect((await service.call('GET', `/v1/users?organization_id=${acme.team}`, { session })).status).toBe(403);
  });

  it('of a deleted team lose it, and those without any role are deleted later', async () => {
    const tenant = await service.tenant('Short-lived');
    const ana = await signedInUser(service, tenant.team, 'reader');
    const path = `/v3/${tenant.id}/organizations/${tenant.team}`;
    expect((await service.call('DELETE', path, { key: tenant.key })).status).toBe(204);
    expect((await service.call('GET', `/v1/${tenant.team}/inputs`, { user: ana.token })).status).toBe(404);
    const now = service.clock.now();
    await service.store.users.sweep(new Date(now - 1), 100);
    expect(await service.store.users.get(ana.id)).toBeDefined();
    await service.store.users.sweep(new Date(now + 1), 100);
    expect(await service.store.users.get(ana.id)).toBeUndefined();
  });

  it('delete a team only by their role in its parent', async () => {
    const tenant = await service.tenant('Teams');
    const [boss, lead] = [
      await signedInUser(service, tenant.id, 'admin'),
      await signedInUser(service, tenant.team, 'admin'),
    ];
    const drop = (user: string) => service.call('DELETE', `/v1/organizations/${tenant.team}`, { user });
    expect([(await drop(lead.token)).status, (await drop(boss.token)).status]).toEqual([403, 200]);
  });
});

describe('organizations of the operator', () => {
  const databases = anyDatabase();
  let service: TestService;
  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  it('are created by its key only, each with a first key that has no more than its own', async () => {
    const { store, vault: secrets, clock } = service;
    const { apiKey: key } = await bootstrap({ store, secrets, clock }, { organization: 'Operator' });
    const create = (credential: object) =>
      service.call('POST', '/v1/organizations', {
        ...credential,
        body: { name: 'Globex', friendly_name: 'Globex Inc.' },
      });
    const { status, body } = await create({ key });
    expect([status, body]).toMatchObject([200, { name: 'Globex', friendly_name: 'Globex Inc.', parent_id: null }]);
    const own = { key: body.api_key.key };
    expect((await service.call('GET', `/v1/${body.id}/inputs`, own)).status).toBe(200);
    expect((await create(own)).status).toBe(403);
    expect((await service.call('GET', `/v1/${body.id}/inputs`, { key })).status).toBe(404);
    const admin = await signedInUser(service, body.id, 'admin');
    expect((await create({ user: admin.token })).status).toBe(403);
  });

  it('keep the key of the operator from those who could replace it', async () => {
    const { store, vault: secrets, clock } = service;
    const made = await bootstrap({ store, secrets, clock }, { organization: 'Operator' });
    const body = { name: 'admin', role_id: 'admin', expiration_time: '2099-01-01T00:00:00Z' };
    const org = made.organizationId;
    const admin = await service.call('POST', `/v2/${org}/api_keys`, { key: made.apiKey, body });
    const path = `/v2/${org}/api_keys/${made.apiKeyId}/regenerate`;
    expect((await service.call('POST', path, { key: admin.body.token, body: {} })).status).toBe(403);
    expect((await service.call('POST', path, { key: made.apiKey, body: {} })).status).toBe(200);
  });
});
