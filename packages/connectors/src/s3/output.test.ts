import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BUCKET_KEYS } from '../../../../test/support/fake-bucket.js';
import { runOutputContract } from '../../../../test/support/output-contract.js';
import { batchOf, JSON_LINES, never, openBucketToWrite } from '../../../../test/support/s3-writing.js';
import type { Received, Reply } from '../../../../test/support/vendor.js';
import { mergeBatches } from '@connector-frame/engine';
import { createS3Output } from './output.js';

const answered = (request: Received): Reply =>
  request.method === 'PUT'
    ? { headers: { etag: '"1"' } }
    : { body: '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>' };
for (const [name, compression] of [
  ['s3', 'gzip'],
  ['object-storage', 'none'],
] as const) {
  runOutputContract(name, {
    type: `output:${name}`,
    at: (origin) => ({
      create: name === 's3' ? createS3Output(undefined, () => origin) : createS3Output(),
      config: {
        settings: {
          bucket: 'logs',
          region: 'us-east-1',
          format_config: { Format: 'json', json_format: { type: 'line' } },
          compression,
          ...(name === 'object-storage' && { endpoint: origin, use_path_style: true }),
        },
        secrets: BUCKET_KEYS,
      },
    }),
    accept: answered,
    numbers: ({ method, bytes }) =>
      method !== 'PUT'
        ? []
        : (compression === 'gzip' ? gunzipSync(bytes) : bytes)
            .toString()
            .trim()
            .split('\n')
            .map((line): number => JSON.parse(line).n),
  });
}

const { bucket, open, write } = await openBucketToWrite();

describe('text', () => {
  test.each([
    ['line', JSON_LINES, '{"n":1}\n{"n":2}\n'],
    ['array', { Format: 'json', json_format: { type: 'array' } }, '[{"n":1},\n{"n":2}]\n'],
    [
      'nested',
      { Format: 'json', json_format: { type: 'nested', key: 'my "key"' } },
      '{"my \\"key\\"":[{"n":1},\n{"n":2}]}\n',
    ],
    ['nested, no key', { Format: 'json', json_format: { type: 'nested' } }, '{"records":[{"n":1},\n{"n":2}]}\n'],
  ])('JSON: %s, plain and with gzip', async (_name, format_config, expected) => {
    const plain = await write({ format_config }, [{ n: 1 }, { n: 2 }]);
    expect(plain.body.toString()).toBe(expected);
    expect(plain.key).toBe('records-batch-1.json');
    bucket.objects.clear();
    const packed = await write({ format_config, compression: 'gzip' }, [{ n: 1 }, { n: 2 }]);
    expect(gunzipSync(packed.body).toString()).toBe(expected);
    expect(packed.key).toBe('records-batch-1.json.gz');
  });

  test('delimited: writes fields in order, by name or path, quoted if necessary', async () => {
    const headers = ['time', 'actor.email', 'note', 'tags', 'none'];
    const { key, body } = await write(
      { format_config: { Format: 'delimited', delimited_format: { delimiter: ',', headers } } },
      [
        { time: 1, actor: { email: 'a@example.com' }, note: 'x, "y"\nz', tags: ['a'], other: 1 },
        { 'actor.email': 'b@example.com', none: null, note: true },
      ],
    );
    expect(key).toBe('records-batch-1.csv');
    expect(body.toString()).toBe(
      'time,actor.email,note,tags,none\r\n1,a@example.com,"x, ""y""\nz","[""a""]",\r\n,b@example.com,true,,\r\n',
    );
  });

  test('rejects a line that is not a record if it would corrupt the object', async () => {
    const { body, result } = await write({ format_config: { Format: 'json', json_format: { type: 'array' } } }, [
      { n: 1 },
      'nonsense',
      '[2]',
    ]);
    expect(JSON.parse(body.toString())).toEqual([{ n: 1 }]);
    expect(result.rejected).toEqual([
      { index: 1, reason: 'no_json_object' },
      { index: 2, reason: 'no_json_object' },
    ]);
    bucket.objects.clear();
    await open({ format_config: { Format: 'json', json_format: { type: 'array' } } }).write(
      batchOf(['nonsense']),
      never,
    );
    expect(bucket.objects.size).toBe(0);
  });
});

describe('object keys', () => {
  test.each([
    [{}, 'records-batch-1.json'],
    [{ prefix: '/logs/a b/' }, 'logs/a b/records-batch-1.json'],
    [{ partition_format: 'simple date' }, '2026/11/12/records-batch-1.json'],
    [{ prefix: 'p', partition_format: 'hive compliant' }, 'p/year=2026/month=11/day=12/records-batch-1.json'],
    [{ partition_format: 'flat hive compliant' }, 'dt=2026-11-12/records-batch-1.json'],
  ])('%j: %s', async (changes, key) => {
    expect((await write(changes, [{ n: 1 }])).key).toBe(key);
  });

  test('uses the folder of the day of receipt, and a retry overwrites the object', async () => {
    const at = Date.parse('2026-11-11T23:59:59.500Z');
    const parts = [batchOf([{ n: 0 }], 'a'), batchOf([{ n: 1 }], 'b')];
    const output = open({ partition_format: 'simple date' });
    await output.write(mergeBatches('place', parts.slice(0, 1), at), never);
    await output.write(mergeBatches('place', parts, at), never);
    expect([...bucket.objects.keys()]).toEqual(['2026/11/11/20261111T235959Z-place.json']);
    expect([...bucket.objects.values()][0]?.body.toString()).toBe('{"n":0}\n{"n":1}\n');
  });

  test('batches by the settings', () => {
    expect(open().batching).toEqual({ records: 100_000, bytes: 10_485_760, waitMs: 45_000, replaces: true });
    const batch_config = { batch_data_size: 1_073_741_824, batch_record_count: 7, publish_rate: 86_400 };
    expect(open({ batch_config }).batching).toMatchObject({ records: 7, bytes: 33_554_432, waitMs: 86_400_000 });
  });
});
