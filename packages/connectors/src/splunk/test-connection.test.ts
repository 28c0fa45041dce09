import { afterEach, expect, test } from 'vitest';
import { runTester } from '../../../../test/support/run-tester.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { createCertificate } from '../../../../test/support/certificate.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { testSplunk } from './test-connection.js';
import type { TesterConfig, TestOutcome } from '@connector-frame/engine/connector-api';

const TOKEN = 'canary00-4758-4f45-bca7-c910ccc746eb';

function hec({ method, url, headers, body }: Received): Reply {
  if (method === 'GET' && url === '/services/collector/health') return { body: { text: 'HEC is healthy', code: 17 } };
  if (method !== 'POST' || url !== '/services/collector/event') return { status: 404 };
  if (headers.authorization === undefined) return { status: 401, body: { text: 'Token is required', code: 2 } };
  if (!headers.authorization.startsWith('Splunk '))
    return { status: 401, body: { text: 'Invalid authorization', code: 3 } };
  if (headers.authorization !== `Splunk ${TOKEN}`) return { status: 403, body: { text: 'Invalid token', code: 4 } };
  return body === '' ? { status: 400, body: { text: 'No data', code: 5 } } : { body: { text: 'Success', code: 0 } };
}

function configFor(origin: string, changes: Record<string, unknown> = {}): TesterConfig {
  const { protocol, hostname, port } = new URL(origin);
  return { settings: { url: `${protocol}//${hostname}`, port, ...changes }, secrets: { token: TOKEN } };
}

runTesterContract('splunk', {
  type: 'output:splunk',
  at: (origin) => ({ tester: testSplunk, config: configFor(origin) }),
  respond: hec,
  summary: 'Splunk accepted the token',
});

let server: Vendor | undefined;
afterEach(() => server?.close());

async function answered(reply: Reply): Promise<TestOutcome> {
  server = await startVendor((request) => (request.method === 'GET' ? hec(request) : reply));
  return runTester(testSplunk, configFor(server.origin));
}

test.each([
  [
    { status: 403, body: { text: 'Invalid token', code: 4 } },
    { reason: 'invalid_credentials', issues: [{ path: '/secrets/token' }] },
  ],
  [
    { status: 403, body: { text: 'Token disabled', code: 1 } },
    { reason: 'forbidden', issues: [{ path: '/secrets/token' }] },
  ],
  [{ status: 400, body: { text: 'Data channel is missing', code: 10 } }, { ok: true }],
  [{ status: 503, body: { text: 'Server is busy', code: 9 } }, { reason: 'upstream_error' }],
  [
    { status: 404, body: 'not found' },
    { reason: 'not_found', issues: [{ path: '/settings/url' }] },
  ],
] satisfies [Reply, object][])('%j is %j', async (reply, outcome) => {
  expect(await answered(reply)).toMatchObject(outcome);
});

test('an unhealthy collector is told without sending the token', async () => {
  server = await startVendor(() => ({ status: 503, body: { text: 'HEC is unhealthy, queues are full', code: 18 } }));
  expect(await runTester(testSplunk, configFor(server.origin))).toMatchObject({ reason: 'upstream_error' });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test('a certificate of its own passes only when the settings say so', async () => {
  server = await startVendor(hec, createCertificate('splunk.example'));
  expect(await runTester(testSplunk, configFor(server.origin))).toMatchObject({ reason: 'tls_failed' });
  expect(await runTester(testSplunk, configFor(server.origin, { allow_insecure: true }))).toMatchObject({ ok: true });
});

test('nothing is indexed', async () => {
  server = await startVendor(hec);
  await runTester(testSplunk, configFor(server.origin));
  expect(server.requests.map(({ body }) => body)).toEqual(['', '']);
});

test('an address without a scheme is https, and its path is not used', async () => {
  const certificate = createCertificate('127.0.0.1');
  server = await startVendor(hec, certificate);
  const config = configFor(server.origin, { url: '127.0.0.1/services/collector' });
  expect(await runTester(testSplunk, config, certificate.cert)).toMatchObject({ ok: true });
});

test.each([{ url: '' }, { url: 'http://[' }, { port: 'eight' }])('%j is no address', async (changes) => {
  expect(await runTester(testSplunk, configFor('http://127.0.0.1:1', changes))).toMatchObject({
    reason: 'invalid_config',
    issues: [{ path: '/settings/url' }, { path: '/settings/port' }],
  });
});
