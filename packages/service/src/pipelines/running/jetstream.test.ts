import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startJetStream, type JetStreamServer } from '../../../../../test/support/brokers/jetstream.js';
import { postgresql } from '../../../../../test/support/databases.js';
import { serve } from '../../../../../test/support/serve.js';
import { createTestService, type TestService } from '../../../../../test/support/service.js';

let server: JetStreamServer;
beforeAll(async () => {
  server = await startJetStream();
});
afterAll(() => server.close());

/** A destination that is down until `isUp`. */
async function openSite() {
  const site = { isUp: false, got: [] as number[], origin: '' };
  const server = await serve((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (!site.isUp) response.statusCode = 503;
      else for (const { n } of JSON.parse(body)) site.got.push(n);
      response.end();
    });
  }, '127.0.0.1');
  onTestFinished(() => server.close());
  return Object.assign(site, { origin: server.origin });
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Builds a pipeline from a push input to the site. Returns the id of the input. */
async function build(service: TestService, origin: string) {
  const acme = await service.tenant('Northwind');
  const make = async (kind: string, type: string, settings: object): Promise<string> =>
    (
      await service.call('POST', `/v2/${acme.team}/${kind}`, {
        key: acme.key,
        body: { name: type, type, config: { settings, secrets: {} } },
      })
    ).body.id;
  const input = await make('inputs', 'monad-http', {});
  const output = await make('outputs', 'http', {
    endpoint: origin,
    method: 'POST',
    payload_structure: 'array',
  });
  const nodes = [
    { slug: 'in', component_id: input, component_type: 'input' },
    { slug: 'out', component_id: output, component_type: 'output' },
  ];
  const edges = [{ from_node_instance_id: 'in', to_node_instance_id: 'out' }];
  const { status } = await service.call('POST', `/v2/${acme.team}/pipelines`, {
    key: acme.key,
    body: { name: 'P', nodes, edges },
  });
  expect(status).toBe(201);
  return input;
}

const records = (...numbers: number[]): string[] => numbers.map((n) => JSON.stringify({ n }));

it('buffers in JetStream, so that an engine on another machine continues', async () => {
  const site = await openSite();
  const database = await postgresql().open();
  const nats = { url: server.url, prefix: 'one', shards: 2 };
  const folder = await newFolder();
  const first = await createTestService({
    database,
    egressAllow: ['127.0.0.1/32'],
    run: { folder, nats },
  });
  const input = await build(first, site.origin);
  expect(await first.engine?.append(input, records(1, 2))).toMatchObject({ stored: true });
  expect(await first.engine?.append(input, records(3))).toMatchObject({ stored: true });
  expect(await first.engine?.checkBuffers()).toBe('ok');
  await first.engine?.close();
  expect(await readdir(folder)).not.toContain('streams');

  site.isUp = true;
  const second = await createTestService({
    database,
    master: first.master,
    egressAllow: ['127.0.0.1/32'],
    run: { folder: await newFolder(), nats },
  });
  await expect.poll(() => site.got).toEqual([1, 2, 3]);
  expect(await second.engine?.append(input, records(4))).toMatchObject({ stored: true });
  await expect.poll(() => site.got).toEqual([1, 2, 3, 4]);
  await second.close();
});

it('moves buffers from the folder when NATS is configured', async () => {
  const site = await openSite();
  const database = await postgresql().open();
  const folder = await newFolder();
  const options = { database, egressAllow: ['127.0.0.1/32'] };
  const before = await createTestService({ ...options, run: { folder } });
  const input = await build(before, site.origin);
  for (const n of [1, 2, 3]) expect(await before.engine?.append(input, records(n))).toMatchObject({ stored: true });
  await before.engine?.close();
  expect(await readdir(join(folder, 'streams'))).toHaveLength(1);

  site.isUp = true;
  const nats = { url: server.url, prefix: 'two', shards: 2 };
  const after = await createTestService({
    ...options,
    master: before.master,
    run: { folder, nats },
  });
  await expect.poll(() => site.got).toEqual([1, 2, 3]);
  expect(await readdir(join(folder, 'streams'))).toEqual([]);
  expect(after.log.some((line) => line.includes('buffers moved'))).toBe(true);
  await after.close();
});

it('rejects records while NATS is away, and accepts them again', async () => {
  const site = await openSite();
  site.isUp = true;
  const own = await startJetStream();
  onTestFinished(() => own.close());
  const service = await createTestService({
    database: await postgresql().open(),
    egressAllow: ['127.0.0.1/32'],
    run: { nats: { url: own.url, prefix: 'three', shards: 1 } },
  });
  const input = await build(service, site.origin);
  expect(await service.engine?.append(input, records(1))).toMatchObject({ stored: true });
  // A connector of the same kind, whose client connects through the egress guard, changes nothing.
  const { team, key } = await service.tenant('Southwind');
  const settings = { url: own.url, subject: 'logs' };
  const tested = await service.call('POST', `/v2/${team}/outputs/test-connection`, {
    key,
    body: { type: 'nats', config: { settings, secrets: {} } },
  });
  expect(tested.body).toMatchObject({ message: 'success' });
  await own.kill();
  await expect(service.engine?.append(input, records(2))).rejects.toMatchObject({
    code: 'storage',
  });
  expect(await service.engine?.checkBuffers()).toBe('disconnected');
  await own.start();
  await expect.poll(async () => service.engine?.checkBuffers()).not.toBe('disconnected');
  expect(await service.engine?.append(input, records(3))).toMatchObject({ stored: true });
  await expect.poll(() => site.got).toContain(3);
  expect(site.got).toContain(1);
  await service.close();
});
