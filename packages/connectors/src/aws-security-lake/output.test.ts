import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { expect, test } from 'vitest';
import { createBatch, systemClock } from '@connector-frame/engine/connector-api';
import { createEgress } from '@connector-frame/engine/egress';
import { awsRoles } from '../../../../test/support/aws-roles.js';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { BUCKET_KEYS, startFakeBucket } from '../../../../test/support/fake-bucket.js';
import { createS3Output } from '../s3/output.js';
import { toS3 } from './index.js';

const settings = {
  bucketName: 'aws-security-data-lake-eu-west-1-a1b2c3',
  bucket_url: 's3://aws-security-data-lake-eu-west-1-a1b2c3/ext/acme/',
  role_arn: 'arn:aws:iam::123456789012:role/AmazonSecurityLake-Provider-acme',
  parquet_format: { schema: 'message event { required int64 time; optional binary name (UTF8); }' },
  source_account_details: { source_account_id: '123456789012', source_region: 'eu-west-1' },
};

/** https://docs.aws.amazon.com/security-lake/latest/userguide/adding-custom-sources.html */
test.each([
  [{}, 'ext/acme/region=eu-west-1/accountId=123456789012'],
  [{ key: 'ext/other' }, 'ext/other/region=eu-west-1/accountId=123456789012'],
  [
    { bucket_url: 'https://s3.eu-west-1.amazonaws.com/aws-security-data-lake-eu-west-1-a1b2c3/ext/acme' },
    'ext/acme/region=eu-west-1/accountId=123456789012',
  ],
  [{ source_account_details: undefined }, 'ext/acme/region=eu-west-1'],
])('%j: takes the region from the name of the bucket, and the folder of the source', (changes, prefix) => {
  expect(toS3({ settings: { ...settings, ...changes }, secrets: {} }).settings).toMatchObject({
    region: 'eu-west-1',
    prefix,
  });
});

test('writes Parquet below the day', async () => {
  const bucket = await startFakeBucket();
  const aws = {
    ...awsRoles,
    assume: () => Promise.resolve({ accessKeyId: BUCKET_KEYS.access_key, secretAccessKey: BUCKET_KEYS.secret_key }),
  };
  const config = toS3({ settings: { ...settings, bucketName: 'logs' }, secrets: {} });
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const type = typeOf('output:aws-security-lake');
  const output = createS3Output(undefined, () => bucket.origin)(config, { type, egress, clock: systemClock, aws });
  const lines = ['{"time":1700000000000,"name":"a"}', '{"time":1700000000001}'];
  expect(await output.write(createBatch('batch', lines), new AbortController().signal)).toEqual({});
  const [[key, { body }] = ['', { body: Buffer.alloc(0) }]] = [...bucket.objects];
  expect(key).toMatch(/^ext\/acme\/region=eu-west-1\/accountId=123456789012\/eventDay=\d{8}\/[^/]+\.parquet$/);
  const file = new Uint8Array(body).buffer;
  expect(await parquetReadObjects({ file, compressors })).toMatchObject([
    { time: 1700000000000n, name: 'a' },
    { name: null },
  ]);
  await bucket.close();
});
