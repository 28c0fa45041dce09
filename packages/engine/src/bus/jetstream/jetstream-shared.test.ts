import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startJetStream, type JetStreamServer } from '../../../../../test/support/brokers/jetstream.js';
import { someBatch, take } from '../../testing/bus-contract.js';
import { createJetStreamBus } from './jetstream-bus.js';
import { createMemoryRegistry, FencedError, type StreamRegistry } from './registry.js';

/** Buses of two processes, whose readers change. */

let server: JetStreamServer;
let opened = 0;
beforeAll(async () => {
  server = await startJetStream();
});
afterAll(() => server.close());

async function openBuses(registries: readonly [StreamRegistry, StreamRegistry]) {
  opened += 1;
  const make = async (registry: StreamRegistry) => {
    const bus = await createJetStreamBus({
      nats: { url: server.url },
      registry,
      owner: 'test',
      prefix: `shared-${opened}`,
      shards: 1,
      isShared: true,
      // Deletes as soon as possible.
      purgeBytes: 1,
    });
    onTestFinished(() => bus.close());
    return bus;
  };
  return [await make(registries[0]), await make(registries[1])] as const;
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

test('all processes publish; a consumer continues in each process where it ended in the other one', async () => {
  const registry = createMemoryRegistry();
  const [one, other] = await openBuses([registry, registry]);
  await one.declare('s', ['a']);
  const sent = numbers(1, 60).map(() => someBatch());
  const results = await Promise.all(sent.map((batch, n) => (n % 2 ? one : other).publish('s', batch)));
  expect(new Set(results.map((each) => each.stored && each.sequence))).toEqual(new Set(numbers(1, 60)));
  // Known as a repeat wherever it was published first.
  for (const bus of [one, other])
    expect(await bus.publish('s', sent[0] ?? someBatch())).toMatchObject({ stored: true, repeated: true });
  const got = [await take(one, 'a', 20), await take(other, 'a', 20), await take(one, 'a', 20)].flat();
  expect(got.map(({ sequence }) => sequence)).toEqual(numbers(1, 60));
  expect(new Set(got.map(({ batch }) => batch.id))).toEqual(new Set(sent.map(({ id }) => id)));
});

test('a process that has lost the lease acknowledges nothing, still publishes, and may read again', async () => {
  const registry = createMemoryRegistry();
  let isFenced = false;
  const [one, other] = await openBuses([
    {
      ...registry,
      savePosition: (...position) =>
        isFenced ? Promise.reject(new FencedError('Another process reads it.')) : registry.savePosition(...position),
    },
    registry,
  ]);
  await one.declare('s', ['a']);
  for (let n = 0; n < 4; n += 1) await one.publish('s', someBatch());
  await take(one, 'a', 1);
  isFenced = true;
  await expect(take(one, 'a', 2)).rejects.toMatchObject({ code: 'closed' });
  expect((await take(other, 'a', 1)).map(({ sequence }) => sequence)).toEqual([2]);
  expect(await one.publish('s', someBatch())).toMatchObject({ stored: true, sequence: 5 });
  isFenced = false;
  expect((await take(one, 'a', 3)).map(({ sequence }) => sequence)).toEqual([3, 4, 5]);
});

test('nothing is deleted before a consumer has it that another process has declared', async () => {
  const registry = createMemoryRegistry();
  const [one, other] = await openBuses([registry, registry]);
  await one.declare('s', ['a']);
  for (let n = 0; n < 3; n += 1) await one.publish('s', someBatch());
  const ending = new AbortController();
  let count = 0;
  for await (const delivery of one.consume('s', 'a', ending.signal)) {
    if (count === 0) {
      await other.declare('s', ['a', 'b']);
      expect((await other.stats('s')).consumers['b']).toMatchObject({ batches: 3 });
    }
    await delivery.ack();
    count += 1;
    if (count === 3) ending.abort();
  }
  // Waits for what it deletes.
  await one.close();
  expect((await take(other, 'b', 3)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  expect((await other.stats('s')).lost).toBeUndefined();
});

test('a stream that one process removes is empty when the other one has removed it, too', async () => {
  const registry = createMemoryRegistry();
  const [one, other] = await openBuses([registry, registry]);
  await one.declare('s', ['a']);
  await other.publish('s', someBatch());
  await one.remove('s');
  // It has not read the removal yet.
  await other.publish('s', someBatch());
  await other.remove('s');
  await one.declare('s', ['a']);
  expect(await one.stats('s')).toMatchObject({ batches: 0 });
});
