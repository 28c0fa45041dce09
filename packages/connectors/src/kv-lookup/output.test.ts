import { expect, test } from 'vitest';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, systemClock, type KeyValueEntry } from '@connector-frame/engine/connector-api';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { createKvLookupOutput } from './output.js';

const never = new AbortController().signal;

function output(settings: Record<string, unknown>) {
  const put: (readonly [entries: readonly KeyValueEntry[], ttlMs: number | undefined])[] = [];
  const own = {
    put: (entries: readonly KeyValueEntry[], ttlMs?: number) => Promise.resolve(void put.push([entries, ttlMs])),
    get: () => Promise.resolve(new Map<string, string>()),
  };
  const context = {
    type: typeOf('output:kv-lookup'),
    egress: createEgress({ allow: [] }),
    clock: systemClock,
    keyValues: { own, of: () => own },
  };
  const made = createKvLookupOutput({ settings, secrets: {} }, context);
  return { put, write: (...lines: string[]) => made.write(createBatch('b', lines), never) };
}

test('stores the whole record as it is, or a field, under the text of the key', async () => {
  const whole = output({ key_field: 'user.id' });
  const lines = ['{"user":{"id":"u-1"},"n":12345678901234567890}', '{"user":{"id":7}}', '{"user":{"id":true}}'];
  expect(await whole.write(...lines)).toEqual({});
  const [first = '', second = '', third = ''] = lines;
  expect(whole.put).toEqual([
    [
      [
        { key: 'u-1', value: first },
        { key: '7', value: second },
        { key: 'true', value: third },
      ],
      undefined,
    ],
  ]);
  const field = output({ key_field: 'id', value_field: 'a.b', ttl: 24 });
  await field.write('{"id":"k","a":{"b":[null,1]}}', '{"id":"l","a":{"b":null}}');
  expect(field.put).toEqual([
    [
      [
        { key: 'k', value: '[null,1]' },
        { key: 'l', value: 'null' },
      ],
      86_400_000,
    ],
  ]);
});

test('rejects what has no key, no value or a value that is too large, and stores the rest', async () => {
  const { put, write } = output({ key_field: 'id', value_field: 'v' });
  const large = JSON.stringify({ id: 'x', v: 'y'.repeat(65_536) });
  const lines = [
    '{"v":1}',
    '{"id":"","v":1}',
    '{"id":null,"v":1}',
    '{"id":{},"v":1}',
    '{"id":"a"}',
    large,
    '{"id":12345678901234567891,"v":1}',
    '{"id":"b","v":1}',
  ];
  const { rejected = [] } = await write(...lines);
  expect(rejected.map(({ index, reason }) => [index, reason.split(':')[0]])).toEqual([
    ...[0, 1, 2, 3].map((index) => [index, 'missing_key']),
    [4, 'missing_value'],
    [5, 'value_too_large'],
    [6, 'missing_key'],
  ]);
  expect(put).toEqual([[[{ key: 'b', value: '1' }], undefined]]);
  expect(await write('{}')).toMatchObject({ rejected: [{ index: 0 }] });
  expect(put).toHaveLength(1);
});
