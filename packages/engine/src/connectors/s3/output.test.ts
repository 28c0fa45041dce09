import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BUCKET_KEYS, problem, startFakeBucket, type FakeBucket } from '../../../../../test/support/fake-bucket.js';
import { runOutputContract } from '../../../../../test/support/output-contract.js';
import type { Received, Reply } from '../../../../../test/support/vendor.js';
import { createBatch, type Batch } from '../../records/batch.js';
import { gatherBatches } from '../../records/gathered-batch.js';
import type { Output, WriteResult } from '../../runner/ends.js';
import { ManualClock } from '../../testing/manual-clock.js';
import { openOutput } from '../../testing/s3-ends.js';
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

let bucket: FakeBucket;
beforeAll(async () => {
  bucket = await startFakeBucket();
});
beforeEach(() => {
  bucket.objects.clear();
  bucket.requests.length = 0;
  bucket.intercept = undefined;
});
afterAll(() => bucket.close());

const never = new AbortController().signal;
const NOON = Date.parse('2026-11-12T12:30:00Z');
const JSON_LINES = { Format: 'json', json_format: { type: 'line' } };
const open = (changes: Record<string, unknown> = {}, secrets: Record<string, unknown> = BUCKET_KEYS): Output =>
  openOutput(
    { endpoint: bucket.origin, format_config: JSON_LINES, compression: 'none', ...changes },
    secrets,
    new ManualClock(NOON),
  );
const parquet = (schema?: string) => ({
  Format: 'parquet',
  parquet_format: { ...(schema !== undefined && { schema }) },
});

const batchOf = (records: readonly unknown[], id = 'batch-1'): Batch =>
  createBatch(
    id,
    records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record))),
  );

/** Writes the records and gives back the one object that came of it. */
async function write(
  changes: Record<string, unknown>,
  records: readonly unknown[],
): Promise<{ key: string; body: Buffer; result: WriteResult }> {
  const result = await open(changes).write(batchOf(records), never);
  const [[key, { body }] = ['', { body: Buffer.alloc(0) }]] = bucket.objects;
  return { key, body, result };
}

