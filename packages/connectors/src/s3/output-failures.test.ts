import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { BUCKET_KEYS, problem } from '../../../../test/support/fake-bucket.js';
import { batchOf, never, openBucketToWrite } from '../../../../test/support/s3-writing.js';
import type { Output } from '@connector-frame/engine/connector-api';
import { openOutput } from '../../../../test/support/s3-connectors.js';

const { bucket, open } = await openBucketToWrite();

const failure = (output: Output): Promise<unknown> =>
  output.write(batchOf([{ n: 1 }]), never).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('what the storage refuses', () => {
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
    expect(await failure(open())).toMatchObject({ name: 'ConnectorError', ...expected });
  });

  test('it opens where it may write and not list, and not where there is no bucket', async () => {
    await open().open?.(never);
    bucket.intercept = () => problem(403, 'AccessDenied');
    await open().open?.(never);
    bucket.intercept = () => problem(404, 'NoSuchBucket');
    await expect(open().open?.(never)).rejects.toMatchObject({ kind: 'permanent' });
    bucket.intercept = () => problem(403, 'InvalidAccessKeyId');
    await expect(open().open?.(never)).rejects.toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
  });

  test('a closed network is permanent, and nothing is dialled', async () => {
    const output = openOutput({ endpoint: bucket.origin }, BUCKET_KEYS, undefined, []);
    const before = bucket.connections();
    expect(await failure(output)).toMatchObject({ code: 'egress_refused', kind: 'permanent' });
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
  ])('settings %j, secrets %j make no output', (changes, secrets) => {
    expect(() => open(changes, { ...BUCKET_KEYS, ...secrets })).toThrow(
      expect.objectContaining({ name: 'ConnectorError', code: 'invalid_config', kind: 'permanent' }),
    );
  });

  test.each([301, 400, 403, 404, 412, 500, 503])(
    'an answer of %i that echoes what was sent leaks none of it',
    async (status) => {
      bucket.intercept = ({ headers, body }) => ({
        status,
        body: `<Error><Code>${JSON.stringify(headers)}</Code><Message>${BUCKET_KEYS.secret_key} ${body.toString()}</Message></Error>`,
      });
      const said = inspect(await failure(open()), { depth: 5 });
      for (const secret of Object.values(BUCKET_KEYS)) expect(said).not.toContain(secret);
      expect(said).not.toContain('Signature');
    },
  );
});
