import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { edge, node, openPipelinesApi, UNKNOWN, type PipelinesApi } from '../../../../test/support/pipelines-api.js';

type Row = Record<string, unknown> & { id: string; slug?: string };

describe.each(eachDatabase())('pipelines on $name', (databases) => {
  let api: PipelinesApi;
  beforeAll(async () => {
    api = await openPipelinesApi(databases);
  });
  afterAll(() => api.close());

  it('creates and returns a pipeline whose edges refer to nodes by slug', async () => {
    const made = await api.send('POST', '/v2/~/pipelines/', api.simple());
    expect(made.status).toBe(201);
    expect(made.headers.get('etag')).toBe('"v1"');
    const [from, to] = made.body.nodes.map(({ id }: Row) => id);
    expect(made.body).toEqual({
      id: expect.any(String),
      organization_id: api.acme.team,
      name: 'One',
      description: '',
      enabled: true,
      input_id: api.input,
      output_ids: [api.output],
      nodes: [
        { id: from, ...node('input', api.input), enabled: true },
        { id: to, ...node('output', api.output), enabled: true },
      ],
      edges: [
        {
          id: expect.any(String),
          name: '',
          description: '',
          from_node_instance_id: from,
          to_node_instance_id: to,
          disabled: false,
          conditions: { operator: 'always' },
        },
      ],
      created_at: expect.any(String),
      updated_at: made.body.created_at,
      managed_by: 'customer',
      version: 1,
      organizationId: api.acme.team,
      createdAt: made.body.created_at,
      updatedAt: made.body.created_at,
    });
    const path = `/v2/~/pipelines/${made.body.id}`;
    const read = await api.send('GET', path);
    expect([read.status, read.body, read.headers.get('etag')]).toEqual([200, made.body, '"v1"']);
    expect((await api.send('GET', path, undefined, { 'if-none-match': '"v1"' })).status).toBe(304);
  });

  it('creates a pipeline with only a name, and lists it under both paths', async () => {
    const tenant = await api.service.tenant('Two addresses');
    const call = (method: string, path: string, body?: unknown) =>
      api.service.call(method, path, { key: tenant.key, ...(body === undefined ? {} : { body }) });
    const addresses = [`/v2/${tenant.team}/pipelines`, `/v2/organizations/${tenant.team}/pipelines`];
    for (const [index, address] of addresses.entries()) {
      api.service.clock.advance(10);
      const made = await call('POST', address, { name: ` P${index} `, description: 'd' });
      expect(made).toMatchObject({ status: 201, body: { name: `P${index}`, nodes: [], edges: [], input_id: null } });
    }
    for (const address of addresses) {
      const { body } = await call('GET', `${address}/?limit=1&offset=1`);
      expect(body.pagination).toEqual({ limit: 1, offset: 1, total: 2 });
      expect(body.pipelines).toMatchObject([{ name: 'P1', input_id: null, output_ids: [] }]);
      expect(body.pipelines[0]).not.toHaveProperty('nodes');
      expect((await call('GET', `${address}?limit=1001`)).status).toBe(400);
    }
    for (const name of ['', ' ', 'x'.repeat(201), 7]) {
      expect((await call('POST', addresses[0] ?? '', { name })).status).toBe(400);
    }
  });

  it('finds the pipelines that use a connector or a transform', async () => {
    const [mine, others] = [await api.connector('input'), await api.connector('input')];
    const transform = (await api.send('POST', '/v2/~/transforms', { name: 'T', config: { operations: [] } })).body.id;
    const made = await api.create({
      name: 'Over a transform, twice',
      nodes: [
        node('input', mine),
        node('transform-1', transform),
        node('transform-2', transform),
        node('output', api.output),
      ],
      edges: [edge('input', 'transform-1'), edge('transform-1', 'transform-2'), edge('transform-2', 'output')],
    });
    const found = async (id: string) =>
      (await api.send('GET', `/v2/~/pipelines?component_id=${id}`)).body.pipelines.map((row: Row) => row.id);
    expect(await found(mine)).toEqual([made.id]);
    expect(await found(transform)).toEqual([made.id]);
    expect(await found(api.output)).toContain(made.id);
    expect(await found(others)).toEqual([]);
    const used = (await api.send('GET', `/v1/~/inputs/${mine}`)).body.component_of;
    expect(used).toEqual([{ id: made.id, name: made.name, enabled: true, input_id: mine, output_ids: [api.output] }]);
    const session = await api.service.session(api.acme);
    const seen = await api.service.call('GET', `/v1/${api.acme.team}/inputs/${mine}`, { session });
    expect([seen.status, seen.body.component_of]).toEqual([200, undefined]);
  });

  it('returns the path of each issue', async () => {
    const { nodes, edges } = api.simple();
    expect(await api.issues({ name: 'x', nodes: [...nodes, nodes[1]], edges })).toContainEqual([
      '/nodes/2/slug',
      'duplicate',
    ]);
    expect(await api.issues({ name: 'x', nodes: [nodes[1]], edges: [] })).toEqual([['/nodes', 'shape']]);
    expect(await api.issues({ name: 'x', nodes, edges: [edge('input', 'nowhere')] })).toEqual([
      ['/edges/0/to_node_instance_id', 'dangling'],
    ]);
    const condition = (conditions: unknown) => ({ name: 'x', nodes, edges: [edge('input', 'output', { conditions })] });
    expect(await api.issues(condition({ operator: 'maybe' }))).toEqual([['/edges/0/conditions/operator', 'unknown']]);
    const leaf = { type_id: 'greater_than', config: { key: 'n', value: 'many' } };
    expect(await api.issues(condition({ operator: 'and', conditions: [leaf] }))).toEqual([
      ['/edges/0/conditions/conditions/0/config/value', 'type'],
    ]);
    for (const wrong of [[{ slug: 'x' }], [{ ...nodes[0], component_type: 'alert' }], 'all', [null]]) {
      expect((await api.send('POST', '/v2/~/pipelines', { name: 'x', nodes: wrong })).status).toBe(400);
    }
  });

  it('stores the overflow policy of an edge, and names the field that is wrong', async () => {
    const simple = api.simple();
    const overflow = { policy: 'drop_newest', max_bytes: 16 * 1024 * 1024 };
    const made = await api.create({ ...simple, edges: [edge('input', 'output', { overflow })] });
    expect(made.edges).toMatchObject([{ overflow }]);
    const path = `/v2/~/pipelines/${made.id}`;
    expect((await api.send('GET', path)).body.edges).toMatchObject([{ overflow }]);
    const back = await api.send('PATCH', path, { edges: [edge('input', 'output')] });
    expect(back.body.edges[0]).not.toHaveProperty('overflow');
    for (const [wrong, field] of [
      [{ policy: 'drop_oldest' }, '/edges/0/overflow/policy'],
      [{}, '/edges/0/overflow/policy'],
      [{ policy: 'spill', max_bytes: 1_000 }, '/edges/0/overflow/max_bytes'],
      [{ policy: 'spill', max_bytes: '16 MiB' }, '/edges/0/overflow/max_bytes'],
      ['drop_newest', '/edges/0/overflow'],
    ] as const) {
      const response = await api.send('POST', '/v2/~/pipelines', {
        ...simple,
        edges: [edge('input', 'output', { overflow: wrong })],
      });
      expect([response.status, response.body.error_type]).toEqual([400, 'invalid_request']);
      expect(response.body.additional_details.issues).toMatchObject([{ path: field }]);
    }
    const transform = (await api.send('POST', '/v2/~/transforms', { name: 'T', config: { operations: [] } })).body.id;
    expect(
      await api.issues({
        name: 'x',
        nodes: [...simple.nodes, node('transform', transform)],
        edges: [edge('input', 'transform', { overflow: { policy: 'block' } }), edge('transform', 'output')],
      }),
    ).toEqual([['/edges/0/overflow', 'shape']]);
  });

  it('rejects components of another organization or kind like unknown ones', async () => {
    const other = await api.service.tenant('Other');
    const foreign = await api.connector('input', other);
    const refusal = async (component_id: string, type = 'input') => {
      const nodes = [{ ...node('input', component_id, type) }, node('output', api.output)];
      const answer = await api.send('POST', '/v2/~/pipelines', { ...api.simple(), nodes });
      expect(answer.status).toBe(400);
      return answer.text;
    };
    const unknown = await refusal(UNKNOWN);
    expect(unknown).toContain('"/nodes/0/component_id"');
    expect(await refusal(foreign)).toBe(unknown);
    expect(await refusal(api.output)).toBe(unknown);
    const enriched = {
      name: 'x',
      nodes: [...api.simple().nodes, node('enrichment', UNKNOWN)],
      edges: [edge('input', 'enrichment'), edge('enrichment', 'output')],
    };
    expect(await api.issues(enriched)).toEqual([['/nodes/2/component_id', 'unknown']]);
    const list = await api.service.call('GET', `/v2/${other.team}/pipelines?component_id=${api.input}`, {
      key: other.key,
    });
    expect(list.body.pipelines).toEqual([]);
  });

  it('returns the status Unknown and zero counts without an engine', async () => {
    const made = await api.create();
    const { status, body } = await api.send('GET', `/v2/~/pipelines/${made.id}/status`);
    const zero = { ingress: { bytes: 0, records: 0 }, egress: { bytes: 0, records: 0 }, errors: 0, dropped: 0 };
    const letters = { dead_letters: { waiting: 0, stored: 0, dropped: 0, replayed: 0 } };
    expect(status).toBe(200);
    expect(body).toEqual({
      pipeline_id: made.id,
      status: 'Unknown',
      suspension: null,
      ...zero,
      last_ingested_time: null,
      last_error: null,
      needs_attention: null,
      ...letters,
      waiting: 0,
      lost: null,
      nodes: made.nodes.map((each: Row) => ({
        node_id: each.id,
        node_slug: each.slug,
        component_type: each['component_type'],
        status: 'Unknown',
        ...zero,
        ...letters,
        failed_attempts: 0,
        error: null,
        next_attempt_time: null,
        needs_attention: false,
      })),
    });
    expect((await api.send('GET', `/v2/~/pipelines/${UNKNOWN}/status`)).status).toBe(404);
  });

  it('denies changes to a key with only the read permission', async () => {
    const { body } = await api.service.call('POST', `/v3/${api.acme.team}/api-keys`, {
      key: api.acme.key,
      body: { name: 'reader', permissions: ['read'] },
    });
    const call = (method: string, path: string, sent?: object) =>
      api.service.call(method, `/v2/${api.acme.team}/${path}`, { key: body.key, ...(sent ? { body: sent } : {}) });
    const made = await api.create();
    expect((await call('GET', 'pipelines')).status).toBe(200);
    expect((await call('GET', `pipelines/${made.id}/status`)).status).toBe(200);
    expect((await call('POST', 'pipelines', api.simple())).status).toBe(403);
    expect((await call('PATCH', `pipelines/${made.id}`, { enabled: false })).status).toBe(403);
    expect((await call('DELETE', `pipelines/${made.id}`)).status).toBe(403);
    expect((await call('POST', 'integrations', { input_id: api.input, name: 'x' })).status).toBe(403);
  });
});
