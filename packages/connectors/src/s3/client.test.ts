import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFakeS3 } from '../../../../test/support/fake-s3.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { ManualClock } from '@connector-frame/engine/testing';
import { BucketClient } from './client.js';
import { storage } from './config.js';

const ID = 'AKIACANARYACCESSKEY3';
const ROLE_ID = 'ASIACANARYROLEKEY003';
const ROLE = 'arn:aws:iam::123456789012:role/LogReader';
const SECRET = 'canary/secret+of+a+role0123456789abcdefg';

let server: Vendor;
beforeAll(async () => {
  server = await startFakeS3({
    keys: { [ID]: SECRET, [ROLE_ID]: 'secret-of-the-role' },
    buckets: { logs: { objects: ['a'] } },
    roles: { [ROLE]: ROLE_ID },
  });
});
afterAll(() => server.close());

const clock = new ManualClock();
const client = (origin: string, role: string | undefined): BucketClient =>
  new BucketClient({
    config: {
      settings: { bucket: 'logs', region: 'eu-central-1', ...(role && { role_arn: role }) },
      secrets: { access_key: ID, secret_key: SECRET },
    },
    egress: createEgress({ allow: ['127.0.0.0/8'] }),
    clock,
    subject: storage,
    endpoint: () => origin,
  });
const list = (bucket: BucketClient) => bucket.send('GET', '?list-type=2', [200]);
const assumed = ({ requests }: Vendor): number => requests.filter(({ body }) => body.includes('AssumeRole')).length;

test('assumes a role once, and again before its credentials expire', async () => {
  const bucket = client(server.origin, ROLE);
  for (let time = 0; time < 3; time += 1) expect((await list(bucket)) instanceof Response).toBe(true);
  expect(assumed(server)).toBe(1);
  clock.advance(56 * 60_000);
  expect((await list(bucket)) instanceof Response).toBe(true);
  expect(assumed(server)).toBe(2);
});

test('assumes the role again after early expiry, and retries the request', async () => {
  let expired = true;
  const proxy = await startVendor((request: Received): Reply => {
    if (request.body.includes('AssumeRole')) return assumeRole;
    if (!expired) return { body: '<ListBucketResult></ListBucketResult>' };
    expired = false;
    return { status: 400, body: '<Error><Code>ExpiredToken</Code></Error>' };
  });
  expect((await list(client(proxy.origin, ROLE))) instanceof Response).toBe(true);
  expect(assumed(proxy)).toBe(2);
  // A static access key can't be renewed.
  expired = true;
  const bucket = client(proxy.origin, undefined);
  const answer = await list(bucket);
  expect('isError' in answer && bucket.problem(answer, '')).toMatchObject({
    code: 'invalid_credentials',
    kind: 'permanent',
  });
  await proxy.close();
});

const assumeRole: Reply = {
  body: '<AssumeRoleResponse><AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey><SessionToken>c</SessionToken></AssumeRoleResponse>',
};

test('a role that may not be assumed is permanent', async () => {
  await expect(list(client(server.origin, `${ROLE}Other`))).rejects.toMatchObject({
    name: 'ConnectorError',
    code: 'forbidden',
    kind: 'permanent',
  });
});
