import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { numbersIn } from '../../../../test/support/output-attempt.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';

type Row = Record<string, unknown> & { id: string };

/** Each test has a pipeline from an HTTP input to a real HTTP server. */
describe('what waits in a pipeline', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;
  let other: Tenant;
  let folder: string;
  const vendors: Vendor[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'letters-'));
    service = await createTestService({
      database: await databases.open(),
      egressAllow: ['127.0.0.1/32'],
      run: { folder, limits: { grace: 500 } },
    });
    acme = await service.tenant('Northwind');
    other = await service.tenant('Contoso');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
    for (const vendor of vendors) await vendor.close();
    await rm(folder, { recursive: true, force: true });
  });

  const send = (method: string, path: string, body?: unknown, key = acme.key) =>
    service.call(method, path.replace('~', acme.team), { key, ...(body === undefined ? {} : { body }) });

  /** Creates a pipeline; `statusOf` returns the status of the response to a request with records. */
  async function build(statusOf: (numbers: readonly number[]) => number) {
    const taken: number[] = [];
    let requests = 0;
    const vendor = await startVendor((request) => {
      requests += 1;
      const numbers = numbersIn(request);
      const status = statusOf(numbers);
      if (status < 300) taken.push(...numbers);
      return { status };
    });
    vendors.push(vendor);
    const input = (await send('POST', '/v2/~/inputs', { name: 'In', type: 'monad-http', config: { settings: {} } }))
      .body.id;
    const settings = { endpoint: vendor.origin, method: 'POST', payload_structure: 'array' };
    const output = { type: 'http', config: { settings } };
    const made = await send('POST', '/v2/~/integrations', { input_id: input, name: 'P', output });
    if (typeof made.body.pipeline_id !== 'string') throw new Error(made.text);
    const id: string = made.body.pipeline_id;
    const { nodes } = (await send('GET', `/v2/~/pipelines/${id}`)).body;
    const node: string = nodes.find((each: Row) => each['component_type'] === 'output').id;
    const inputNode: string = nodes.find((each: Row) => each['component_type'] === 'input').id;
    return {
      id,
      node,
      inputNode,
      taken,
      requests: () => requests,
      outputId: String(made.body.output_id),
      append: (count: number, from = 0) =>
        service.engine?.append(
          input,
          Array.from({ length: count }, (_, n) => `{"n":${from + n},"big":12345678901234567890}`),
        ),
      status: async () => (await send('GET', `/v2/~/pipelines/${id}/status`)).body,
      letters: async (query = '') => (await send('GET', `/v1/~/pipelines/${id}/dead-letters${query}`)).body,
    };
  }

  it('lists, pages and reads dead letters with the exact record, and leaves it out on request', async () => {
    const { id, node, append, letters } = await build((numbers) => (numbers.some((n) => n < 3) ? 400 : 200));
    await append(10);
    await expect.poll(async () => (await letters()).dead_letters?.length).toBe(3);
    const first = await letters(`?node_id=${node}&limit=2`);
    expect(first.pagination).toEqual({ limit: 2, next_cursor: first.dead_letters[1].id });
    expect(first.dead_letters[0]).toMatchObject({
      node_id: node,
      time: expect.any(String),
      reason: 'The server does not accept this record (HTTP 400).',
      record_id: expect.any(String),
      replays: 0,
      replaying: false,
      omitted: false,
    });
    const rest = await letters(`?limit=2&after=${first.pagination.next_cursor}`);
    expect([rest.dead_letters.length, rest.pagination.next_cursor]).toEqual([1, null]);
    const meta = await letters('?meta_only=true');
    expect(meta.dead_letters.map((each: Row) => 'record' in each)).toEqual([false, false, false]);
    const one = await send('GET', `/v1/~/pipelines/${id}/dead-letters/${first.dead_letters[0].id}`);
    expect(one.status).toBe(200);
    expect(one.text).toContain('"record":{"n":0,"big":12345678901234567890}');
    expect((await send('GET', `/v1/~/pipelines/${id}/dead-letters/${node}.1`)).status).toBe(404);
    expect((await send('GET', `/v1/~/pipelines/${id}/dead-letters?node_id=nowhere`)).status).toBe(404);
    expect((await send('GET', `/v1/~/pipelines/${id}/dead-letters?after=x`)).status).toBe(400);
    const log = await send('GET', `/v2/~/pipelines/${id}/logs`);
    expect([log.text.includes('12345678901234567890'), service.log.join('').includes('12345678901234567890')]).toEqual([
      false,
      false,
    ]);
  });

  it('replays dead letters of an output, and deletes others', async () => {
    const bad = new Set([0, 1, 2, 3]);
    const { id, node, inputNode, taken, append, letters, status } = await build((numbers) =>
      numbers.some((n) => bad.has(n)) ? 422 : 200,
    );
    const path = `/v1/~/pipelines/${id}/dead-letters`;
    await append(10);
    await expect.poll(async () => (await letters()).dead_letters?.length).toBe(4);
    const ids = (await letters()).dead_letters.map((each: Row) => each.id);
    bad.delete(0);
    expect((await send('POST', `${path}/replay`, { ids: ids.slice(0, 2) })).body).toEqual({ replaying: 2 });
    await expect.poll(() => taken).toContain(0);
    await expect
      .poll(async () => (await letters()).dead_letters)
      .toMatchObject([{ replays: 1, replaying: false }, {}, {}]);
    await expect
      .poll(async () => (await status()).dead_letters)
      .toEqual({ waiting: 3, stored: 4, dropped: 0, replayed: 1 });
    bad.clear();
    expect((await send('POST', `${path}/replay`, { node_id: node })).body).toEqual({ replaying: 3 });
    await expect.poll(async () => (await letters()).dead_letters).toEqual([]);
    expect(taken.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

    expect((await send('POST', `${path}/replay`, { node_id: inputNode })).status).toBe(400);
    expect((await send('POST', `${path}/replay`, { node_id: 'nowhere' })).status).toBe(404);
    expect((await send('POST', `${path}/replay`, {})).status).toBe(400);
    expect((await send('POST', `${path}/replay`, { node_id: node, ids })).status).toBe(400);

    bad.add(10).add(11).add(12);
    await append(10, 10);
    await expect.poll(async () => (await letters()).dead_letters.length).toBe(3);
    const [letter] = (await letters()).dead_letters;
    expect((await send('DELETE', path)).status).toBe(400);
    expect((await send('DELETE', `${path}?all=true&node_id=${node}`)).status).toBe(400);
    expect((await send('DELETE', `${path}?ids=${letter.id},${letter.id}`)).body).toEqual({ deleted: 1 });
    expect((await send('DELETE', `${path}?node_id=${node}`)).body).toEqual({ deleted: 2 });
    expect((await send('DELETE', `${path}?all=true`)).body).toEqual({ deleted: 0 });
  });

  it('shows what waits for a retry with the error, and purges a node', async () => {
    let answer = 400;
    const { id, node, taken, append, status } = await build(() => answer);
    await append(20);
    const queue = `/v1/~/data/retry/${id}/${node}`;
    await expect.poll(async () => (await status()).status).toBe('Erroring');
    await expect.poll(async () => (await send('GET', queue)).body.length).toBe(10);
    const [message] = (await send('GET', `${queue}?limit=1`)).body;
    expect(message).toMatchObject({
      data_bytes: 34,
      error_node_id: node,
      last_error: 'refused: The server does not accept this record (HTTP 400).',
      omitted: false,
      retry_count: expect.any(Number),
    });
    expect(JSON.parse(Buffer.from(message.data).toString())).toMatchObject({ n: 0 });
    const [meta] = (await send('GET', `${queue}?meta_only=true`)).body;
    expect([meta.data, meta.omitted]).toEqual([undefined, false]);
    expect((await send('GET', `${queue}?limit=11`)).status).toBe(400);
    expect((await send('GET', `/v1/~/data/retry/${id}/nowhere`)).status).toBe(404);
    expect((await status()).needs_attention).toMatchObject({ node_id: node, code: 'refused' });

    expect((await send('POST', `/v3/~/pipelines/${id}/nodes/nowhere/purge`)).status).toBe(404);
    const purged = await send('POST', `/v3/~/pipelines/${id}/nodes/${node}/purge`);
    expect([purged.status, purged.body]).toEqual([200, { purged: true, records: 20, dead_letters: 0 }]);
    const { entries } = (await send('GET', `/v2/~/pipelines/${id}/logs`)).body;
    expect(entries).toContainEqual(
      expect.objectContaining({ code: 'purged', message: expect.stringContaining('20 buffered records') }),
    );
    answer = 200;
    await append(1, 100);
    await expect.poll(() => taken).toEqual([100]);
    expect((await send('POST', `/v3/~/pipelines/${id}/purge`)).body).toEqual({
      purged: true,
      records: 0,
      dead_letters: 0,
    });
  });

  it('retries at once on request, and when the connector is saved', async () => {
    let answer = 401;
    const { id, node, outputId, taken, requests, append, status } = await build(() => answer);
    await append(3);
    await expect
      .poll(async () => (await status()).needs_attention)
      .toMatchObject({
        node_id: node,
        code: 'invalid_credentials',
        message: expect.stringContaining('retry now'),
        next_attempt_time: expect.any(String),
      });
    const state = await status();
    expect(state.nodes.find((each: Row) => each['node_id'] === node)).toMatchObject({
      status: 'Erroring',
      error: { code: 'invalid_credentials' },
      needs_attention: true,
    });
    expect(Date.parse(state.needs_attention.next_attempt_time) - Date.now()).toBeGreaterThan(5_000);
    const before = requests();
    expect((await send('POST', `/v1/~/pipelines/${id}/retry`)).body).toEqual({ retried: 1 });
    await expect.poll(requests).toBe(before + 1);
    answer = 200;
    expect((await send('PATCH', `/v2/~/outputs/${outputId}`, { description: 'The key was renewed' })).status).toBe(200);
    await expect.poll(() => taken).toEqual([0, 1, 2]);
    await expect.poll(async () => (await status()).needs_attention).toBeNull();
    expect((await send('POST', `/v1/~/pipelines/${id}/retry`)).body).toEqual({ retried: 0 });
  });

  it('hides everything from other organizations and from sessions', async () => {
    const { id, node, append, letters } = await build((numbers) => (numbers.includes(0) ? 400 : 200));
    await append(2);
    await expect.poll(async () => (await letters()).dead_letters?.length).toBe(1);
    const [letter] = (await letters()).dead_letters;
    const session = await service.session(acme);
    const calls: [string, string, object?][] = [
      ['GET', `/v1/~/pipelines/${id}/dead-letters`],
      ['GET', `/v1/~/pipelines/${id}/dead-letters/${letter.id}`],
      ['POST', `/v1/~/pipelines/${id}/dead-letters/replay`, { node_id: node }],
      ['DELETE', `/v1/~/pipelines/${id}/dead-letters?all=true`],
      ['GET', `/v1/~/data/retry/${id}/${node}`],
      ['POST', `/v1/~/pipelines/${id}/retry`],
      ['POST', `/v3/~/pipelines/${id}/purge`],
      ['POST', `/v3/~/pipelines/${id}/nodes/${node}/purge`],
    ];
    for (const [method, path, body] of calls) {
      const foreign = await send(method, path.replace('~', other.team), body, other.key);
      const direct = await send(method, path, body, other.key);
      const inFrame = await service.call(method, path.replace('~', acme.team), { session, ...(body && { body }) });
      expect([method, path, foreign.status, direct.status, inFrame.status]).toEqual([method, path, 404, 404, 403]);
    }
    expect((await letters()).dead_letters).toHaveLength(1);
  });

  it('answers 503 while the disk fails, and keeps the dead letters', async () => {
    const { id, node, append, letters } = await build((numbers) => (numbers.includes(0) ? 400 : 200));
    await append(2);
    await expect.poll(async () => (await letters()).dead_letters?.length).toBe(1);
    const own = join(folder, 'pipelines', id, 'dead-letters', node);
    const [name = ''] = await readdir(own);
    await rename(join(own, name), join(own, 'aside'));
    await mkdir(join(own, name));
    const path = `/v1/~/pipelines/${id}/dead-letters`;
    expect((await send('GET', path)).body).toMatchObject({ error: expect.stringContaining('disk'), code: 503 });
    expect((await send('POST', `${path}/replay`, { node_id: node })).status).toBe(503);
    await rm(join(own, name), { recursive: true });
    await rename(join(own, 'aside'), join(own, name));
    expect((await letters()).dead_letters).toHaveLength(1);
  });

  it('counts dead letters for the metrics', async () => {
    await expect
      .poll(() => service.engine?.collectMetrics().letters, { timeout: 60_000 })
      .toMatchObject({ stored: 12, dropped: 0, replayed: 4 });
  });

  it('answers 503 where no engine runs', async () => {
    const empty = anyDatabase();
    const replica = await createTestService({ database: await empty.open() });
    const { team, key } = await replica.tenant('Replica');
    const { id } = (await replica.call('POST', `/v2/${team}/pipelines`, { key, body: { name: 'P' } })).body;
    for (const [method, path] of [
      ['GET', `/v1/${team}/pipelines/${id}/dead-letters`],
      ['POST', `/v1/${team}/pipelines/${id}/retry`],
      ['POST', `/v3/${team}/pipelines/${id}/purge`],
    ] as const) {
      const { status, headers } = await replica.call(method, path, { key });
      expect([path, status, headers.get('retry-after')]).toEqual([path, 503, '5']);
    }
    await replica.store.close();
    await empty.close();
  });
});
