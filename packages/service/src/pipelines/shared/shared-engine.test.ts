import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '@connector-frame/engine';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { clientOf } from '../../../../../test/support/alert-world.js';
import { connect, postgresql } from '../../../../../test/support/databases.js';
import { readLogs } from '../../../../../test/support/log-reader.js';
import { exportInstallation } from '../../transfer/export-installation.js';
import { createTestService, type Tenant, type TestService } from '../../../../../test/support/service.js';
import { startJetStream } from '../../../../../test/support/brokers/jetstream.js';
import { startVendor } from '../../../../../test/support/vendor.js';
import type { NatsBuffers } from '../running/create-bus.js';

/** Services of one PostgreSQL that run its pipelines together. */

const databases = postgresql();
afterAll(() => databases.close());

const HOUR = 3_600_000;
const shifted = (ms: number): Clock => ({ ...systemClock, now: () => Date.now() + ms });

type Client = ReturnType<typeof clientOf>;

/** Starts services on one database, one after the other. */
async function openWorld() {
  const database = await databases.open();
  const { connectionString = '' } = database.pool?.options ?? {};
  await database.close();
  let first: TestService | undefined;
  return {
    pool: () => {
      const pool = first?.database.pool;
      if (!pool) throw new Error('This is not PostgreSQL.');
      return pool;
    },
    async start(
      run: { clock?: Clock; folder?: string; isShared?: boolean; nats?: NatsBuffers } = {},
    ): Promise<TestService> {
      const service = await createTestService({
        database: connect(connectionString),
        ...(first && { master: first.master }),
        egressAllow: ['127.0.0.0/8'],
        run: { isShared: true, limits: { grace: 500 }, ...run },
      });
      first ??= service;
      onTestFinished(() => service.close());
      await service.engine?.started;
      return service;
    },
  };
}

const statusOf = (client: Client, id: string) => client.must('GET', `/v2/~/pipelines/${id}/status`);
const until = (client: Client, id: string, wanted: object) =>
  expect.poll(() => statusOf(client, id)).toMatchObject(wanted);

/** Returns how many pipelines a service runs: it exposes metrics of those only. */
const runningIn = (service: TestService): number =>
  [...(service.engine?.collectMetrics().statuses.values() ?? [])].reduce((sum, count) => sum + count, 0);

const append = (service: TestService, input: string, n: number) => service.engine?.append(input, [`{"n":${n}}`]);

it('respond alike for every pipeline while their clocks differ by hours, and one takes over from the other', async () => {
  const world = await openWorld();
  const one = await world.start();
  const two = await world.start({ clock: shifted(5 * HOUR) });
  const acme = await one.tenant('Northwind');
  const clients = [one, two].map((service) => clientOf({ service }, acme));
  const [here, there] = clients;
  if (!here || !there) throw new Error('There are two.');
  const made = [await here.build({ type: 'dev-null' }), await there.build({ type: 'dev-null' })];
  await expect.poll(() => [runningIn(one), runningIn(two)]).toEqual([1, 1]);
  for (const { pipeline, input } of made) {
    for (const client of clients) await until(client, pipeline, { status: 'Running' });
    for (const service of [one, two])
      await expect.poll(() => append(service, input, 1)).toMatchObject({ stored: true });
    // Each process counts what it has accepted; the one that runs the pipeline has the sum.
    for (const client of clients) await until(client, pipeline, { egress: { records: 2 }, waiting: 0 });
    for (const client of clients) {
      await client.must('POST', `/v1/~/pipelines/${pipeline}/retry`);
      const { entries } = await client.must('GET', `/v2/~/pipelines/${pipeline}/logs`);
      expect(entries).toContainEqual(expect.objectContaining({ code: 'started' }));
      await client.must('POST', `/v3/~/pipelines/${pipeline}/purge`);
      await client.must('GET', `/v1/~/pipelines/${pipeline}/dead-letters`);
    }
  }
  // Neither has taken the other one's clock for an expired lease.
  const tokens = await world.pool().query('select token, member_id from engine_leases order by pipeline_id');
  const leases = JSON.stringify(tokens.rows);
  await two.engine?.close();
  await expect.poll(() => runningIn(one)).toBe(2);
  expect(JSON.stringify((await world.pool().query('select token, member_id from engine_leases')).rows)).not.toBe(
    leases,
  );
  for (const { pipeline, input } of made) {
    await append(one, input, 2);
    await until(here, pipeline, { status: 'Running', egress: { records: 3 } });
  }
});

