import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { startKafkaBroker, type KafkaBroker, type KafkaBrokerOptions } from '../../../../test/support/kafka-broker.js';
import { kcat, startKafka, type Kafka } from '../../../../test/support/kafka.js';
import { createEgress } from '@connector-frame/engine/egress';
import {
  type Batch,
  createBatch,
  type Output,
  systemClock,
  type WriteResult,
} from '@connector-frame/engine/connector-api';
import { createKafkaOutput } from './output.js';

const { signal } = new AbortController();
const certificate = createCertificate('127.0.0.1');
const open: { close?(): Promise<unknown> }[] = [];
let cluster: Kafka;
beforeAll(async () => {
  cluster = await startKafka(3);
  open.push(cluster);
});
afterAll(async () => {
  for (const each of open.toReversed()) await each.close?.();
});

function create(
  settings: Record<string, unknown>,
  secrets: Record<string, unknown> = {},
  allow = ['127.0.0.0/8'],
): Output {
  const output = createKafkaOutput(
    {
      settings: { bootstrap_servers: cluster.brokers, security_protocol: 'NONE', topic: 't', retries: 0, ...settings },
      secrets,
    },
    { type: typeOf('output:kafka'), egress: createEgress({ allow }), clock: systemClock },
  );
  open.push(output);
  return output;
}

async function broker(options: Partial<KafkaBrokerOptions> = {}): Promise<KafkaBroker & { address: string }> {
  const started = await startKafkaBroker({ topics: { t: 3 }, ...options });
  open.push(started);
  return Object.assign(started, { address: `127.0.0.1:${started.port}` });
}

const batch = (records: readonly unknown[], id = 'b'): Batch =>
  createBatch(
    id,
    records.map((each) => JSON.stringify(each)),
  );
const numbered = (count: number): { n: number; user: { id: string } }[] =>
  Array.from({ length: count }, (_each, n) => ({ n, user: { id: `user-${n % 5}` } }));

async function write(output: Output, records: readonly unknown[], id?: string): Promise<WriteResult> {
  await output.open?.(signal);
  return output.write(batch(records, id), signal);
}

/** Reads a topic with librdkafka: partition, key, value, headers. */
async function consume(topic: string): Promise<{ partition: number; key: string; value: string; headers: string }[]> {
  const lines = await kcat(cluster.brokers, ['-C', '-t', topic, '-e', '-q', '-f', '%p\t%k\t%s\t%h\n']);
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [partition, key = '', value = '', headers = ''] = line.split('\t');
      return { partition: Number(partition), key, value, headers };
    });
}

test.each(['none', 'gzip', 'snappy', 'lz4'])(
  'librdkafka reads 500 records with compression %s',
  async (compression_type) => {
    const topic = `out-${compression_type}`;
    const headers = [{ key: 'source', value: 'connector-frame' }];
    const output = create({ topic, compression_type, headers, message_key_field: 'user.id' });
    expect(await write(output, numbered(500))).toEqual({});
    const messages = await consume(topic);
    expect(messages.map(({ value }) => value).toSorted()).toEqual(
      numbered(500)
        .map((each) => JSON.stringify(each))
        .toSorted(),
    );
    expect(new Set(messages.map(({ headers: found }) => found))).toEqual(new Set(['source=connector-frame']));
    // Each key maps to one partition.
    expect(new Set(messages.map(({ key, partition }) => `${key} ${partition}`)).size).toBe(5);
  },
);

test('sends a batch without keys to one partition, and a retry to the same one', async () => {
  const output = create({ topic: 'sticky' });
  await write(output, numbered(20), 'first');
  await write(output, numbered(20), 'first');
  for (let turn = 0; turn < 8; turn += 1) await write(output, [{ turn }], `other-${turn}`);
  const messages = await consume('sticky');
  expect(new Set(messages.filter(({ value }) => value.startsWith('{"n"')).map(({ partition }) => partition)).size).toBe(
    1,
  );
  expect(new Set(messages.map(({ partition }) => partition)).size).toBeGreaterThan(1);
});

test('sends one array of records per key', async () => {
  await write(create({ topic: 'arrays', payload_format: 'json_array', message_key_field: 'user.id' }), numbered(10));
  const messages = await consume('arrays');
  expect(messages).toHaveLength(5);
  for (const { key, value } of messages) {
    const records: unknown = JSON.parse(value);
    expect(records).toEqual(numbered(10).filter(({ user }) => user.id === key));
  }
});

