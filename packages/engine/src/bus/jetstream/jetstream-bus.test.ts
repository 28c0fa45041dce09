import { afterAll, beforeAll } from 'vitest';
import { startJetStream, type JetStreamServer } from '../../../../../test/support/brokers/jetstream.js';
import { runBusContract } from '../../testing/bus-contract.js';
import { createJetStreamBus } from './jetstream-bus.js';
import { createMemoryRegistry } from './registry.js';

let server: JetStreamServer;
let opened = 0;

beforeAll(async () => {
  server = await startJetStream();
});
afterAll(() => server.close());

runBusContract('JetStream', async (limits) => {
  const registry = createMemoryRegistry();
  opened += 1;
  const prefix = `bus-${opened}`;
  const make = () =>
    createJetStreamBus({
      nats: { url: server.url },
      registry,
      owner: 'test',
      prefix,
      shards: 2,
      ...limits,
    });
  let bus = await make();
  return {
    bus,
    reopen: async () => {
      await bus.close();
      bus = await make();
      return bus;
    },
    close: () => bus.close(),
  };
});
