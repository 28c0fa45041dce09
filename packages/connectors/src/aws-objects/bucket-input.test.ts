import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock, type DataRecord } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { awsRoles } from '../../../../test/support/aws-roles.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { BUCKET_KEYS, startFakeBucket, type FakeBucket } from '../../../../test/support/fake-bucket.js';
import { createAwsObjectsInput } from './index.js';
import { createAwsObjectsTester } from './test-connection.js';

const egress = createEgress({ allow: ['127.0.0.0/8'] });
const never = new AbortController().signal;
/** The bucket knows only its own keys. */
const aws = {
  ...awsRoles,
  assume: () => Promise.resolve({ accessKeyId: BUCKET_KEYS.access_key, secretAccessKey: BUCKET_KEYS.secret_key }),
};

let bucket: FakeBucket;
beforeAll(async () => {
  bucket = await startFakeBucket();
});
afterAll(() => bucket.close());

async function readAll(typeId: string, key: string, content: string, changes: object = {}): Promise<DataRecord[]> {
  bucket.objects.clear();
  bucket.put(key, gzipSync(content));
  const type = typeOf(`input:${typeId}`);
  const { aws_objects: definition } = type;
  if (!definition) throw new Error(typeId);
  const settings = {
    bucket: 'logs',
    region: 'eu-central-1',
    role_arn: 'arn:aws:iam::123456789012:role/LogReader',
    backfill_start_time: '2020-01-01T00:00:00Z',
    ...changes,
  };
  const config = { settings, secrets: {} };
  const tested = await createAwsObjectsTester(
    type,
    definition,
    () => bucket.origin,
  )(config, { egress, aws, signal: never });
  expect(tested).toMatchObject({ ok: true });
  const input = createAwsObjectsInput(definition, () => bucket.origin)(config, {
    type,
    egress,
    aws,
    clock: systemClock,
  });
  if (input.kind !== 'pages') throw new Error(input.kind);
  const records: DataRecord[] = [];
  for await (const page of input.pages(undefined, never)) records.push(...page.records);
  return records;
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html */
test('access logs of a load balancer, in the folder of the setting', async () => {
  const line =
    'https 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://www.example.com:443/ HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337281-1d84f3d73c47ec4e58577259" "www.example.com" "arn:aws:acm:us-east-2:123456789012:certificate/12345678-1234-1234-1234-123456789012" 1 2018-07-02T22:22:48.364000Z "authenticate,forward" "-" "-" "10.0.0.1:80" "200" "-" "-" TID_123456';
  const key = 'AWSLogs/123456789012/elasticloadbalancing/us-east-2/2018/07/02/a.log.gz';
  for (const [prefix, folder] of [
    [undefined, ''],
    ['alb', 'alb/'],
    ['alb/', 'alb/'],
  ] as const) {
    const [record, ...others] = await readAll('aws-alb-access-logs', folder + key, `${line}\n`, { prefix });
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      type: 'https',
      'client:port': '192.168.131.39:2817',
      request: 'GET https://www.example.com:443/ HTTP/1.1',
      user_agent: 'curl/7.46.0',
      actions_executed: 'authenticate,forward',
      conn_trace_id: 'TID_123456',
    });
    expect(record).not.toHaveProperty('redirect_url');
  }
});

/** https://docs.aws.amazon.com/redshift/latest/mgmt/db-auditing.html */
test('audit logs of Redshift, of the kind that the setting names', async () => {
  const folder = 'AWSLogs/123456789012/redshift/us-east-1/2026/01/01/123456789012_redshift_us-east-1_prod_';
  const row =
    'authenticated |Thu, 01 Jan 2026 00:00:00:123|[local] | |12345|dev |admin |password |0| | |0| | | | | | | | |f7a2 | \n';
  const records = await readAll('aws-redshift-audit-logs', `${folder}connectionlog_2026-01-01T00:00.gz`, row, {
    log_type: 'connectionlog',
  });
  expect(records).toEqual([
    {
      event: 'authenticated',
      recordtime: 'Thu, 01 Jan 2026 00:00:00:123',
      remotehost: '[local]',
      pid: '12345',
      dbname: 'dev',
      username: 'admin',
      authmethod: 'password',
      duration: '0',
      mtu: '0',
      sessionid: 'f7a2',
    },
  ]);
  expect(await readAll('aws-redshift-audit-logs', `${folder}connectionlog_a.gz`, row, { log_type: 'userlog' })).toEqual(
    [],
  );
});

/** https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-query-logs-format.html */
test('queries of the Route 53 Resolver', async () => {
  const record = {
    srcaddr: '4.5.64.102',
    vpc_id: 'vpc-7example',
    query_name: '15.3.4.32.in-addr.arpa.',
    rcode: 'NOERROR',
  };
  const key = 'AWSLogs/123456789012/vpcdnsquerylogs/vpc-7example/2026/01/01/a.log.gz';
  expect(await readAll('aws-route53-resolver-logs', key, `${JSON.stringify(record)}\n`)).toEqual([record]);
});

/** https://docs.aws.amazon.com/waf/latest/developerguide/logging-s3.html */
test('logs of WAF', async () => {
  const record = { timestamp: 1576280412771, formatVersion: 1, terminatingRuleId: 'STMTest_SQLi_XSS', action: 'BLOCK' };
  const key = 'AWSLogs/123456789012/WAFLogs/us-east-1/TEST-WEBACL/2026/01/01/00/00/a.log.gz';
  expect(await readAll('aws-waf-logs', key, `${JSON.stringify(record)}\n`)).toEqual([record]);
});

/** https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-log-file-examples.html */
test('events of CloudTrail, without its digests', async () => {
  const folder = 'AWSLogs/123456789012/CloudTrail';
  const content = '{"Records":[{"eventVersion":"1.08","eventName":"StartInstances"}]}';
  expect(await readAll('cloudtrail', `${folder}/us-east-2/2026/01/01/a.json.gz`, content)).toEqual([
    { eventVersion: '1.08', eventName: 'StartInstances' },
  ]);
  expect(await readAll('cloudtrail', `${folder}-Digest/us-east-2/2026/01/01/a.json.gz`, content)).toEqual([]);
});
