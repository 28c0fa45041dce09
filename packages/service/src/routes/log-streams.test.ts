import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect, postgresql } from '../../../../test/support/databases.js';
import { readLogs, type LogReader, type ReadEntry } from '../../../../test/support/log-reader.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';

const sequences = (entries: readonly ReadEntry[]) => entries.map(({ sequence }) => sequence);
/** Returns after how many network chunks a client disconnects. */
const soon = (): number => 1 + Math.floor(Math.random() * 6);

describe('log streams of an organization', () => {
  const databases = postgresql();
  let folder: string;
  let service: TestService;
  let acme: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'logs-'));
    service = await createTestService({ database: await databases.open(), run: { folder, limits: { grace: 500 } } });
    acme = await service.tenant('Northwind');
    other = await service.tenant('Southwind');
  });
  afterAll(async () => {
    await service.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  });

  const send = (method: string, path: string, body?: unknown, { key, team }: Tenant = acme) =>
    service.call(method, path.replace('~', team), { key, ...(body === undefined ? {} : { body }) });
  async function build(tenant: Tenant = acme): Promise<{ id: string; input: string }> {
    const config = { settings: {} };
    const { body: input } = await send('POST', '/v2/~/inputs', { name: 'In', type: 'monad-http', config }, tenant);
    const { body } = await send('POST', '/v2/~/integrations', { input_id: input.id, name: 'P' }, tenant);
    return { id: body.pipeline_id, input: body.input_id ?? input.id };
  }
  const toggle = (id: string, enabled: boolean) => send('PATCH', `/v1/~/pipelines/${id}`, { enabled });
  const stored = async (id: string): Promise<ReadEntry[]> =>
    (await send('GET', `/v2/~/pipelines/${id}/logs?limit=500`)).body.entries;
  function read(path: string, cutAfter?: () => number, tenant: Tenant = acme): LogReader {
    const reader = readLogs(() => service.app, path.replace('~', tenant.team), tenant.key, cutAfter);
    onTestFinished(() => reader.stop());
    return reader;
  }
  const keyWith = async (permission_ids: readonly string[]): Promise<{ id: string; token: string }> => {
    const { body: role } = await send('POST', '/v2/~/roles', { name: `R${Math.random()}`, permission_ids });
    const expiration_time = '2099-01-01T00:00:00Z';
    const { body } = await send('POST', '/v2/~/api_keys', { name: 'K', role_id: role.id, expiration_time });
    return body;
  };

  it('resumes without a gap or a repeat, over all pipelines, reconnects and a restart', async () => {
    const pipelines = [await build(), await build(), await build()];
    const ids = pipelines.map(({ id }) => id);
    const reader = read('/v1/~/logs', soon);
    const requests: string[] = [];
    const work = async (rounds: number): Promise<void> => {
      await Promise.all(
        ids.map(async (id) => {
          for (let n = 0; n < rounds; n += 1) {
            const { headers } = await toggle(id, n % 2 === 1);
            requests.push(headers.get('request-id') ?? '');
          }
        }),
      );
    };
    await work(10);

    // The restart: the engine stops, and another process continues with the same folder.
    const before = service;
    await before.engine?.close();
    const { connectionString = '' } = before.database.pool?.options ?? {};
    service = await createTestService({
      database: connect(connectionString),
      master: before.master,
      run: { folder, limits: { grace: 500 } },
    });
    await service.engine?.started;
    await before.close();
    await work(10);
    await expect.poll(() => reader.entries.filter((entry) => entry['request_id'] === requests.at(-1))).toHaveLength(1);

    // What each pipeline stored, and the requests as their responses identified them.
    const expected = (await Promise.all(ids.map((id) => stored(id)))).flat();
    // Changes in quick succession are joined.
    expect(expected.length).toBeGreaterThan(ids.length);
    await expect.poll(() => sequences(reader.entries)).toEqual(expect.arrayContaining(sequences(expected)));
    const received = sequences(reader.entries);
    expect(received).toEqual([...new Set(received)].sort((one, two) => one - two));
    expect(reader.entries.map((entry) => entry['request_id'])).toEqual(expect.arrayContaining(requests));
    expect(reader.connections).toBeGreaterThan(1);

    const whole = read('/v1/~/logs');
    await expect.poll(() => sequences(whole.entries)).toEqual(sequences(reader.entries));
  }, 60_000);

  it('are subsets of the stream of the organization, by source, pipeline and node', async () => {
    const { id } = await build();
    const { body: pipeline } = await send('GET', `/v2/~/pipelines/${id}`);
    const node: string = pipeline.nodes[0].id;
    await build(other);
    const all = read('/v1/~/logs');
    const parts = {
      api: read('/v1/~/logs/api'),
      pipelines: read('/v1/~/logs/pipelines'),
      pipeline: read(`/v1/~/logs/pipelines/${id}`),
      node: read(`/v1/~/logs/pipelines/${id}/${node}`),
    };
    await expect.poll(async () => (await stored(id)).length).toBeGreaterThan(0);
    const of = (select: (entry: ReadEntry) => boolean) => sequences(all.entries.filter(select));
    await expect.poll(() => sequences(parts.api.entries)).toEqual(of((each) => each.pipeline_id === undefined));
    await expect.poll(() => sequences(parts.pipelines.entries)).toEqual(of((each) => each.pipeline_id !== undefined));
    await expect.poll(() => sequences(parts.pipeline.entries)).toEqual(of((each) => each.pipeline_id === id));
    await expect.poll(() => sequences(parts.node.entries)).toEqual(of((each) => each.node_id === node));
    expect(parts.pipeline.entries.length).toBeGreaterThan(0);
    expect(parts.api.entries.length).toBeGreaterThan(2);

    const foreign = read('/v1/~/logs', undefined, other);
    await expect.poll(() => foreign.entries.length).toBeGreaterThan(2);
    const shared = sequences(foreign.entries).filter((sequence) => sequences(all.entries).includes(sequence));
    expect(shared).toEqual([]);
  });

  it('show who changed what by the route, and nothing that was sent', async () => {
    const config = { settings: {}, secrets: {} };
    const name = 'canary-in-a-body';
    const { headers, status } = await send('POST', '/v2/~/inputs', { name, type: 'monad-http', config });
    await send('DELETE', '/v1/~/inputs/canary-in-a-path');
    await service.call('GET', `/v2/${acme.team}/inputs?limit=1`, { key: acme.key });
    await service.call('POST', `/v2/${acme.team}/inputs`, { key: 'canary-unknown-key', body: {} });
    const reader = read('/v1/~/logs/api');
    const requestId = headers.get('request-id');
    await expect
      .poll(() => reader.entries.find((each) => each['request_id'] === requestId))
      .toMatchObject({
        code: 'api_request',
        level: 'info',
        method: 'POST',
        route: '/v2/{org}/inputs',
        status,
        actor: expect.stringMatching(/./),
      });
    await expect.poll(() => reader.entries.at(-1)).toMatchObject({ method: 'DELETE', status: 404, level: 'warn' });
    expect(reader.entries.map((each) => each['method'])).not.toContain('GET');
    expect(reader.text).not.toContain('canary');
    expect(reader.text).not.toContain(acme.key);
  });

  it('begin with `since`, or with the time before `last`', async () => {
    const { id } = await build();
    await expect.poll(async () => (await stored(id)).length).toBeGreaterThan(0);
    const all = await stored(id);
    const from = all.at(-1)?.time ?? '';
    const path = `/v1/~/logs/pipelines/${id}`;
    const expected = sequences(all.filter(({ time }) => time >= from));
    const since = read(`${path}?since=${from}`);
    await expect.poll(() => sequences(since.entries)).toEqual(expected);
    const last = read(`${path}?last=1h`);
    await expect.poll(() => sequences(last.entries)).toEqual(sequences(all));
    const none = read(`${path}?since=2099-01-01T00:00:00Z`);
    await toggle(id, false);
    await expect.poll(() => none.entries.length).toBeGreaterThan(0);
    expect(sequences(none.entries)[0]).toBeGreaterThan(expected.at(-1) ?? 0);
    for (const query of [`since=${from}&last=1h`, 'last=1', 'last=1y', 'since=yesterday', 'from=1'])
      expect([query, (await send('GET', `${path}?${query}`)).status]).toEqual([query, 400]);
    for (const stream of ['api', 'pipelines'])
      expect((await send('GET', `/v1/~/logs/${stream}?last=1h`)).status).toBe(400);
  });

  it('reject unknown and foreign pipelines and nodes, sessions, and keys without the permission', async () => {
    const { id } = await build();
    const theirs = await build(other);
    const { body } = await send('GET', `/v2/~/pipelines/${theirs.id}`, undefined, other);
    const get = async (path: string, key = acme.key) =>
      (await service.call('GET', `/v1/${acme.team}/logs${path}`, { key })).status;
    for (const path of [`/pipelines/${theirs.id}`, `/pipelines/${id}/${body.nodes[0].id}`, `/pipelines/${id}/none`])
      expect([path, await get(path)]).toEqual([path, 404]);
    const { token } = await keyWith(['pipeline:read', 'pipeline:logs:read']);
    expect([await get('', token), await get('/api', token)]).toEqual([403, 403]);
    const session = await service.session(acme);
    for (const path of ['', '/api', '/pipelines', `/pipelines/${id}`])
      expect((await service.call('GET', `/v1/${acme.team}/logs${path}`, { session })).status).toBe(403);
  });

  it('end when the key is revoked, before they show who did it', async () => {
    const { id, token } = await keyWith(['organization:logs:read']);
    const response = await service.app.request(`/v1/${acme.team}/logs/api`, { headers: { 'x-api-key': token } });
    expect(response.status).toBe(200);
    const chunks = response.body?.pipeThrough(new TextDecoderStream()).values();
    let ended = '';
    // A stream whose key is revoked before it has begun has no entries.
    while (!ended.includes('event: entry')) ended += (await chunks?.next())?.value ?? '';
    expect((await send('DELETE', `/v2/~/api_keys/${id}`)).status).toBeLessThan(300);
    for await (const chunk of chunks ?? []) ended += chunk;
    expect(ended).toContain('event: entry');
    expect(ended).not.toContain('"method":"DELETE","route":"/v2/{org}/api_keys/{id}"');
  }, 20_000);

  it('are limited to 50 per organization, those of one pipeline included', async () => {
    const { id } = await build();
    const open: Response[] = [];
    for (;;) {
      const path = open.length % 2 ? `/v2/${acme.team}/pipelines/${id}/logs/stream` : `/v1/${acme.team}/logs`;
      const response = await service.app.request(path, { headers: { 'x-api-key': acme.key } });
      if (response.status !== 200) {
        expect([response.status, response.headers.get('retry-after')]).toEqual([429, '10']);
        break;
      }
      open.push(response);
    }
    expect(open.length).toBeLessThanOrEqual(50);
    for (const { body } of open) await body?.cancel();
  });
});
