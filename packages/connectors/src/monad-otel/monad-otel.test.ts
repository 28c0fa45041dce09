import { Reader, Writer } from 'protobufjs/minimal.js';
import { describe, expect, it } from 'vitest';
import { exportedJson, exportedProtobuf } from '../../../../test/support/otlp-export.js';
import { BodyError } from '@connector-frame/engine/connector-api';
import { monadOtelInput } from './index.js';

const { receiver } = monadOtelInput;
if (!receiver) throw new Error('no receiver');
const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json; charset=utf-8';

const records = async (body: Buffer | string, type: string): Promise<unknown[]> =>
  (await receiver.read(Buffer.from(body), type)).map((line): unknown => JSON.parse(line));
const refusal = (body: Buffer | string, type: string): Promise<unknown> =>
  receiver.read(Buffer.from(body), type).then(
    (lines) => `taken as ${lines.length}`,
    (error: unknown) => (error instanceof BodyError ? error.status : error),
  );
const json = (log: object, rest: object = {}): string =>
  JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [log] }], ...rest }] });
const body = async (value: object): Promise<unknown> => {
  const [record] = await records(json({ body: value }), JSON_TYPE);
  return typeof record === 'object' && record !== null && 'body' in record ? record.body : undefined;
};

const exported = [
  {
    timestamp: '2025-07-29T10:00:00.123456789Z',
    observed_timestamp: '2025-07-29T10:00:01.000Z',
    severity_number: 17,
    severity_text: 'ERROR',
    event_name: 'order.failed',
    body: 'payment refused ü',
    attributes: {
      'order.id': 42,
      ratio: 0.5,
      ok: false,
      tags: ['a', 'b'],
      big: 9_007_199_254_740_991,
      nested: { a: { b: 1 } },
      raw: 'AQL/',
    },
    trace_id: '5b8efff798038103d269b633813fc60c',
    span_id: 'eee19b7ec3c1b174',
    flags: 1,
    resource: { attributes: { 'service.name': 'shop', 'host.count': 3 } },
    scope: { name: 'checkout', version: '1.2.0' },
  },
  {
    timestamp: '2025-07-29T10:00:02.000000005Z',
    observed_timestamp: '2025-07-29T10:00:03.000Z',
    severity_number: 9,
    body: { message: 'a map', n: 1 },
    resource: { attributes: { 'service.name': 'shop', 'host.count': 3 } },
    scope: { name: 'checkout', version: '1.2.0' },
  },
];

describe('an export of the OpenTelemetry SDK', () => {
  it.each([
    ['protobuf', exportedProtobuf, PROTOBUF],
    ['JSON', exportedJson, JSON_TYPE],
  ])('in %s becomes one record for each log record', async (_name, sent, type) => {
    expect(await records(sent, type)).toEqual(exported);
  });

  it('is rejected if truncated anywhere', async () => {
    for (let length = 1; length < exportedProtobuf.length; length += 1)
      expect(await refusal(exportedProtobuf.subarray(0, length), PROTOBUF)).toBe(400);
    expect(await refusal(exportedJson.slice(0, -1), JSON_TYPE)).toBe(400);
  });

  it('with any byte changed is read or rejected', async () => {
    for (let at = 0; at < exportedProtobuf.length; at += 1) {
      for (const change of [1, 8, 128, 255]) {
        const changed = Buffer.from(exportedProtobuf);
        changed[at] = (changed[at] ?? 0) ^ change;
        expect(await refusal(changed, PROTOBUF)).toSatisfy((said) => said === 400 || String(said).startsWith('taken'));
      }
    }
  });
});

