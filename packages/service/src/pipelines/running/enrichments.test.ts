import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../../test/support/databases.js';
import { throughEnrichment } from '../../../../../test/support/enrichments-api.js';
import { createTestService, type Tenant, type TestService } from '../../../../../test/support/service.js';
import { startVendor } from '../../../../../test/support/vendor.js';

const MAX_KEYS = 1_000;

/** What the 10,000 records become. */
const expected = (n: number) => {
  const id = `u-${n % 501}`;
  const user =
    n % 501 === 500
      ? { join_key: id, message: 'key not found', code: 'key_not_found', data: 'nobody' }
      : { join_key: id, message: 'key found', code: 'success', data: { id, name: `User ${n % 501}` } };
  return { n, actor: { id }, enrichments: { user } };
};

const csv = (name: string) => ({ type: 'inline', inline: { csv: `id,name\n1,${name}\n` } });

/** Pipelines that fill key-value tables and look things up, in the engine of the service. */
describe.each(eachDatabase())('enrichments in pipelines on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'enrichments-'));
    service = await createTestService({
      database: await databases.open(),
      egressAllow: ['127.0.0.1/32'],
      run: {
        filesFolder: ({ id }) => join(folder, id),
        keyValueLimits: { maxBytes: 10_000_000, maxKeys: MAX_KEYS },
      },
    });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  });

  const send = async (method: string, path: string, body?: object) => {
    const response = await service.call(method, path.replace('~', acme.team), { key: acme.key, ...(body && { body }) });
    if (response.status >= 300) throw new Error(response.text);
    return response.body;
  };
  const input = async (): Promise<string> =>
    (await send('POST', '/v2/~/inputs', { name: 'in', type: 'monad-http', config: {} })).id;
  const output = async (type: string, settings: object = {}): Promise<string> =>
    (await send('POST', '/v2/~/outputs', { name: type, type, config: { settings } })).id;
  const enrichment = async (type: string, settings: object, secrets: object = {}): Promise<string> =>
    (await send('POST', '/v3/~/enrichments', { name: type, type, config: { settings, secrets } })).id;
  const append = async (to: string, records: readonly object[]): Promise<void> => {
    for (let from = 0; from < records.length; from += 1_000) {
      const lines = records.slice(from, from + 1_000).map((record) => JSON.stringify(record));
      expect(await service.engine?.append(to, lines)).toMatchObject({ stored: true });
    }
  };
  const status = (pipeline: string) => send('GET', `/v2/~/pipelines/${pipeline}/status`);
  const written = (id: string): Promise<Record<string, unknown>[]> =>
    readFile(join(folder, id, 'events.ndjson'), 'utf8').then(
      (text) =>
        text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      () => [],
    );

  /** Creates a pipeline from a new input through an enrichment to a file. */
  async function through(type: string, settings: object, secrets: object = {}) {
    const [from, to] = [await input(), await output('file')];
    const id = await enrichment(type, settings, secrets);
    const pipeline: string = (await send('POST', '/v2/~/pipelines', { name: 'P', ...throughEnrichment(from, id, to) }))
      .id;
    const node = async () =>
      (await status(pipeline)).nodes.find((each: { node_slug: string }) => each.node_slug === 'enrich');
    return { from, to, enrichment: id, pipeline, node };
  }

  it('enrich 10,000 records from a table that another pipeline fills, in order', async () => {
    const users = await input();
    const table = await output('kv-lookup', { key_field: 'user.id', value_field: 'user', ttl: 24 });
    await send('POST', '/v2/~/integrations', { name: 'Users', input_id: users, output: { id: table } });
    await append(
      users,
      Array.from({ length: 500 }, (_, n) => ({ user: { id: `u-${n}`, name: `User ${n}` }, other: true })),
    );
    const metadata = () => send('GET', `/v3/~/kv_lookup/metadata?component_id=${table}`);
    await expect.poll(async () => (await metadata()).number_of_keys, { timeout: 20_000 }).toBe(500);
    expect(await metadata()).toMatchObject({ ttl: 24, last_ingested_time: expect.any(String) });

    const { from, to, node, pipeline } = await through('kv-lookup', {
      kv_lookup_output_id: table,
      join_path: 'actor.id',
      destination_key: 'enrichments.user',
      no_match_response: 'nobody',
    });
    await append(
      from,
      Array.from({ length: 10_000 }, (_, n) => ({ n, actor: { id: `u-${n % 501}` } })),
    );
    await expect.poll(async () => (await status(pipeline)).egress.records, { timeout: 30_000 }).toBe(10_000);
    const records = await written(to);
    expect(records.map(({ n }) => n)).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
    expect(records.filter((record, n) => !isDeepStrictEqual(record, expected(n)))).toEqual([]);
    expect(await node()).toMatchObject({
      component_type: 'enrichment',
      status: 'Running',
      errors: 0,
      ingress: { records: 10_000 },
      egress: { records: 10_000 },
    });
  });

  it('move records without a match to the dead letters of their node, if the settings say so', async () => {
    const { from, to, node, pipeline } = await through('csv-table', {
      table: { type: 'inline', inline: { csv: 'id,name\n1,Ana\n' } },
      key_column: 'id',
      join_path: 'id',
      destination_path: 'row',
      error_on_missing_key: true,
      omit_metadata: true,
    });
    await append(from, [{ id: 1 }, { id: 2 }, {}]);
    await expect.poll(async () => (await node())?.errors).toBe(2);
    expect(await written(to)).toEqual([{ id: 1, row: { id: '1', name: 'Ana' } }]);
    const letters = await send('GET', `/v1/~/pipelines/${pipeline}/dead-letters?limit=10`);
    expect(letters.dead_letters.map((letter: { reason: string }) => letter.reason)).toEqual([
      'key_not_found',
      'key_not_found',
    ]);
  });

  it('wait with their records while an API fails, hold back nothing else, and use a rotated secret', async () => {
    let token = 'none';
    const api = await startVendor(({ url, headers }) =>
      headers['x-token'] === token ? { body: { path: url } } : { status: 401 },
    );
    const secret = (await send('POST', '/v2/~/secrets', { name: 'Token', value: { 'x-token': 'first' } })).id;
    const settings = {
      url: `${api.origin}/{key}`,
      join_path: 'id',
      destination_path: 'user',
      cache_seconds: 0,
      omit_metadata: true,
    };
    const { from, to, node, pipeline } = await through('http-lookup', settings, { auth_headers: { id: secret } });
    const free = await output('file');
    const { nodes, edges } = await send('GET', `/v2/~/pipelines/${pipeline}`);
    await send('PATCH', `/v2/~/pipelines/${pipeline}`, {
      nodes: [...nodes, { slug: 'free', component_id: free, component_type: 'output' }],
      edges: [...edges, { from_node_instance_id: 'in', to_node_instance_id: 'free' }],
    });
    await append(from, [{ id: 'a' }]);
    await expect.poll(async () => (await node())?.error?.code, { timeout: 20_000 }).toBe('invalid_credentials');
    expect(await node()).toMatchObject({ status: 'Erroring', needs_attention: true });
    await expect.poll(() => written(free)).toEqual([{ id: 'a' }]);
    expect(await written(to)).toEqual([]);

    token = 'second';
    await send('PATCH', `/v2/~/secrets/${secret}`, { value: { 'x-token': 'second' } });
    await expect.poll(() => written(to), { timeout: 20_000 }).toEqual([{ id: 'a', user: { path: '/a' } }]);
    await append(from, [{ id: 'b' }]);
    await expect.poll(() => written(to)).toHaveLength(2);
    const sent = api.requests.map(({ headers }) => headers['x-token']);
    expect(new Set(sent.slice(sent.indexOf('second')))).toEqual(new Set(['second']));
    await api.close();
  });

  it('apply changes and overrides of settings', async () => {
    const settings = {
      table: csv('Ana'),
      key_column: 'id',
      join_path: 'id',
      destination_path: 'row',
      omit_metadata: true,
    };
    const { from, to, enrichment: id, pipeline } = await through('csv-table', settings);
    await append(from, [{ id: 1 }]);
    await expect.poll(() => written(to)).toEqual([{ id: 1, row: { id: '1', name: 'Ana' } }]);
    await send('PATCH', `/v3/~/enrichments/${id}`, { config: { settings: { ...settings, table: csv('Ben') } } });
    const { nodes } = await send('GET', `/v2/~/pipelines/${pipeline}`);
    await send('PATCH', `/v2/~/pipelines/${pipeline}`, {
      nodes: nodes.map((node: { slug: string }) =>
        node.slug === 'enrich' ? { ...node, config_overrides: { settings: { destination_path: 'who' } } } : node,
      ),
    });
    const last = async () => {
      await append(from, [{ id: 1 }]);
      return (await written(to)).at(-1);
    };
    await expect.poll(last).toEqual({ id: 1, who: { id: '1', name: 'Ben' } });
  });

  it('a full table throttles its pipeline, says why, and does not grow', async () => {
    const from = await input();
    const table = await output('kv-lookup', { key_field: 'n' });
    const built = await send('POST', '/v2/~/integrations', { name: 'Full', input_id: from, output: { id: table } });
    await append(
      from,
      Array.from({ length: MAX_KEYS }, (_, n) => ({ n })),
    );
    const metadata = () => send('GET', `/v3/~/kv_lookup/metadata?component_id=${table}`);
    await expect.poll(async () => (await metadata()).number_of_keys, { timeout: 20_000 }).toBe(MAX_KEYS);
    await append(from, [{ n: MAX_KEYS }]);
    await expect.poll(async () => (await status(built.pipeline_id)).status, { timeout: 20_000 }).toBe('Throttled');
    const { last_error, waiting, dead_letters } = await status(built.pipeline_id);
    expect([last_error.code, waiting, dead_letters.stored]).toEqual(['table_full', 1, 0]);
    expect(last_error.message).toContain('KV_MAX_KEYS');
    expect((await metadata()).number_of_keys).toBe(MAX_KEYS);
  });
});
