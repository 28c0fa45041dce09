import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { edge, node, openPipelinesApi, UNKNOWN, type PipelinesApi } from '../../../../test/support/pipelines-api.js';

describe.each(eachDatabase())('pipeline changes on $name', (databases) => {
  let api: PipelinesApi;
  beforeAll(async () => {
    api = await openPipelinesApi(databases);
  });
  afterAll(() => api.close());

  it('PATCH keeps absent fields, under /v1 and /v2', async () => {
    const made = await api.create();
    api.service.clock.advance(1_000);
    const off = await api.send('PATCH', `/v1/~/pipelines/${made.id}`, { enabled: false });
    expect(off.headers.get('etag')).toBe('"v2"');
    expect(off.body).toEqual({
      ...made,
      enabled: false,
      version: 2,
      updated_at: expect.not.stringMatching(made.updated_at),
      updatedAt: off.body.updated_at,
    });
    const named = await api.send('PATCH', `/v2/~/pipelines/${made.id}/`, { name: 'Two', description: 'd' });
    expect(named.body).toEqual({ ...off.body, name: 'Two', description: 'd', version: 3 });
    const notHere = await api.send('PATCH', `/v1/~/pipelines/${made.id}`, { nodes: [], edges: [] });
    expect(notHere.status).toBe(400);
    expect((await api.send('GET', `/v2/~/pipelines/${made.id}`)).body).toEqual(named.body);
    expect((await api.send('PATCH', `/v1/~/pipelines/${made.id}`, { enabled: 'no' })).status).toBe(400);
    expect((await api.send('PATCH', `/v1/~/pipelines/${UNKNOWN}`, { enabled: false })).status).toBe(404);
  });

  it('preserves all fields of a pipeline that is sent back, including unknown ones', async () => {
    const { nodes, edges } = api.simple();
    const made = await api.create({
      name: 'Whole',
      nodes: nodes.map((each) => ({ ...each, position: { at: [1, null] } })),
      edges: edges.map((each) => ({
        ...each,
        schema_detection_spec: { enabled: true, disable_alerting: true },
        conditions: { operator: 'or', conditions: [{ type_id: 'equals', config: { key: 'a', value: 1 } }] },
      })),
    });
    expect(made.nodes[0]).toHaveProperty('position', { at: [1, null] });
    expect(made.edges[0]).toHaveProperty('schema_detection_spec', { enabled: true, disable_alerting: true });
    const sent = await api.send('PATCH', `/v2/~/pipelines/${made.id}`, { ...made, enabled: false });
    expect(sent.body).toEqual({ ...made, enabled: false, version: 2 });
    const enabled = await api.send('PATCH', `/v2/~/pipelines/${made.id}`, { ...sent.body, enabled: true, version: 77 });
    expect(enabled.body).toEqual({ ...made, version: 3 });
  });

  it('disables and enables a single edge', async () => {
    const { id, edges, nodes } = await api.create();
    const path = `/v2/~/pipelines/${id}/edges/${edges[0].id}`;
    const disabled = async () => (await api.send('GET', `/v2/~/pipelines/${id}`)).body.edges[0].disabled;
    const off = await api.send('PATCH', path, { disabled: true }, { 'if-match': '"v1"' });
    expect([off.status, off.text, off.headers.get('etag')]).toEqual([204, '', '"v2"']);
    expect(await disabled()).toBe(true);
    expect((await api.send('PATCH', path, { disabled: false }, { 'if-match': '"v1"' })).status).toBe(412);
    expect(await disabled()).toBe(true);
    expect((await api.send('PATCH', path, { disabled: false })).status).toBe(204);
    expect((await api.send('GET', `/v2/~/pipelines/${id}`)).body).toMatchObject({ edges, nodes, version: 3 });
    expect((await api.send('PATCH', path.replace(edges[0].id, UNKNOWN), { disabled: true })).status).toBe(404);
    expect((await api.send('PATCH', path, { disabled: 'yes' })).status).toBe(400);
  });

  it('deletes a pipeline under /v1, too', async () => {
    const { id } = await api.create();
    expect((await api.send('DELETE', `/v1/~/pipelines/${id}`)).status).toBe(200);
    expect((await api.send('GET', `/v1/~/pipelines/${id}`)).status).toBe(404);
  });

  it('keeps the id of a node only while its component stays the same', async () => {
    const made = await api.create();
    const patch = async (body: object) => (await api.send('PATCH', `/v2/~/pipelines/${made.id}`, body)).body;
    const bySlug = await patch(api.simple());
    expect(bySlug.nodes).toEqual(made.nodes);
    const second = await api.connector('output');
    const swapped = await patch({
      nodes: [made.nodes[0], { ...made.nodes[1], component_id: second }],
      edges: [edge(made.nodes[0].id, made.nodes[1].id)],
    });
    expect(swapped.nodes[0]).toEqual(made.nodes[0]);
    expect(swapped.nodes[1].id).not.toBe(made.nodes[1].id);
    expect(swapped.edges[0].to_node_instance_id).toBe(swapped.nodes[1].id);
    expect(swapped.output_ids).toEqual([second]);
    expect((await api.send('GET', `/v2/~/pipelines?component_id=${second}`)).body.pagination.total).toBe(1);
    // Edges to a removed node are reported, and nothing is changed.
    const cut = { nodes: [made.nodes[0]] };
    expect(await api.issues(cut, 'PATCH', `/v2/~/pipelines/${made.id}`)).toContainEqual([
      '/edges/0/to_node_instance_id',
      'dangling',
    ]);
    expect((await api.send('GET', `/v2/~/pipelines/${made.id}`)).body).toEqual(swapped);
    expect((await patch({ nodes: [], edges: [] })).input_id).toBeNull();
    expect((await api.send('GET', `/v2/~/pipelines?component_id=${second}`)).body.pagination.total).toBe(0);
  });

  it('rejects a stale If-Match and applies concurrent changes of different fields (R04)', async () => {
    const made = await api.create();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        api.send('PATCH', `/v2/~/pipelines/${made.id}`, { name: `writer ${index}` }, { 'if-match': '"v1"' }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412, 412, 412]);
    // Concurrent changes of different fields do not overwrite each other.
    await Promise.all([
      api.send('PATCH', `/v1/~/pipelines/${made.id}`, { enabled: false }),
      api.send('PATCH', `/v2/~/pipelines/${made.id}`, api.simple()),
      api.send('PATCH', `/v2/~/pipelines/${made.id}`, { description: 'd' }),
    ]);
    const { body } = await api.send('GET', `/v2/~/pipelines/${made.id}`);
    expect(body).toMatchObject({ enabled: false, name: 'One', description: 'd', version: 5 });
    expect((await api.send('DELETE', `/v2/~/pipelines/${made.id}`, undefined, { 'if-match': '"v1"' })).status).toBe(
      412,
    );
  });

  it('creates one pipeline for a repeated request (R01)', async () => {
    const headers = { 'idempotency-key': 'pipeline-1' };
    const first = await api.send('POST', '/v2/~/pipelines', api.simple(), headers);
    const again = await api.send('POST', '/v2/~/pipelines', api.simple(), headers);
    expect([again.status, again.text]).toEqual([201, first.text]);
  });

  it('deletes a pipeline and keeps its components', async () => {
    const made = await api.create();
    const path = `/v2/~/pipelines/${made.id}`;
    expect(await api.send('DELETE', path)).toMatchObject({ status: 200, body: made });
    expect([(await api.send('GET', path)).status, (await api.send('DELETE', path)).status]).toEqual([404, 404]);
    expect((await api.send('GET', `/v1/~/inputs/${api.input}`)).status).toBe(200);
  });

  it('rejects the deletion of a connector in use and names the pipeline', async () => {
    const mine = await api.connector('input');
    const made = await api.create({ ...api.simple(), nodes: [node('input', mine), node('output', api.output)] });
    const refused = await api.send('DELETE', `/v1/~/inputs/${mine}`);
    expect(refused).toMatchObject({
      status: 409,
      body: { error_type: 'conflict', additional_details: { pipelines: [{ id: made.id, name: 'One' }], total: 1 } },
    });
    await api.send('DELETE', `/v2/~/pipelines/${made.id}`);
    expect((await api.send('DELETE', `/v1/~/inputs/${mine}`)).status).toBe(200);
  });

  it('keeps the connector or rejects the pipeline if both requests are concurrent', async () => {
    for (let round = 0; round < 12; round += 1) {
      const [mine, its] = [await api.connector('input'), await api.connector('output')];
      const body = { ...api.simple(), nodes: [node('input', mine), node('output', its)] };
      const [made, goneInput, goneOutput] = await Promise.all([
        api.send('POST', '/v2/~/pipelines', body),
        api.send('DELETE', `/v1/~/inputs/${mine}`),
        api.send('DELETE', `/v1/~/outputs/${its}`),
      ]);
      const gone = [goneInput, goneOutput].map(({ status }) => status);
      if (made.status === 201) expect(gone).toEqual([409, 409]);
      else expect([made.status, gone.includes(200)]).toEqual([400, true]);
    }
  });

  it('deletes the pipeline components of a deleted organization', async () => {
    const { body: team } = await api.service.call('POST', `/v3/${api.acme.id}/organizations`, {
      key: api.acme.key,
      body: { name: 'Short-lived' },
    });
    const own = { ...api.acme, team: team.id };
    const [from, to] = [await api.connector('input', own), await api.connector('output', own)];
    const call = (path: string, body: object) =>
      api.service.call('POST', `/v2/${team.id}/${path}`, { key: api.acme.key, body });
    const { body: transform } = await call('transforms', { name: 'T', config: { operations: [] } });
    const made = await call('pipelines', {
      name: 'P',
      nodes: [node('input', from), node('transform', transform.id), node('output', to)],
      edges: [edge('input', 'transform'), edge('transform', 'output')],
    });
    expect(made.status).toBe(201);
    const removed = await api.service.call('DELETE', `/v3/${api.acme.id}/organizations/${team.id}`, {
      key: api.acme.key,
    });
    expect(removed.status).toBe(204);
    const rows = await api.service.database.script((run) =>
      run(`select count(*)::int as n from pipeline_components where organization_id = '${team.id}'`),
    );
    expect(rows).toEqual([{ n: 0 }]);
  });
});
