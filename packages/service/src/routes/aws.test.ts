import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { startFakeS3 } from '../../../../test/support/fake-s3.js';
import { createTestService, type Tenant, type TestService } from '../../../../test/support/service.js';
import type { Vendor } from '../../../../test/support/vendor.js';

const KEYS = { accessKeyId: 'AKIACANARYSERVICEKEY', secretAccessKey: 'canary/secret+of+the+service0123456789ab' };
const ROLE = 'arn:aws:iam::123456789012:role/LogReader';

const TEMPLATE_URL = 'https://acme-templates.s3.eu-west-1.amazonaws.com/role.json';

const databases = anyDatabase();
let sts: Vendor;
let service: TestService;
let without: TestService;
let acme: Tenant;
let globex: Tenant;

beforeAll(async () => {
  sts = await startFakeS3({
    keys: { [KEYS.accessKeyId]: KEYS.secretAccessKey, ASIAROLE: 'secret' },
    buckets: {},
    region: 'eu-west-1',
    roles: { [ROLE]: 'ASIAROLE' },
    externalIds: { [ROLE]: 'of another service' },
    callerArn: 'arn:aws:iam::999988887777:user/connector-frame',
  });
  const aws = { keys: KEYS, region: 'eu-west-1', endpoint: () => sts.origin };
  service = await createTestService({
    database: await databases.open(),
    egressAllow: ['127.0.0.1/32'],
    aws,
    settings: { roleTemplateUrl: TEMPLATE_URL },
  });
  without = await createTestService({ database: await databases.open() });
  acme = await service.tenant('Northwind');
  globex = await service.tenant('Globex');
});
afterAll(async () => {
  await service.close();
  await without.close();
  await sts.close();
});

const trustOf = async ({ team, key }: Tenant) => (await service.call('GET', `/v1/${team}/aws`, { key })).body;
const bucket = (changes: object = {}) => ({
  name: 'Bucket',
  type: 's3',
  config: {
    settings: { bucket: 'logs', region: 'eu-west-1', format: 'jsonl', compression: 'auto', role_arn: ROLE },
    secrets: {},
    ...changes,
  },
});

describe('the identity at AWS', () => {
  it('names the account and an external ID of the organization, also for sessions', async () => {
    const trust = await trustOf(acme);
    expect(trust).toEqual({
      external_id: expect.stringMatching(/^[\w-]{43}$/),
      account_id: '999988887777',
      trust_policy: {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: { AWS: 'arn:aws:iam::999988887777:root' },
            Action: 'sts:AssumeRole',
            Condition: { StringEquals: { 'sts:ExternalId': trust.external_id } },
          },
        ],
      },
      partition: 'aws',
      role_template: expect.objectContaining({ AWSTemplateFormatVersion: '2010-09-09' }),
      role_template_url: TEMPLATE_URL,
    });
    expect((await trustOf(globex)).external_id).not.toBe(trust.external_id);
    const session = await service.session(acme);
    expect((await service.call('GET', `/v1/${acme.team}/aws`, { session })).body).toEqual(trust);
  });

  it('tests a connection as the role, with the external ID of the organization', async () => {
    const before = sts.requests.length;
    const session = await service.session(globex);
    const path = `/v2/${globex.team}/inputs/test-connection`;
    const { status, body } = await service.call('POST', path, { session, body: bucket() });
    const { external_id: externalId } = await trustOf(globex);
    expect([status, body.error_type, body.additional_details.reason]).toEqual([400, 'test_failed', 'forbidden']);
    expect(body.additional_details.hint).toContain(externalId);
    const [request] = sts.requests.slice(before);
    expect(new URLSearchParams(request?.body).get('ExternalId')).toBe(externalId);
  });

  it.each([
    ['aws-cloudwatch-logs', 'not_set_up'],
    ['aws-sqs', 'not_set_up'],
    ['aws-kms', 'not_set_up'],
    ['s3', undefined],
    ['aws-eks-audit-logs', undefined],
    ['okta-systemlog', undefined],
  ])('decides whether %s can run', async (typeId, reason) => {
    const tenant = await without.tenant(typeId);
    const { body } = await without.call('GET', `/v1/inputs/${typeId}`, { key: tenant.key });
    expect([body.supported_features.runtime, body.unavailable?.reason]).toEqual([reason === undefined, reason]);
    const { body: same } = await service.call('GET', `/v1/inputs/${typeId}`, { key: acme.key });
    expect([same.supported_features.runtime, same.unavailable]).toEqual([true, undefined]);
  });

  it('a test without an access key says that the service has no identity', async () => {
    const tenant = await without.tenant('Initech');
    const { body } = await without.call('GET', `/v1/${tenant.team}/aws`, { key: tenant.key });
    expect(body).toEqual({
      external_id: expect.any(String),
      account_id: null,
      trust_policy: null,
      partition: null,
      role_template: expect.anything(),
      role_template_url: null,
    });
    const path = `/v2/${tenant.team}/inputs/test-connection`;
    const tested = await without.call('POST', path, { key: tenant.key, body: bucket() });
    expect(tested.body.additional_details).toMatchObject({
      reason: 'unsupported',
      issues: [{ path: '/settings/role_arn' }],
    });
    expect(tested.body.error).toContain('no AWS identity');
  });
});

it('appears in no response and no log', () => {
  expect(service.log.join('')).not.toContain(KEYS.secretAccessKey);
});
