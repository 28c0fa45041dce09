import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBody, typeOf } from '../../../../test/support/connectors.js';
import { embedded, postgresql } from '../../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

type Row = Record<string, unknown> & { id: string; slug?: string };

const node = (slug: string, component_id: string, component_type = slug.replace(/-.*/, '')) => ({
  slug,
  component_id,
  component_type,
});
const edge = (from: string, to: string, rest: object = {}) => ({
  from_node_instance_id: from,
  to_node_instance_id: to,
  ...rest,
});

describe.each([embedded(), postgresql()])('pipelines on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let input: string;
  let output: string;

  const connector = async (kind: 'input' | 'output', tenant = acme): Promise<string> => {
    const body = exampleBody(typeOf(kind, kind === 'input' ? 'demo' : 'dev-null'));
    return (await service.call('POST', `/v2/${tenant.team}/${kind}s`, { key: tenant.key, body })).body.id;
  };
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.call(method, path.replace('~', acme.team), {
      key: acme.key,
      headers,
      ...(body === undefined ? {} : { body }),
    });
  const simple = () => ({
    name: 'One',
    nodes: [node('input', input), node('output', output)],
    edges: [edge('input', 'output')],
  });
  const create = async (body: object = simple()) => {
    const made = await send('POST', '/v2/~/pipelines', body);
    expect(made.status, made.text).toBe(201);
    return made.body;
  };
  const issues = async (body: object, method = 'POST', path = '/v2/~/pipelines') => {
    const answer = await send(method, path, body);
    expect([answer.status, answer.body.error_type], answer.text).toEqual([422, 'invalid_pipeline']);
    return answer.body.additional_details.issues.map((issue: Record<string, string>) => [issue['path'], issue['code']]);
  };

  beforeAll(async () => {
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
    input = await connector('input');
    output = await connector('output');
  });
  afterAll(async () => {
    await service.store.close();
    await databases.close();
  });

  it('creates one whose edges name nodes by slug, and reads the same', async () => {
    const made = await send('POST', '/v2/~/pipelines/', simple());
    expect(made.status).toBe(201);
    expect(made.headers.get('etag')).toBe('"v1"');
    const [from, to] = made.body.nodes.map(({ id }: Row) => id);
    expect(made.body).toEqual({
      id: expect.any(String),
      organization_id: acme.team,
      name: 'One',
      description: '',
      enabled: true,
      input_id: input,
      output_ids: [output],
      nodes: [
        { id: from, ...node('input', input), enabled: true },
        { id: to, ...node('output', output), enabled: true },
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
      updated_at: expect.any(String),
      version: 1,
    });
    const path = `/v2/~/pipelines/${made.body.id}`;
    const read = await send('GET', path);
    expect([read.status, read.body, read.headers.get('etag')]).toEqual([200, made.body, '"v1"']);
    expect((await send('GET', path, undefined, { 'if-none-match': '"v1"' })).status).toBe(304);
  });

  it('takes a name alone, and is made and listed under both addresses', async () => {
    const tenant = await service.tenant('Two addresses');
    const call = (method: string, path: string, body?: unknown) =>
      service.call(method, path, { key: tenant.key, ...(body === undefined ? {} : { body }) });
    const addresses = [`/v2/${tenant.team}/pipelines`, `/v2/organizations/${tenant.team}/pipelines`];
    for (const [index, address] of addresses.entries()) {
      service.clock.advance(10);
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

  it('finds those in which a connector or a transform stands', async () => {
    const [mine, others] = [await connector('input'), await connector('input')];
    const transform = (await send('POST', '/v2/~/transforms', { name: 'T', config: { operations: [] } })).body.id;
    const made = await create({
      name: 'Over a transform, twice',
      nodes: [
        node('input', mine),
        node('transform-1', transform),
        node('transform-2', transform),
        node('output', output),
      ],
      edges: [edge('input', 'transform-1'), edge('transform-1', 'transform-2'), edge('transform-2', 'output')],
    });
    const found = async (id: string) =>
      (await send('GET', `/v2/~/pipelines?component_id=${id}`)).body.pipelines.map((row: Row) => row.id);
    expect(await found(mine)).toEqual([made.id]);
    expect(await found(transform)).toEqual([made.id]);
    expect(await found(output)).toContain(made.id);
    expect(await found(others)).toEqual([]);
    const used = (await send('GET', `/v1/~/inputs/${mine}`)).body.component_of;
    expect(used).toEqual([{ id: made.id, name: made.name, enabled: true, input_id: mine, output_ids: [output] }]);
    const session = await service.session(acme);
    const seen = await service.call('GET', `/v1/${acme.team}/inputs/${mine}`, { session });
    expect([seen.status, seen.body.component_of]).toEqual([200, undefined]);
  });

  it('names the place of what is wrong', async () => {
    const { nodes, edges } = simple();
    expect(await issues({ name: 'x', nodes: [...nodes, nodes[1]], edges })).toContainEqual([
      '/nodes/2/slug',
      'duplicate',
    ]);
    expect(await issues({ name: 'x', nodes: [nodes[1]], edges: [] })).toEqual([['/nodes', 'shape']]);
    expect(await issues({ name: 'x', nodes, edges: [edge('input', 'nowhere')] })).toEqual([
      ['/edges/0/to_node_instance_id', 'dangling'],
    ]);
    const condition = (conditions: unknown) => ({ name: 'x', nodes, edges: [edge('input', 'output', { conditions })] });
    expect(await issues(condition({ operator: 'maybe' }))).toEqual([['/edges/0/conditions/operator', 'unknown']]);
    const leaf = { type_id: 'greater_than', config: { key: 'n', value: 'many' } };
    expect(await issues(condition({ operator: 'and', conditions: [leaf] }))).toEqual([
      ['/edges/0/conditions/conditions/0/config/value', 'type'],
    ]);
    for (const wrong of [[{ slug: 'x' }], [{ ...nodes[0], component_type: 'alert' }], 'all', [null]]) {
      expect((await send('POST', '/v2/~/pipelines', { name: 'x', nodes: wrong })).status).toBe(400);
    }
  });

  it('takes only what the organization has, of the right kind; a foreign id reads like an unknown one', async () => {
    const other = await service.tenant('Other');
    const foreign = await connector('input', other);
    const refusal = async (component_id: string, type = 'input') => {
      const nodes = [{ ...node('input', component_id, type) }, node('output', output)];
      const answer = await send('POST', '/v2/~/pipelines', { ...simple(), nodes });
      expect(answer.status).toBe(422);
      return answer.text;
    };
    const unknown = await refusal(UNKNOWN);
    expect(unknown).toContain('"/nodes/0/component_id"');
    expect(await refusal(foreign)).toBe(unknown);
    expect(await refusal(output)).toBe(unknown);
    const enriched = {
      name: 'x',
      nodes: [...simple().nodes, node('enrichment', UNKNOWN)],
      edges: [edge('input', 'enrichment'), edge('enrichment', 'output')],
    };
    expect(await issues(enriched)).toEqual([['/nodes/2/component_id', 'unknown']]);
    const list = await service.call('GET', `/v2/${other.team}/pipelines?component_id=${input}`, { key: other.key });
    expect(list.body.pipelines).toEqual([]);
  });

  it('keeps on PATCH what is absent, under /v2 and /v1', async () => {
    const made = await create();
    service.clock.advance(1_000);
    const off = await send('PATCH', `/v1/~/pipelines/${made.id}`, { enabled: false });
    expect(off.headers.get('etag')).toBe('"v2"');
    expect(off.body).toEqual({
      ...made,
      enabled: false,
      version: 2,
      updated_at: expect.not.stringMatching(made.updated_at),
    });
    const named = await send('PATCH', `/v2/~/pipelines/${made.id}/`, { name: 'Two', description: 'd' });
    expect(named.body).toEqual({ ...off.body, name: 'Two', description: 'd', version: 3 });
    const notHere = await send('PATCH', `/v1/~/pipelines/${made.id}`, { nodes: [], edges: [] });
    expect(notHere.body).toEqual({ ...named.body, version: 4 });
    expect((await send('PATCH', `/v1/~/pipelines/${made.id}`, { enabled: 'no' })).status).toBe(400);
    expect((await send('PATCH', `/v1/~/pipelines/${UNKNOWN}`, { enabled: false })).status).toBe(404);
  });

  it('loses nothing when it is read and sent back whole, with fields it does not know', async () => {
    const { nodes, edges } = simple();
    const made = await create({
      name: 'Whole',
      nodes: nodes.map((each) => ({ ...each, config_overrides: { a: [1, null] } })),
      edges: edges.map((each) => ({
        ...each,
        schema_detection_spec: { on: true },
        conditions: { operator: 'or', conditions: [{ type_id: 'equals', config: { key: 'a', value: 1 } }] },
      })),
    });
    expect(made.nodes[0]).toHaveProperty('config_overrides', { a: [1, null] });
    expect(made.edges[0]).toHaveProperty('schema_detection_spec', { on: true });
    const sent = await send('PATCH', `/v2/~/pipelines/${made.id}`, { ...made, enabled: false });
    expect(sent.body).toEqual({ ...made, enabled: false, version: 2 });
    const enabled = await send('PATCH', `/v2/~/pipelines/${made.id}`, { ...sent.body, enabled: true, version: 77 });
    expect(enabled.body).toEqual({ ...made, version: 3 });
  });

  it('lets a node be the same only while the same stands in it', async () => {
    const made = await create();
    const patch = async (body: object) => (await send('PATCH', `/v2/~/pipelines/${made.id}`, body)).body;
    const bySlug = await patch(simple());
    expect(bySlug.nodes).toEqual(made.nodes);
    const second = await connector('output');
    const swapped = await patch({
      nodes: [made.nodes[0], { ...made.nodes[1], component_id: second }],
      edges: [edge(made.nodes[0].id, made.nodes[1].id)],
    });
    expect(swapped.nodes[0]).toEqual(made.nodes[0]);
    expect(swapped.nodes[1].id).not.toBe(made.nodes[1].id);
    expect(swapped.edges[0].to_node_instance_id).toBe(swapped.nodes[1].id);
    expect(swapped.output_ids).toEqual([second]);
    expect((await send('GET', `/v2/~/pipelines?component_id=${second}`)).body.pagination.total).toBe(1);
    // Edges that lead to a node that goes are named, and nothing has changed.
    const cut = { nodes: [made.nodes[0]] };
    expect(await issues(cut, 'PATCH', `/v2/~/pipelines/${made.id}`)).toContainEqual([
      '/edges/0/to_node_instance_id',
      'dangling',
    ]);
    expect((await send('GET', `/v2/~/pipelines/${made.id}`)).body).toEqual(swapped);
    expect((await patch({ nodes: [], edges: [] })).input_id).toBeNull();
    expect((await send('GET', `/v2/~/pipelines?component_id=${second}`)).body.pagination.total).toBe(0);
  });

  it('refuses a change of a version that was not read, and lets one of many win (R04)', async () => {
    const made = await create();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        send('PATCH', `/v2/~/pipelines/${made.id}`, { name: `writer ${index}` }, { 'if-match': '"v1"' }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412, 412, 412]);
    // A switch beside a rewiring: neither undoes the other.
    await Promise.all([
      send('PATCH', `/v1/~/pipelines/${made.id}`, { enabled: false }),
      send('PATCH', `/v2/~/pipelines/${made.id}`, simple()),
      send('PATCH', `/v2/~/pipelines/${made.id}`, { description: 'd' }),
    ]);
    const { body } = await send('GET', `/v2/~/pipelines/${made.id}`);
    expect(body).toMatchObject({ enabled: false, name: 'One', description: 'd', version: 5 });
    expect((await send('DELETE', `/v2/~/pipelines/${made.id}`, undefined, { 'if-match': '"v1"' })).status).toBe(412);
  });

  it('makes one pipeline of a repeated request (R01)', async () => {
    const headers = { 'idempotency-key': 'pipeline-1' };
    const first = await send('POST', '/v2/~/pipelines', simple(), headers);
    const again = await send('POST', '/v2/~/pipelines', simple(), headers);
    expect([again.status, again.text]).toEqual([201, first.text]);
  });

  it('deletes it, and leaves what stood in it', async () => {
    const made = await create();
    const path = `/v2/~/pipelines/${made.id}`;
    expect(await send('DELETE', path)).toMatchObject({ status: 200, body: made });
    expect([(await send('GET', path)).status, (await send('DELETE', path)).status]).toEqual([404, 404]);
    expect((await send('GET', `/v1/~/inputs/${input}`)).status).toBe(200);
  });

  it('says what was measured, and without an engine that is nothing', async () => {
    const made = await create();
    const { status, body } = await send('GET', `/v2/~/pipelines/${made.id}/status`);
    const zero = { ingress: { bytes: 0, records: 0 }, egress: { bytes: 0, records: 0 }, errors: 0 };
    expect(status).toBe(200);
    expect(body).toEqual({
      pipeline_id: made.id,
      status: 'Unknown',
      ...zero,
      last_ingested_time: null,
      last_error: null,
      waiting: 0,
      nodes: made.nodes.map((each: Row) => ({
        node_id: each.id,
        node_slug: each.slug,
        component_type: each['component_type'],
        status: 'Unknown',
        ...zero,
      })),
    });
    expect((await send('GET', `/v2/~/pipelines/${UNKNOWN}/status`)).status).toBe(404);
  });

  it('keeps a connector that a pipeline uses, and says which', async () => {
    const mine = await connector('input');
    const made = await create({ ...simple(), nodes: [node('input', mine), node('output', output)] });
    const refused = await send('DELETE', `/v1/~/inputs/${mine}`);
    expect(refused).toMatchObject({
      status: 409,
      body: { error_type: 'conflict', additional_details: { pipelines: [{ id: made.id, name: 'One' }], total: 1 } },
    });
    await send('DELETE', `/v2/~/pipelines/${made.id}`);
    expect((await send('DELETE', `/v1/~/inputs/${mine}`)).status).toBe(200);
  });

  it('either keeps a connector or refuses the pipeline, when both come at once', async () => {
    for (let round = 0; round < 12; round += 1) {
      const [mine, its] = [await connector('input'), await connector('output')];
      const body = { ...simple(), nodes: [node('input', mine), node('output', its)] };
      const [made, goneInput, goneOutput] = await Promise.all([
        send('POST', '/v2/~/pipelines', body),
        send('DELETE', `/v1/~/inputs/${mine}`),
        send('DELETE', `/v1/~/outputs/${its}`),
      ]);
      const gone = [goneInput, goneOutput].map(({ status }) => status);
      if (made.status === 201) expect(gone).toEqual([409, 409]);
      else expect([made.status, gone.includes(200)]).toEqual([422, true]);
    }
  });

  it('goes with its organization', async () => {
    const { body: team } = await service.call('POST', `/v3/${acme.id}/organizations`, {
      key: acme.key,
      body: { name: 'Short-lived' },
    });
    const own = { ...acme, team: team.id };
    const [from, to] = [await connector('input', own), await connector('output', own)];
    const call = (path: string, body: object) =>
      service.call('POST', `/v2/${team.id}/${path}`, { key: acme.key, body });
    const { body: transform } = await call('transforms', { name: 'T', config: { operations: [] } });
    const made = await call('pipelines', {
      name: 'P',
      nodes: [node('input', from), node('transform', transform.id), node('output', to)],
      edges: [edge('input', 'transform'), edge('transform', 'output')],
    });
    expect(made.status).toBe(201);
    const removed = await service.call('DELETE', `/v3/${acme.id}/organizations/${team.id}`, { key: acme.key });
    expect(removed.status).toBe(200);
    const rows = await service.database.script((run) =>
      run(`select count(*)::int as n from pipeline_components where organization_id = '${team.id}'`),
    );
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('asks a key for its permission', async () => {
    const { body } = await service.call('POST', `/v3/${acme.team}/api-keys`, {
      key: acme.key,
      body: { name: 'reader', permissions: ['read'] },
    });
    const call = (method: string, path: string, sent?: object) =>
      service.call(method, `/v2/${acme.team}/${path}`, { key: body.key, ...(sent ? { body: sent } : {}) });
    const made = await create();
    expect((await call('GET', 'pipelines')).status).toBe(200);
    expect((await call('GET', `pipelines/${made.id}/status`)).status).toBe(200);
    expect((await call('POST', 'pipelines', simple())).status).toBe(403);
    expect((await call('PATCH', `pipelines/${made.id}`, { enabled: false })).status).toBe(403);
    expect((await call('DELETE', `pipelines/${made.id}`)).status).toBe(403);
    expect((await call('POST', 'integrations', { input_id: input, name: 'x' })).status).toBe(403);
  });
});
