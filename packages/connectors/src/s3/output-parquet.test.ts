import { gunzipSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { openBucketToWrite } from '../../../../test/support/s3-writing.js';
import { invalidConfig } from '../../../../test/support/s3-failures.js';

const { open, write } = await openBucketToWrite();
const parquet = (schema?: string) => ({
  Format: 'parquet',
  parquet_format: { ...(schema !== undefined && { schema }) },
});

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

describe('Parquet', () => {
  test.each(['none', 'gzip'])('infers columns from the records, compression %s', async (compression) => {
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

  test('combines keys beyond 500 columns', async () => {
    const records = Array.from({ length: 600 }, (_, n) => ({ [`key-${n}`]: n, _other: 'mine' }));
    const { rows, types } = await readParquet((await write({ format_config: parquet() }, records)).body);
    expect(types.length).toBe(501);
    expect(rows[0]).toMatchObject({ 'key-0': 0n, _other: { _other: 'mine' } });
    expect(rows[599]).toMatchObject({ 'key-0': null, _other: { 'key-599': 599, _other: 'mine' } });
  });

  test('writes records without keys as rows', async () => {
    expect((await readParquet((await write({ format_config: parquet() }, [{}, {}])).body)).rows).toEqual([
      { _other: {} },
      { _other: {} },
    ]);
  });

  test('applies a declared schema; values that do not fit become null or are rejected', async () => {
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
    expect(result.rejected).toEqual([{ index: 2, reason: 'no value for the required column time' }]);
  });

  test.each([
    'no message',
    'message m { }',
    'message m { optional int96 a; }',
    'message m { optional int32 a (STRING); }',
    'message m { optional group a { optional int32 b; } }',
    'message m { repeated int32 a; }',
    'message m { optional int32 a; optional int64 a; }',
  ])('rejects %s when the output is created', (schema) => {
    expect(() => open({ format_config: parquet(schema) })).toThrow(invalidConfig);
  });
});