describe('encodings of senders', () => {
  it('accepts numbers as strings; keeps those that a double cannot hold as strings', async () => {
    expect(await body({ intValue: '42' })).toBe(42);
    expect(await body({ intValue: '9223372036854775807' })).toBe('9223372036854775807');
    expect(await body({ doubleValue: 'NaN' })).toBe('NaN');
    expect(await body({ boolValue: false })).toBe(false);
    expect(await body({})).toBeNull();
  });

  it('keeps special JavaScript keys', async () => {
    const value = { kvlistValue: { values: [{ key: '__proto__', value: { stringValue: 'x' } }] } };
    expect(JSON.stringify(await body(value))).toBe('{"__proto__":"x"}');
    expect({}).not.toHaveProperty('x');
  });

  it('omits fields that are absent, zero or of the wrong length', async () => {
    const log = { timeUnixNano: '0', traceId: 'abc', spanId: '0000000000000000', severityText: '', attributes: [] };
    expect(await records(json(log, { resource: {} }), JSON_TYPE)).toEqual([{}]);
    expect(await records('{}', JSON_TYPE)).toEqual([]);
    expect(await records(Buffer.alloc(0), PROTOBUF)).toEqual([]);
  });

  it.each([
    ['a time that is none', json({ timeUnixNano: '1e9' }), JSON_TYPE, 400],
    ['a time before 1970', json({ timeUnixNano: -1 }), JSON_TYPE, 400],
    ['a number that is none', json({ body: { intValue: 'x' } }), JSON_TYPE, 400],
    ['no object', '[]', JSON_TYPE, 400],
    ['another kind', '{}', 'text/plain', 415],
    ['no kind', '{}', '', 415],
  ])('rejects %s', async (_name, sent, type, status) => {
    expect(await refusal(sent, type)).toBe(status);
  });
});

/** Encodes a protobuf message with one field. */
const wrapped = (id: number, inner: Uint8Array): Uint8Array =>
  Writer.create()
    .uint32((id << 3) | 2)
    .bytes(inner)
    .finish();

describe('a hostile export', () => {
  it('is rejected if nested too deeply, in both encodings', async () => {
    let value: Uint8Array = Writer.create().finish();
    for (let level = 0; level < 5_000; level += 1) value = wrapped(5, wrapped(1, value));
    const message = wrapped(1, wrapped(2, wrapped(2, wrapped(5, value))));
    expect(await refusal(Buffer.from(message), PROTOBUF)).toBe(400);
    const text = '{"body":' + '{"arrayValue":{"values":['.repeat(5_000) + ']}}'.repeat(5_000) + '}';
    expect(await refusal(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${text}]}]}]}`, JSON_TYPE)).toBe(400);
  });

  it('is rejected if it expands to gigabytes', async () => {
    // Each of the empty records repeats the resource.
    const attribute = Writer.create()
      .uint32(10)
      .string('k')
      .uint32(18)
      .bytes(wrapped(1, Buffer.alloc(400_000, 'x')))
      .finish();
    const resource = wrapped(1, wrapped(1, attribute));
    const empty = Buffer.from(Array.from({ length: 5_000 }, () => [0x12, 0]).flat());
    const message = wrapped(1, Buffer.concat([resource, wrapped(2, empty)]));
    expect(message.length).toBeLessThan(500_000);
    expect(await refusal(Buffer.from(message), PROTOBUF)).toBe(413);
    const many = Buffer.from(Array.from({ length: 150_000 }, () => [0x12, 0]).flat());
    expect(await refusal(Buffer.from(wrapped(1, wrapped(2, many))), PROTOBUF)).toBe(413);
  });
});

it("responds in the request's encoding with the number of rejected records", () => {
  expect(receiver.accepted(3, [], PROTOBUF)).toEqual({ contentType: PROTOBUF, body: Buffer.alloc(0) });
  expect(receiver.accepted(3, [], JSON_TYPE)).toEqual({ contentType: 'application/json', body: '{}' });
  const errorMessage = '2 log records are larger than 512 KiB and were rejected.';
  const partialSuccess = { rejectedLogRecords: '2', errorMessage };
  expect(JSON.parse(String(receiver.accepted(3, [0, 2], JSON_TYPE).body))).toEqual({ partialSuccess });
  const reader = Reader.create(Buffer.from(receiver.accepted(3, [0, 2], PROTOBUF).body));
  expect([reader.uint32(), reader.uint32()]).toEqual([10, reader.len - 2]);
  expect([reader.uint32(), Number(reader.int64()), reader.uint32(), reader.string()]).toEqual([8, 2, 18, errorMessage]);
  expect(receiver.rejected?.('Come again.', PROTOBUF).body).toEqual(wrapped(2, Buffer.from('Come again.')));
  expect(receiver.rejected?.('Come again.', JSON_TYPE).body).toBe('{"message":"Come again."}');
});
