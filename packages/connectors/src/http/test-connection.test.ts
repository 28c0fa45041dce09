import { afterEach, expect, test } from 'vitest';
import { runTester } from '../../../../test/support/run-tester.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { createCertificate } from '../../../../test/support/certificate.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { testHttp } from './test-connection.js';
import type { TesterConfig, TestOutcome } from '@connector-frame/engine/connector-api';

const secrets = { auth_headers: { Authorization: 'Bearer canary-http-secret' } };
const record = { type: 'connection_test', message: 'Sent by "Test connection". Safe to ignore.' };

function configFor(origin: string, changes: Record<string, unknown> = {}): TesterConfig {
  return { settings: { endpoint: `${origin}/in`, method: 'POST', payload_structure: 'array', ...changes }, secrets };
}

runTesterContract('http', {
  type: 'output:http',
  at: (origin) => ({ tester: testHttp, config: configFor(origin) }),
  respond: ({ headers }) => ({ status: headers.authorization === secrets.auth_headers.Authorization ? 202 : 401 }),
  summary: 'The server accepted a test record (HTTP 202)',
  anyPagePasses: true,
});

let server: Vendor | undefined;
afterEach(() => server?.close());

async function run(
  changes: Record<string, unknown>,
  respond: (request: Received) => Reply = () => ({}),
): Promise<TestOutcome> {
  server = await startVendor(respond);
  return runTester(testHttp, configFor(server.origin, changes));
}

test.each([
  [{ payload_structure: 'single' }, record],
  [{ payload_structure: 'array' }, [record]],
  [{ payload_structure: 'wrapped', wrapper_key: 'events' }, { events: [record] }],
  [{ payload_structure: 'wrapped' }, { records: [record] }],
])('%j delivers one record marked as a test', async (changes, body) => {
  expect(await run(changes)).toMatchObject({ ok: true });
  expect(server?.requests).toHaveLength(1);
  expect(JSON.parse(server?.requests[0]?.body ?? '')).toEqual(body);
});

test('headers go as configured, the secret ones over the open ones', async () => {
  const headers = [
    { header_key: 'X-Team', header_value: 'acme' },
    { header_key: 'authorization', header_value: 'open' },
    { header_key: 'Content-Type', header_value: 'application/x-ndjson' },
    { header_key: '', header_value: 'no name' },
  ];
  await run({ headers });
  expect(server?.requests[0]?.headers).toMatchObject({
    'x-team': 'acme',
    authorization: secrets.auth_headers.Authorization,
    'content-type': 'application/x-ndjson',
  });
});

test.each(['PUT', 'PATCH'])('%s is sent as %s', async (method) => {
  await run({ method });
  expect(server?.requests[0]).toMatchObject({ method });
  expect(server?.requests[0]?.body).not.toBe('');
});

test('GET carries no record', async () => {
  expect(await run({ method: 'GET' })).toEqual({ ok: true, summary: 'The server answered (HTTP 200)' });
  expect(server?.requests[0]).toMatchObject({ method: 'GET', body: '' });
});

test.each([
  [200, { ok: true }],
  [404, { ok: true }],
  [405, { ok: true }],
  [401, { reason: 'invalid_credentials' }],
  [503, { reason: 'upstream_error' }],
])('a DELETE is never sent, and its stand-in answered by %i is %j', async (status, outcome) => {
  expect(await run({ method: 'DELETE' }, () => ({ status }))).toMatchObject(outcome);
  expect(server?.requests.map(({ method, body }) => [method, body])).toEqual([['HEAD', '']]);
});

test.each([
  [401, { reason: 'invalid_credentials', issues: [{ path: '/secrets/auth_headers' }] }],
  [403, { reason: 'forbidden', issues: [{ path: '/secrets/auth_headers' }] }],
  [404, { reason: 'not_found', issues: [{ path: '/settings/endpoint' }] }],
  [405, { reason: 'rejected', issues: [{ path: '/settings/method' }] }],
  [422, { reason: 'rejected', issues: [{ path: '/settings/payload_structure' }] }],
  [418, { reason: 'rejected' }],
])('an answer of %i is %j', async (status, outcome) => {
  expect(await run({}, () => ({ status }))).toMatchObject(outcome);
});

test('a long answer does not matter', async () => {
  expect(await run({}, () => ({ body: 'x'.repeat(1_000_000) }))).toMatchObject({ ok: true });
});

test('any certificate passes when the settings say so', async () => {
  server = await startVendor(() => ({}), createCertificate('in.example'));
  expect(await runTester(testHttp, configFor(server.origin))).toMatchObject({ reason: 'tls_failed' });
  expect(await runTester(testHttp, configFor(server.origin, { tls_skip_verify: true }))).toMatchObject({ ok: true });
});

test.each([
  [{ headers: [{ header_key: 'bad name', header_value: '1' }] }, '/settings/headers'],
  [{ headers: [{ header_key: 'Host', header_value: 'other.example' }] }, '/settings/headers'],
  [{ headers: [{ header_key: 'X-A', header_value: 'a\r\nb' }] }, '/settings/headers'],
])('%j can not be sent', async (changes, path) => {
  expect(await run(changes)).toMatchObject({ reason: 'invalid_config', issues: [{ path }] });
  expect(server?.connections()).toBe(0);
});

test('a secret header that can not be sent is told on its field, not quoted', async () => {
  const { settings } = configFor('http://127.0.0.1:1');
  const outcome = await runTester(testHttp, { settings, secrets: { auth_headers: { 'X-Key': 'canary\nsecret' } } });
  expect(outcome).toMatchObject({ reason: 'invalid_config', issues: [{ path: '/secrets/auth_headers' }] });
  expect(JSON.stringify(outcome)).not.toContain('canary');
});

test.each(['', 'nonsense', 'ftp://in.example', 'https://user:pass@in.example'])(
  '"%s" is no address',
  async (endpoint) => {
    expect(await runTester(testHttp, { settings: { endpoint, method: 'POST' }, secrets })).toMatchObject({
      reason: 'invalid_config',
      issues: [{ path: '/settings/endpoint' }],
    });
  },
);
