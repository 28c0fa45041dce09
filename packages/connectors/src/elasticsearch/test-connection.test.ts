import { afterEach, expect, test } from 'vitest';
import { runTester } from '../../../../test/support/run-tester.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { createCertificate } from '../../../../test/support/certificate.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { testElasticsearch } from './test-connection.js';
import type { TesterConfig, TestOutcome } from '@connector-frame/engine/connector-api';

const PASSWORD = 'canary-elastic-password';
const KEY = 'Y2FuYXJ5LWlkOmNhbmFyeS1rZXk=';
const endpoint = '/settings/connection_config/url/endpoint';

function cluster({ method, url, headers, body }: Received): Reply {
  const basic = `Basic ${Buffer.from(`elastic:${PASSWORD}`).toString('base64')}`;
  if (headers.authorization !== basic && headers.authorization !== `ApiKey ${KEY}`) {
    return {
      status: 401,
      body: { error: { type: 'security_exception', reason: 'unable to authenticate user' }, status: 401 },
    };
  }
  if (method === 'POST' && url === '/_security/user/_has_privileges') {
    const allowed = body === '{"index":[{"names":["logs"],"privileges":["create_doc"]}]}';
    return { body: { username: 'elastic', has_all_requested: allowed, cluster: {}, index: {}, application: {} } };
  }
  return { status: 400, body: { error: 'no handler found' } };
}

function configFor(origin: string, changes: Record<string, unknown> = {}): TesterConfig {
  const settings = {
    index: 'logs',
    username: 'elastic',
    auth_config: { type: 'password' },
    connection_config: { type: 'url', url: { endpoint: `${origin}/` } },
    ...changes,
  };
  return { settings, secrets: { password: PASSWORD, api_key: KEY } };
}

runTesterContract('elasticsearch', {
  type: 'output:elasticsearch',
  at: (origin) => ({ tester: testElasticsearch, config: configFor(origin) }),
  respond: cluster,
  summary: 'Signed in, and may write to the index',
});

let server: Vendor | undefined;
afterEach(() => server?.close());

async function run(respond: (request: Received) => Reply, changes: Record<string, unknown> = {}): Promise<TestOutcome> {
  server = await startVendor(respond);
  return runTester(testElasticsearch, configFor(server.origin, changes));
}

test('an API key goes in its own scheme', async () => {
  expect(await run(cluster, { auth_config: { type: 'api_key' } })).toMatchObject({ ok: true });
  expect(server?.requests[0]?.headers.authorization).toBe(`ApiKey ${KEY}`);
});

const denied = (): Reply => ({ status: 401, body: { status: 401 } });

test('wrong credentials are told on the fields that were used', async () => {
  expect(await run(denied)).toMatchObject({
    reason: 'invalid_credentials',
    issues: [{ path: '/settings/username' }, { path: '/secrets/password' }],
  });
  await server?.close();
  expect(await run(denied, { auth_config: { type: 'api_key' } })).toMatchObject({
    issues: [{ path: '/secrets/api_key' }],
  });
});

test('an index without the right to write', async () => {
  expect(await run(cluster, { index: 'secret' })).toMatchObject({
    reason: 'forbidden',
    issues: [{ path: '/settings/index' }],
  });
});

test('a cluster without security features is known by its own answer', async () => {
  const version = { number: '8.15.0', build_flavor: 'default' };
  const open = ({ url }: Received): Reply => (url === '/' ? { body: { name: 'node', version } } : { status: 400 });
  expect(await run(open)).toEqual({
    ok: true,
    summary: 'The cluster answered. It does not tell which rights there are on the index',
  });
  await server?.close();
  expect(await run(({ url }) => (url === '/' ? { body: {} } : { status: 404 }))).toMatchObject({
    reason: 'unexpected_answer',
    issues: [{ path: endpoint }],
  });
  await server?.close();
  expect(await run(({ url }) => ({ status: url === '/' ? 404 : 405 }))).toMatchObject({ reason: 'not_found' });
});

test('an endpoint below a path stays there', async () => {
  server = await startVendor(({ url }) =>
    url.startsWith('/es/_security') ? { body: { has_all_requested: true } } : { status: 404 },
  );
  const config = configFor('', { connection_config: { type: 'url', url: { endpoint: `${server.origin}/es/` } } });
  expect(await runTester(testElasticsearch, config)).toMatchObject({ ok: true });
});

test('any certificate passes when the settings say so', async () => {
  server = await startVendor(cluster, createCertificate('elastic.example'));
  expect(await runTester(testElasticsearch, configFor(server.origin))).toMatchObject({
    reason: 'tls_failed',
    issues: [{ path: endpoint }],
  });
  expect(await runTester(testElasticsearch, configFor(server.origin, { insecure_skip_verify: true }))).toMatchObject({
    ok: true,
  });
});

test('a cloud id leads to the cluster it names', async () => {
  const certificate = createCertificate('cluster.cloud.example');
  server = await startVendor(cluster, certificate);
  const id = `acme:${Buffer.from(`cloud.example:${server.port}$cluster$kibana`).toString('base64')}`;
  const config = configFor('', { connection_config: { type: 'cloud_id', cloud_id: { id } } });
  const egress = createEgress({
    allow: ['127.0.0.0/8'],
    ca: certificate.cert,
    lookup: () => Promise.resolve(['127.0.0.1']),
  });
  expect(await testElasticsearch(config, { egress, signal: new AbortController().signal })).toMatchObject({ ok: true });
  expect(server.requests[0]?.headers.host).toBe(`cluster.cloud.example:${server.port}`);
});

test.each([
  'acme',
  'acme:',
  'acme:!!!',
  `acme:${Buffer.from('evil.example/#$x$y').toString('base64')}`,
  `a:${Buffer.from('h$a/b').toString('base64')}`,
])('the cloud id %s leads nowhere', async (id) => {
  const config = configFor('', { connection_config: { type: 'cloud_id', cloud_id: { id } } });
  expect(await runTester(testElasticsearch, config)).toMatchObject({
    reason: 'invalid_config',
    issues: [{ path: '/settings/connection_config/cloud_id/id' }],
  });
});

test('what is absent is asked for', async () => {
  const { settings } = configFor('http://127.0.0.1:1');
  expect(await runTester(testElasticsearch, { settings, secrets: {} })).toMatchObject({
    issues: [{ path: '/secrets/password', code: 'required' }],
  });
  expect(await runTester(testElasticsearch, configFor('http://127.0.0.1:1', { index: '' }))).toMatchObject({
    issues: [{ path: '/settings/index' }],
  });
  expect(await runTester(testElasticsearch, configFor('', { connection_config: undefined }))).toMatchObject({
    issues: [{ path: endpoint }],
  });
});
