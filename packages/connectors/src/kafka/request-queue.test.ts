import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { startKafkaBroker, type KafkaBrokerOptions } from '../../../../test/support/kafka-broker.js';
import { createEgress } from '@connector-frame/engine/egress';
import { KafkaConnection } from './connection.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0)) await close();
});

async function connect(options: Partial<KafkaBrokerOptions> = {}): Promise<KafkaConnection> {
  const broker = await startKafkaBroker({ topics: { t: 1 }, ...options });
  const connection = new KafkaConnection(
    { brokers: [`127.0.0.1:${broker.port}`] },
    createEgress({ allow: ['127.0.0.0/8'] }),
    { requestTimeout: 5_000, retries: 0 },
  );
  closing.push(
    () => connection.close(),
    () => broker.close(),
  );
  return connection;
}

test('an idle connection sets no timers', async () => {
  const connection = await connect();
  const admin = connection.kafka.admin();
  await admin.connect();
  await admin.fetchTopicMetadata({ topics: ['t'] });
  const timers = vi.spyOn(globalThis, 'setTimeout');
  await wait(200);
  expect(timers).not.toHaveBeenCalled();
  await admin.disconnect();
});

test('requests that wait for others are all sent', async () => {
  const connection = await connect();
  const producer = connection.kafka.producer({ maxInFlightRequests: 1, allowAutoTopicCreation: false });
  await producer.connect();
  const sent = Array.from({ length: 20 }, (_each, n) =>
    producer.send({ topic: 't', acks: 1, messages: [{ value: String(n) }] }),
  );
  expect(await Promise.all(sent)).toHaveLength(20);
  await producer.disconnect();
});

interface Queue {
  maybeThrottle(ms: number): void;
  push(request: { entry: { correlationId: number }; expectResponse: boolean; sendRequest: () => void }): void;
  destroy(): void;
}

test('a request of a throttled connection is sent once the broker allows it', async () => {
  const load: (id: string) => new (options: unknown) => Queue = createRequire(import.meta.url);
  const RequestQueue = load('kafkajs/src/network/requestQueue/index.js');
  const logger = { debug: () => undefined };
  const queue = new RequestQueue({ maxInFlightRequests: null, clientId: '', broker: '', logger });
  const sendRequest = vi.fn();
  queue.maybeThrottle(50);
  queue.push({ entry: { correlationId: 1 }, expectResponse: true, sendRequest });
  expect(sendRequest).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(sendRequest).toHaveBeenCalledTimes(1));
  queue.destroy();
});
