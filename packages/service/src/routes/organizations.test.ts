import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { bootstrap } from '../bootstrap.js';

describe.each(eachDatabase())('organizations on $name', (databases) => {
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

  const at = (id = '') => `/v3/${acme.id}/organizations${id && `/${id}`}`;

  it('creates teams and lists them in the order of creation', async () => {
    service.clock.advance(10);
    const made = await service.call('POST', at(), { key: acme.key, body: { name: ' Globex ' } });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      id: expect.any(String),
      parent_id: acme.id,
      parent_organization_id: acme.id,
      name: 'Globex',
      friendly_name: '',
      description: '',
      allowed_origins: [],
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const { body } = await service.call('GET', `${at()}/?limit=1&offset=1`, { key: acme.key });
    expect(body).toEqual({ organizations: [made.body], pagination: { limit: 1, offset: 1, total: 2 } });
    expect((await service.call('GET', at(made.body.id), { key: acme.key })).body).toEqual(made.body);
  });

  it('stores the texts of an organization, and changes only those that are given', async () => {
    const texts = { description: 'For the audit', friendly_name: 'Initech, Inc.' };
    const made = await service.call('POST', at(), { key: acme.key, body: { name: 'initech', ...texts } });
    expect(made.body).toMatchObject({ name: 'initech', ...texts });
    const renamed = await service.call('PATCH', at(made.body.id), {
      key: acme.key,
      body: { friendly_name: 'Initech' },
    });
    expect(renamed.body).toMatchObject({ name: 'initech', description: 'For the audit', friendly_name: 'Initech' });
    const path = `/v1/organizations/${made.body.id}`;
    const cleared = await service.call('PATCH', path, { key: acme.key, body: { description: '' } });
    expect(cleared.body).toMatchObject({ name: 'initech', description: '', friendly_name: 'Initech' });
    expect((await service.call('GET', at(made.body.id), { key: acme.key })).body).toEqual(cleared.body);
    expect((await service.call('PATCH', path, { key: acme.key, body: { name: 'other' } })).status).toBe(400);
    const deleted = await service.call('DELETE', path, { key: acme.key });
    expect([deleted.status, deleted.body.id]).toEqual([200, made.body.id]);
    const own = await service.call('DELETE', `/v1/organizations/${acme.id}`, { key: acme.key });
    expect(own.status).toBe(403);
  });

  it('finds organizations by a part of their name, literally and in any case', async () => {
    const parent = await service.tenant('Searching');
    const stranger = await service.tenant('Stranger');
    const teams = `/v3/${parent.id}/organizations`;
    for (const name of ['100% Cotton', '100 Cotton', 'under_score', 'underscore', 'back\\slash']) {
      service.clock.advance(10);
      await service.call('POST', teams, { key: parent.key, body: { name } });
    }
    const search = async (path: string, text: string) => {
      const query = new URLSearchParams({ name_search: text, limit: '100' });
      const { body } = await service.call('GET', `${path}?${query.toString()}`, { key: parent.key });
      expect(body.pagination.total).toBe(body.organizations.length);
      return body.organizations.map(({ name }: { name: string }) => name);
    };
    for (const path of [teams, '/v1/organizations']) {
      expect(await search(path, 'COTTON')).toEqual(['100% Cotton', '100 Cotton']);
      expect(await search(path, '0%')).toEqual(['100% Cotton']);
      expect(await search(path, 'r_s')).toEqual(['under_score']);
      expect(await search(path, 'k\\s')).toEqual(['back\\slash']);
      expect(await search(path, 'stranger')).toEqual([]);
    }
    const list = async (query: string) => {
      const { body } = await service.call('GET', `/v1/organizations?limit=100${query}`, { key: parent.key });
      return body.organizations.map(({ id }: { id: string }) => id);
    };
    const all = await list('');
    expect(all).toHaveLength(7);
    expect(all).toEqual(expect.arrayContaining([parent.id, parent.team]));
    expect(await list('&no_children=true')).toEqual(all.filter((id: string) => id !== parent.id));
    expect(await list(`&parent_organization_id=${parent.id}`)).toEqual(all.filter((id: string) => id !== parent.id));
    expect(await list(`&parent_organization_id=${stranger.id}`)).toEqual([]);
  });

  it('rejects a team without a valid name and a team below a team', async () => {
    for (const name of ['', '  ', 'x'.repeat(201), 7, null]) {
      expect((await service.call('POST', at(), { key: acme.key, body: { name } })).status).toBe(400);
    }
    const under = `/v3/${acme.team}/organizations`;
    expect((await service.call('POST', under, { key: acme.key, body: { name: 'x' } })).status).toBe(403);
  });

  it('accepts only origins in the form that browsers send', async () => {
    const allow = (allowed_origins: unknown) =>
      service.call('PATCH', at(acme.team), { key: acme.key, body: { allowed_origins } });
    const good = [
      'https://app.example',
      'https://app.example:8443',
      'http://localhost:3000',
      'http://127.0.0.1',
      'http://[::1]:3000',
      'https://xn--mnchen-3ya.example',
    ];
    expect((await allow(good)).body.allowed_origins).toEqual(good);
    for (const bad of [
      '*',
      'https://*.example',
      'http://app.example',
      'https://app.example/',
      'https://APP.example',
      'app.example',
      'null',
      'https://app.example:443',
      'https://münchen.example',
      "https://app.example; script-src 'unsafe-inline'",
    ]) {
      expect([bad, (await allow([bad])).status]).toEqual([bad, 400]);
    }
    const unchanged = await service.call('PATCH', at(acme.team), { key: acme.key, body: {} });
    expect(unchanged.body.allowed_origins).toEqual(good);
  });

  it('deletes a team with its data, but not a parent organization', async () => {
    const { body: team } = await service.call('POST', at(), { key: acme.key, body: { name: 'Short-lived' } });
    const body = exampleBody(typeOf('input', 'okta-systemlog'));
    const made = await service.call('POST', `/v2/${team.id}/inputs`, { key: acme.key, body });
    const own = await service.call('POST', `/v3/${team.id}/api-keys`, {
      key: acme.key,
      body: { name: 'own', permissions: ['read', 'write'] },
    });
    const suicide = await service.call('DELETE', `/v3/${team.id}/organizations/${team.id}`, { key: own.body.key });
    expect(suicide.status).toBe(403);
    expect((await service.call('DELETE', at(acme.id), { key: acme.key })).status).toBe(403);
    expect((await service.call('DELETE', at(team.id), { key: acme.key })).status).toBe(204);
    expect(await service.store.secrets.ofConnector(made.body.id)).toEqual([]);
    expect(await service.store.dataKeys.ofOrganization(team.id)).toBeUndefined();
    expect((await service.call('GET', `/v1/${team.id}/inputs`, { key: acme.key })).status).toBe(404);
    expect((await service.call('GET', '/v1/inputs', { key: own.body.key })).status).toBe(401);
  });
});