it('show the records of a pipeline of another process, and change its schemas', async () => {
  const world = await openWorld();
  const [one, two] = [await world.start(), await world.start()];
  const joined = async () => (await world.pool().query('select from engine_members where not is_leaving')).rowCount;
  await expect.poll(joined).toBe(2);
  const acme = await one.tenant('Northwind');
  const here = clientOf({ service: one }, acme);
  const input: string = (await here.must('POST', '/v2/~/inputs', { name: 'In', type: 'monad-http', config: {} })).id;
  const output: string = (await here.must('POST', '/v2/~/outputs', { name: 'Out', type: 'dev-null', config: {} })).id;
  const { id, nodes, edges } = await here.must('POST', '/v2/~/pipelines', {
    name: 'P',
    nodes: [
      { slug: 'in', component_id: input, component_type: 'input' },
      { slug: 'out', component_id: output, component_type: 'output' },
    ],
    edges: [{ from_node_instance_id: 'in', to_node_instance_id: 'out', schema_detection_spec: { enabled: true } }],
  });
  // One of them runs it: the other one is asked.
  await expect.poll(() => runningIn(one) + runningIn(two)).toBe(1);
  const [owner, asked] = runningIn(one) === 1 ? [one, two] : [two, one];
  const [own, there] = [clientOf({ service: owner }, acme), clientOf({ service: asked }, acme)];
  const edge = `/~/pipelines/${id}/edges/${edges[0].id}`;
  const mode = async () => (await own.must('GET', `/v3${edge}/schema-detection`)).mode;
  await expect.poll(() => [owner.engine?.delivery(id), asked.engine?.delivery(id)]).not.toContain(undefined);
  const reader = readLogs<{ record: unknown }>(
    () => asked.app,
    `/v1/${acme.team}/data/${nodes.find(({ slug }: { slug: string }) => slug === 'out').id}`,
    acme.key,
  );
  onTestFinished(() => reader.stop());
  // The request of the reader has to reach the other process first.
  await expect
    .poll(async () => (await append(asked, input, 7), reader.entries.map(({ record }) => record)))
    .toContainEqual({ n: 7 });
  expect(await mode()).toBe('learning');
  expect((await there.send('POST', `/v2${edge}/schema/graduate`)).status).toBe(204);
  expect(await mode()).not.toBe('learning');
});

/** Builds a pipeline whose destination responds with an error. */
async function buildRefused(client: Client, status: number) {
  const vendor = await startVendor(() => ({ status, body: {} }));
  onTestFinished(() => vendor.close());
  const settings = { endpoint: `${vendor.origin}/x`, method: 'POST', payload_structure: 'array' };
  return client.build({ type: 'http', config: { settings } });
}

it('fire an alert once, whichever process logs it and whichever leads', async () => {
  const world = await openWorld();
  const [one, two] = [await world.start(), await world.start()];
  const acme: Tenant = await one.tenant('Northwind');
  const [here, there] = [clientOf({ service: one }, acme), clientOf({ service: two }, acme)];
  await there.rule('monad-log-alert', { levels: ['error'], dedupe_window: '1h' });
  const made = [await buildRefused(here, 401), await buildRefused(there, 401)];
  await expect.poll(() => [runningIn(one), runningIn(two)]).toEqual([1, 1]);
  for (const { input } of made) await expect.poll(() => append(one, input, 1)).toMatchObject({ stored: true });
  await expect.poll(async () => (await here.alerts()).length).toBe(2);
  expect(await there.alerts()).toEqual(await here.alerts());
  const events = await world.pool().query(`select alert_id from alert_events`);
  expect(events.rowCount).toBe(2);
  // The next leader continues with the same alerts.
  await one.engine?.close();
  await expect.poll(() => runningIn(two)).toBe(2);
  const third = await buildRefused(there, 401);
  await expect.poll(() => append(two, third.input, 1)).toMatchObject({ stored: true });
  await expect.poll(async () => (await there.alerts()).length).toBe(3);
});

