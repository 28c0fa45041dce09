import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createCertificate } from '../../../../test/support/certificate.js';
import { sign, startFakeS3, type FakeS3Options } from '../../../../test/support/fake-s3.js';
import { runTester } from '../../../../test/support/run-tester.js';
import { runTesterContract } from '../../../../test/support/tester-contract.js';
import { startVendor, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import type { TesterConfig, TestOutcome } from '@connector-frame/engine/connector-api';
import { createS3InputTester } from './test-connection.js';
import { createS3OutputTester } from './test-connection.js';
import { awsEndpoint } from '../_shared/aws/endpoint.js';

const ID = 'AKIACANARYACCESSKEY1';
const ROLE_ID = 'ASIACANARYROLEKEY001';
const SECRET = 'canary/secret+access/key0123456789abcdef';
const ROLE = 'arn:aws:iam::123456789012:role/LogReader';
const secrets = { access_key: ID, secret_key: SECRET };
const storage = { product: 'the storage', address: '/settings/endpoint', credential: '/secrets/secret_key' };

const options: FakeS3Options = {
  keys: { [ID]: SECRET, [ROLE_ID]: 'secret-of-the-role' },
  buckets: {
    logs: { objects: ['a & b/1.json', 'other/2.json'] },
    'dotted.name': { objects: [] },
    closed: { objects: [], mayList: false, mayWrite: false },
    sticky: { objects: [], mayAbort: false },
  },
  roles: { [ROLE]: ROLE_ID },
};

const settings = { bucket: 'logs', region: 'eu-central-1' };
const input = createS3InputTester(storage);
const output = createS3OutputTester(storage);

function contract(name: string, tester: typeof input, summary: string, respond: (method: string) => Reply): void {
  runTesterContract(name, {
    type: name,
    at: (endpoint) => ({ tester, config: { settings: { ...settings, endpoint }, secrets } }),
    respond: ({ method }) => respond(method),
    summary,
  });
}
contract('input:object-storage', input, 'Listed the bucket: no file there yet', () => ({
  body: '<ListBucketResult></ListBucketResult>',
}));
contract('output:object-storage', output, 'May write to the bucket. Nothing was written', (method) =>
  method === 'POST' ? { body: '<UploadId>1</UploadId>' } : { status: 204 },
);

let server: Vendor;
beforeAll(async () => {
  server = await startFakeS3(options);
});
afterAll(() => server.close());

function run(
  tester: typeof input,
  changes: Record<string, unknown> = {},
  changed: Record<string, unknown> = {},
): Promise<TestOutcome> {
  const config = {
    settings: { ...settings, endpoint: server.origin, ...changes },
    secrets: { ...secrets, ...changed },
  };
  return runTester(tester, config);
}

test("matches the signature in AWS's example", () => {
  const request = {
    method: 'GET',
    url: '/?max-keys=2&prefix=J',
    headers: {
      host: 'examplebucket.s3.amazonaws.com',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': '20130524T000000Z',
    },
    body: '',
  };
  const headers = ['host', 'x-amz-content-sha256', 'x-amz-date'];
  const scope = { date: '20130524', region: 'us-east-1', service: 's3', headers };
  expect(sign(request, scope, 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY')).toBe(
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  );
});

describe('input', () => {
  test.each([
    [{}, 'Listed the bucket: there are files'],
    [{ prefix: 'a & b/' }, 'Listed the bucket: there are files'],
    [{ prefix: 'nothing/' }, 'Listed the bucket: no file there yet'],
    [{ bucket: 'dotted.name', use_path_style: true }, 'Listed the bucket: no file there yet'],
  ])('%j: %s', async (changes, summary) => {
    expect(await run(input, changes)).toEqual({ ok: true, summary });
  });
});

describe('output', () => {
  test.each([{}, { prefix: '/a & b/ü/' }, { prefix: 'plain' }])(
    '%j may be written to, and writes nothing',
    async (changes) => {
      expect(await run(output, changes)).toMatchObject({
        ok: true,
        summary: 'May write to the bucket. Nothing was written',
      });
      expect(server.requests.slice(-2).map(({ method }) => method)).toEqual(['POST', 'DELETE']);
    },
  );

  test('reports an upload that cannot be aborted', async () => {
    expect(await run(output, { bucket: 'sticky' })).toMatchObject({
      ok: true,
      summary: expect.stringMatching(/empty upload/),
    });
  });
});

describe.each([
  ['input', input],
  ['output', output],
])('%s', (_name, tester) => {
  test.each([
    [{ bucket: 'nowhere' }, {}, { reason: 'not_found', issues: [{ path: '/settings/bucket' }] }],
    [
      { bucket: 'closed' },
      {},
      { reason: 'forbidden', issues: [{ path: '/secrets/access_key' }, { path: '/settings/bucket' }] },
    ],
    [{ region: 'us-east-1' }, {}, { reason: 'not_found', issues: [{ path: '/settings/region' }] }],
    [{ region: undefined }, {}, { reason: 'not_found', issues: [{ path: '/settings/region' }] }],
    [{ region: 'evil.example/#' }, {}, { reason: 'invalid_config', issues: [{ path: '/settings/region' }] }],
    [{ endpoint: 'nonsense' }, {}, { reason: 'invalid_config', issues: [{ path: '/settings/endpoint' }] }],
    [{ bucket: '' }, {}, { issues: [{ path: '/settings/bucket', code: 'required' }] }],
    [{}, { access_key: 'AKIAUNKNOWN' }, { reason: 'invalid_credentials', issues: [{ path: '/secrets/access_key' }] }],
    [{}, { secret_key: 'wrong' }, { reason: 'invalid_credentials', issues: [{ path: '/secrets/secret_key' }] }],
    [{}, { access_key: '' }, { issues: [{ path: '/secrets/access_key', code: 'required' }] }],
    [{}, { secret_key: '' }, { issues: [{ path: '/secrets/secret_key', code: 'required' }] }],
  ])('settings %j, secrets %j', async (changes, changed, outcome) => {
    expect(await run(tester, changes, changed)).toMatchObject(outcome);
  });

  test('uses one host per bucket unless path style is enabled', async () => {
    const egress = createEgress({ allow: ['127.0.0.0/8'], lookup: () => Promise.resolve(['127.0.0.1']) });
    const hosts: (string | undefined)[] = [];
    const vendor = await startVendor(({ headers }) => (hosts.push(headers.host), { status: 403 }));
    const endpoint = `http://s3.example:${vendor.port}/`;
    for (const use_path_style of [false, true]) {
      const config: TesterConfig = { settings: { ...settings, endpoint, use_path_style }, secrets };
      await tester(config, { egress, signal: new AbortController().signal });
    }
    expect(hosts).toEqual([`logs.s3.example:${vendor.port}`, `s3.example:${vendor.port}`]);
    await vendor.close();
  });

  test('accepts any certificate if verification is disabled', async () => {
    const secured = await startFakeS3(options, createCertificate('s3.example'));
    expect(await run(tester, { endpoint: secured.origin })).toMatchObject({
      reason: 'tls_failed',
      issues: [{ path: '/settings/endpoint' }],
    });
    expect(await run(tester, { endpoint: secured.origin, skip_ssl_verification: true })).toMatchObject({ ok: true });
    await secured.close();
  });
});

describe('AWS', () => {
  const aws = createS3InputTester(undefined, () => server.origin);
  const awsRun = (changes: Record<string, unknown>, keys: Record<string, unknown> = secrets): Promise<TestOutcome> =>
    runTester(aws, { settings: { ...settings, ...changes }, secrets: keys });

  test('selects the endpoint by region', () => {
    expect(awsEndpoint('s3', 'eu-west-1')).toBe('https://s3.eu-west-1.amazonaws.com');
    expect(awsEndpoint('sts', 'cn-north-1')).toBe('https://sts.cn-north-1.amazonaws.com.cn');
  });

  test('accepts an access key, or one that may assume the role', async () => {
    expect(await awsRun({})).toMatchObject({ ok: true });
    expect(await awsRun({ role_arn: ROLE })).toMatchObject({ ok: true });
    expect(server.requests.at(-1)?.headers['x-amz-security-token']).toBe(`session-of-${ROLE_ID}`);
  });

  test('reports a role that may not be assumed, and a wrong key', async () => {
    const role_arn = 'arn:aws:iam::123456789012:role/Other';
    expect(await awsRun({ role_arn })).toMatchObject({ reason: 'forbidden', issues: [{ path: '/settings/role_arn' }] });
    expect(await awsRun({ role_arn }, { ...secrets, access_key: 'AKIAUNKNOWN' })).toMatchObject({
      issues: [{ path: '/secrets/access_key' }],
    });
    expect(await awsRun({ role_arn }, { ...secrets, secret_key: 'wrong' })).toMatchObject({
      issues: [{ path: '/secrets/secret_key' }],
    });
  });

  test('reports a role without a key as unsupported', async () => {
    expect(await awsRun({ role_arn: ROLE }, {})).toMatchObject({
      reason: 'unsupported',
      issues: [{ path: '/settings/role_arn' }],
    });
  });
});

test.each([
  [
    { status: 301, body: '' },
    { reason: 'not_found', issues: [{ path: '/settings/region' }] },
  ],
  [{ status: 503, body: '<Error><Code>SlowDown</Code></Error>' }, { reason: 'rate_limited' }],
  [{ status: 403, body: '<Error><Code>RequestTimeTooSkewed</Code></Error>' }, { reason: 'upstream_error' }],
  [{ status: 400, body: '<Error><Code>ExpiredToken</Code></Error>' }, { reason: 'invalid_credentials' }],
  [{ status: 400, body: '<Error><Code>constructor</Code></Error>' }, { reason: 'rejected' }],
])('%j is %j', async (reply, outcome) => {
  const vendor = await startVendor(() => reply);
  expect(await run(input, { endpoint: vendor.origin })).toMatchObject(outcome);
  await vendor.close();
});

describe('with s3rver', () => {
  const folder = mkdtempSync(join(tmpdir(), 's3rver-'));
  const foreign = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'logs', configs: [] }],
  });
  let endpoint: string;
  beforeAll(async () => {
    endpoint = `http://127.0.0.1:${(await foreign.run()).port}`;
  });
  afterAll(async () => {
    await foreign.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const foreignRun = (tester: typeof input, changes: object = {}, access_key = 'S3RVER'): Promise<TestOutcome> =>
    runTester(tester, {
      settings: { ...settings, endpoint, ...changes },
      secrets: { access_key, secret_key: 'S3RVER' },
    });

  test('lists a bucket and may write to it', async () => {
    expect(await foreignRun(input)).toMatchObject({ ok: true });
    expect(await foreignRun(output)).toMatchObject({ ok: true });
  });

  test('reports an unknown bucket or key', async () => {
    expect(await foreignRun(input, { bucket: 'nowhere' })).toMatchObject({ issues: [{ path: '/settings/bucket' }] });
    expect(await foreignRun(input, {}, 'AKIAUNKNOWN')).toMatchObject({ issues: [{ path: '/secrets/access_key' }] });
  });
});

afterEach(() => {
  expect(server.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
});
