import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { BUCKET_KEYS } from '../../../../test/support/fake-bucket.js';
import { outputContext } from '../../../../test/support/output-attempt.js';
import { leadTo } from '../../../../test/support/poll-driver.js';
import { startVendor } from '../../../../test/support/vendor.js';
import { createBatch } from '@connector-frame/engine/connector-api';
import { scannerOutput } from './index.js';

const BUCKET = 'https://s3.us-west-2.amazonaws.com';
const settings = {
  bucket: 'acme-security-logs',
  region: 'us-west-2',
  compression: 'gzip',
  prefix: 'scanner/',
  partition_format: 'simple date',
  auth: { type: 'static_credentials' },
};

test('writes objects in the chosen format to the bucket of the region', async () => {
  const server = await startVendor(({ method }) =>
    method === 'PUT' ? { headers: { etag: '"1"' } } : { body: '<ListBucketResult></ListBucketResult>' },
  );
  onTestFinished(() => server.close());
  const context = { ...outputContext('output:scanner'), egress: leadTo(server.origin, [BUCKET], () => undefined) };
  const write = async (format: object): Promise<string> => {
    const config = { settings: { ...settings, format }, secrets: BUCKET_KEYS };
    const output = scannerOutput.createOutput?.(config, context);
    const { signal } = new AbortController();
    await output?.open?.(signal);
    await output?.write(createBatch('b', ['{"n":1}', '{"n":2}']), signal);
    const put = server.requests.at(-1);
    expect(put?.url).toMatch(/^\/acme-security-logs\/scanner\/\d{4}\/\d{2}\/\d{2}\//);
    return gunzipSync(put?.bytes ?? Buffer.alloc(0)).toString();
  };
  expect(await write({ type: 'json', json: { type: 'line' } })).toBe('{"n":1}\n{"n":2}\n');
  expect(await write({ type: 'json', json: { type: 'array' } })).toBe('[{"n":1},\n{"n":2}]\n');
  expect(await write({ type: 'delimited', delimited: { delimiter: ',', headers: ['n'] } })).toBe('n\r\n1\r\n2\r\n');
});

test('says that a role needs an access key, also if keys of another choice are left', () => {
  const role = { role_arn: 'arn:aws:iam::123456789012:role/LogWriter' };
  const config = { settings: { ...settings, auth: { type: 'iam_role', iam_role: role } }, secrets: BUCKET_KEYS };
  expect(() => scannerOutput.createOutput?.(config, outputContext('output:scanner'))).toThrow(/access key/);
});
