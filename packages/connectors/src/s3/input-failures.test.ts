import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BUCKET_KEYS, problem } from '../../../../test/support/fake-bucket.js';
import { lines, OLD, openBucketToRead, read, YEAR_2020 } from '../../../../test/support/s3-reading.js';
import type { PageInput } from '@connector-frame/engine/connector-api';
import { openInput } from '../../../../test/support/s3-connectors.js';
import { expectNoCredentials, invalidConfig } from '../../../../test/support/s3-failures.js';

const { bucket, open } = await openBucketToRead();

describe('unreadable objects', () => {
  const fast = { now: () => Date.now(), sleep: () => Promise.resolve() };
  const quick = (changes: Record<string, unknown>): PageInput =>
    openInput({ endpoint: bucket.origin, backfill_start_time: YEAR_2020, ...changes }, BUCKET_KEYS, fast);

  test.each([
    [
      'damaged gzip',
      Buffer.concat([gzipSync(lines(0, 1)).subarray(0, 12), Buffer.from('rubbish in the middle')]),
      {},
      'corrupt_gzip',
    ],
    ['cut gzip', gzipSync(lines(0, 50)).subarray(0, 40), {}, 'corrupt_gzip'],
    ['no gzip', lines(0, 1), { compression: 'gzip' }, 'not_gzip'],
    ['cut JSON', '[{"a":1},{"a"', { format: 'json' }, 'incomplete_json'],
    ['a web page', '<html></html>', { format: 'json' }, 'invalid_json'],
  ])('%s', async (_name, body, changes, reason) => {
    bucket.put('bad', body, OLD);
    bucket.put('good', 'compression' in changes ? gzipSync(lines(7, 1)) : lines(7, 1), OLD + 1_000);
    const { numbers, rejected, codes, cursor } = await read(quick(changes));
    expect(numbers.filter((n) => n !== undefined)).toEqual([7]);
    expect(rejected).toEqual([`object_skipped: ${reason}`]);
    expect(codes).toEqual(['object_skipped']);
    expect(bucket.read.filter((key) => key === 'bad').length).toBe(3);
    expect((await read(quick(changes), cursor)).rejected).toEqual([]);
  });

  test('reports a bad line, and reads the others of its object', async () => {
    bucket.put('a', `${lines(0, 2)}not json\n${lines(2, 1)}`, OLD);
    const { numbers, rejected, codes } = await read(quick({}));
    expect([numbers, rejected, codes]).toEqual([[0, 1, 2], ['invalid_json'], []]);
  });

  test('skips an archived object at once', async () => {
    bucket.put('cold', lines(9, 1), OLD);
    bucket.put('warm', lines(0, 1), OLD);
    bucket.intercept = ({ key }) => (key === 'cold' ? problem(403, 'InvalidObjectState') : undefined);
    expect(await read(quick({}))).toMatchObject({ numbers: [0], rejected: ['object_skipped: archived'] });
  });

  test('skips an object that was denied three times, without delaying others', async () => {
    bucket.put('a-closed', lines(9, 1), OLD);
    bucket.put('b-open', lines(0, 1), OLD + 1_000);
    bucket.intercept = ({ key }) => (key === 'a-closed' ? problem(403, 'AccessDenied') : undefined);
    const input = quick({});
    const first = await read(input);
    expect([first.numbers, first.rejected]).toEqual([[0], []]);
    const second = await read(input, first.cursor);
    const third = await read(input, second.cursor);
    expect([...second.rejected, ...third.rejected]).toEqual(['object_skipped: denied']);
    expect((await read(input, third.cursor)).rejected).toEqual([]);
    expect(bucket.read.filter((key) => key === 'b-open').length).toBe(1);
  });

  test('reports a wrong record path', async () => {
    bucket.put('a', '{"Records":[{"n":0}]}', OLD);
    expect((await read(quick({ format: 'json', record_location: 'records' }))).codes).toEqual(['no_records']);
    expect((await read(quick({ format: 'json', record_location: 'Records' }))).numbers).toEqual([0]);
  });
});

describe('errors of the storage', () => {
  test.each([
    ['SlowDown', problem(503, 'SlowDown'), { code: 'rate_limited', kind: 'throttled' }],
    ['Retry-After', { status: 503, headers: { 'retry-after': '7' } }, { kind: 'throttled', afterMs: 7_000 }],
    ['429', { status: 429, headers: { 'retry-after': '2' } }, { kind: 'throttled', afterMs: 2_000 }],
    ['InternalError', problem(500, 'InternalError'), { code: 'upstream_error', kind: 'retry' }],
    ['AccessDenied', problem(403, 'AccessDenied'), { code: 'forbidden', kind: 'permanent' }],
    [
      'another region',
      { status: 301, body: '<Error><Code>PermanentRedirect</Code></Error>' },
      { kind: 'permanent', message: expect.stringContaining('region') },
    ],
    ['no bucket', problem(404, 'NoSuchBucket'), { code: 'not_found', kind: 'permanent' }],
    ['a web page', { body: '<html></html>' }, { code: 'unexpected_answer', kind: 'retry' }],
  ])('%s', async (_name, answer, expected) => {
    bucket.put('a', lines(0, 1), OLD);
    bucket.intercept = () => answer;
    await expect(read(open())).rejects.toMatchObject({ name: 'ConnectorError', ...expected });
    bucket.intercept = ({ key }) => (key === 'a' ? answer : undefined);
    if (answer.status !== undefined && answer.status !== 404)
      await expect(read(open())).rejects.toMatchObject({ name: 'ConnectorError', ...expected });
  });

  test('a closed network is permanent, and no connection is attempted', async () => {
    const input = openInput({ endpoint: bucket.origin }, BUCKET_KEYS, undefined, []);
    const before = bucket.connections();
    await expect(read(input)).rejects.toMatchObject({ code: 'egress_refused', kind: 'permanent' });
    expect(bucket.connections()).toBe(before);
  });

  test.each([
    [{ bucket: '' }, {}],
    [{ region: 'eu west' }, {}],
    [{ endpoint: 'no address' }, {}],
    [{ format: 'xml' }, {}],
    [{ compression: 'zstd' }, {}],
    [{ partition_format: 'weekly' }, {}],
    [{ backfill_start_time: 'yesterday' }, {}],
    [{}, { access_key: '' }],
    [{}, { secret_key: '' }],
  ])('rejects settings %j, secrets %j', (changes, secrets) => {
    expect(() => open(changes, { ...BUCKET_KEYS, ...secrets })).toThrow(invalidConfig);
  });

  test.each([200, 301, 400, 403, 404, 412, 500, 503])(
    'does not leak a request that a response of %i echoes',
    async (status) => {
      bucket.put('a', lines(0, 1), OLD);
      for (const whole of [true, false]) {
        bucket.intercept = ({ key, headers, query }) =>
          whole || key === 'a'
            ? {
                status,
                body: `<Error><Code>${JSON.stringify(headers)} ${query}</Code><Message>${BUCKET_KEYS.secret_key} ${JSON.stringify(headers)}</Message></Error>`,
              }
            : undefined;
        // An object with status 200 is no error: its text is read as records.
        const error: unknown = await read(open()).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expectNoCredentials(error);
      }
    },
  );
});