describe.each(eachDatabase())('bootstrap on $name', (databases) => {
  let service: TestService;
  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  const run = (options: object) =>
    bootstrap(
      { store: service.store, secrets: service.vault, clock: service.clock },
      { organization: 'Northwind', ...options },
    );

  it('returns the same result on every start and on concurrent replicas', async () => {
    const preset = 'an-operators-own-key-0123456789';
    const options = { teams: ['Acme', 'Globex'], apiKey: preset, allowedOrigins: ['https://app.example'] };
    const all = await Promise.all([run(options), run(options), run(options)]);
    all.push(await run(options));
    expect(new Set(all.map((made) => JSON.stringify(made))).size).toBe(1);
    const { organizationId, teams } = all[0] ?? { organizationId: '', teams: {} };
    const { body } = await service.call('GET', `/v3/${organizationId}/organizations`, { key: preset });
    expect(body.organizations.map(({ id }: { id: string }) => id).sort()).toEqual(Object.values(teams).sort());
    const parent = await service.call('GET', `/v3/${organizationId}/organizations/${organizationId}`, { key: preset });
    expect(parent.body.allowed_origins).toEqual(['https://app.example']);
  });

  it('replaces the key if none is given, and rejects a revoked or foreign key', async () => {
    const first = await run({ keyName: 'demo' });
    const second = await run({ keyName: 'demo' });
    expect(second.apiKey).not.toBe(first.apiKey);
    expect((await service.call('GET', '/v1/inputs', { key: first.apiKey })).status).toBe(401);
    expect((await service.call('GET', '/v1/inputs', { key: second.apiKey })).status).toBe(200);
    await expect(run({ apiKey: first.apiKey })).rejects.toThrow('was revoked');
    await expect(run({ organization: 'Other', apiKey: second.apiKey })).rejects.toThrow('another organization');
    await expect(run({ apiKey: 'short' })).rejects.toThrow('16 to 200');
  });
});
