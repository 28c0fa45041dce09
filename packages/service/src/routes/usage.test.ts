import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { edge, node } from '../../../../test/support/pipelines-api.js';
import { createTestService, PUBLIC_URL, type Tenant, type TestService } from '../../../../test/support/service.js';
import { createShiftedClock } from '../../../../test/support/shifted-clock.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2030, 0, 30, 20, 10);
const records = (count: number) => Array.from({ length: count }, (_, n) => JSON.stringify({ n, level: n % 2 }));
const bytesOf = (lines: readonly string[]) => lines.join('').length;
const ALL = records(100);
/** The records of `ALL` that pass the condition. */
const ODD = ALL.filter((_, n) => n % 2 === 1);

const at = (time: number) => new Date(time).toISOString();

interface Values {
  values: { timestamp: number; value: number }[];
}
const sumOf = ({ values }: Values) => values.reduce((sum, { value }) => sum + value, 0);

describe.each(eachDatabase())('usage on $name', (databases) => {
  const clock = createShiftedClock(START);
  const now = (): number => clock.now();
  let service: TestService;
  let acme: Tenant;
  let receiver: Vendor;
  let input: string;
  let pipeline: string;
  let outputs: Record<'http' | 'dev-null', string>;

  const call = (method: string, path: string, body?: unknown, key = acme.key) =>
    service.call(method, path.replace('~', acme.team), { key, ...(body === undefined ? {} : { body }) });
  async function must(method: string, path: string, body?: unknown) {
    const answer = await call(method, path, body);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  }
  const get = (path: string) => must('GET', path);
  const whole = () => `start=${at(START - DAY)}&end=${at(now() + HOUR)}`;
  /** Sends all records once, and waits until they are delivered and stored as usage. */
  async function send(id: string, times: number): Promise<void> {
    await service.engine?.append(input, ALL);
    const state = async () => (await get(`/v2/~/pipelines/${id}/status`)).nodes;
    await expect
      .poll(async () => (await state()).find((each: { node_slug: string }) => each.node_slug === 'devnull').egress)
      .toMatchObject({ records: 100 * times });
    await expect
      .poll(async () => (await state()).find((each: { node_slug: string }) => each.node_slug === 'http').egress)
      .toMatchObject({ records: 50 * times });
    await expect.poll(async () => (await get(`/v2/~/pipelines/${id}/status`)).waiting).toBe(0);
    await service.engine?.storeUsage();
  }

  beforeAll(async () => {
    receiver = await startVendor(() => ({}));
    service = await createTestService({
      database: await databases.open(),
      egressAllow: ['127.0.0.1/32'],
      clock,
      run: { clock, limits: { grace: 500 } },
    });
    acme = await service.tenant('Northwind');
    const make = async (kind: string, type: string, settings: object) =>
      (await must('POST', `/v2/~/${kind}`, { name: type, type, config: { settings } })).id;
    input = await make('inputs', 'monad-http', {});
    outputs = {
      http: await make('outputs', 'http', { endpoint: receiver.origin, method: 'POST', payload_structure: 'array' }),
      'dev-null': await make('outputs', 'dev-null', {}),
    };
    const transform = await must('POST', '/v2/~/transforms', {
      name: 'Shorter',
      config: { operations: [{ operation: 'drop_key', arguments: { key: 'level' } }] },
    });
    const isOdd = { operator: 'and', conditions: [{ type_id: 'equals', config: { key: 'level', value: 1 } }] };
    const made = await must('POST', '/v2/~/pipelines', {
      name: 'P',
      nodes: [
        node('in', input, 'input'),
        node('shorter', transform.id, 'transform'),
        node('http', outputs.http, 'output'),
        node('devnull', outputs['dev-null'], 'output'),
      ],
      edges: [edge('in', 'http', { conditions: isOdd }), edge('in', 'shorter'), edge('shorter', 'devnull')],
    });
    pipeline = made.id;
  });
  afterAll(async () => {
    await service.close();
    await receiver.close();
    await databases.close();
  });

  it('of an organization is a series whose sum is what its pipelines have counted', async () => {
    await send(pipeline, 1);
    const { ingress, egress } = await get(`/v2/~/pipelines/${pipeline}/status`);
    const series = await get(`/v2/~/metrics?metric=ingress_bytes&end=${at(now() + 60_000)}`);
    expect(series).toMatchObject({ organization_id: acme.team, metric: 'ingress_bytes', resolution: '1m' });
    expect(series.values.length).toBeGreaterThanOrEqual(360);
    for (const [metric, value] of Object.entries({
      ingress_bytes: ingress.bytes,
      ingress_records: ingress.records,
      egress_bytes: egress.bytes,
      egress_records: egress.records,
      errors: 0,
    }))
      for (const resolution of ['1h', '3h', '1d']) {
        const { values } = await get(`/v2/~/metrics?metric=${metric}&${whole()}&resolution=${resolution}`);
        expect([metric, resolution, sumOf({ values })]).toEqual([metric, resolution, value]);
      }
    const { storage_types: types } = await get(`/v2/~/metrics/storage-types?metric=egress_bytes&${whole()}`);
    expect(types.map((each: Values & { storage_type: string }) => [each.storage_type, sumOf(each)])).toEqual([
      ['dev-null', bytesOf(ALL.map((line) => line.replace(/,"level":\d/, '')))],
      ['http', bytesOf(ODD)],
    ]);
  });

  it('by type of storage has its cost, and what conditions and transforms have saved', async () => {
    expect(await get('/v2/~/storage-type-cost')).toEqual({ organization_id: acme.team, costs: [] });
    const free = await get(`/v2/~/metrics/storage-types/summary?${whole()}`);
    expect(free.outputs.http).toMatchObject({ cost_per_gb: 0, total_cost_post_filter: 0, total_cost_pre_filter: 0 });
    expect(free.outputs.http).not.toHaveProperty('cost_id');
    const set = await must('PUT', '/v2/~/storage-type-cost', {
      costs: { http: { cost_per_gb: 0.023 }, 'dev-null': { cost_per_gb: 1_000 } },
    });
    expect(set.costs).toMatchObject([
      { storage_type: 'dev-null', cost_per_gb: 1_000 },
      { storage_type: 'http', cost_per_gb: 0.023 },
    ]);
    const again = await must('PUT', '/v2/~/storage-type-cost', { costs: { http: { cost_per_gb: 1_000 } } });
    expect(again).toEqual(await get('/v2/~/storage-type-cost'));
    expect(again.costs).toEqual([{ id: set.costs[1].id, storage_type: 'http', cost_per_gb: 1_000 }]);

    const summary = await get(`/v2/~/metrics/storage-types/summary?${whole()}`);
    const [before, after] = [bytesOf(ALL), bytesOf(ODD)];
    expect(summary.outputs.http).toEqual({
      cost_id: set.costs[1].id,
      cost_per_gb: 1_000,
      num_pipelines: 1,
      egress_bytes: after,
      egress_bytes_gb: after / 1e9,
      pre_filter_bytes: before,
      pre_filter_bytes_gb: before / 1e9,
      // Billionths of a dollar: a thousand dollars for 10^9 bytes.
      total_cost_post_filter: (after * 1_000) / 1e9,
      total_cost_pre_filter: (before * 1_000) / 1e9,
    });
    expect(summary.outputs['dev-null']).toMatchObject({ pre_filter_bytes: before, cost_per_gb: 0 });
    expect(summary.outputs['dev-null'].egress_bytes).toBeLessThan(before);
    expect(summary.cost_summary).toMatchObject({
      total_org_ingest_bytes: before,
      total_org_ingest_gb: before / 1e9,
      total_org_output_storage_bytes: after + summary.outputs['dev-null'].egress_bytes,
      total_org_cost_post_filter: (after * 1_000) / 1e9,
      total_org_cost_pre_filter: (before * 1_000) / 1e9,
    });
    const keysOf = async (query: string) =>
      Object.keys((await get(`/v2/~/metrics/storage-types/${query}${whole()}`)).outputs);
    expect(await keysOf('summary?billing_type=billable&')).toEqual(['http']);
    expect(await keysOf('summary?billing_type=non_billable&')).toEqual(['dev-null']);
    expect(await keysOf('http/summary?')).toEqual(['http']);
    expect(await keysOf('s3/summary?')).toEqual([]);
    expect(await keysOf('http/summary?billing_type=non_billable&')).toEqual([]);
    expect((await call('GET', '/v2/~/metrics/storage-types/unknown/summary')).status).toBe(404);
    const { outputs: details } = await get(`/v2/~/metrics/storage-types/details?${whole()}`);
    expect(details).toHaveLength(2);
    expect(details).toContainEqual({
      pipeline_id: pipeline,
      input_id: input,
      output_id: outputs.http,
      storage_type: 'http',
      ingress_bytes: before,
      ingress_gb: before / 1e9,
      egress_bytes: after,
      egress_gb: after / 1e9,
    });
    const one = await get(`/v2/~/metrics/storage-types/http/details?${whole()}&pipeline_id=${pipeline}`);
    expect(one.outputs).toHaveLength(1);
    const none = await get(`/v2/~/metrics/storage-types/http/details?${whole()}&pipeline_id=${acme.team}`);
    expect(none.outputs).toEqual([]);
  });

  it('outlives nodes, pipelines and teams, and a month is the sum of its hours', async () => {
    // Three hours, and the next month.
    for (const [index, hours] of [1, 1, 26].entries()) {
      clock.advance(hours * HOUR);
      await send(pipeline, index + 2);
    }
    const usage = async (query: string) => (await get(`/v3/~/usage?${query}&${whole()}&limit=1000`)).usage;
    const months = await usage('resolution=month&group_by=organization');
    expect(months.map(({ start }: { start: string }) => start)).toEqual([
      '2030-01-01T00:00:00.000Z',
      '2030-02-01T00:00:00.000Z',
    ]);
    const total = { bytes: 4 * bytesOf(ALL), records: 400 };
    const [whole4] = await usage('resolution=total');
    expect(whole4).toMatchObject({ pipeline_id: pipeline, ingress: total, egress: { records: 600 }, errors: 0 });
    for (const resolution of ['hour', 'day', 'month'])
      for (const group of ['organization', 'pipeline'])
        expect(addUp(await usage(`resolution=${resolution}&group_by=${group}`))).toEqual(addUp([whole4]));
    expect(await usage('resolution=hour')).toHaveLength(4);

    // The node goes, then the pipeline, then the team.
    const { nodes, edges } = await get(`/v2/~/pipelines/${pipeline}`);
    const kept = nodes.filter(({ slug }: { slug: string }) => slug !== 'http');
    await must('PATCH', `/v2/~/pipelines/${pipeline}`, {
      nodes: kept,
      edges: edges.filter(
        ({ to_node_instance_id: to }: Record<string, string>) =>
          to !== nodes.find(({ slug }: { slug: string }) => slug === 'http').id,
      ),
    });
    await must('DELETE', `/v2/~/pipelines/${pipeline}`);
    expect(await usage('resolution=total')).toEqual([whole4]);
    expect(sumOf(await get(`/v2/~/metrics?metric=ingress_bytes&${whole()}&resolution=1d`))).toBe(total.bytes);
    const byNode = await usage('resolution=total&group_by=node');
    expect(byNode.map(({ type, component_type }: Record<string, string>) => [component_type, type]).toSorted()).toEqual(
      [
        ['input', 'monad-http'],
        ['output', 'dev-null'],
        ['output', 'http'],
        ['transform', ''],
      ],
    );
    const parent = `/v3/${acme.id}/usage?resolution=total&${whole()}`;
    expect((await get(parent)).usage).toEqual([]);
    expect((await get(`${parent}&include_teams=true`)).usage).toEqual([whole4]);

    const text = await service.app.request(`${PUBLIC_URL}/v3/${acme.team}/usage/csv?resolution=hour&${whole()}`, {
      headers: { 'x-api-key': acme.key },
    });
    expect(text.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    const rows: Record<string, string>[] = parse(await text.text(), { columns: true, record_delimiter: '\r\n' });
    const listed = await usage('resolution=hour');
    expect(rows.map(({ start, ingress_bytes, egress_records }) => [start, ingress_bytes, egress_records])).toEqual(
      listed.map(({ start, ingress, egress }: { start: string; ingress: Amount; egress: Amount }) => [
        start,
        String(ingress.bytes),
        String(egress.records),
      ]),
    );
    expect(rows.every(({ pipeline_id }) => pipeline_id === pipeline)).toBe(true);
    const page = await get(`/v3/~/usage?resolution=hour&${whole()}&limit=1&offset=1`);
    expect(page).toMatchObject({ usage: [listed[1]], pagination: { limit: 1, offset: 1, total: 4 } });
    expect(Date.parse(page.complete_until)).toBeGreaterThan(START);

    await must('DELETE', `/v3/${acme.id}/organizations/${acme.team}`);
    expect((await get(`${parent}&include_teams=true`)).usage).toEqual([whole4]);
  });

  it('of others is not found, and a bad query or cost is named', async () => {
    const stranger = await service.tenant('Fabrikam');
    const { id: team } = await must('POST', `/v3/${acme.id}/organizations`, { name: 'Second' });
    const { key: own } = await must('POST', `/v3/${team}/api-keys`, { name: 'own', permissions: ['read'] });
    for (const path of ['metrics?metric=errors', 'metrics/storage-types/summary', 'storage-type-cost', 'quotas'])
      for (const key of [stranger.key, own])
        expect([path, (await call('GET', `/v2/${acme.id}/${path}`, undefined, key)).status]).toEqual([path, 404]);
    const { body } = await call(
      'GET',
      `/v3/${stranger.id}/usage?include_teams=true&${whole()}`,
      undefined,
      stranger.key,
    );
    expect(body.usage).toEqual([]);
    for (const [path, field] of [
      ['/v2/T/metrics', '/metric'],
      ['/v2/T/metrics?metric=ingress', '/metric'],
      ['/v2/T/metrics?metric=errors&start=yesterday', '/start'],
      ['/v2/T/metrics?metric=errors&start=0000-01-01T00:00:00Z', '/start'],
      ['/v2/T/metrics?metric=errors&start=2030-01-02T00:00:00Z&end=2030-01-01T00:00:00Z', '/start'],
      ['/v2/T/metrics?metric=errors&resolution=5s', '/resolution'],
      ['/v2/T/metrics?metric=errors&start=2020-01-01T00:00:00Z&resolution=1m', '/resolution'],
      ['/v2/T/metrics/storage-types?metric=ingress_bytes', '/metric'],
      ['/v2/T/metrics/storage-types/summary?billing_type=free', '/billing_type'],
      ['/v2/T/metrics/storage-types/details?pipeline_id=a/b', '/pipeline_id'],
      ['/v3/T/usage?resolution=minute', '/resolution'],
      ['/v3/T/usage?group_by=record', '/group_by'],
      ['/v3/T/usage?start=2030-01-02T00:00:00Z&end=2030-01-01T00:00:00Z', '/start'],
      ['/v3/T/usage/csv?limit=5', '/limit'],
    ] as const) {
      const answer = await call('GET', path.replace('T', team));
      expect([path, answer.status, answer.body.additional_details?.issues[0].path]).toEqual([path, 400, field]);
    }
    // As long as a window can be.
    const all = 'start=1970-01-01T00:00:00Z&end=9999-12-31T23:59:59Z';
    for (const path of [
      `/v2/T/metrics?metric=errors&resolution=9999d&${all}`,
      `/v2/T/metrics/storage-types?metric=errors&resolution=9999d&${all}`,
      `/v2/T/metrics/storage-types/summary?${all}`,
      `/v3/T/usage?resolution=hour&${all}`,
      `/v3/T/usage/csv?resolution=hour&${all}`,
    ])
      expect([path, (await call('GET', path.replace('T', team))).status]).toEqual([path, 200]);
    for (const [costs, field] of [
      [{ nothing: { cost_per_gb: 1 } }, '/costs/nothing'],
      [{ s3: { cost_per_gb: -1 } }, '/costs/s3/cost_per_gb'],
      [{ s3: { cost_per_gb: '1' } }, '/costs/s3/cost_per_gb'],
      [{ s3: { cost_per_gb: 0.000_000_000_1 } }, '/costs/s3/cost_per_gb'],
      [{ s3: {} }, '/costs/s3/cost_per_gb'],
      [undefined, '/costs'],
    ] as const) {
      const answer = await call('PUT', `/v2/${team}/storage-type-cost`, { costs });
      expect([answer.status, answer.body.additional_details.issues[0].path], answer.text).toEqual([400, field]);
    }
  });
});

interface Amount {
  bytes: number;
  records: number;
}

function addUp(rows: { ingress: object; egress: object }[]): number[] {
  const amounts = rows.map(({ ingress, egress }) => [ingress, egress].flatMap((each) => Object.values(each)));
  return amounts.reduce((sum: number[], row) => row.map((value, index) => value + (sum[index] ?? 0)), []);
}
