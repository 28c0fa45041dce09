import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { UNKNOWN } from '../../../../test/support/pipelines-api.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import type { MasterKey } from '../secrets/master-key.js';

describe.each(eachDatabase())('the schema of the records on an edge, on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let folder: string;
  let input: string;
  let pipeline: { id: string; nodes: object[]; edges: { id: string }[] };
  /** Path of the edge under `/v2` and `/v3`. */
  let edge: string;

  let database: Awaited<ReturnType<typeof databases.open>>;

  const open = (master?: MasterKey) =>
    createTestService({ database, ...(master && { master }), run: { folder, limits: { grace: 500 } } });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'edge-schemas-'));
    database = await databases.open();
    service = await open();
    acme = await service.tenant('Northwind');
    input = (await send('POST', '/v2/~/inputs', { name: 'In', type: 'monad-http', config: {} })).body.id;
    const output = (await send('POST', '/v2/~/outputs', { name: 'Out', type: 'dev-null', config: {} })).body.id;
    const made = await send('POST', '/v2/~/pipelines', {
      name: 'P',
      nodes: [
        { slug: 'in', component_id: input, component_type: 'input' },
        { slug: 'out', component_id: output, component_type: 'output' },
      ],
      edges: [
        {
          from_node_instance_id: 'in',
          to_node_instance_id: 'out',
          conditions: { operator: 'nor', conditions: [{ type_id: 'equals', config: { key: 'skip', value: true } }] },
          schema_detection_spec: { enabled: true },
        },
      ],
    });
    expect(made.status, made.text).toBe(201);
    pipeline = made.body;
    edge = `/~/pipelines/${pipeline.id}/edges/${pipeline.edges[0]?.id}`;
    await vi.waitUntil(async () => (await schema()).learning_start !== undefined, 10_000);
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  });

  const send = (method: string, path: string, body?: object, key = acme.key) =>
    service.call(method, path.replace('~', acme.team), { key, ...(body && { body }) });
  const append = (...records: object[]) =>
    service.engine?.append(
      input,
      records.map((record) => JSON.stringify(record)),
    );
  const schema = async () => (await send('GET', `/v3${edge}/schema-detection`)).body;
  const events = async () => (await send('GET', `/v3${edge}/schema-detection/events`)).body;
  const log = async () => (await service.engine?.log(pipeline.id)) ?? [];

  it('is learned from the records that pass, without their values', async () => {
    await append(
      { user: { name: 'canary-value' }, skip: true },
      { id: 7, user: { name: 'canary-value', tags: ['a'] } },
    );
    await expect.poll(async () => (await schema()).total_records_observed).toBe(1);
    const state = await schema();
    expect(state).toMatchObject({
      pipeline_id: pipeline.id,
      edge_id: pipeline.edges[0]?.id,
      mode: 'learning',
      truncated: false,
      schema: {
        id: { types: { number: { count: 1, first_seen: expect.any(Number) } } },
        user: { types: { object: { count: 1 } } },
        'user.name': { types: { string: { count: 1 } } },
        'user.tags': { types: { array: { count: 1 } } },
        'user.tags[]': { types: { string: { count: 1 } } },
      },
    });
    expect(state.schema).not.toHaveProperty('skip');
    expect(JSON.stringify(state)).not.toContain('canary');
    expect(await events()).toEqual([]);
  });

  it('is an event and a log entry when it changes, after it was learned', async () => {
    expect((await send('POST', `/v2${edge}/schema/graduate`)).status).toBe(204);
    expect(await schema()).toMatchObject({ mode: 'detecting' });
    await append({ id: 'canary-value', canaryName: true });
    // Changes within a minute are one event: that of the graduation may contain this one or precede it.
    await expect.poll(async () => (await events()).at(-1)?.event_tags).toContain('graduated');
    await service.engine?.close();
    service = await open(service.master);
    const found: { event_tags: string[]; schema: object; field_count: number }[] = await events();
    const tags = found.flatMap(({ event_tags }) => event_tags);
    expect(new Set(tags)).toEqual(new Set(['graduated', 'type_added', 'field_added']));
    expect(found[0]).toMatchObject({
      field_count: 2,
      schema: { id: { types: { number: { count: 1 }, string: { count: 1 } } }, canaryName: {} },
    });
    expect(JSON.stringify(found)).not.toContain('canary-value');
    const told = async () => (await log()).filter(({ code }) => code === 'schema_changed');
    // The log is there once the pipeline has started again.
    await expect.poll(told).toHaveLength(1);
    expect((await told())[0]?.message).toContain('2 fields');
    expect(service.log.join('\n') + JSON.stringify(await log())).not.toContain('canaryName');
  });

  it('continues after a restart, and starts over on request', async () => {
    await expect
      .poll(schema)
      .toMatchObject({ mode: 'detecting', total_records_observed: 2, schema: { canaryName: {}, id: {} } });
    await append({ id: 1 });
    await expect.poll(async () => (await schema()).total_records_observed).toBe(3);
    expect((await send('POST', `/v2${edge}/schema/reset`)).status).toBe(204);
    expect(await schema()).toMatchObject({ mode: 'learning', total_records_observed: 0, schema: {} });
    await expect.poll(async () => (await events())[0]?.event_tags).toEqual(['learning_started']);
  });

  it('is kept while detection is off, and cannot be changed then', async () => {
    const path = `/v2/~/pipelines/${pipeline.id}`;
    await append({ kept: 1 });
    await expect.poll(async () => (await schema()).schema).toHaveProperty('kept');
    const edges = pipeline.edges.map((each) => ({ ...each, schema_detection_spec: { enabled: false } }));
    await send('PATCH', path, { edges });
    for (const action of ['graduate', 'reset'])
      expect((await send('POST', `/v2${edge}/schema/${action}`)).status).toBe(400);
    await send('PATCH', path, { edges: pipeline.edges });
    await expect.poll(async () => (await schema()).learning_start).toBeDefined();
  });

  it('needs the permission to read records, and an edge that exists', async () => {
    const token = async (permission_ids: string[]): Promise<string> => {
      const role = (await send('POST', '/v2/~/roles', { name: permission_ids.join(), permission_ids })).body.id;
      const expiration_time = new Date(service.clock.now() + 3_600_000).toISOString();
      return (await send('POST', '/v2/~/api_keys', { name: 'k', role_id: role, expiration_time })).body.token;
    };
    const [some, all] = [await token(['pipeline:read', 'pipeline:write']), await token(['pipeline:data:read'])];
    for (const path of ['schema-detection', 'schema-detection/events']) {
      expect((await send('GET', `/v3${edge}/${path}`, undefined, some)).status).toBe(403);
      expect((await send('GET', `/v3${edge}/${path}`, undefined, all)).status).toBe(200);
      const unknown = `/v3/~/pipelines/${pipeline.id}/edges/${UNKNOWN}/${path}`;
      expect((await send('GET', unknown)).status).toBe(404);
    }
    expect((await send('POST', `/v2${edge}/schema/reset`, undefined, all)).status).toBe(403);
  });
});