async function readParquet(body: Buffer): Promise<{ types: string[]; rows: Record<string, unknown>[] }> {
  const file = new Uint8Array(body).buffer;
  const rows = await parquetReadObjects({ file, compressors: { GZIP: (bytes) => new Uint8Array(gunzipSync(bytes)) } });
  const { schema } = parquetMetadata(file);
  const types = schema
    .slice(1)
    .map(({ name, type, converted_type: converted, repetition_type: repetition }) =>
      [name, repetition?.toLowerCase(), type, converted].filter(Boolean).join(' '),
    );
  return { types, rows };
}

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

  test('delimited: the fields in their order, by name or path, quoted where it must be', async () => {
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

  test('a line that is no record is refused where it would spoil the others', async () => {
    const { body, result } = await write({ format_config: { Format: 'json', json_format: { type: 'array' } } }, [
      { n: 1 },
      'nonsense',
      '[2]',
    ]);
    expect(JSON.parse(body.toString())).toEqual([{ n: 1 }]);
    expect(result.refused).toEqual([
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

describe('Parquet', () => {
  test.each(['none', 'gzip'])('columns from the records, compression %s', async (compression) => {
    const records = [
      {
        text: 'ü😀',
        flag: true,
        count: 1,
        ratio: 1,
        nested: { a: [1] },
        mixed: 'x',
        nothing: null,
        'dotted.name': 'd',
        '': 'e',
      },
      { text: 'b', flag: false, count: 9_007_199_254_740_991, ratio: 0.5, nested: [2], mixed: 3, later: 'z' },
      {},
    ];
    const { key, body } = await write({ format_config: parquet(), compression }, records);
    expect(key).toBe('records-batch-1.parquet');
    const { types, rows } = await readParquet(body);
    expect(types).toEqual([
      'text optional BYTE_ARRAY UTF8',
      'flag optional BOOLEAN',
      'count optional INT64',
      'ratio optional DOUBLE',
      'nested optional BYTE_ARRAY JSON',
      'mixed optional BYTE_ARRAY JSON',
      'nothing optional BYTE_ARRAY UTF8',
      'dotted.name optional BYTE_ARRAY UTF8',
      ' optional BYTE_ARRAY UTF8'.trim(),
      'later optional BYTE_ARRAY UTF8',
    ]);
    const none = {
      text: null,
      flag: null,
      count: null,
      ratio: null,
      nested: null,
      mixed: null,
      nothing: null,
      'dotted.name': null,
      '': null,
      later: null,
    };
    expect(rows).toEqual([
      {
        ...none,
        text: 'ü😀',
        flag: true,
        count: 1n,
        ratio: 1,
        nested: { a: [1] },
        mixed: 'x',
        'dotted.name': 'd',
        '': 'e',
      },
      { ...none, text: 'b', flag: false, count: 9_007_199_254_740_991n, ratio: 0.5, nested: [2], mixed: 3, later: 'z' },
      none,
    ]);
  });

  test('thousands of keys stay a file: what is beyond 500 stands together', async () => {
    const records = Array.from({ length: 600 }, (_, n) => ({ [`key-${n}`]: n, _other: 'mine' }));
    const { rows, types } = await readParquet((await write({ format_config: parquet() }, records)).body);
    expect(types.length).toBe(501);
    expect(rows[0]).toMatchObject({ 'key-0': 0n, _other: { _other: 'mine' } });
    expect(rows[599]).toMatchObject({ 'key-0': null, _other: { 'key-599': 599, _other: 'mine' } });
  });

  test('records without keys are rows all the same', async () => {
    expect((await readParquet((await write({ format_config: parquet() }, [{}, {}])).body)).rows).toEqual([
      { _other: {} },
      { _other: {} },
    ]);
  });

  test('a schema of its own: types as it says, what does not fit is null or refused', async () => {
    const schema = `message event {
      required binary time (STRING);
      optional int32 status = 2; optional INT64 size; optional double ratio; optional float part; optional boolean ok;
      optional int64 at (TIMESTAMP(MILLIS, true)); optional int64 seen (TIMESTAMP_MICROS); optional int32 day (DATE);
      optional binary actor (JSON); optional binary actor.email (UTF8); optional binary kind (ENUM);
    }`;
    const { body, result } = await write({ format_config: parquet(schema), compression: 'gzip' }, [
      {
        time: 't1',
        status: '200',
        size: 5,
        ratio: '0.5',
        part: 2,
        ok: 'true',
        at: '2026-01-02T03:04:05Z',
        seen: 1767323045,
        day: '2026-01-02',
        actor: { email: 'a@example.com' },
        kind: 'x',
        more: 1,
      },
      { time: 7, status: 'many', size: 1.5, ok: 1, at: 'soon' },
      { status: 1 },
    ]);
    const { types, rows } = await readParquet(body);
    expect(types[0]).toBe('time required BYTE_ARRAY UTF8');
    expect(types).toContain('at optional INT64 TIMESTAMP_MILLIS');
    const at = new Date('2026-01-02T03:04:05Z');
    expect(rows).toEqual([
      expect.objectContaining({
        time: 't1',
        status: 200,
        size: 5n,
        ratio: 0.5,
        part: 2,
        ok: true,
        at,
        seen: at,
        day: new Date('2026-01-02'),
        actor: { email: 'a@example.com' },
        'actor.email': 'a@example.com',
      }),
      expect.objectContaining({ time: '7', status: null, size: null, ok: null, at: null }),
    ]);
    expect(result.refused).toEqual([{ index: 2, reason: 'no value for the required column time' }]);
  });

  test.each([
    'no message',
    'message m { }',
    'message m { optional int96 a; }',
    'message m { optional int32 a (STRING); }',
    'message m { optional group a { optional int32 b; } }',
    'message m { repeated int32 a; }',
    'message m { optional int32 a; optional int64 a; }',
  ])('%s is refused when the output is made', (schema) => {
    expect(() => open({ format_config: parquet(schema) })).toThrow(
      expect.objectContaining({ code: 'invalid_config', kind: 'permanent' }),
    );
  });
});

describe('where it is written', () => {
  test.each([
    [{}, 'records-batch-1.json'],
    [{ prefix: '/logs/a b/' }, 'logs/a b/records-batch-1.json'],
    [{ partition_format: 'simple date' }, '2026/11/12/records-batch-1.json'],
    [{ prefix: 'p', partition_format: 'hive compliant' }, 'p/year=2026/month=11/day=12/records-batch-1.json'],
    [{ partition_format: 'flat hive compliant' }, 'dt=2026-11-12/records-batch-1.json'],
  ])('%j: %s', async (changes, key) => {
    expect((await write(changes, [{ n: 1 }])).key).toBe(key);
  });

  test('what was taken in lands in the folder of that day, and a repeat takes the place of what was written', async () => {
    const at = Date.parse('2026-11-11T23:59:59.500Z');
    const parts = [batchOf([{ n: 0 }], 'a'), batchOf([{ n: 1 }], 'b')];
    const output = open({ partition_format: 'simple date' });
    await output.write(gatherBatches('place', parts.slice(0, 1), at), never);
    await output.write(gatherBatches('place', parts, at), never);
    expect([...bucket.objects.keys()]).toEqual(['2026/11/11/20261111T235959Z-place.json']);
    expect([...bucket.objects.values()][0]?.body.toString()).toBe('{"n":0}\n{"n":1}\n');
  });

  test('the settings say how much goes into one object', () => {
    expect(open().gather).toEqual({ records: 100_000, bytes: 10_485_760, waitMs: 45_000 });
    const batch_config = { batch_data_size: 1_073_741_824, batch_record_count: 7, publish_rate: 86_400 };
    expect(open({ batch_config }).gather).toEqual({ records: 7, bytes: 33_554_432, waitMs: 86_400_000 });
  });
});

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
    expect(await failure(open())).toMatchObject({ name: 'EndError', ...expected });
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
      expect.objectContaining({ name: 'EndError', code: 'invalid_config', kind: 'permanent' }),
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
