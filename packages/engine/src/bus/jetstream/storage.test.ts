import { cp, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startJetStream, type JetStreamServer } from '../../../../../test/support/brokers/jetstream.js';
import { createBatch, type Batch } from '../../connector-api/batch.js';
import { someBatch, take } from '../../testing/bus-contract.js';
import type { Bus } from '../bus.js';
import { createJetStreamBus, type JetStreamBusOptions } from './jetstream-bus.js';
import { createMemoryRegistry, FencedError } from './registry.js';

let server: JetStreamServer;
/** A client beside the bus, which shows what the server stores. */
let connection: NatsConnection;
let manager: JetStreamManager;
let opened = 0;

beforeAll(async () => {
  server = await startJetStream();
  connection = await connect({ servers: `127.0.0.1:${server.port}` });
  manager = await jetstreamManager(connection);
});
afterAll(async () => {
  await connection.close();
  await server.close();
});

/** Opens a bus with its own JetStream stream. `again` opens another one on the same stream. */
async function start(options: Partial<JetStreamBusOptions> = {}) {
  opened += 1;
  const prefix = `own-${opened}`;
  const registry = createMemoryRegistry();
  const open = async () => {
    const bus = await createJetStreamBus({
      nats: { url: server.url },
      registry,
      owner: 'test',
      prefix,
      shards: 1,
      idleMs: 60_000,
      ...options,
    });
    onTestFinished(() => bus.close());
    return bus;
  };
  const stored = async () => (await manager.streams.info(`${prefix}-0`)).state;
  return { bus: await open(), again: open, registry, name: `${prefix}-0`, stored };
}

const openAt = (url: string) =>
  createJetStreamBus({ nats: { url }, registry: createMemoryRegistry(), owner: 'test', shards: 1 });

async function fill(bus: Bus, count: number, bytes = 10_000): Promise<Batch[]> {
  const batches = Array.from({ length: count }, () => someBatch(1, bytes));
  for (const batch of batches) expect(await bus.publish('s', batch)).toMatchObject({ stored: true });
  return batches;
}

const ids = (deliveries: readonly { batch: Batch }[]): string[] => deliveries.map(({ batch }) => batch.id);

describe('what JetStream stores', () => {
  test('is deleted below the slowest position, many messages at a time', async () => {
    const { bus, stored } = await start({ purgeBytes: 100_000 });
    await bus.declare('s', ['fast', 'slow']);
    const sent = await fill(bus, 60);
    await take(bus, 'fast', 60);
    // The slow consumer needs all of them.
    expect((await stored()).bytes).toBeGreaterThan(600_000);
    await take(bus, 'slow', 40);
    await expect.poll(async () => (await stored()).bytes).toBeLessThan(350_000);
    expect(ids(await take(bus, 'slow', 20))).toEqual(sent.slice(40).map(({ id }) => id));
  });

  test('is the ids of recent batches when a stream is idle, which another process then knows', async () => {
    const { bus, again, stored } = await start({ idleMs: 50 });
    await bus.declare('s', ['a']);
    const [first] = await fill(bus, 20);
    await take(bus, 'a', 20);
    await expect.poll(async () => (await stored()).messages).toBe(1);
    expect((await stored()).bytes).toBeLessThan(2_000);
    const other = await again();
    expect(await other.publish('s', first ?? someBatch())).toEqual({
      stored: true,
      sequence: 1,
      repeated: true,
    });
    const [late] = await fill(other, 1);
    expect(ids(await take(bus, 'a', 1))).toEqual([late?.id]);
  });

  test('does not grow with what a dead output does not receive', async () => {
    const { bus, stored } = await start({ purgeBytes: 100_000 });
    await bus.declare('s', ['healthy', { name: 'dead', policy: 'drop_newest', maxBytes: 100_000 }]);
    for (let n = 0; n < 100; n += 1) {
      await fill(bus, 1);
      await take(bus, 'healthy', 1);
    }
    // Its backlog, what was stored since the last checkpoint, and the checkpoints.
    await expect.poll(async () => (await stored()).bytes).toBeLessThan(350_000);
    const { dead } = (await bus.stats('s')).consumers;
    expect(dead?.batches).toBeLessThan(10);
    expect((dead?.batches ?? 0) + (dead?.dropped.batches ?? 0)).toBe(100);
    expect(await take(bus, 'dead', dead?.batches ?? 0)).toHaveLength(dead?.batches ?? 0);
    expect((await bus.stats('s')).lost).toBeUndefined();
  });

  test('detects a repeat after the duplicate window of the server, and in another process', async () => {
    const { bus, again, name } = await start();
    const { config } = await manager.streams.info(name);
    await manager.streams.update(name, { ...config, duplicate_window: 100_000_000 });
    await bus.declare('s', ['a']);
    const sent = Array.from({ length: 1_000 }, () => someBatch());
    await Promise.all(sent.map((batch) => bus.publish('s', batch)));
    const [first = someBatch()] = sent;
    await sleep(300);
    expect(await bus.publish('s', first ?? someBatch())).toMatchObject({
      repeated: true,
      sequence: 1,
    });
    const other = await again();
    expect(await other.publish('s', first ?? someBatch())).toMatchObject({
      repeated: true,
      sequence: 1,
    });
    expect((await bus.stats('s')).batches).toBe(1_000);
  });

  test('belongs to one database', async () => {
    const { again, bus } = await start();
    await expect(again().then(() => 'open')).resolves.toBe('open');
    const other = await start({ owner: 'other' });
    const prefix = other.name.slice(0, -2);
    const wrong = createJetStreamBus({
      nats: { url: server.url },
      registry: createMemoryRegistry(),
      owner: 'test',
      prefix,
    });
    await expect(wrong).rejects.toThrow('belongs to another database');
    await bus.close();
  });

  test('that is deleted by someone else is reported as lost, and new batches are delivered', async () => {
    const { bus, name } = await start();
    await bus.declare('s', ['a']);
    const sent = await fill(bus, 5);
    expect(ids(await take(bus, 'a', 2))).toEqual(sent.slice(0, 2).map(({ id }) => id));
    await manager.streams.purge(name);
    const [late] = await fill(bus, 1);
    expect(ids(await take(bus, 'a', 1))).toEqual([late?.id]);
    expect(await bus.stats('s')).toMatchObject({ batches: 0, lost: { records: 3 } });
  });
});

