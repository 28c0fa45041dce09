import { describe, expect, test } from 'vitest';
import { BUCKET_KEYS, problem } from '../../../../test/support/fake-bucket.js';
import { batchOf, never, openBucketToWrite } from '../../../../test/support/s3-writing.js';
import type { Output, WriteResult } from '@connector-frame/engine/connector-api';
import { openOutput } from '../../../../test/support/s3-connectors.js';
import { expectNoCredentials, invalidConfig } from '../../../../test/support/s3-failures.js';

const { bucket, open } = await openBucketToWrite();

const write = (output: Output): Promise<WriteResult> => output.write(batchOf([{ n: 1 }]), never);

describe('errors of the storage', () => {
  test.each([
    ['SlowDown', problem(503, 'SlowDown'), { code: 'rate_limited', kind: 'throttled' }],
    ['Retry-After', { status: 503, headers: { 'retry-after': '7' } }, { kind: 'throttled', afterMs: 7_000 }],
    [
      'AccessDenied',
      problem(403, 'AccessDenied'),
      { code: 'forbidden', kind: 'permanent', message: expect.stringContaining('s3:PutObject') },
    ],
    [
      'another region',
      problem(301, 'PermanentRedirect'),
      { kind: 'permanent', message: expect.stringContaining('region') },
    ],
    ['no bucket', problem(404, 'NoSuchBucket'), { code: 'not_found', kind: 'permanent' }],
    ['BadDigest', problem(400, 'BadDigest'), { code: 'rejected', kind: 'retry' }],
    ['InternalError', problem(500, 'InternalError'), { code: 'upstream_error', kind: 'retry' }],
  ])('%s', async (_name, answer, expected) => {
    bucket.intercept = () => answer;
    await expect(write(open())).rejects.toMatchObject({ name: 'ConnectorError', ...expected });
  });

  test('opens without permission to list, but not without a bucket', async () => {
    await open().open?.(never);
    bucket.intercept = () => problem(403, 'AccessDenied');
    await open().open?.(never);
    bucket.intercept = () => problem(404, 'NoSuchBucket');
    await expect(open().open?.(never)).rejects.toMatchObject({ kind: 'permanent' });
    bucket.intercept = () => problem(403, 'InvalidAccessKeyId');
    await expect(open().open?.(never)).rejects.toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
  });

  test('a closed network is permanent, and no connection is attempted', async () => {
    const output = openOutput({ endpoint: bucket.origin }, BUCKET_KEYS, undefined, []);
    const before = bucket.connections();
    await expect(write(output)).rejects.toMatchObject({ code: 'egress_refused', kind: 'permanent' });
    expect(bucket.connections()).toBe(before);
  });

  test.each([
    [{ bucket: '' }, {}],
    [{ prefix: 'a/../b' }, {}],
    [{ compression: 'zstd' }, {}],
    [{ partition_format: 'weekly' }, {}],
    [{ format_config: { Format: 'xml' } }, {}],
    [{ format_config: { Format: 'json', json_format: { type: 'tree' } } }, {}],
    [{ format_config: { Format: 'delimited', delimited_format: { delimiter: '', headers: ['a'] } } }, {}],
    [{ format_config: { Format: 'delimited', delimited_format: { delimiter: ',', headers: [] } } }, {}],
    [{}, { secret_key: '' }],
  ])('rejects settings %j, secrets %j', (changes, secrets) => {
    expect(() => open(changes, { ...BUCKET_KEYS, ...secrets })).toThrow(invalidConfig);
  });

  test.each([301, 400, 403, 404, 412, 500, 503])(
    'does not leak a request that a response of %i echoes',
    async (status) => {
      bucket.intercept = ({ headers, body }) => ({
        status,
        body: `<Error><Code>${JSON.stringify(headers)}</Code><Message>${BUCKET_KEYS.secret_key} ${body.toString()}</Message></Error>`,
      });
      const error: unknown = await write(open()).catch((reason: unknown) => reason);
      expectNoCredentials(error);
    },
  );
});
