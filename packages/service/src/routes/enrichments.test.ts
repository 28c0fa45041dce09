import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { throughEnrichment } from '../../../../test/support/enrichments-api.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';
import { createEngineLeases } from '../store/engine-leases.js';
import { createKeyValueWriter } from '../store/key-values.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const TOKEN = 'Bearer a-very-secret-token';

const lookup = (output: string, rest: object = {}) => ({
  name: 'Users',
  type: 'kv-lookup',
  config: { settings: { kv_lookup_output_id: output, join_path: 'actor.id', destination_key: 'user', ...rest } },
});

describe.each(eachDatabase())('enrichments on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let api: Vendor;
  let folder: string;
  /** Runs before the API responds to the next request. */
  let interrupt: (() => Promise<unknown>) | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lookups-'));
    await writeFile(join(folder, 'users.csv'), 'id,name\nu-1,Ana\n');
    api = await startVendor(async ({ url, headers }) => {
      const run = interrupt;
      interrupt = undefined;
      await run?.();
      return headers.authorization === TOKEN ? { body: { path: url } } : { status: 401 };
    });
    service = await createTestService({
      database: await databases.open(),
      egressAllow: ['127.0.0.0/8'],
      settings: { lookupFolder: folder, keyValueLimits: { maxBytes: 5_000, maxKeys: 50 } },
    });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
    await api.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Calls the API; `~` in the path is the team. */
  const send = (method: string, path: string, body?: unknown, key = acme.key, org = acme.team) =>
    service.call(method, path.replace('~', org), { key, ...(body === undefined ? {} : { body }) });
  const make = async (path: string, body: object): Promise<string> => {
    const made = await send('POST', path, body);
    expect([200, 201], made.text).toContain(made.status);
    return made.body.id;
  };
  const table = (config: object = {}) =>
    make('/v2/~/outputs', { name: 'Users', type: 'kv-lookup', config: { settings: { key_field: 'id', ...config } } });
  const http = (rest: object = {}, secrets: object = { auth_headers: { value: { Authorization: TOKEN } } }) => ({
    name: 'People',
    type: 'http-lookup',
    config: {
      settings: { url: `${api.origin}/users/{key}`, join_path: 'actor.id', destination_path: 'actor.user', ...rest },
      secrets,
    },
  });

  it('are created, listed, read, changed and deleted without their secrets and without defaults', async () => {
    const made = await send('POST', '/v3/~/enrichments', { ...http(), description: 'Of the directory' });
    expect(made.status, made.text).toBe(200);
    const { id } = made.body;
    expect(made.body).toEqual({
      id,
      organization_id: acme.team,
      type: 'http-lookup',
      name: 'People',
      description: 'Of the directory',
      config: {
        settings: http().config.settings,
        secrets: { auth_headers: { id: expect.any(String), name: 'Secret headers', updated_at: expect.any(String) } },
      },
      references: { secrets: [expect.objectContaining({ name: 'Secret headers', shared: false })] },
      managed_by: 'customer',
      share_details: { shared_with_me: false, shared_with_children: false },
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
    });
    expect(made.text).not.toContain(TOKEN);
    const list = await send('GET', '/v3/~/enrichments');
    expect(list.body.pagination).toMatchObject({ limit: 100, offset: 0 });
    expect(list.body.enrichments).toContainEqual(made.body);
    expect((await send('GET', `/v3/~/enrichments/${id}`)).body).toEqual({ ...made.body, component_of: [] });
    // The clients of the public API put this before each path.
    expect((await send('GET', `/api/v3/~/enrichments/${id}`)).status).toBe(200);

    const patched = await send('PATCH', `/v3/~/enrichments/${id}`, { name: 'Renamed' });
    expect(patched.body).toMatchObject({ name: 'Renamed', version: 2, config: made.body.config });
    const put = await send('PUT', `/v3/~/enrichments/${id}`, http({}, {}));
    expect(put.body).toMatchObject({ name: 'People', description: '', version: 3, config: made.body.config });
    const other = await send('PUT', `/v3/~/enrichments/${id}`, { ...http(), type: 'cidr' });
    expect([other.status, other.body.error]).toEqual([400, "The type of a connector can't change. Create a new one."]);
    expect((await send('GET', `/v1/~/inputs/${id}`)).status).toBe(404);

    const deleted = await send('DELETE', `/v3/~/enrichments/${id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { message: 'success' }]);
    expect((await send('GET', `/v3/~/enrichments/${id}`)).status).toBe(404);
  });

  it('describe their types as JSON Schema', async () => {
    const { body } = await send('GET', '/v3/~/enrichments_meta');
    expect(body.map((type: { type_id: string }) => type.type_id).toSorted()).toEqual([
      'cidr',
      'csv-table',
      'geoip',
      'geolocus',
      'greynoise-community',
      'http-lookup',
      'kv-lookup',
    ]);
    const one = await send('GET', '/v3/~/enrichments_meta/kv-lookup');
    expect(body).toContainEqual(one.body);
    expect(one.body).toMatchObject({
      type_id: 'kv-lookup',
      connector_category: 'Universal',
      supported_features: { test_connection: true },
      config: { settings: { required: ['kv_lookup_output_id', 'join_path', 'destination_key'] } },
    });
    expect((await send('GET', '/v3/~/enrichments_meta/nothing')).status).toBe(404);
  });

  it('test a configuration, also before it is saved with test_connection=true', async () => {
    const good = await send('POST', '/v3/~/enrichments/test-connection', http());
    expect([good.status, good.body.message]).toEqual([200, 'success']);
    const wrong = http({}, { auth_headers: { value: { Authorization: 'wrong' } } });
    const bad = await send('POST', '/v3/~/enrichments/test-connection', wrong);
    expect([bad.status, bad.body.error_type]).toEqual([400, 'test_failed']);
    const before = (await send('GET', '/v3/~/enrichments')).body.pagination.total;
    expect((await send('POST', '/v3/~/enrichments?test_connection=true', wrong)).status).toBe(400);
    expect((await send('GET', '/v3/~/enrichments')).body.pagination.total).toBe(before);
    const id = await make('/v3/~/enrichments?test_connection=true', http());
    for (const method of ['PUT', 'PATCH']) {
      const refused = await send(method, `/v3/~/enrichments/${id}?test_connection=true`, wrong);
      expect([method, refused.status, refused.body.error_type]).toEqual([method, 400, 'test_failed']);
      // With the stored secret.
      expect((await send(method, `/v3/~/enrichments/${id}?test_connection=true`, http({}, {}))).status).toBe(200);
    }
    expect((await send('PATCH', `/v3/~/enrichments/${id}?test_connection=true`, { name: 'New' })).body.name).toBe(
      'New',
    );
    const settings = {
      table: { type: 'file', file: { name: 'users.csv' } },
      key_column: 'id',
      join_path: 'id',
      destination_path: 'u',
    };
    const file = await send('POST', '/v3/~/enrichments/test-connection', { type: 'csv-table', config: { settings } });
    expect(file.body).toMatchObject({ message: 'success', summary: 'The table has 1 different keys' });
  });

  it('and inputs and outputs are tested before a PUT or PATCH with test_connection=true', async () => {
    const secrets = { auth_headers: { value: { Authorization: TOKEN } } };
    const settings = { endpoint: `${api.origin}/ingest`, method: 'POST', payload_structure: 'array' };
    const body = { name: 'Log', type: 'http', config: { settings, secrets } };
    const id = await make('/v2/~/outputs', body);
    const wrong = { ...body, config: { settings, secrets: { auth_headers: { value: { Authorization: 'wrong' } } } } };
    const path = `/v2/~/outputs/${id}?test_connection=true`;
    for (const method of ['PUT', 'PATCH']) {
      expect((await send(method, path, wrong)).body.error_type, method).toBe('test_failed');
      expect((await send(method, path, { ...body, type: 'dev-null' })).status, method).toBe(400);
    }
    expect((await send('GET', `/v1/~/outputs/${id}`)).body.version).toBe(1);
    for (const method of ['PUT', 'PATCH']) expect((await send(method, path, body)).status, method).toBe(200);

    const requests = api.requests.length;
    const key = { key: acme.key, body, headers: { 'if-match': '"1"' } };
    expect((await service.call('PUT', path.replace('~', acme.team), key)).status).toBe(412);
    expect(api.requests.length).toBe(requests);

    // A configuration that changed during the test is not saved.
    interrupt = () => send('PATCH', `/v2/~/outputs/${id}`, { config: { settings: { ...settings, method: 'PUT' } } });
    const late = await send('PATCH', path, { config: { secrets } });
    expect([late.status, late.body.error_type]).toEqual([409, 'conflict']);
  });

  it('send a stored secret only where it was entered for (S03)', async () => {
    const id = await make('/v3/~/enrichments', http());
    const elsewhere = { config: { settings: { ...http().config.settings, url: 'https://evil.example/{key}' } } };
    const moved = await send('PATCH', `/v3/~/enrichments/${id}`, elsewhere);
    expect([moved.status, moved.body.error_type]).toEqual([422, 'secret_reentry_required']);
    const test = { type: 'http-lookup', id, ...elsewhere };
    expect((await send('POST', '/v3/~/enrichments/test-connection', test)).body.error_type).toBe(
      'secret_reentry_required',
    );
  });

  it('share a secret of the organization, which names them and cannot be deleted meanwhile (S32)', async () => {
    const secret = await make('/v2/~/secrets', { name: 'GreyNoise key', value: 'key-1' });
    const settings = { ip_address_path: 'ip', destination_path: 'noise' };
    const config = { settings, secrets: { api_key: { id: secret } } };
    const id = await make('/v3/~/enrichments', { name: 'Noise', type: 'greynoise-community', config });
    const shown = (await send('GET', `/v2/~/secrets/${secret}`)).body;
    expect(shown.enrichments).toEqual([{ id, kind: 'enrichment', type: 'greynoise-community', name: 'Noise' }]);
    expect(shown.destinations).toEqual([{ kind: 'enrichment', type: 'greynoise-community', settings: {} }]);
    expect((await send('GET', `/v3/~/enrichments/${id}`)).body.references.secrets).toEqual([
      { id: secret, name: 'GreyNoise key', organization_id: acme.team, shared: false },
    ]);
    const refused = await send('DELETE', `/v2/~/secrets/${secret}`);
    expect([refused.status, refused.body.additional_details.enrichments?.[0]?.id]).toEqual([409, id]);
    const version = async () => (await send('GET', `/v3/~/enrichments/${id}`)).body.version;
    const before = await version();
    await send('PATCH', `/v2/~/secrets/${secret}`, { value: 'key-2' });
    // The engine applies the new value.
    expect(await version()).toBe(before + 1);
    // A list of destinations holds for enrichments, too.
    const listed = await make('/v2/~/secrets', { name: 'Elsewhere', value: 'x', destinations: [] });
    const wrong = await send('PATCH', `/v3/~/enrichments/${id}`, { config: { secrets: { api_key: { id: listed } } } });
    expect([wrong.status, wrong.body.error_type]).toEqual([400, 'secret_not_allowed']);
    await send('DELETE', `/v3/~/enrichments/${id}`);
    expect((await send('DELETE', `/v2/~/secrets/${secret}`)).status).toBe(204);
  });

  it('name only KV lookup outputs of their own organization, which cannot be deleted meanwhile', async () => {
    const globex = await service.tenant('Globex');
    const foreign = await send(
      'POST',
      '/v2/~/outputs',
      { name: 'Users', type: 'kv-lookup', config: { settings: { key_field: 'id' } } },
      globex.key,
      globex.team,
    );
    const nowhere = await make('/v2/~/outputs', { name: 'Nowhere', type: 'dev-null', config: {} });
    for (const output of [UNKNOWN, foreign.body.id, nowhere]) {
      const { status, body } = await send('POST', '/v3/~/enrichments', lookup(output));
      expect([status, body.additional_details.issues]).toEqual([
        400,
        [
          {
            path: '/settings/kv_lookup_output_id',
            code: 'enum',
            message: 'The organization has no output of type kv-lookup with this ID.',
          },
        ],
      ]);
    }
    const [one, other] = [await table(), await table()];
    const id = await make('/v3/~/enrichments', lookup(one));
    const refused = await send('DELETE', `/v1/~/outputs/${one}`);
    expect([refused.status, refused.body.additional_details]).toEqual([
      409,
      { enrichments: [{ id, name: 'Users' }], total: 1 },
    ]);
    const input = await make('/v2/~/inputs', { name: 'In', type: 'monad-http', config: {} });
    const built = await send('POST', '/v2/~/integrations', { name: 'P', input_id: input, output: { id: one } });
    const removal = { pipeline_id: built.body.pipeline_id, input_id: input, output_id: one };
    expect((await send('POST', '/v2/~/integrations/delete', removal)).status).toBe(204);
    expect((await send('GET', `/v1/~/outputs/${one}`)).status).toBe(200);

    await send('PATCH', `/v3/~/enrichments/${id}`, { config: { settings: lookup(other).config.settings } });
    expect((await send('DELETE', `/v1/~/outputs/${one}`)).status).toBe(200);
    expect((await send('DELETE', `/v1/~/outputs/${other}`)).status).toBe(409);
    expect((await send('DELETE', `/v3/~/enrichments/${id}`)).status).toBe(200);
    expect((await send('DELETE', `/v1/~/outputs/${other}`)).status).toBe(200);
  });

  it('are deleted together with their organization', async () => {
    const team = await send('POST', `/v3/${acme.id}/organizations`, { name: 'Short-lived' });
    const org = team.body.id;
    const body = { name: 'Users', type: 'kv-lookup', config: { settings: { key_field: 'id' } } };
    const output = (await send('POST', '/v2/~/outputs', body, acme.key, org)).body.id;
    expect((await send('POST', '/v3/~/enrichments', lookup(output), acme.key, org)).status).toBe(200);
    expect((await send('DELETE', `/v3/${acme.id}/organizations/${org}`)).status).toBeLessThan(300);
  });

  it('that a pipeline uses cannot be deleted, and are named by it', async () => {
    const id = await make('/v3/~/enrichments', http());
    const input = await make('/v2/~/inputs', { name: 'In', type: 'monad-http', config: {} });
    const output = await make('/v2/~/outputs', { name: 'Out', type: 'dev-null', config: {} });
    const pipeline = await make('/v2/~/pipelines', { name: 'P', ...throughEnrichment(input, id, output) });
    const refused = await send('DELETE', `/v3/~/enrichments/${id}`);
    expect([refused.status, refused.body.additional_details.pipelines[0].id]).toEqual([409, pipeline]);
    expect((await send('GET', `/v3/~/enrichments/${id}`)).body.component_of).toMatchObject([{ id: pipeline }]);
    const wrong = await send('POST', '/v2/~/pipelines', { name: 'P', ...throughEnrichment(input, output, output) });
    expect([wrong.status, wrong.body.additional_details.issues?.[0]?.path]).toEqual([400, '/nodes/1/component_id']);

    const withOverrides = (settings: object, component = id) => {
      const graph = throughEnrichment(input, component, output);
      return {
        ...graph,
        nodes: graph.nodes.map((node) => (node.slug === 'enrich' ? { ...node, config_overrides: { settings } } : node)),
      };
    };
    const overridden = await send('PATCH', `/v2/~/pipelines/${pipeline}`, withOverrides({ destination_path: 'who' }));
    expect(overridden.status, overridden.text).toBe(200);
    expect(overridden.body.nodes[1].component.config.settings).toMatchObject({
      destination_path: 'who',
      join_path: 'actor.id',
    });
    const moved = await send(
      'PATCH',
      `/v2/~/pipelines/${pipeline}`,
      withOverrides({ url: 'https://evil.example/{key}' }),
    );
    expect([moved.status, moved.body.additional_details.issues[0].code]).toEqual([400, 'secret_reentry_required']);
    const kv = await make('/v3/~/enrichments', lookup(await table()));
    const another = withOverrides({ kv_lookup_output_id: await table() }, kv);
    const table2 = await send('PATCH', `/v2/~/pipelines/${pipeline}`, another);
    expect([table2.status, table2.body.additional_details.issues[0]]).toMatchObject([
      400,
      { path: '/nodes/1/config_overrides/settings/kv_lookup_output_id', code: 'not_supported' },
    ]);
    const renamed = await send('PATCH', `/v2/~/pipelines/${pipeline}`, withOverrides({ omit_metadata: true }, kv));
    expect(renamed.status, renamed.text).toBe(200);
  });

  it('can be tried on a record, with real and with mocked data', async () => {
    const attempt = (body: object, record: unknown = { actor: { id: 'u-1' }, n: 1 }) => {
      const { type, config } = http();
      return send('POST', '/v3/~/enrichments/sandbox', { type_id: type, config, record, ...body });
    };
    const real = await attempt({});
    const user = { join_key: 'u-1', message: 'key found', code: 'success', data: { path: '/users/u-1' } };
    expect(real.body.record_json).toEqual({ actor: { id: 'u-1', user }, n: 1 });
    expect(JSON.parse(Buffer.from(real.body.record).toString())).toEqual(real.body.record_json);
    const before = api.requests.length;
    const mocked = await attempt({ use_mocked_data: true });
    expect(mocked.body.record_json.actor.user).toMatchObject({ join_key: 'u-1', code: 'success', data: { id: 'u-1' } });
    expect(api.requests.length).toBe(before);

    const text = '{"actor":{"id":"u-1"}}';
    for (const record of [text, Buffer.from(text).toString('base64'), [...Buffer.from(text)]])
      expect((await attempt({}, record)).body.record_json).toEqual({ actor: { id: 'u-1', user } });
    const { config } = http({ error_on_missing_key: true });
    const rejected = await attempt({ config }, { actor: {} });
    expect([rejected.status, rejected.body.additional_details.issues[0]]).toMatchObject([400, { path: '/record' }]);
    const denied = await attempt({ config: http({}, { auth_headers: { value: { Authorization: 'no' } } }).config });
    expect([denied.status, denied.body.error_type, denied.body.additional_details]).toEqual([
      400,
      'test_failed',
      { reason: 'invalid_credentials' },
    ]);
    expect((await attempt({}, '[1]')).status).toBe(400);
    expect((await attempt({ type_id: 'nothing' })).status).toBe(400);
    expect((await attempt({ config: { settings: {} } })).status).toBe(400);
  });

  it('read the tables of KV lookup outputs: their size, some entries, and one', async () => {
    const output = await table({ ttl: 24 });
    const about = (name: string, query: object, key = acme.key, org = acme.team) =>
      send(
        'GET',
        `/v3/~/kv_lookup/${name}?${new URLSearchParams({ component_id: output, ...query }).toString()}`,
        undefined,
        key,
        org,
      );
    expect((await about('metadata', {})).body).toEqual({
      number_of_keys: 0,
      bytes: 0,
      max_bytes: 5_000,
      max_keys: 50,
      ttl: 24,
    });
    const token = (await createEngineLeases(service.database.queries).acquire('test', 600_000)) ?? 0;
    const writer = createKeyValueWriter(service.database, token, { maxBytes: 5_000, maxKeys: 50 });
    const entries = ['a', 'b', 'ü'].map((key) => ({ key, value: `{"id":"${key}","n":12345678901234567890}` }));
    const at = new Date(service.clock.now());
    await writer.put(output, entries, at);
    expect((await about('metadata', {})).body).toMatchObject({
      number_of_keys: 3,
      bytes: 4 + 3 * 35 + 1,
      last_ingested_time: at.toISOString(),
    });
    const value = await about('value', { key: 'ü' });
    expect(value.text).toContain('"value_json":{"id":"ü","n":12345678901234567890}');
    expect(Buffer.from(value.body.value).toString()).toBe(entries[2]?.value);
    expect(value.body.last_updated_at).toBe(at.toISOString());
    expect((await about('value', { key: 'c' })).status).toBe(404);
    expect((await about('sample', { num_entries: '2' })).body).toHaveLength(2);
    expect((await about('sample', { num_entries: '100' })).body).toHaveLength(3);
    for (const num_entries of ['0', '101', 'x']) expect((await about('sample', { num_entries })).status).toBe(400);

    const initech = await service.tenant('Initech');
    const nowhere = await make('/v2/~/outputs', { name: 'Nowhere', type: 'dev-null', config: {} });
    for (const [name, query] of [
      ['metadata', {}],
      ['sample', { num_entries: '1' }],
      ['value', { key: 'a' }],
    ] as const) {
      expect((await about(name, query, initech.key, initech.team)).status).toBe(404);
      expect((await about(name, { ...query, component_id: nowhere })).status).toBe(404);
      expect((await about(name, query, initech.key)).status).toBe(404);
    }
    const sandbox = { type_id: 'kv-lookup', config: lookup(output).config, record: { actor: { id: 'a' } } };
    expect((await send('POST', '/v3/~/enrichments/sandbox', sandbox)).body.record_json.user.data).toEqual({
      id: 'a',
      n: 12345678901234567000,
    });
  });
});
