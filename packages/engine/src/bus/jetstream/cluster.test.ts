import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { startJetStreamCluster } from '../../../../../test/support/brokers/jetstream.js';
import { long } from '../../../../../test/support/long.js';
import { someBatch } from '../../testing/bus-contract.js';
import { createJetStreamBus } from './jetstream-bus.js';
import { createMemoryRegistry } from './registry.js';

/** Kills of the leader. */
const KILLS = 10;

test.runIf(long)(
  'three servers whose leader is killed: nothing acknowledged is lost, and the order is kept',
  async () => {
    const servers = await startJetStreamCluster(3);
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.close()))));
    const url = servers.map((server) => server.url).join(',');
    const connection = await connect({
      servers: servers.map(({ port }) => `127.0.0.1:${port}`),
      maxReconnectAttempts: -1,
    });
    onTestFinished(() => connection.close());
    const warnings: string[] = [];
    const open = () =>
      createJetStreamBus({
        nats: { url },
        registry: createMemoryRegistry(),
        owner: 'test',
        prefix: 'cluster',
        shards: 1,
        purgeBytes: 100_000,
        onWarning: (message) => warnings.push(message),
      });
    // Until the servers have found each other.
    let opened: Awaited<ReturnType<typeof open>> | undefined;
    await expect.poll(async () => (opened = await open().catch(() => undefined)), { timeout: 60_000 }).toBeDefined();
    const bus = opened ?? (await open());
    onTestFinished(() => bus.close());
    await bus.declare('s', ['a']);
    const infoOf = async () => (await jetstreamManager(connection, { timeout: 2_000 })).streams.info('cluster-0');
    const leader = async (): Promise<number> => {
      const { cluster, config } = await infoOf();
      expect(config.num_replicas).toBe(3);
      return Number(cluster?.leader?.slice(1));
    };
    const hasAllReplicas = async (): Promise<boolean> => {
      const { replicas = [] } = (await infoOf()).cluster ?? {};
      return replicas.length === 2 && replicas.every(({ current, offline }) => current && !offline);
    };

    const stored: string[] = [];
    const got: string[] = [];
    const stop = new AbortController();
    const ending = new AbortController();
    const reading = (async () => {
      for await (const delivery of bus.consume('s', 'a', stop.signal)) {
        got.push(delivery.batch.id);
        await delivery.ack();
      }
    })();
    const publishing = (async () => {
      while (!ending.signal.aborted) {
        const batch = someBatch(5, 2_000);
        // A batch without a response is published again, as a sender does.
        while (!ending.signal.aborted) {
          const published = await bus.publish('s', batch).catch(() => undefined);
          if (!published?.stored) continue;
          stored.push(batch.id);
          break;
        }
      }
    })();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = stored.length;
      await expect.poll(() => stored.length, { timeout: 60_000 }).toBeGreaterThan(before + 50);
      let index = NaN;
      await expect.poll(async () => (index = await leader().catch(() => NaN)), { timeout: 60_000 }).toBeLessThan(3);
      await servers[index]?.kill();
      await expect.poll(() => stored.length, { timeout: 60_000 }).toBeGreaterThan(before + 100);
      await servers[index]?.start();
      await expect.poll(() => hasAllReplicas().catch(() => false), { timeout: 60_000 }).toBe(true);
    }
    ending.abort();
    await publishing;
    await expect.poll(() => got.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(stored.length);
    stop.abort();
    await reading;
    // Each batch once, in the order in which they were published one after the other.
    expect(got.slice(0, stored.length)).toEqual(stored);
    expect((await bus.stats('s')).lost).toBeUndefined();
    expect(warnings.filter((warning) => warning.includes('replicas'))).toEqual([]);
  },
  1_200_000,
);