test('that has lost its last messages, as after a power failure, delivers new ones', async () => {
  const own = await startJetStream();
  onTestFinished(() => own.close());
  const { bus, again } = await start({ nats: { url: own.url } });
  await bus.declare('s', ['a', 'slow']);
  await fill(bus, 5);
  await own.kill();
  await cp(own.store, `${own.store}-copy`, { recursive: true });
  await own.start();
  await expect.poll(() => bus.check(), { timeout: 20_000 }).not.toBe('disconnected');
  await fill(bus, 8);
  await take(bus, 'a', 13);
  await bus.close();
  await own.kill();
  await rm(own.store, { recursive: true });
  await cp(`${own.store}-copy`, own.store, { recursive: true });
  await own.start();

  const restored = await again();
  const sent = await fill(restored, 3);
  expect(ids(await take(restored, 'a', 3))).toEqual(sent.map(({ id }) => id));
  expect(ids(await take(restored, 'slow', 8)).slice(5)).toEqual(sent.map(({ id }) => id));
  expect(await restored.stats('s')).toMatchObject({ batches: 0, lost: { records: 8 } });
});

describe('several processes', () => {
  test('publish to one stream: each batch is stored once, budgets and positions are shared', async () => {
    const { bus, again } = await start();
    await bus.declare('s', [{ name: 'a', maxBytes: 1_000_000 }]);
    const others = [await again(), await again()];
    const batches = Array.from({ length: 60 }, () => someBatch(1, 10_000));
    // Every batch is published twice, by different processes.
    const results = await Promise.all(
      batches.flatMap((batch, n) =>
        [n % 3, (n + 1) % 3].map(async (each) => ([bus, ...others][each] ?? bus).publish('s', batch)),
      ),
    );
    expect(results.every(({ stored }) => stored)).toBe(true);
    expect(results.filter((result) => result.stored && !result.repeated)).toHaveLength(60);
    const got = await take(bus, 'a', 60);
    expect(ids(got).sort()).toEqual(batches.map(({ id }) => id).sort());
    expect(got.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));

    const [other] = others;
    // Waits until the acknowledgments of the first process are stored.
    let count = 0;
    while ((await other?.publish('s', someBatch(1, 10_000), { waitMs: 5_000 }))?.stored) count += 1;
    expect(count).toBe(99);
    await expect.poll(async () => (await bus.stats('s')).batches).toBe(99);
    const waiting = other?.publish('s', someBatch(1, 10_000), { waitMs: 20_000 });
    await take(bus, 'a', 99);
    expect(await waiting).toMatchObject({ stored: true });
  });

  test('a waiting reader receives what another process has published', async () => {
    const { bus, again } = await start();
    await bus.declare('s', ['a']);
    const waiting = take(bus, 'a', 3);
    const sent = await fill(await again(), 3);
    expect(ids(await waiting)).toEqual(sent.map(({ id }) => id));
  });

  test('a process that was replaced stops reading', async () => {
    const registry = createMemoryRegistry();
    let isFenced = false;
    const fenced = {
      ...registry,
      savePosition: (...position: Parameters<typeof registry.savePosition>) =>
        isFenced ? Promise.reject(new FencedError('Replaced.')) : registry.savePosition(...position),
    };
    const { bus } = await start({ registry: fenced });
    await bus.declare('s', ['a']);
    await fill(bus, 2);
    await take(bus, 'a', 1, false);
    isFenced = true;
    await expect(take(bus, 'a', 2)).rejects.toMatchObject({ code: 'closed' });
  });

  test('a registry that is away delays positions, not deliveries', async () => {
    const registry = createMemoryRegistry();
    let isAway = false;
    const flaky = {
      ...registry,
      savePosition: (...position: Parameters<typeof registry.savePosition>) =>
        isAway ? Promise.reject(new Error('The database is away.')) : registry.savePosition(...position),
    };
    const { bus } = await start({ registry: flaky });
    await bus.declare('s', ['a']);
    await fill(bus, 3);
    await take(bus, 'a', 1);
    isAway = true;
    await take(bus, 'a', 2);
    expect((await bus.stats('s')).batches).toBe(0);
    expect((await registry.read('s'))?.consumers[0]?.position?.number).toBe(1);
    isAway = false;
    await expect
      .poll(async () => (await registry.read('s'))?.consumers[0]?.position?.number, {
        timeout: 5_000,
      })
      .toBe(3);
  });
});

