import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startFakeS3 } from '../../../../../test/support/fake-s3.js';
import { startVendor, type Reply, type Vendor } from '../../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { ManualClock } from '@connector-frame/engine/testing';
import { BucketClient } from '../../s3/client.js';
import { storage } from '../../s3/config.js';
import { createAwsIdentity, type AwsIdentity } from './identity.js';

const ID = 'AKIACANARYSERVICEKEY';
const SECRET = 'canary/secret+of+the+service0123456789ab';
const role = (name: string): string => `arn:aws:iam::123456789012:role/${name}`;

let server: Vendor;
beforeAll(async () => {
  server = await startFakeS3({
    keys: { [ID]: SECRET, ASIAACME: 'secret-of-acme', ASIAOPEN: 'secret-of-open' },
    buckets: { logs: { objects: ['a'] } },
    roles: { [role('acme')]: 'ASIAACME', [role('open')]: 'ASIAOPEN' },
    externalIds: { [role('acme')]: 'id-of-acme' },
    callerArn: 'arn:aws:iam::999988887777:user/connector-frame',
  });
});
afterAll(() => server.close());

const clock = new ManualClock();
const identityAt = (origin: string, secretAccessKey = SECRET): AwsIdentity =>
  createAwsIdentity({
    keys: { accessKeyId: ID, secretAccessKey },
    region: 'eu-central-1',
    egress: createEgress({ allow: ['127.0.0.0/8'] }),
    now: () => clock.now(),
    externalIdOf: (organizationId) => `id-of-${organizationId}`,
    endpoint: () => origin,
  });
let identity: AwsIdentity;
let seen = 0;
const requests = () => server.requests.slice(seen);
beforeEach(() => {
  identity = identityAt(server.origin);
  seen = server.requests.length;
});
const externalIds = (): (string | null)[] => requests().map(({ body }) => new URLSearchParams(body).get('ExternalId'));

test('assumes a role with the external ID of the organization, and keeps the keys until shortly before they expire', async () => {
  const roles = identity.of('acme');
  expect(roles.externalId).toBe('id-of-acme');
  const [one, other] = await Promise.all([roles.assume(role('acme')), identity.of('acme').assume(role('acme'))]);
  expect(one).toEqual({
    accessKeyId: 'ASIAACME',
    secretAccessKey: 'secret-of-acme',
    sessionToken: 'session-of-ASIAACME',
  });
  expect(other).toBe(one);
  expect(externalIds().filter((id) => id === 'id-of-acme')).toHaveLength(1);
  clock.advance(54 * 60_000);
  await roles.assume(role('acme'));
  expect(externalIds().filter((id) => id === 'id-of-acme')).toHaveLength(1);
  clock.advance(2 * 60_000);
  await roles.assume(role('acme'));
  expect(externalIds().filter((id) => id === 'id-of-acme')).toHaveLength(2);
});

test('assumes a role again if AWS no longer accepts its keys', async () => {
  const roles = identity.of('acme');
  const keys = await roles.assume(role('acme'));
  if ('ok' in keys) expect.unreachable();
  expect(await roles.assume(role('acme'), keys)).not.toBe(keys);
  expect(await roles.assume(role('acme'))).toMatchObject({ accessKeyId: 'ASIAACME' });
});

test("another organization can't use a role, not even while its keys are kept", async () => {
  await identity.of('acme').assume(role('acme'));
  expect(await identity.of('evil').assume(role('acme'))).toMatchObject({
    ok: false,
    reason: 'forbidden',
    hint: expect.stringContaining('id-of-evil'),
    issues: [{ path: '/settings/role_arn' }],
  });
});

test('does not use a role that any external ID can assume', async () => {
  expect(await identity.of('acme').assume(role('open'))).toMatchObject({
    ok: false,
    reason: 'forbidden',
    message: expect.stringContaining('any external ID'),
  });
  const ids = externalIds();
  expect(ids).toHaveLength(2);
  // Otherwise, a policy could be written that accepts this one ID.
  await identity.of('acme').assume(role('open'));
  expect(new Set(externalIds()).size).toBe(3);
});

test('fails if it is not known whether any external ID can assume a role', async () => {
  let calls = 0;
  const sts = await startVendor((): Reply => {
    calls += 1;
    return calls === 1
      ? {
          body: '<R><AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey><SessionToken>c</SessionToken></R>',
        }
      : { status: 400, body: '<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>' };
  });
  expect(await identityAt(sts.origin).of('acme').assume(role('acme'))).toMatchObject({ reason: 'rate_limited' });
  await sts.close();
});

test("says that it is the operator's fault if AWS refuses the service's own key", async () => {
  expect(await identityAt(server.origin, 'wrong').of('acme').assume(role('acme'))).toMatchObject({
    reason: 'upstream_error',
    hint: 'Tell your administrator.',
  });
});

test('finds the account to trust, once', async () => {
  expect(await identity.account()).toEqual({ accountId: '999988887777', partition: 'aws' });
  await identity.account();
  expect(requests()).toHaveLength(1);
  const refused = identityAt(server.origin, 'wrong');
  expect(await refused.account()).toBeUndefined();
});

const bucket = (roleName: string, externalIdOf: string | undefined): BucketClient =>
  new BucketClient({
    config: { settings: { bucket: 'logs', region: 'eu-central-1', role_arn: role(roleName) }, secrets: {} },
    egress: createEgress({ allow: ['127.0.0.0/8'] }),
    clock,
    subject: storage,
    endpoint: () => server.origin,
    roles: externalIdOf === undefined ? undefined : identity.of(externalIdOf),
  });

test('reads a bucket as a role, without an access key', async () => {
  expect(await bucket('acme', 'acme').send('GET', '?list-type=2', [200])).toBeInstanceOf(Response);
  expect(requests().at(-1)?.headers['x-amz-security-token']).toBe('session-of-ASIAACME');
  await expect(bucket('acme', 'evil').send('GET', '?list-type=2', [200])).rejects.toMatchObject({
    code: 'forbidden',
    kind: 'permanent',
  });
});

test('says that the service has no identity, before anything is sent', () => {
  expect(() => bucket('acme', undefined)).toThrow(/no AWS identity/);
  expect(requests()).toEqual([]);
});
