import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startMosquitto, type Mosquitto } from '../../../../test/support/brokers/mosquitto.js';
import { collectingSink } from '../../../../test/support/collecting-sink.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, systemClock } from '@connector-frame/engine/connector-api';
import { mqttInput, mqttOutput } from './index.js';
import { PacketSizes } from './packet-sizes.js';

// Against a real Mosquitto of Debian, and its own clients.

let broker: Mosquitto;
beforeAll(async () => {
  broker = await startMosquitto();
});
afterAll(() => broker?.close());

const egress = createEgress({ allow: ['127.0.0.0/8'] });
const signal = () => new AbortController().signal;
const configOf = (settings: object, secrets: Record<string, unknown> = { password: broker.password }) => ({
  settings: { host: '127.0.0.1', port: broker.port, user: broker.user, ...settings },
  secrets,
});

async function start(settings: object, sink = collectingSink()) {
  const input = mqttInput.createInput?.(configOf(settings), { type: typeOf('input:mqtt'), egress, clock: systemClock });
  if (input?.kind !== 'push') throw new Error('MQTT pushes');
  await input.start?.(sink);
  onTestFinished(() => input.close?.());
  return { sink, close: () => input.close?.() };
}

test('a message that was not stored is delivered again, also what came while the input was away', async () => {
  const settings = { topic: 'open/#', client_id: 'pipeline-1', topic_key: 'from' };
  const first = await start(settings);
  await broker.publish('open/a', '{"n":1}');
  await expect.poll(() => first.sink.records).toEqual([{ n: 1, from: 'open/a' }]);
  // Nothing can be stored: the broker must keep this one.
  first.sink.full = Infinity;
  await broker.publish('open/a', '{"n":2}');
  await first.close();
  await broker.publish('open/b', 'not json');
  const second = await start(settings);
  await expect
    .poll(() => second.sink.records)
    .toEqual([
      { n: 2, from: 'open/a' },
      { message: 'not json', from: 'open/b' },
    ]);
  expect(first.sink.records).toHaveLength(1);
});

test('subscribes again after the broker was away', async () => {
  const { sink } = await start({ topic: 'open/news' });
  await broker.restart();
  await expect.poll(() => sink.notes, { timeout: 20_000 }).toContain('connected');
  await broker.publish('open/news', '{"n":3}');
  await expect.poll(() => sink.records).toEqual([{ n: 3, topic: 'open/news' }]);
});

test('a message beyond the limit is not read into memory, and the log says what to do', async () => {
  const { sink } = await start({ topic: 'open/large', max_packet_size: 1_000 });
  await broker.publish('open/large', 'x'.repeat(100_000));
  await expect.poll(() => sink.notes).toContain('too_large');
  expect(sink.records).toEqual([]);
});

test('publishes each record to a topic made of fields, with TLS', async () => {
  const settings = { port: broker.tlsPort, topic: 'open/{{ host }}', tls: { enabled: true, ca_file: broker.ca } };
  const context = { type: typeOf('output:mqtt'), egress, clock: systemClock };
  const output = mqttOutput.createOutput?.(configOf({ ...settings, retain: true }), context);
  onTestFinished(() => output?.close?.());
  await output?.open?.(signal());
  const lines = ['{"host":"a","n":1}', '{"n":2}', '{"host":"#"}', `{"host":"b","n":"${'x'.repeat(20_000)}"}`];
  expect(await output?.write(createBatch('b', lines), signal())).toEqual({
    rejected: [
      { index: 1, reason: 'missing_field' },
      { index: 2, reason: 'invalid_topic' },
      { index: 3, reason: 'too_large' },
    ],
  });
  // Retained, so that it is there for a client that comes later.
  expect(await broker.next('open/a', 1)).toEqual([`open/a ${lines[0]}`]);

  const denied = mqttOutput.createOutput?.(configOf({ topic: 'secret/x' }), context);
  onTestFinished(() => denied?.close?.());
  await expect(denied?.write(createBatch('b', lines), signal())).rejects.toMatchObject({
    code: 'forbidden',
    kind: 'permanent',
  });
});

const outcome = (settings: object, secrets?: Record<string, unknown>) =>
  mqttInput.testConnection?.(configOf({ topic: 'open/#', ...settings }, secrets), { egress, signal: signal() });

test('a connection test signs in and subscribes', async () => {
  expect(await outcome({})).toEqual({ ok: true, summary: 'Signed in and subscribed.' });
  const wrong = await outcome({}, { password: 'canary-wrong' });
  expect(wrong).toMatchObject({ reason: 'invalid_credentials' });
  expect(JSON.stringify(wrong)).not.toContain('canary');
  const tls = { enabled: true };
  expect(await outcome({ port: broker.tlsPort, tls })).toMatchObject({ reason: 'tls_failed' });
  const unchecked = { ...tls, verify_certificate: false };
  expect(await outcome({ port: broker.tlsPort, tls: unchecked })).toMatchObject({ ok: true });
  const unusable = outcome({ tls: { ...tls, crt_file: 'no certificate' } }, { key_file: 'no key' });
  expect(await unusable).toMatchObject({ reason: 'invalid_config' });
});

test.each([
  // A PINGRESP, and a packet of 321 bytes in chunks: the lengths of the specification's table 1-1.
  [
    'small packets',
    [
      [0xd0, 0x00],
      [0x30, 0xc1],
      [0x02, ...Array.from({ length: 321 }, () => 0xff)],
      [0xd0, 0],
    ],
    true,
  ],
  ['a packet of 16,384 bytes', [[0x30, 0x80, 0x80, 0x01]], false],
  ['a length of five bytes', [[0x30, 0x80, 0x80, 0x80, 0x80, 0x01]], false],
])('packet sizes: %s', (_name, chunks, fits) => {
  const sizes = new PacketSizes(16_383);
  expect(chunks.every((chunk) => sizes.fits(Uint8Array.from(chunk)))).toBe(fits);
});
