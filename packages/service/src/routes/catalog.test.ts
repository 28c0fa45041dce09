import { gunzipSync } from 'node:zlib';
import { CONNECTOR_KINDS, loadCatalog } from '@connector-frame/catalog';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { typeOf } from '../../../../test/support/connectors.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import { createTestService, PUBLIC_URL, type Tenant, type TestService } from '../../../../test/support/service.js';
import { connectors, needsAwsIdentity } from '@connector-frame/connectors';
import { createOAuthClients } from '../oauth/clients.js';

const databases = anyDatabase();
const readBox = async (by: TestService) => (await by.call('GET', '/v1/inputs/box-users', { key: acme.key })).body;
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await createTestService({ database: await databases.open() });
  acme = await service.tenant('Northwind');
});
afterAll(() => service.store.close());

describe('the catalog', () => {
  it('lists all types of a kind, without their fields', async () => {
    for (const kind of CONNECTOR_KINDS) {
      const { status, body } = await service.call('GET', `/v1/${kind}s`, { key: acme.key });
      expect(status).toBe(200);
      expect(body.map((type: { type_id: string }) => type.type_id)).toEqual(
        loadCatalog()
          .list(kind)
          .map((type) => type.type_id),
      );
      for (const type of body) {
        const data = typeOf(kind, type.type_id);
        const code = connectors(data);
        const isImplemented = Boolean(
          { input: code.createInput, output: code.createOutput, enrichment: code.createEnrichment }[kind],
        );
        // A type says why it will never run exactly as long as it doesn't.
        if (isImplemented) expect(data.unavailable, data.type_id).toBe(undefined);
        // This service has no identity at AWS.
        const runtime = isImplemented && !needsAwsIdentity(data);
        const reason = data.unavailable?.reason ?? (isImplemented ? 'not_set_up' : 'not_yet');
        expect(type).toEqual({
          type_id: expect.any(String),
          kind,
          name: expect.any(String),
          description: expect.any(String),
          category: expect.any(String),
          vendor: expect.any(String),
          supported_features: { test_connection: code.testConnection !== undefined, runtime },
          ...(!runtime && { unavailable: { reason } }),
          ...(data.aliases && { aliases: data.aliases }),
          in_beta: expect.any(Boolean),
          version: 1,
          icon: type.icon && `${PUBLIC_URL}/external/icons/raw/${type.type_id}.svg`,
        });
      }
    }
  });

  it('includes the fields of all types with include=config', async () => {
    const { status, body } = await service.call('GET', '/v1/outputs?include=config', { key: acme.key });
    expect(status).toBe(200);
    const known = loadCatalog().list('output');
    expect(body.map(({ type_id: id, config }: { type_id: string; config: object }) => [id, config])).toEqual(
      known.map((type) => [type.type_id, type.config]),
    );
    const other = await service.call('GET', '/v1/outputs?include=everything', { key: acme.key });
    expect(other.status).toBe(400);
  });

  it('compresses the lists with gzip to at most 60 kB in total', async () => {
    let bytes = 0;
    for (const kind of CONNECTOR_KINDS) {
      const headers = { 'x-api-key': acme.key, 'accept-encoding': 'br, gzip' };
      const answer = await service.app.request(`/v1/${kind}s`, { headers });
      const body = Buffer.from(await answer.arrayBuffer());
      expect(answer.headers.get('content-encoding')).toBe('gzip');
      expect(answer.headers.get('vary')).toContain('Accept-Encoding');
      const plain = await service.call('GET', `/v1/${kind}s`, { key: acme.key });
      expect(gunzipSync(body).toString()).toBe(plain.text);
      bytes += body.length;
    }
    expect(bytes).toBeLessThanOrEqual(60_000);
  });

  it('returns one type with its fields and its icon', async () => {
    const { status, body } = await service.call('GET', '/v1/inputs/okta-systemlog/', {
      session: await service.session(acme),
    });
    expect(status).toBe(200);
    const type = loadCatalog().get('input', 'okta-systemlog');
    expect(body).toMatchObject({ type_id: 'okta-systemlog', kind: 'input', config: type?.config, order: type?.order });
    expect(decodeURIComponent(body.icon)).toBe(`data:image/svg+xml,${loadCatalog().icon('okta-systemlog')}`);
    // The poll definition is internal and not part of the response.
    expect(body).not.toHaveProperty('poll');
  });

  it('offers an account as a way to sign in only if the operator has a client to connect it with', async () => {
    const oauthClients = createOAuthClients([
      { provider: 'box', client_id: 'a', client_secret: 'b', organizations: ['another'] },
    ]);
    const { database, master } = service;
    const other = await createTestService({ database, master, settings: { oauthClients } });
    const type = typeOf('input', 'box-users');
    const offered = await readBox(other);
    expect(offered).toMatchObject({ config: type.config, order: type.order });
    expect(offered.oauth).toEqual({ name: 'Box', secret: '/secrets/account' });

    const { config, order, oauth } = await readBox(service);
    expect(oauth).toBeUndefined();
    expect(config.secrets.required).toEqual(['client_id', 'client_secret', 'enterprise_id']);
    expect(Object.keys(config.settings.properties)).toEqual(['cron', 'filter_term', 'use_synthetic_data']);
    expect(order).toEqual(type.order?.filter((path) => path !== '/settings/sign_in' && path !== '/secrets/account'));
    expect(JSON.stringify(config)).not.toContain('sign_in');
  });

  it('returns null as the icon of a type without one', async () => {
    const without = loadCatalog()
      .list('input')
      .find((type) => type.icon === undefined);
    const { body } = await service.call('GET', `/v1/inputs/${without?.type_id}`, { key: acme.key });
    expect(body).toMatchObject({ type_id: without?.type_id, icon: null });
  });

  it('returns 304 for a matching If-None-Match', async () => {
    for (const path of ['/v1/inputs', '/v1/outputs/http']) {
      const first = await service.call('GET', path, { key: acme.key });
      const known = { 'if-none-match': first.headers.get('etag') ?? '' };
      const again = await service.call('GET', path, { key: acme.key, headers: known });
      expect([again.status, again.text]).toEqual([304, '']);
    }
  });

  it('returns 404 for an unknown type and for a type of the other kind', async () => {
    for (const path of [
      '/v1/outputs/okta-systemlog',
      '/v1/inputs/unknown',
      '/v1/inputs/OKTA',
      '/v1/inputs/__proto__',
    ]) {
      const answer = await service.call('GET', path, { key: acme.key });
      expect([path, answer.status, answer.body.error_type]).toEqual([path, 404, 'not_found']);
    }
  });
});