test.each(['individual', 'json_array'])(
  'rejects only the records that are too large for the topic: %s',
  async (payload_format) => {
    const server = await broker({
      error: (api, _topic, records) => (api === 'Produce' && records.length > 3_000 ? 10 : 0),
    });
    const records = numbered(40).map((each) => ({ ...each, note: [7, 30].includes(each.n) ? 'x'.repeat(4_000) : '' }));
    const output = create({ bootstrap_servers: server.address, payload_format, message_key_field: 'user.id' });
    expect(await write(output, records)).toEqual({
      rejected: expect.toSatisfy((rejected: { index: number }[]) => {
        expect(rejected.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([7, 30]);
        return true;
      }) as unknown,
    });
    const text = server.taken.map((each) => each.records.toString('latin1')).join();
    for (const { n, note } of records) expect(text.includes(`"n":${n},`), String(n)).toBe(note === '');
  },
);

test.each([
  ['PLAIN', 'NONE'],
  ['PLAIN', 'SSL'],
  ['SCRAM-SHA-256', 'SSL'],
  ['SCRAM-SHA-512', 'SSL'],
])('signs in with %s over %s', async (sasl_mechanism, kind) => {
  const server = await broker({
    users: { 'log,writer': 'right=password' },
    ...(kind === 'SSL' && { tls: certificate }),
  });
  const settings = {
    bootstrap_servers: server.address,
    security_protocol: kind === 'SSL' ? 'SASL_SSL' : 'SASL_PLAINTEXT',
    sasl_mechanism,
    username: 'log,writer',
  };
  const ca = { ca_certificate: certificate.cert };
  if (sasl_mechanism === 'PLAIN') {
    expect(await write(create(settings, { password: 'right=password', ...ca }), numbered(3))).toEqual({});
    expect(server.taken).toHaveLength(1);
  }
  await expect(write(create(settings, { password: 'wrong', ...ca }), numbered(3))).rejects.toMatchObject({
    code: 'invalid_credentials',
    kind: 'permanent',
  });
  if (kind === 'SSL')
    await expect(write(create(settings, { password: 'right=password' }), [])).rejects.toMatchObject({
      code: 'tls_failed',
    });
});

test.each(['SCRAM-SHA-256', 'SCRAM-SHA-512'])('completes the %s exchange', async (sasl_mechanism) => {
  const server = await broker({ users: { writer: 'right=password' } });
  const settings = {
    bootstrap_servers: server.address,
    security_protocol: 'SASL_PLAINTEXT',
    sasl_mechanism,
    username: 'writer',
  };
  expect(await write(create(settings, { password: 'right=password' }), numbered(3))).toEqual({});
});

test('checks advertised addresses with the egress guard', async () => {
  const inside = await broker();
  const outside = await broker({ advertise: { host: '127.0.0.2', port: inside.port } });
  const output = create({ bootstrap_servers: outside.address }, {}, ['127.0.0.1/32']);
  await expect(write(output, numbered(1))).rejects.toMatchObject({ code: 'egress_refused', kind: 'permanent' });
  expect(inside.connections()).toBe(0);
  const closed = create({ bootstrap_servers: outside.address }, {}, []);
  const before = outside.connections();
  await expect(write(closed, numbered(1))).rejects.toMatchObject({ code: 'egress_refused', kind: 'permanent' });
  expect(outside.connections()).toBe(before);
});

test.each([
  [3, 'not_found', 'permanent'],
  [29, 'forbidden', 'permanent'],
  [19, 'upstream_error', 'retry'],
  [6, 'upstream_error', 'retry'],
  [7, 'timeout', 'retry'],
  [76, 'rejected', 'permanent'],
])('protocol error %i is %s, %s', async (error, code, kind) => {
  let failing = true;
  const server = await broker({ error: (api) => (api === 'Produce' && failing ? error : 0) });
  const output = create({ bootstrap_servers: server.address });
  await expect(write(output, numbered(2))).rejects.toMatchObject({ code, kind });
  failing = false;
  expect(await output.write(batch(numbered(2)), signal)).toEqual({});
});

test('falls back to a producer without idempotence', async () => {
  const server = await broker({ error: (api) => (api === 'InitProducerId' ? 31 : 0) });
  expect(await write(create({ bootstrap_servers: server.address }), numbered(2))).toEqual({});
  expect(server.taken).toHaveLength(1);
});

test('reports a missing topic, an unreachable broker, and another kind of server', async () => {
  const server = await broker();
  await expect(write(create({ bootstrap_servers: server.address, topic: 'absent' }), [])).rejects.toMatchObject({
    code: 'not_found',
    kind: 'permanent',
  });
  await expect(write(create({ bootstrap_servers: '127.0.0.1:1' }), [])).rejects.toMatchObject({
    code: 'connect_failed',
    kind: 'retry',
  });
});

test("no error quotes a secret or a record of the broker's text", async () => {
  const canaries = ['canary-password', 'canary-record', 'canary-upstream'];
  const errors: unknown[] = [];
  for (const code of [0, 3, 29, 87, -1, 999]) {
    const server = await broker({ says: canaries.join(), users: { u: 'other' }, error: () => code });
    const plain = await broker({ says: canaries.join(), error: (api) => (api === 'Produce' ? code : 0) });
    const signed = { bootstrap_servers: server.address, security_protocol: 'SASL_PLAINTEXT', username: 'u' };
    const secrets = { password: 'canary-password' };
    errors.push(await write(create(signed, secrets), [{ note: canaries[1] }]).catch((each: unknown) => each));
    errors.push(
      await write(create({ bootstrap_servers: plain.address }), [{ note: canaries[1] }]).catch((each: unknown) => each),
    );
  }
  const said = inspect(errors, { depth: 9, showHidden: true, maxStringLength: Infinity });
  for (const canary of canaries) expect(said).not.toContain(canary);
});

test('a hanging write ends soon after an abort', async () => {
  const server = await broker({ error: () => 0 });
  const output = create({ bootstrap_servers: server.address });
  await output.open?.(signal);
  await server.close();
  const stop = new AbortController();
  const writing = output.write(batch(numbered(1)), stop.signal).catch((error: unknown) => error);
  stop.abort();
  expect(await writing).toBeInstanceOf(Error);
});

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;

test('leaves no timer after an abort while a broker hangs', async () => {
  const hanging = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  open.push({ close: () => new Promise((resolve) => hanging.close(resolve)) });
  await once(hanging, 'listening');
  const address = hanging.address();
  const before = timers();
  const output = create({ bootstrap_servers: `127.0.0.1:${typeof address === 'object' ? address?.port : ''}` });
  const stop = new AbortController();
  const writing = (output.open?.(stop.signal) ?? Promise.resolve()).catch((error: unknown) => error);
  await once(hanging, 'connection');
  stop.abort();
  await writing;
  await output.close?.();
  // Within 5 s, sooner than the client would give up on its own, if it ever does.
  await expect.poll(timers).toBeLessThanOrEqual(before);
});
