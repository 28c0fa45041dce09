import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anyDatabase, eachDatabase } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';

const bodies = ({ requests }: Vendor): unknown[] =>
  requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body));

describe.each(eachDatabase())('overrides of a connector on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let vendor: Vendor;
  let input: string;
  /** An output with a stored secret. */
  let output: { id: string; config: { settings: object; secrets: object } };

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open(), egressAllow: ['127.0.0.1/32'], run: {} });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
  });
  beforeEach(async () => {
    vendor = await startVendor(() => ({}));
    input = (await made('/v2/~/inputs', { name: 'in', type: 'monad-http', config: {} })).id;
    const settings = { endpoint: vendor.origin, method: 'POST', payload_structure: 'array' };
    const config = { settings, secrets: { auth_headers: { value: { 'x-key': 'canary-key' } } } };
    output = await made('/v2/~/outputs', { name: 'out', type: 'http', config });
  });
  afterEach(() => vendor.close());

  const send = (method: string, path: string, body?: object, key = acme.key) =>
    service.call(method, path.replace('~', acme.team), { key, ...(body && { body }) });
  async function made(path: string, body: object) {
    const response = await send('POST', path, body);
    expect(response.status, response.text).toBeLessThan(300);
    return response.body;
  }
  const graph = (settings?: object, rest = {}) => ({
    name: 'P',
    nodes: [
      { slug: 'in', component_id: input, component_type: 'input' },
      {
        slug: 'out',
        component_id: output.id,
        component_type: 'output',
        ...(settings && { config_overrides: { settings } }),
        ...rest,
      },
    ],
    edges: [{ from_node_instance_id: 'in', to_node_instance_id: 'out' }],
  });
  const append = (text: string) => service.engine?.append(input, [JSON.stringify({ text })]);
  /** Returns the problems that a refused write names. */
  async function problems(body: object, method = 'POST', path = '/v2/~/pipelines') {
    const response = await send(method, path, body);
    expect([response.status, response.body.error_type], response.text).toEqual([400, 'invalid_pipeline']);
    return response.body.additional_details.issues.map(({ path: at, code }: Record<string, string>) => [at, code]);
  }

  it('applies to one pipeline alone, keeps the secret, and can be changed while it runs', async () => {
    const wrapped = { payload_structure: 'wrapped', wrapper_key: 'events' };
    const pipeline = await made('/v2/~/pipelines', graph(wrapped));
    await append('one');
    await expect.poll(() => bodies(vendor)).toEqual([{ events: [{ text: 'one' }] }]);
    expect(vendor.requests.at(-1)?.headers['x-key']).toBe('canary-key');

    const [from, to] = pipeline.nodes;
    const nodes = [from, { ...to, config_overrides: { settings: { payload_structure: 'single' } } }];
    const changed = await send('PATCH', `/v2/~/pipelines/${pipeline.id}`, { nodes });
    expect(changed.body.nodes[1]).toMatchObject({
      id: to.id,
      component: { config: { settings: nodes[1].config_overrides.settings } },
    });
    await expect.poll(async () => (await append('two')) && bodies(vendor)).toContainEqual({ text: 'two' });
    // The output itself is as it was, and so are other pipelines that use it.
    expect((await send('GET', `/v1/~/outputs/${output.id}`)).body.config).toEqual(output.config);
    await made('/v2/~/pipelines', graph());
    await expect.poll(async () => (await append('three')) && bodies(vendor)).toContainEqual([{ text: 'three' }]);
  });

  it('shows the configuration of the connector, the overrides, and both merged', async () => {
    const pipeline = await made('/v2/~/pipelines', graph({ headers: [], rate_limit: 5 }));
    const [, node] = pipeline.nodes;
    expect(node).toMatchObject({ config_overrides: { settings: { headers: [], rate_limit: 5 } } });
    expect(node.component).toMatchObject({
      id: output.id,
      type: 'http',
      overrides: { settings: { headers: [], rate_limit: 5 } },
      base_config: output.config,
      config: { ...output.config, settings: { ...output.config.settings, headers: [], rate_limit: 5 } },
    });
    expect(JSON.stringify(pipeline)).not.toContain('canary-key');
    const path = `/v2/~/pipelines/${pipeline.id}`;
    const read = await send('GET', path);
    expect(read.body).toEqual(pipeline);
    // What was read can be sent back.
    expect((await send('PATCH', path, read.body)).body.nodes).toEqual(pipeline.nodes);
    // The answer depends on the connector too, so its own version does not make it current.
    await send('PATCH', `/v2/~/outputs/${output.id}`, { name: 'Renamed' });
    const again = await service.call('GET', path.replace('~', acme.team), {
      key: acme.key,
      headers: { 'if-none-match': '"v2"' },
    });
    expect([again.status, again.body.nodes[1].component.name]).toEqual([200, 'Renamed']);
    expect(pipeline.nodes[0]).not.toHaveProperty('component');
  });

  it('is refused where it would send the secret elsewhere, or weaken its protection', async () => {
    const at = '/nodes/1/config_overrides/secrets/auth_headers';
    for (const settings of [{ endpoint: 'https://attacker.example' }, { tls_skip_verify: true }])
      expect(await problems(graph(settings))).toEqual([[at, 'secret_reentry_required']]);
    const { id } = await made('/v2/~/pipelines', graph());
    const moved = graph({ endpoint: 'https://attacker.example' }).nodes;
    expect(await problems({ nodes: moved }, 'PATCH', `/v2/~/pipelines/${id}`)).toEqual([
      [at, 'secret_reentry_required'],
    ]);
  });

  it('never sends the secret elsewhere, also if someone writes to the database', async () => {
    const other = await startVendor(() => ({}));
    const { id } = await made('/v2/~/pipelines', graph({ rate_limit: 5 }));
    const overrides = JSON.stringify({ settings: { endpoint: other.origin } });
    await service.database.script((run) =>
      run(
        `update pipelines set version = version + 1, nodes = jsonb_set(nodes, '{1,config_overrides}', '${overrides}') where id = '${id}'`,
      ),
    );
    await send('PATCH', `/v2/~/pipelines/${id}`, { name: 'Renamed' });
    const status = async () => (await send('GET', `/v2/~/pipelines/${id}/status`)).body.last_error;
    await expect.poll(async () => (await status())?.code).toBe('secret_destination_mismatch');
    expect((await status()).message).toContain('overrides of out');
    expect(other.requests).toEqual([]);
    await other.close();
  });

  it('is checked as a write to the connector is', async () => {
    const at = '/nodes/1/config_overrides/settings';
    expect(await problems(graph({ rate_limit: 0 }))).toEqual([[`${at}/rate_limit`, expect.any(String)]]);
    expect(await problems(graph({ no_such: 1 }))).toEqual([[`${at}/no_such`, 'unknown_property']]);
    expect(await problems(graph({ endpoint: null }))).toContainEqual([`${at}/endpoint`, 'required']);
    for (const config_overrides of [{ endpoint: 'x' }, { settings: 'x' }, 'x', [], { secrets: { a: { value: 'b' } } }])
      expect((await send('POST', '/v2/~/pipelines', graph(undefined, { config_overrides }))).status).toBe(400);
    const receives = graph().nodes.map((node) => ({ ...node, config_overrides: { settings: { a: 1 } } }));
    expect(await problems({ ...graph(), nodes: receives })).toContainEqual([
      '/nodes/0/config_overrides',
      'not_supported',
    ]);
    const { id } = await made('/v2/~/transforms', { name: 'T', config: { operations: [] } });
    const [from, to] = graph().nodes;
    const transform = { slug: 't', component_id: id, component_type: 'transform' };
    const nodes = [from, { ...transform, config_overrides: { settings: { operations: [] } } }, to];
    const edges = [
      { from_node_instance_id: 'in', to_node_instance_id: 't' },
      { from_node_instance_id: 't', to_node_instance_id: 'out' },
    ];
    expect(await problems({ name: 'P', nodes, edges })).toEqual([['/nodes/1/config_overrides', 'not_supported']]);
  });

  it('that no longer fits the connector fails visibly, and continues once it fits again', async () => {
    const pipeline = await made('/v2/~/pipelines', graph({ wrapper_key: null }));
    const settings = { ...output.config.settings, payload_structure: 'wrapped', wrapper_key: 'events' };
    const path = `/v2/~/outputs/${output.id}`;
    const body = { name: 'out', type: 'http', config: { settings } };
    const preview = await send('POST', `${path}/preview?impact=true`, body);
    expect(preview.body.blast_radius).toMatchObject({
      blocking_count: 0,
      warning_count: 1,
      instances: [
        {
          pipeline_id: pipeline.id,
          node_id: pipeline.nodes[1].id,
          findings: [{ code: 'invalid_overrides', severity: 'warning', field: '/settings/wrapper_key' }],
        },
      ],
    });
    expect((await send('PUT', path, body)).status).toBe(200);
    const status = async () => (await send('GET', `/v2/~/pipelines/${pipeline.id}/status`)).body;
    await expect.poll(async () => (await status()).last_error?.code).toBe('invalid_overrides');
    expect((await status()).status).toBe('Erroring');
    await append('kept');
    await send('PUT', path, { ...body, config: { settings: output.config.settings } });
    await expect.poll(() => bodies(vendor)).toEqual([[{ text: 'kept' }]]);
  });

  it('needs the permission to change connectors, and to see their configuration', async () => {
    const permission_ids = ['pipeline:read', 'pipeline:write'];
    const role = await made('/v2/~/roles', { name: 'Pipelines only', description: '', permission_ids });
    const expiration_time = new Date(service.clock.now() + 3_600_000).toISOString();
    const issued = { name: 'k', description: '', role_id: role.id, expiration_time };
    const { token: key } = await made('/v2/~/api_keys', issued);
    const refused = await send('POST', '/v2/~/pipelines', graph({ rate_limit: 5 }), key);
    expect([refused.status, refused.body.additional_details]).toEqual([403, { missing_permissions: ['output:write'] }]);
    const pipeline = await made('/v2/~/pipelines', graph({ rate_limit: 5 }));
    const path = `/v2/~/pipelines/${pipeline.id}`;
    const [, node] = (await send('GET', path, undefined, key)).body.nodes;
    expect(node.component).toHaveProperty('overrides');
    for (const hidden of ['base_config', 'config']) expect(node.component).not.toHaveProperty(hidden);
    // What is there already may stay.
    expect((await send('PATCH', path, { nodes: pipeline.nodes }, key)).status).toBe(200);
    const nodes = graph({ rate_limit: 6 }).nodes;
    expect((await send('PATCH', path, { nodes }, key)).status).toBe(403);
  });
});

it('a service with CONFIG_OVERRIDES=off takes no new overrides', async () => {
  const databases = anyDatabase();
  const service = await createTestService({ database: await databases.open(), settings: { configOverrides: false } });
  const { key, team } = await service.tenant('Northwind');
  const create = (path: string, body: object) => service.call('POST', `/v2/${team}/${path}`, { key, body });
  const input = await create('inputs', { name: 'i', type: 'monad-http', config: {} });
  const settings = { endpoint: 'https://a.example' };
  const output = await create('outputs', { name: 'o', type: 'http', config: { settings } });
  const body = (config_overrides: object) => ({
    name: 'P',
    nodes: [
      { slug: 'in', component_id: input.body.id, component_type: 'input' },
      { slug: 'out', component_id: output.body.id, component_type: 'output', config_overrides },
    ],
    edges: [{ from_node_instance_id: 'in', to_node_instance_id: 'out' }],
  });
  expect((await create('pipelines', body({ settings: { rate_limit: 5 } }))).status).toBe(403);
  expect((await create('pipelines', body({ settings: {} }))).status).toBe(201);
  await service.close();
  await databases.close();
});
