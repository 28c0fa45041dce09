import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startRabbit, type RabbitServer } from '../../../../test/support/brokers/rabbitmq.js';
import { collectingSink } from '../../../../test/support/collecting-sink.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { long } from '../../../../test/support/long.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, systemClock } from '@connector-frame/engine/connector-api';
import { rabbitInput, rabbitOutput } from './index.js';

// Against a real RabbitMQ server of Debian, with `amqp-tools` on the other side. The server takes ten
// seconds to start.
const signal = () => new AbortController().signal;

describe.runIf(long)('a RabbitMQ server', () => {
  let server: RabbitServer;
  beforeAll(async () => {
    server = await startRabbit();
    for (const queue of ['events', 'out']) await server.tool('amqp-declare-queue', '-q', queue, '-d');
  }, 120_000);
  afterAll(() => server?.close());

  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const configOf = (settings: object, user = 'guest:guest', vhost = '%2f') => ({
    settings: { ...settings },
    secrets: { connection_string: `amqp://${user}@127.0.0.1:${server.port}/${vhost}` },
  });
  const publish = (body: string) => server.tool('amqp-publish', '-r', 'events', '-p', '-b', body);
  const context = { egress, clock: systemClock };

  async function start(settings: object) {
    const input = rabbitInput.createInput?.(configOf(settings), { type: typeOf('input:rabbitmq'), ...context });
    if (input?.kind !== 'push') throw new Error('RabbitMQ pushes');
    const sink = collectingSink();
    await input.start?.(sink);
    onTestFinished(() => input.close?.());
    return { sink, close: () => input.close?.() };
  }

  test('a message is gone once it is stored, and comes back if it was not; the input survives a restart', async () => {
    const first = await start({ queue: 'events', prefetch_count: 10, exchange_key: '' });
    await publish('{"n":1}');
    await expect.poll(() => first.sink.records).toEqual([{ n: 1, routing: 'events', offset: 1 }]);
    first.sink.full = Infinity;
    await publish('{"n":2}');
    await publish('not json');
    await first.close();
    const second = await start({ queue: 'events' });
    await expect.poll(() => second.sink.records).toMatchObject([{ n: 2, exchange: '' }, { message: 'not json' }]);
    await server.restart();
    await expect.poll(() => second.sink.notes, { timeout: 60_000 }).toContain('connected');
    await publish('{"n":3}');
    await expect.poll(() => second.sink.records.at(-1)).toMatchObject({ n: 3 });
    await second.close();
    await expect(server.tool('amqp-get', '-q', 'events')).rejects.toBeDefined();
  }, 120_000);

  test('publishes to an exchange, and reports what no queue takes', async () => {
    const settings = { exchange: 'amq.direct', routing_key: 'to.{{ host }}' };
    const output = rabbitOutput.createOutput?.(configOf(settings), { type: typeOf('output:rabbitmq'), ...context });
    onTestFinished(() => output?.close?.());
    await output?.open?.(signal());
    const lines = ['{"host":"a"}', '{"n":1}'];
    expect(await output?.write(createBatch('b', lines), signal())).toEqual({
      rejected: [
        { index: 1, reason: 'missing_field' },
        { index: 0, reason: 'no_queue_for_routing_key' },
      ],
    });
    const missing = rabbitOutput.createOutput?.(configOf({ exchange: 'nothing', routing_key: 'x' }), {
      type: typeOf('output:rabbitmq'),
      ...context,
    });
    onTestFinished(() => missing?.close?.());
    await expect(missing?.open?.(signal())).rejects.toMatchObject({ code: 'not_found', kind: 'permanent' });
  });

  test('what is published reaches a queue', async () => {
    const settings = { exchange: '', routing_key: 'out', properties: { priority: '{{ p }}', expiration_ms: 60_000 } };
    const output = rabbitOutput.createOutput?.(configOf(settings), { type: typeOf('output:rabbitmq'), ...context });
    onTestFinished(() => output?.close?.());
    const lines = Array.from({ length: 500 }, (_, p) => JSON.stringify({ p }));
    const result = await output?.write(createBatch('b', lines), signal());
    expect(result?.rejected).toHaveLength(244);
    expect(await server.tool('amqp-get', '-q', 'out')).toBe('{"p":0}');
    expect(await server.tool('amqp-get', '-q', 'out')).toBe('{"p":1}');
  });

  const outcome = (queue: string, user?: string, vhost?: string) =>
    rabbitInput.testConnection?.(configOf({ queue }, user, vhost), { egress, signal: signal() });

  test('a connection test signs in and looks for the queue', async () => {
    expect(await outcome('events')).toEqual({ ok: true, summary: 'Signed in, and found the queue.' });
    expect(await outcome('nothing')).toMatchObject({ reason: 'not_found', issues: [{ path: '/settings/queue' }] });
    const wrong = await outcome('events', 'guest:canary-wrong');
    expect(wrong).toMatchObject({ reason: 'invalid_credentials' });
    expect(JSON.stringify(wrong)).not.toContain('canary');
    expect(await outcome('events', undefined, 'nowhere')).toMatchObject({ ok: false });
  });
});
