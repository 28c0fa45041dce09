import { afterAll, expect, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { undeclaredFields } from '../../../../test/support/declared-fields.js';
import { startKafkaBroker, type KafkaBroker, type KafkaBrokerOptions } from '../../../../test/support/kafka-broker.js';
import { listenTcp, type Listener } from '../../../../test/support/listener.js';
import { runTester } from '../../../../test/support/run-tester.js';
import type { TestOutcome } from '@connector-frame/engine/connector-api';
import { testKafkaInput, testKafkaOutput } from './test-connection.js';

const PASSWORD = 'canary-kafka-password';
const certificate = createCertificate('127.0.0.1');
const open: (KafkaBroker | Listener)[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

async function broker(options: Partial<KafkaBrokerOptions> = {}): Promise<string> {
  const started = await startKafkaBroker({ topics: { 'audit-a': 3, 'audit-b': 1, __offsets: 1 }, ...options });
  open.push(started);
  return `127.0.0.1:${started.port}`;
}

async function read(
  bootstrap_servers: string,
  changes: Record<string, unknown> = {},
  secrets = {},
): Promise<TestOutcome> {
  const settings = { bootstrap_servers, topics: ['audit-a'], group_id: 'g', ...changes };
  const outcome = await runTester(testKafkaInput, { settings, secrets: { password: PASSWORD, ...secrets } });
  expect(undeclaredFields('input:kafka', outcome)).toEqual([]);
  expect(JSON.stringify(outcome)).not.toContain('canary');
  return outcome;
}

async function write(
  bootstrap_servers: string,
  changes: Record<string, unknown> = {},
  secrets = {},
): Promise<TestOutcome> {
  const settings = { bootstrap_servers, topic: 'audit-a', security_protocol: 'NONE', ...changes };
  const outcome = await runTester(testKafkaOutput, { settings, secrets: { password: PASSWORD, ...secrets } });
  expect(undeclaredFields('output:kafka', outcome)).toEqual([]);
  expect(JSON.stringify(outcome)).not.toContain('canary');
  return outcome;
}

const at = (path: string): { issues: unknown } => ({
  issues: expect.arrayContaining([expect.objectContaining({ path })]) as unknown,
});

test('finds topics by name and by pattern', async () => {
  const address = await broker();
  expect(await read(address)).toEqual({ ok: true, summary: 'Signed in, and found 1 topic' });
  expect(await read(address, { topics: ['^audit-', 'audit-b'] })).toEqual({
    ok: true,
    summary: 'Signed in, and found 2 topics',
  });
  expect(await write(address)).toEqual({ ok: true, summary: 'Signed in, and found the topic with 3 partitions' });
  expect(await write(address, { topic: 'audit-b' })).toEqual({
    ok: true,
    summary: 'Signed in, and found the topic with 1 partition',
  });
});

test('reports a missing topic, a pattern without matches, and an invalid pattern', async () => {
  const address = await broker();
  expect(await read(address, { topics: ['nowhere'] })).toMatchObject({
    reason: 'not_found',
    ...at('/settings/topics'),
  });
  expect(await write(address, { topic: 'nowhere' })).toMatchObject({
    reason: 'not_found',
    ...at('/settings/topic'),
  });
  expect(await read(address, { topics: ['^x'] })).toMatchObject({ reason: 'not_found' });
  expect(await read(address, { topics: ['a', '^(a|b)'] })).toMatchObject({
    reason: 'invalid_config',
    ...at('/settings/topics/1'),
  });
});

test('reports missing permissions on the topic and the group', async () => {
  const topic = await broker({ error: (api) => (api === 'Metadata' ? 29 : 0) });
  expect(await write(topic)).toMatchObject({ reason: 'forbidden', ...at('/settings/topic') });
  const group = await broker({ error: (api) => (api === 'OffsetFetch' ? 30 : 0) });
  expect(await read(group)).toMatchObject({ reason: 'forbidden', ...at('/settings/group_id') });
  const nobody = await broker({ error: (api) => (api === 'FindCoordinator' ? 30 : 0) });
  expect(await read(nobody)).toMatchObject({ reason: 'upstream_error' });
});

test('signs in over TLS, and reports wrong credentials and an untrusted certificate', async () => {
  const address = await broker({ users: { u: PASSWORD }, tls: certificate, says: PASSWORD });
  const tls = { enabled: true, ca_certificate: certificate.cert };
  const sasl = { enabled: true, mechanism: 'SCRAM-SHA-256', username: 'u' };
  expect(await read(address, { tls, sasl })).toMatchObject({ ok: true });
  expect(await read(address, { tls, sasl }, { password: 'wrong' })).toMatchObject({
    reason: 'invalid_credentials',
    ...at('/settings/sasl/username'),
  });
  expect(await read(address, { tls, sasl }, { password: '' })).toMatchObject({ reason: 'invalid_config' });
  expect(await read(address, { tls: { enabled: true }, sasl })).toMatchObject({ reason: 'tls_failed' });
  // The listener requires what the settings do not enable.
  expect(await read(address, { tls })).toMatchObject({
    reason: 'connect_failed',
    ...at('/settings/tls/enabled'),
  });
  expect(await read(address, { sasl })).toMatchObject({ ok: false });
  const signed = { security_protocol: 'SASL_SSL', sasl_mechanism: 'PLAIN', username: 'u' };
  expect(await write(address, signed, { ca_certificate: certificate.cert })).toMatchObject({ ok: true });
  expect(await write(address, signed, { ca_certificate: 'none' })).toMatchObject({ ok: false });
  const without = await broker();
  expect(await read(without, { sasl: { ...sasl, mechanism: 'PLAIN' } })).toMatchObject({
    reason: 'invalid_credentials',
  });
});

test('reports an unreachable server and another kind of server', async () => {
  const nobody = await listenTcp(() => undefined);
  await nobody.close();
  expect(await read(`127.0.0.1:${nobody.port}`)).toMatchObject({ reason: 'connect_failed' });
  const web = await listenTcp((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  open.push(web);
  expect(await write(`127.0.0.1:${web.port}`)).toMatchObject({ reason: 'unexpected_answer' });
});
