import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { eachDatabase } from '../../../../test/support/databases.js';
import { dailyPart } from '../../../../test/support/long.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { openStored } from '../../../../test/support/stored-secrets.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const TOKEN = '00aVeryLongOktaTokenValue0001';

const okta = (config: object = {}, rest: object = {}) => ({
  name: 'Okta production',
  type: 'okta-systemlog',
  config: { settings: { org_url: 'https://acme.okta.com' }, secrets: { api_key: { value: TOKEN } }, ...config },
  ...rest,
});

const names = (rows: { name: string }[]) => rows.map(({ name }) => name);

describe.each(eachDatabase())('connectors on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let inputs: string;

  const create = async (body: object = okta()) => {
    const made = await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body });
    expect(made.status, made.text).toBe(200);
    return made.body;
  };

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
    inputs = `/v2/${acme.team}/inputs`;
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  it('refuses a public key where a private key belongs, and names the field', async () => {
    const key = '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----';
    const settings = { org_url: 'https://acme.okta.com', auth: { type: 'oauth2', oauth2: { client_id: 'app-1' } } };
    const body = { name: 'Apps', type: 'okta-apps', config: { settings, secrets: { private_key: { value: key } } } };
    const { status, body: error, text } = await service.call('POST', inputs, { key: acme.key, body });
    expect(status).toBe(400);
    expect(error.additional_details.issues).toContainEqual({
      path: '/secrets/private_key',
      code: 'format',
      params: { format: 'private-key', found: 'public_key' },
    });
    expect(text).not.toContain('MIIB');
  });

  it('creates a connector and returns it without the secret', async () => {
    const { status, body, text, headers } = await service.call('POST', inputs, { key: acme.key, body: okta() });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.any(String),
      organization_id: acme.team,
      type: 'okta-systemlog',
      name: 'Okta production',
      description: '',
      config: { settings: { org_url: 'https://acme.okta.com' } },
      version: 1,
    });
    expect(body.config.secrets).toEqual({
      api_key: { id: expect.any(String), name: 'API token', updated_at: expect.any(String) },
    });
    expect(headers.get('etag')).toBe('"v1"');
    expect(text).not.toContain(TOKEN);
    expect(await service.call('GET', `/v1/${acme.team}/inputs/${body.id}`, { key: acme.key })).toMatchObject({
      status: 200,
      body: { ...body, component_of: [] },
    });
  });

  it('stores what was given, without defaults and empty settings', async () => {
    const made = await create(okta({ settings: { org_url: 'https://acme.okta.com', backfill_start_time: null } }));
    expect(made.config.settings).toEqual({ org_url: 'https://acme.okta.com' });
  });

  it('PATCH keeps absent fields and replaces settings as a whole', async () => {
    const made = await create(
      okta({ settings: { org_url: 'https://acme.okta.com', backfill_start_time: '2026-01-01T00:00:00Z' } }),
    );
    const renamed = await service.call('PATCH', `${inputs}/${made.id}`, { key: acme.key, body: { name: ' Renamed ' } });
    expect(renamed.body).toMatchObject({ name: 'Renamed', version: 2, config: made.config });
    const cleared = await service.call('PATCH', `${inputs}/${made.id}/`, {
      key: acme.key,
      body: { config: { settings: { org_url: 'https://acme.okta.com' } } },
    });
    expect(cleared.body).toMatchObject({ name: 'Renamed', version: 3 });
    expect(cleared.body.config.settings).toEqual({ org_url: 'https://acme.okta.com' });
    expect(cleared.body.config.secrets).toEqual(made.config.secrets);
  });

  it('PUT keeps absent secrets and resets other absent fields', async () => {
    const made = await create(okta({}, { description: 'For auditors' }));
    const { body } = await service.call('PUT', `${inputs}/${made.id}`, {
      key: acme.key,
      body: okta({ secrets: {} }, { name: 'Other' }),
    });
    expect(body).toMatchObject({ name: 'Other', description: '', config: { secrets: made.config.secrets } });
  });

  it('replaces the value of a secret and keeps its ID', async () => {
    const made = await create();
    service.clock.advance(1_000);
    const { body } = await service.call('PATCH', `${inputs}/${made.id}`, {
      key: acme.key,
      body: { config: { secrets: { api_key: { value: `${TOKEN}2`, name: 'Second' } } } },
    });
    expect(body.config.secrets.api_key).toMatchObject({ id: made.config.secrets.api_key.id, name: 'Second' });
    expect(body.config.secrets.api_key.updated_at).not.toBe(made.config.secrets.api_key.updated_at);
    expect(await openStored(service, acme.team, made.id)).toEqual({ api_key: `${TOKEN}2` });
  });

  it('accepts a reference to a stored secret only for the same destination and with an API key', async () => {
    const first = await create();
    const secrets = { api_key: { id: first.config.secrets.api_key.id } };
    const elsewhere = okta({ settings: { org_url: 'https://evil.okta.com' }, secrets });
    expect(await service.call('POST', inputs, { key: acme.key, body: elsewhere })).toMatchObject({
      status: 422,
      body: {
        error_type: 'secret_reentry_required',
        additional_details: { issues: [{ path: '/secrets/api_key', code: 'required' }] },
      },
    });
    const session = await service.session(acme);
    expect((await service.call('POST', inputs, { session, body: okta({ secrets }) })).status).toBe(404);
    const second = await create(okta({ secrets }));
    expect(second.config.secrets.api_key.id).toBe(first.config.secrets.api_key.id);
    expect(await openStored(service, acme.team, second.id)).toEqual({ api_key: TOKEN });
    const unknown = okta({ secrets: { api_key: { id: UNKNOWN } } });
    expect((await service.call('POST', inputs, { key: acme.key, body: unknown })).status).toBe(404);
  });

  it('accepts output_type as an alias of type', async () => {
    const { type, ...rest } = exampleBody(typeOf('output', 'dev-null'));
    const outputs = `/v2/${acme.team}/outputs`;
    const made = await service.call('POST', outputs, { key: acme.key, body: { ...rest, output_type: type } });
    expect(made.body).toMatchObject({ type: 'dev-null' });
    const both = { ...rest, type: 'http', output_type: type };
    expect((await service.call('POST', outputs, { key: acme.key, body: both })).status).toBe(400);
    expect((await service.call('POST', outputs, { key: acme.key, body: rest })).status).toBe(400);
  });

  it('returns the paths of invalid fields', async () => {
    const { status, body } = await service.call('POST', inputs, {
      key: acme.key,
      body: okta({ settings: { org_url: 'acme', nonsense: 1 }, secrets: { other: { value: 'x' } } }, { name: ' ' }),
    });
    expect(status).toBe(400);
    expect(body.error_type).toBe('invalid_config');
    expect(body.additional_details.issues.map(({ path, code }: Record<string, string>) => [path, code])).toEqual(
      expect.arrayContaining([
        ['/name', 'required'],
        ['/settings/org_url', 'pattern'],
        ['/settings/nonsense', 'unknown_property'],
        ['/secrets/other', 'unknown_property'],
        ['/secrets/api_key', 'required'],
      ]),
    );
    const tooLong = okta({}, { name: 'n'.repeat(201), description: 'd'.repeat(2_001) });
    const issues = (await service.call('POST', inputs, { key: acme.key, body: tooLong })).body.additional_details
      .issues;
    expect(issues.map(({ path }: Record<string, string>) => path)).toEqual(['/name', '/description']);
  });

  it('rejects a change of the type', async () => {
    const made = await create();
    const body = { ...exampleBody(typeOf('input', 'demo')), name: 'Demo' };
    expect((await service.call('PUT', `${inputs}/${made.id}`, { key: acme.key, body })).status).toBe(400);
  });

  it('lists connectors in pages, in the order of creation', async () => {
    const tenant = await service.tenant('Paging');
    for (const name of ['a', 'b', 'c']) {
      service.clock.advance(10);
      await service.call('POST', `/v2/${tenant.team}/inputs`, { key: tenant.key, body: okta({}, { name }) });
    }
    const list = (query: string) => service.call('GET', `/v1/${tenant.team}/inputs${query}`, { key: tenant.key });
    const all = await list('');
    expect(names(all.body.inputs)).toEqual(['a', 'b', 'c']);
    expect(all.body.pagination).toEqual({ limit: 10, offset: 0, total: 3 });
    expect(all.body.inputs[0].config.secrets.api_key).toHaveProperty('updated_at');
    const last = await list('/?limit=2&offset=2');
    expect(names(last.body.inputs)).toEqual(['c']);
    expect(last.body.pagination).toEqual({ limit: 2, offset: 2, total: 3 });
    for (const query of ['?limit=0', '?limit=1001', '?offset=-1', '?limit=many', '?limit=1.5']) {
      expect((await list(query)).status, query).toBe(400);
    }
    expect((await service.call('GET', `/v1/${tenant.team}/outputs`, { key: tenant.key })).body.outputs).toEqual([]);
  });

  it('deletes a connector with its secrets', async () => {
    const made = await create();
    const path = `/v1/${acme.team}/inputs/${made.id}`;
    expect(await service.call('DELETE', path, { key: acme.key })).toMatchObject({ status: 200, body: { id: made.id } });
    expect((await service.call('GET', path, { key: acme.key })).status).toBe(404);
    expect((await service.call('DELETE', path, { key: acme.key })).status).toBe(404);
    expect(await service.store.secrets.ofConnector(made.id)).toEqual([]);
  });

  it('accepts the example of every catalog type, in the short run of a third each day', async () => {
    for (const kind of ['input', 'output'] as const) {
      const types = (await service.call('GET', `/v1/${kind}s`, { key: acme.key })).body;
      for (const { type_id } of dailyPart<{ type_id: string }>(types, 3)) {
        const body = exampleBody(typeOf(kind, type_id));
        const made = await service.call('POST', `/v2/${acme.team}/${kind}s`, { key: acme.key, body });
        expect(made.status, `${type_id}: ${made.text}`).toBe(200);
      }
    }
  });

  describe('concurrent edits (R04)', () => {
    it('rejects a change with a stale If-Match', async () => {
      const made = await create();
      const path = `${inputs}/${made.id}`;
      const rename = (name: string, tag: string) =>
        service.call('PATCH', path, { key: acme.key, body: { name }, headers: { 'if-match': tag } });
      expect((await rename('one', '"v1"')).headers.get('etag')).toBe('"v2"');
      const stale = await rename('two', '"v1"');
      expect(stale).toMatchObject({ status: 412, body: { error_type: 'precondition_failed' } });
      expect(stale.headers.get('etag')).toBe('"v2"');
      expect((await rename('three', 'W/"v2"')).status).toBe(200);
      expect((await rename('four', '*')).status).toBe(200);
      const remove = (tag: string) =>
        service.call('DELETE', `/v1/${acme.team}/inputs/${made.id}`, { key: acme.key, headers: { 'if-match': tag } });
      expect((await remove('"v1"')).status).toBe(412);
      expect((await remove('"v4"')).status).toBe(200);
    });

    it('accepts one of several concurrent changes with the same If-Match', async () => {
      const made = await create();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          service.call('PATCH', `${inputs}/${made.id}`, {
            key: acme.key,
            body: { name: `writer ${index}` },
            headers: { 'if-match': '"v1"' },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        200,
        ...Array<number>(7).fill(412),
      ]);
    });

    it('applies all concurrent changes without If-Match', async () => {
      const made = await create();
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          service.call('PATCH', `${inputs}/${made.id}`, { key: acme.key, body: { name: `writer ${index}` } }),
        ),
      );
      const { body } = await service.call('GET', `/v1/${acme.team}/inputs/${made.id}`, { key: acme.key });
      expect(body.version).toBe(9);
    });

    it('returns 304 to a session for a matching If-None-Match', async () => {
      const made = await create();
      const path = `/v1/${acme.team}/inputs/${made.id}`;
      const headers = { 'if-none-match': '"v1"' };
      const session = await service.session(acme);
      expect(await service.call('GET', path, { session, headers })).toMatchObject({ status: 304, text: '' });
      // The ETag does not cover the pipelines that use the connector, which an API key also reads.
      expect(await service.call('GET', path, { key: acme.key, headers })).toMatchObject({ status: 200 });
    });
  });
});
