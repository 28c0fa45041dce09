import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../test/support/databases.js';
import { createTestService, type Tenant, type TestService } from '../../../test/support/service.js';
import { startVendor } from '../../../test/support/vendor.js';

const databases = anyDatabase();
const MINUTE = 60_000;

let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  service = await createTestService({
    database: await databases.open(),
    egressAllow: ['127.0.0.1/32'],
    run: { labeledPipelines: 2, limits: { grace: 500 } },
  });
  acme = await service.tenant('Northwind');
});
afterAll(async () => {
  await service.close();
  await databases.close();
});

const send = (method: string, path: string, body?: unknown) =>
  service.call(method, path.replace('~', acme.team), { key: acme.key, ...(body === undefined ? {} : { body }) });

async function build(output?: object): Promise<{ id: string; input: string }> {
  const input = await send('POST', '/v2/~/inputs', { name: 'In', type: 'monad-http', config: { settings: {} } });
  const body = { input_id: input.body.id, name: 'P', ...(output && { output }) };
  const built = await send('POST', '/v2/~/integrations', body);
  if (typeof built.body.pipeline_id !== 'string') throw new Error(built.text);
  return { id: built.body.pipeline_id, input: input.body.id };
}

const append = (input: string, count: number) =>
  service.engine?.append(
    input,
    Array.from({ length: count }, (_, n) => `{"n":${n}}`),
  );

/** Returns the series of a metric with all given label values, by their other labels. */
async function seriesOf(name: string, ...words: string[]): Promise<Record<string, number>> {
  const lines = (await service.metrics.text()).split('\n');
  const found = lines.filter(
    (line) => line.startsWith(`${name}{`) && words.every((word) => line.includes(`"${word}"`)),
  );
  return Object.fromEntries(
    found.map((line) => {
      const [, labels = '', value] = /^\w+\{(.*)\} (\S+)$/.exec(line) ?? [];
      const rest = /(?:direction|status)="(\w+)"/.exec(labels)?.[1] ?? '';
      return [rest, Number(value)];
    }),
  );
}

describe('per node, /metrics has', () => {
  it('the records and bytes that reached and left it', async () => {
    const { id, input } = await build();
    await append(input, 10);
    const output = () => seriesOf('pipeline_node_records_total', id, 'output');
    await expect.poll(output).toEqual({ ingress: 10, egress: 10 });
    expect(await seriesOf('pipeline_node_bytes_total', id, 'output')).toEqual({ ingress: 70, egress: 70 });
    expect(await seriesOf('pipeline_node_status', id, 'output')).toEqual({ Running: 1 });
    expect(await seriesOf('pipeline_node_backlog_records', id, 'output')).toEqual({ '': 0 });
    expect(await seriesOf('pipeline_node_backlog_age_seconds', id, 'output')).toEqual({ '': 0 });
  });

  it('the records, bytes and age of its backlog while an output is down', async () => {
    const vendor = await startVendor(() => ({ status: 503 }));
    const settings = { endpoint: `${vendor.origin}/in`, method: 'POST', payload_structure: 'array' };
    const { id, input } = await build({ name: 'Out', type: 'http', config: { settings, secrets: {} } });
    await append(input, 10);
    await expect.poll(() => vendor.requests.length).toBeGreaterThan(0);
    expect(await seriesOf('pipeline_node_backlog_records', id, 'output')).toEqual({ '': 10 });
    expect((await seriesOf('pipeline_node_backlog_bytes', id, 'output'))['']).toBeGreaterThanOrEqual(70);
    const age = async () => (await seriesOf('pipeline_node_backlog_age_seconds', id, 'output'))[''] ?? 0;
    const before = await age();
    await expect.poll(age).toBeGreaterThan(before);
    expect(before).toBeLessThan(MINUTE);
    await expect.poll(() => seriesOf('pipeline_node_status', id, 'output')).toEqual({ Erroring: 1 });
    await vendor.close();
  });

  it('nothing for pipelines beyond the limit, and their number', async () => {
    const { id, input } = await build();
    await append(input, 1);
    const text = await service.metrics.text();
    expect(text).not.toContain(id);
    expect(text).toMatch(/^pipelines_unlabeled 1$/m);
    // A removed pipeline frees its place.
    const { body } = await send('GET', '/v2/~/pipelines');
    const other = body.pipelines.find((each: { id: string }) => each.id !== id && text.includes(each.id));
    await send('DELETE', `/v2/~/pipelines/${other.id}`);
    await expect.poll(() => service.metrics.text()).toMatch(/^pipelines_unlabeled 0$/m);
    const after = await service.metrics.text();
    expect([after.includes(id), after.includes(other.id)]).toEqual([true, false]);
  });
});