describe('limits of the server', () => {
  test('a batch above max_payload is refused with what to change', async () => {
    const { bus } = await start();
    await bus.declare('s', ['a']);
    const big = createBatch('big', [JSON.stringify({ text: 'x'.repeat(1_100_000) })]);
    await expect(bus.publish('s', big)).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringContaining('max_payload'),
    });
    expect(await bus.publish('s', someBatch(1, 900_000))).toMatchObject({ stored: true });
    expect((await take(bus, 'a', 1))[0]?.batch.bytes).toBeGreaterThan(900_000);
  });

  test('a server with a small max_payload or without JetStream is refused', async () => {
    const small = await startJetStream({ config: 'max_payload: 100000' });
    onTestFinished(() => small.close());
    await expect(openAt(small.url)).rejects.toThrow('set max_payload to 1MB');
    await small.kill();
    await expect(openAt(small.url)).rejects.toThrow(`Could not connect to NATS at 127.0.0.1:${small.port}`);
  });

  test('storage that is used up rejects batches until some are acknowledged', async () => {
    const full = await startJetStream({ storage: 'max_file_store: 2MB' });
    onTestFinished(() => full.close());
    const { bus } = await start({ nats: { url: full.url }, purgeBytes: 100_000 });
    await bus.declare('s', ['a']);
    const stored: Batch[] = [];
    for (let n = 0; n < 60; n += 1) {
      const batch = someBatch(1, 100_000);
      if ((await bus.publish('s', batch)).stored) stored.push(batch);
    }
    expect(stored.length).toBeGreaterThan(10);
    expect(stored.length).toBeLessThan(25);
    expect(await bus.publish('s', someBatch(1, 100_000))).toEqual({
      stored: false,
      reason: 'no_space',
    });
    expect(await bus.stats('s')).toMatchObject({ noSpace: true });
    expect(bus.check()).toBe('storage full');
    expect(ids(await take(bus, 'a', stored.length))).toEqual(stored.map(({ id }) => id));
    expect(await bus.publish('s', someBatch(1, 100_000), { waitMs: 20_000 })).toMatchObject({
      stored: true,
    });
    expect(await bus.stats('s')).toMatchObject({ noSpace: false });
    expect(bus.check()).toBe('ok');
  });

  test('credentials are used, and wrong ones are said to be wrong', async () => {
    const locked = await startJetStream({
      config: 'authorization { user: "u@x", password: "p:w" }',
    });
    onTestFinished(() => locked.close());
    const open = (user: string) => openAt(`nats://${user}@127.0.0.1:${locked.port}`);
    const bus = await open('u%40x:p%3Aw');
    expect(bus.check()).toBe('ok');
    await bus.close();
    await expect(open('u%40x:canary')).rejects.toThrow('It does not accept the credentials.');
    await expect(open('u%40x:canary')).rejects.not.toThrow('canary');
  });
});
