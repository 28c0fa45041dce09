import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { readLogs } from '../../../../test/support/log-reader.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

interface Sent {
  time: string;
  bytes: number;
  skipped: number;
  omitted: boolean;
  record?: unknown;
}
interface Node {
  id: string;
  slug: string;
}

const edge = (from: string, to: string) => ({ from_node_instance_id: from, to_node_instance_id: to });
const records = ({ entries }: { entries: readonly Sent[] }) => entries.map(({ record }) => record);

describe('watching the records that pass a node', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;
  let other: Tenant;
  let folder: string;
  let input: string;
  let pipeline: string;
  const nodes = new Map<string, string>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'node-data-'));
    service = await createTestService({ database: await databases.open(), run: { folder, limits: { grace: 500 } } });
    acme = await service.tenant('Northwind');
    other = await service.tenant('Contoso');
    input = (await send('POST', '/v2/~/inputs', { name: 'In', type: 'monad-http', config: { settings: {} } })).body.id;
    const output = (await send('POST', '/v2/~/outputs', { name: 'Out', type: 'dev-null', config: { settings: {} } }))
      .body.id;
    const operations = [{ operation: 'add', arguments: { key: 'seen', value: true } }];
    const transform = (await send('POST', '/v2/~/transforms', { name: 'T', config: { operations } })).body.id;
    const made = await send('POST', '/v2/~/pipelines', {
      name: 'P',
      nodes: [
        { slug: 'in', component_id: input, component_type: 'input' },
        { slug: 'mark', component_id: transform, component_type: 'transform' },
        { slug: 'out', component_id: output, component_type: 'output' },
      ],
      edges: [edge('in', 'mark'), edge('mark', 'out')],
    });
    expect(made.status, made.text).toBe(201);
    pipeline = made.body.id;
    const stored: Node[] = made.body.nodes;
    for (const { id, slug } of stored) nodes.set(slug, id);
    await vi.waitUntil(
      async () => (await send('GET', `/v2/~/pipelines/${pipeline}/status`)).body.status === 'Running',
      10_000,
    );
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  });

  const send = (method: string, path: string, body?: unknown, key = acme.key) =>
    service.call(method, path.replace('~', acme.team), { key, ...(body === undefined ? {} : { body }) });
  const status = async () => (await send('GET', `/v2/~/pipelines/${pipeline}/status`)).body;
  const path = (slug: string): string => `/v1/${acme.team}/data/${nodes.get(slug) ?? ''}`;
  async function watch(
    slug: string,
  ): Promise<{ entries: readonly Sent[]; readonly text: string; stop(): Promise<void> }> {
    const reader = readLogs<Sent>(() => service.app, path(slug), acme.key);
    onTestFinished(() => reader.stop());
    await expect.poll(() => reader.text).toContain(':');
    return reader;
  }
  it('shows each node what left it, with all digits', async () => {
    const [first, second, third] = [await watch('in'), await watch('mark'), await watch('out')];
    await service.engine?.append(input, ['{"n":12345678901234567890}', '{\r"n":\r2}']);
    await expect.poll(() => [first, second, third].map(({ entries }) => entries.length)).toEqual([2, 2, 2]);
    expect(records(first)[1]).toEqual({ n: 2 });
    expect(records(second)[1]).toEqual({ n: 2, seen: true });
    expect(records(third)).toEqual(records(second));
    expect(first.text).toContain('"record":{"n":12345678901234567890}');
    expect(first.entries[0]).toEqual({
      time: expect.stringMatching(/Z$/),
      bytes: 26,
      skipped: 0,
      omitted: false,
      record: expect.anything(),
    });
  });

  it('continues over a change of the pipeline, and shows a paused input what it stores', async () => {
    const reader = await watch('in');
    await send('PATCH', `/v2/~/pipelines/${pipeline}`, { enabled: false });
    await service.engine?.append(input, ['{"n":3}']);
    await expect.poll(() => records(reader)).toEqual([{ n: 3 }]);
    await send('PATCH', `/v2/~/pipelines/${pipeline}`, { enabled: true });
    await service.engine?.append(input, ['{"n":4}', '[]', 'no JSON \r\rdata: x']);
    await expect.poll(() => records(reader)).toEqual([{ n: 3 }, { n: 4 }, [], 'no JSON \r\rdata: x']);
  });

  it('leaves out large records, and stores nothing of what it showed', async () => {
    const reader = await watch('in');
    await service.engine?.append(input, [JSON.stringify({ text: 'x'.repeat(70_000) }), '{"canary":"7f3a9c"}']);
    await expect.poll(() => reader.entries.length).toBe(2);
    expect(reader.entries[0]).toMatchObject({ omitted: true, bytes: 70_011 });
    expect(reader.entries[0]).not.toHaveProperty('record');
    const log = await send('GET', `/v2/~/pipelines/${pipeline}/logs?limit=500`);
    expect(log.text + service.log.join('')).not.toContain('7f3a9c');
  });

  it('does not slow delivery when nobody reads from an open stream', async () => {
    const response = await service.app.request(path('in'), { headers: { 'x-api-key': acme.key } });
    // Records of the tests above.
    await expect.poll(async () => (await status()).waiting).toBe(0);
    const before = (await status()).egress.records;
    for (let batch = 0; batch < 20; batch += 1)
      await service.engine?.append(
        input,
        Array.from({ length: 500 }, (_, n) => `{"n":${n},"pad":"${'x'.repeat(200)}"}`),
      );
    await expect.poll(async () => (await status()).egress.records - before).toBe(10_000);
    await response.body?.cancel();
  });

  it('is refused to others, to a frame, without the permission, and for unknown nodes', async () => {
    const get = (key: string, org = acme.team, node = nodes.get('in')) =>
      service.call('GET', `/v1/${org}/data/${node ?? ''}`, { key });
    expect((await get(other.key)).status).toBe(404);
    expect((await get(other.key, other.team)).status).toBe(404);
    expect((await get(acme.key, acme.team, 'nowhere')).status).toBe(404);
    const role = await send('POST', '/v2/~/roles', {
      name: 'Logs',
      permission_ids: ['pipeline:logs:read', 'pipeline:read'],
    });
    const expiration_time = '2099-01-01T00:00:00Z';
    const { body } = await send('POST', '/v2/~/api_keys', { name: 'K', role_id: role.body.id, expiration_time });
    expect((await get(body.token)).status).toBe(403);
    const session = await service.session(acme);
    const asFrame = await service.call('GET', path('in'), { session });
    expect(asFrame.status).toBe(403);
  });

  it('ends when the pipeline is deleted', async () => {
    const response = await service.app.request(path('in'), { headers: { 'x-api-key': acme.key } });
    await send('DELETE', `/v2/~/pipelines/${pipeline}`);
    expect(await response.text()).toBe(': here\n\n');
    expect((await send('GET', path('in'))).status).toBe(404);
  });
});

it('is 403 where the operator has switched it off', async () => {
  const databases = anyDatabase();
  const service = await createTestService({ database: await databases.open(), settings: { nodeData: false } });
  const { key, team } = await service.tenant('Northwind');
  const answer = await service.call('GET', `/v1/${team}/data/x`, { key });
  expect([answer.status, answer.body.error]).toEqual([403, expect.stringContaining('NODE_DATA')]);
  await service.close();
  await databases.close();
});