it('take over the buffers and dead letters of a single engine, and a single engine takes over theirs', async () => {
  const world = await openWorld();
  const folder = await mkdtemp(join(tmpdir(), 'shared-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const alone = await world.start({ folder, isShared: false });
  const acme = await alone.tenant('Northwind');
  const client = (service: TestService) => clientOf({ service }, acme);
  const refused = await buildRefused(client(alone), 400);
  const paused = await client(alone).build({ type: 'dev-null' });
  await client(alone).must('PATCH', `/v2/~/pipelines/${paused.pipeline}`, { enabled: false });
  await append(alone, refused.input, 1);
  for (const n of [1, 2]) await append(alone, paused.input, n);
  await until(client(alone), refused.pipeline, { dead_letters: { waiting: 1 } });
  await expect(world.start()).rejects.toThrow('by itself');
  await alone.engine?.close();

  const shared = await world.start({ folder });
  await until(client(shared), refused.pipeline, { dead_letters: { waiting: 1 } });
  await until(client(shared), paused.pipeline, { status: 'Disabled', waiting: 2 });
  expect(await readdir(join(folder, 'streams'))).toEqual([]);
  expect(await readdir(join(folder, 'pipelines'))).toEqual([]);
  await append(shared, paused.input, 3);
  const letters = await client(shared).must('GET', `/v1/~/pipelines/${refused.pipeline}/dead-letters`);
  expect(letters.dead_letters).toMatchObject([{ record: { n: 1 } }]);
  await expect(world.start({ isShared: false })).rejects.toThrow('ENGINE=shared here');
  await shared.engine?.close();

  const again = await world.start({ folder, isShared: false });
  await until(client(again), refused.pipeline, { dead_letters: { waiting: 1 } });
  await until(client(again), paused.pipeline, { waiting: 3 });
  expect((await world.pool().query('select from bus_batches')).rowCount).toBe(0);
  await client(again).must('PATCH', `/v2/~/pipelines/${paused.pipeline}`, { enabled: true });
  await until(client(again), paused.pipeline, { egress: { records: 3 }, waiting: 0 });
  await again.engine?.close();
});

it('can be exported after a single engine has taken over, also without the folders of the others', async () => {
  const world = await openWorld();
  const data = await mkdtemp(join(tmpdir(), 'export-'));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  const shared = await world.start();
  const client = clientOf({ service: shared }, await shared.tenant('Northwind'));
  const { pipeline, input } = await client.build({ type: 'dev-null' });
  await expect.poll(() => append(shared, input, 1)).toMatchObject({ stored: true });
  await until(client, pipeline, { egress: { records: 1 } });
  await shared.engine?.close();
  const alone = await world.start({ folder: join(data, 'engine'), isShared: false });
  await alone.engine?.close();
  const { connectionString } = world.pool().options;
  const env = { DATABASE_URL: String(connectionString), DATA_DIR: data, MASTER_KEY: shared.master };
  const exported = await exportInstallation({ env, file: join(data, 'export.gz'), log: shared.logger });
  expect(exported.rows).toBeGreaterThan(0);
});

it('share buffers in JetStream: each accepts records, and one continues where the other ended', async () => {
  const server = await startJetStream();
  onTestFinished(() => server.close());
  const nats = { url: server.url, prefix: 'test', shards: 2 };
  const world = await openWorld();
  // Left from before NATS was configured.
  const before = await world.start();
  const acme = await before.tenant('Northwind');
  const { pipeline, input } = await clientOf({ service: before }, acme).build({ type: 'dev-null' });
  await clientOf({ service: before }, acme).must('PATCH', `/v2/~/pipelines/${pipeline}`, { enabled: false });
  await expect.poll(() => append(before, input, 0)).toMatchObject({ stored: true });
  await before.engine?.close();

  const [one, two] = [await world.start({ nats }), await world.start({ nats })];
  await expect(world.start()).rejects.toThrow('Set the same NATS_URL');
  const [here, there] = [clientOf({ service: one }, acme), clientOf({ service: two }, acme)];
  for (const n of [1, 2]) for (const service of [one, two]) await append(service, input, n);
  await expect.poll(() => runningIn(one) + runningIn(two)).toBe(1);
  for (const client of [here, there]) await until(client, pipeline, { status: 'Disabled', waiting: 5 });
  await there.must('PATCH', `/v2/~/pipelines/${pipeline}`, { enabled: true });
  for (const client of [here, there]) await until(client, pipeline, { egress: { records: 5 }, waiting: 0 });
  const [owner, other] = runningIn(one) === 1 ? [one, two] : [two, one];
  await owner.engine?.close();
  await expect.poll(() => append(other, input, 3)).toMatchObject({ stored: true });
  // Exactly one more: nothing is delivered again.
  await until(clientOf({ service: other }, acme), pipeline, { status: 'Running', egress: { records: 6 }, waiting: 0 });
  expect((await world.pool().query('select from bus_batches')).rowCount).toBe(0);
});
