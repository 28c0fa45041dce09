import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startNats, type NatsServer } from '../../../../test/support/brokers/nats.js';
import { collectingSink } from '../../../../test/support/collecting-sink.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, systemClock } from '@connector-frame/engine/connector-api';
import { natsInput, natsOutput } from './index.js';

// Against a real nats-server of Debian. The other side speaks the documented protocol over a socket.

/** A key pair of the documentation of NATS: `nk -gen user`. */
const NKEY = 'UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4';
const SEED = 'SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY';

let server: NatsServer;
beforeAll(async () => {
  const permissions = 'permissions: { publish: "open.>", subscribe: "open.>" }';
  server = await startNats(`users = [
    { user: root, password: canary-root },
    { user: logs, password: canary-password, ${permissions} },
    { nkey: ${NKEY}, ${permissions} } ]`);
});
afterAll(() => server?.close());

const egress = createEgress({ allow: ['127.0.0.0/8'] });
const signal = () => new AbortController().signal;
const configOf = (settings: object, secrets: Record<string, unknown> = { password: 'canary-password' }) => ({
  settings: {
    url: `nats://127.0.0.1:${server.port}`,
    connection_name: 'test',
    auth: { strategy: 'user_password', user_password: { user: 'logs' } },
    ...settings,
  },
  secrets,
});

async function start(settings: object) {
  const sink = collectingSink();
  const input = natsInput.createInput?.(configOf(settings), { type: typeOf('input:nats'), egress, clock: systemClock });
  if (input?.kind !== 'push') throw new Error('NATS pushes');
  await input.start?.(sink);
  onTestFinished(() => input.close?.());
  return sink;
}

test('receives what is published, waits while nothing can be stored, and returns after a restart', async () => {
  const sink = await start({ subject: 'open.*', subject_key_field: 'from' });
  sink.full = 1;
  await server.publish('open.a', '{"n":1}');
  await server.publish('open.b', 'not json');
  await expect
    .poll(() => sink.records, { timeout: 20_000 })
    .toEqual([
      { n: 1, from: 'open.a' },
      { message: 'not json', from: 'open.b' },
    ]);
  await server.restart();
  await expect.poll(() => sink.notes, { timeout: 20_000 }).toContain('connected');
  await server.publish('open.a', '{"n":3}');
  await expect.poll(() => sink.records.length).toBe(3);
});

test('the members of a queue group share the messages', async () => {
  const sinks = [await start({ subject: 'open.q', queue: 'g' }), await start({ subject: 'open.q', queue: 'g' })];
  for (let n = 0; n < 20; n += 1) await server.publish('open.q', JSON.stringify({ n }));
  await expect.poll(() => sinks.flatMap(({ records }) => records)).toHaveLength(20);
});

test('publishes each record to a subject made of fields', async () => {
  const context = { type: typeOf('output:nats'), egress, clock: systemClock };
  const output = natsOutput.createOutput?.(configOf({ subject: 'open.{{ host }}' }), context);
  onTestFinished(() => output?.close?.());
  await output?.open?.(signal());
  const lines = [
    '{"host":"a"}',
    '{"n":1}',
    '{"host":"*"}',
    '{"host":"a b"}',
    `{"host":"a","n":"${'x'.repeat(10_000)}"}`,
    '{"host":"b.c"}',
  ];
  const other = server.next('open.>', 2);
  await other.ready;
  expect(await output?.write(createBatch('b', lines), signal())).toEqual({
    rejected: [
      { index: 1, reason: 'missing_field' },
      { index: 2, reason: 'invalid_subject' },
      { index: 3, reason: 'invalid_subject' },
      { index: 4, reason: 'too_large' },
    ],
  });
  expect(await other.messages).toEqual([`open.a ${lines[0]}`, `open.b.c ${lines[5]}`]);

  const denied = natsOutput.createOutput?.(configOf({ subject: 'secret' }), context);
  onTestFinished(() => denied?.close?.());
  await expect(denied?.write(createBatch('b', ['{}']), signal())).rejects.toMatchObject({
    code: 'forbidden',
    kind: 'permanent',
  });
});

const outcome = (settings: object, secrets?: Record<string, unknown>) =>
  natsInput.testConnection?.(configOf({ subject: 'open.x', ...settings }, secrets), { egress, signal: signal() });

test('a connection test signs in and subscribes', async () => {
  expect(await outcome({})).toEqual({ ok: true, summary: 'Signed in and subscribed.' });
  const nkey = { auth: { strategy: 'nkey', nkey: { nkey: NKEY } } };
  expect(await outcome(nkey, { seed: SEED })).toMatchObject({ ok: true });
  expect(await outcome({ subject: 'secret' })).toMatchObject({ reason: 'forbidden' });
  const wrong = await outcome({}, { password: 'canary-wrong' });
  expect(wrong).toMatchObject({ reason: 'invalid_credentials' });
  expect(JSON.stringify(wrong)).not.toContain('canary');
  // The second server is tried; TLS is never given up.
  const url = `nats://127.0.0.1:1,nats://127.0.0.1:${server.port}`;
  expect(await outcome({ url })).toMatchObject({ ok: true });
  expect(await outcome({ tls: { enabled: true } })).toMatchObject({ reason: 'tls_failed' });
  expect(await outcome({ url: 'ws://127.0.0.1:1' })).toMatchObject({ reason: 'invalid_config' });
});

test('uses TLS if it is configured or the server asks for it, and checks the certificate', async () => {
  const secure = await startNats('user: logs, password: canary-password', true);
  onTestFinished(() => secure.close());
  const url = `nats://127.0.0.1:${secure.port}`;
  expect(await outcome({ url })).toMatchObject({ reason: 'tls_failed' });
  expect(await outcome({ url, tls: { enabled: true, ca_file: secure.ca } })).toMatchObject({ ok: true });
});
