import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { UNKNOWN } from '../../../../test/support/pipelines-api.js';
import type { MasterKey } from '../secrets/master-key.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const lines = (count: number) => Array.from({ length: count }, (_, n) => JSON.stringify({ n }));
const sum = (values: { value: number }[]): number => values.reduce((total, { value }) => total + value, 0);
const DAY = 86_400_000;
const NONE = { bytes: 0, records: 0 };
const isoAt = (offset: number) => new Date(Date.now() + offset).toISOString();
const soon = () => new Date(Date.now() + 120_000).toISOString();

describe.each(eachDatabase())('what pipelines have counted, on $name', (databases) => {
  let service: TestService;
  let acme: Tenant;
  let folder: string;
  let database: Awaited<ReturnType<typeof databases.open>>;
  const pipelines: { id: string; input: string; nodes: string[]; records: number }[] = [];

  const open = (master?: MasterKey) =>
    createTestService({ database, ...(master && { master }), run: { folder, limits: { grace: 500 } } });
  const send = (method: string, path: string, body?: unknown) =>
    service.call(method, path.replace('~', acme.team), { key: acme.key, ...(body === undefined ? {} : { body }) });
  const get = async (path: string) => {
    const { status, body, text } = await send('GET', path);
    expect(status, text).toBe(200);
    return body;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engine-'));
    database = await databases.open();
    service = await open();
    acme = await service.tenant('Northwind');
    for (const records of [30, 500]) {
      service.clock.advance(10);
      const config = { settings: {} };
      const input = (await send('POST', '/v2/~/inputs', { name: 'In', type: 'monad-http', config })).body.id;
      const { body } = await send('POST', '/v2/~/integrations', { input_id: input, name: `P ${records}` });
      const id: string = body.pipeline_id;
      const { nodes } = await get(`/v2/~/pipelines/${id}`);
      pipelines.push({ id, input, records, nodes: nodes.map((node: { id: string }) => node.id) });
      await service.engine?.append(input, lines(records));
    }
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('statuses and the summary are those of each pipeline', async () => {
    for (const { id, records } of pipelines)
      await expect.poll(async () => (await get(`/v2/~/pipelines/${id}/status`)).egress.records).toBe(records);
    const states = await Promise.all(pipelines.map(({ id }) => get(`/v2/~/pipelines/${id}/status`)));
    expect(await get('/v2/~/pipelines/statuses')).toEqual(
      states.map(({ pipeline_id: id, status, suspension, last_ingested_time }) => ({
        id,
        status,
        suspension,
        last_ingested_time,
      })),
    );
    expect(await get('/v2/~/pipelines/statuses?limit=1&offset=1')).toMatchObject([{ id: pipelines[1]?.id }]);
    const { summary, pipelines: rows } = await get('/v2/~/pipeline_summary');
    expect(rows).toEqual(
      states.map(({ pipeline_id, status, ingress, egress, errors, last_ingested_time }, index) => ({
        pipeline_id,
        pipeline_name: `P ${pipelines[index]?.records}`,
        status,
        ingress,
        egress,
        errors,
        last_ingested_time,
      })),
    );
    expect(summary).toMatchObject({
      healthy: 2,
      unhealthy: 0,
      disabled: 0,
      ingress: { records: 530 },
      egress: { records: 530 },
    });
    const [first] = states;
    const [node] = first.nodes;
    expect(await get(`/v2/~/pipelines/${first.pipeline_id}/status/${node.node_id}`)).toEqual(node);
    const unknown = await send('GET', `/v2/~/pipelines/${first.pipeline_id}/status/${UNKNOWN}`);
    expect(unknown.status).toBe(404);
  });

  it('the counts of a status are those of a window, as in the summary', async () => {
    const [one] = pipelines;
    const path = `/v2/~/pipelines/${one?.id}/status`;
    const whole = await get(path);
    const [{ node_id }] = whole.nodes;
    for (const { start, end, isCounted } of [
      { start: isoAt(-DAY), end: isoAt(DAY), isCounted: true },
      { start: isoAt(-2 * DAY), end: isoAt(-DAY), isCounted: false },
    ]) {
      const query = `start=${start}&end=${end}`;
      const state = await get(`${path}?${query}&metrics=health&metrics=ingress_records`);
      expect(state.ingress).toEqual(isCounted ? whole.ingress : NONE);
      expect(state.egress).toEqual(isCounted ? whole.egress : NONE);
      expect(state).toMatchObject({ status: whole.status, dead_letters: whole.dead_letters });
      const { pipelines: rows } = await get(`/v2/~/pipeline_summary?${query}`);
      expect(rows[0]).toMatchObject({ ingress: state.ingress, egress: state.egress, errors: state.errors });
      const node = await get(`${path}/${node_id}?${query}`);
      expect(node).toEqual(state.nodes[0]);
      expect(node.ingress).toEqual(isCounted ? whole.nodes[0].ingress : NONE);
      expect(await get(`/v2/~/pipelines/statuses?${query}`)).toHaveLength(pipelines.length);
    }
    const wrong = await send('GET', `${path}?metrics=all&metrics=speed`);
    expect(wrong).toMatchObject({ status: 400, body: { additional_details: { issues: [{ path: '/metrics/1' }] } } });
  });

  it('a status is part of the list and of a pipeline on request', async () => {
    const [one] = pipelines;
    const status = await get(`/v2/~/pipelines/${one?.id}/status`);
    for (const version of ['v1', 'v2']) {
      const { pipelines: rows } = await get(`/${version}/~/pipelines?include_status=true`);
      expect(rows[0]).toMatchObject({ id: one?.id, status });
      expect(await get(`/${version}/~/pipelines/${one?.id}?include_status=true`)).toMatchObject({ status });
      expect(await get(`/${version}/~/pipelines/${one?.id}`)).not.toHaveProperty('status');
    }
    expect(await get(`/v1/~/pipelines/${one?.id}`)).not.toHaveProperty('nodes');
  });

  it('series survive a restart, add up to the counts, and those of the nodes agree', async () => {
    await service.engine?.close();
    service = await open(service.master);
    for (const { id, nodes, records } of pipelines) {
      await expect.poll(async () => (await get(`/v2/~/pipelines/${id}/status`)).egress.records).toBe(records);
      const { ingress, egress } = await get(`/v2/~/pipelines/${id}/status`);
      const end = soon();
      const series = (metric: string, path = `/v2/~/metrics/pipelines/${id}`) =>
        get(`${path}?metric=${metric}&end=${end}`);
      const whole = await series('ingress_records');
      expect(whole).toMatchObject({ pipeline_id: id, pipeline_name: `P ${records}`, resolution: '1m' });
      expect(sum(whole.values)).toBe(ingress.records);
      expect(sum((await series('ingress_bytes')).values)).toBe(ingress.bytes);
      expect(sum((await series('egress_records')).values)).toBe(egress.records);
      for (const node of nodes) {
        const [one, other] = [`/v2/~/metrics/pipelines/${id}/${node}`, `/v2/~/pipelines/${id}/${node}/metrics`];
        const own = await series('egress_records', one);
        expect(sum(own.values)).toBe(records);
        expect(own).toMatchObject({ node_id: node, values: (await series('egress_records', other)).values });
      }
    }
    const ids = pipelines.map(({ id }) => id);
    service.clock.advance(120_000);
    const { egress_bytes: bytes } = await get(`/v2/~/pipelines/metrics?pipeline_ids=${ids.join()}`);
    for (const [index, row] of bytes.entries()) {
      expect(row).toMatchObject({ pipeline_id: ids[index] });
      expect(row.total_bytes).toBe((await get(`/v2/~/pipelines/${ids[index]}/status`)).egress.bytes);
      expect(sum(row.values)).toBe(row.total_bytes);
    }
  });

  it('a window that has ended counts only what was counted in it', async () => {
    const end = new Date(Date.now() - 3_600_000).toISOString();
    const { summary } = await get(`/v2/~/pipeline_summary?end=${end}`);
    expect(summary).toMatchObject({ ingress: { records: 0 }, egress: { records: 0 } });
  });

  it('pipelines and nodes of others are not found, and invalid queries are rejected', async () => {
    const [one] = pipelines;
    const stranger = await service.tenant('Fabrikam');
    const path = `/metrics/pipelines/${one?.id}?metric=errors`;
    expect((await service.call('GET', `/v2/${stranger.team}${path}`, { key: stranger.key })).status).toBe(404);
    const others = `/v2/${stranger.team}/pipelines/metrics?pipeline_ids=${one?.id}`;
    expect((await service.call('GET', others, { key: stranger.key })).status).toBe(404);
    expect((await send('GET', `/v2/~/metrics/pipelines/${one?.id}/${UNKNOWN}?metric=errors`)).status).toBe(404);
    for (const query of ['', '?metric=sum', '?metric=errors&resolution=5s', '?metric=errors&start=yesterday'])
      expect((await send('GET', `/v2/~/metrics/pipelines/${one?.id}${query}`)).status).toBe(400);
    expect((await send('GET', '/v2/~/pipelines/metrics')).status).toBe(400);
  });
});
