import { expect, test } from 'vitest';
import type { DataRecord, JsonValue } from '../connector-api/record.js';
import { randomRecord, seededRandom } from '../testing/random.js';
import { compileTransform } from './compile-transform.js';
import { parseTransform } from './parse-transform.js';
import { TransformRejection } from './transform-rejection.js';

const NOW = Date.UTC(2026, 2, 18, 12, 34, 56, 789);

async function run(record: DataRecord, ...steps: readonly [string, object][]): Promise<DataRecord> {
  const operations = steps.map(([operation, given]) => ({ operation, arguments: given }));
  const parsed = await parseTransform({ operations });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return compileTransform(parsed.transform).reduce(
    (changed, stage) => (stage.kind === 'each' ? (stage.apply(changed, { now: NOW, recordId: 'b.0' }) ?? {}) : changed),
    record,
  );
}

test.each<[string, object, DataRecord, DataRecord]>([
  ['rename_key', { key: 'a', new_key: 'b' }, { a: 1, c: 2 }, { c: 2, b: 1 }],
  ['rename_key', { key: 'a.b', new_key: 'x.y' }, { a: { b: 1, c: 2 } }, { a: { c: 2 }, x: { y: 1 } }],
  ['rename_key', { key: 'a', new_key: 'a.b' }, { a: 1 }, { a: { b: 1 } }],
  ['rename_key', { key: 'absent', new_key: 'b' }, { a: 1 }, { a: 1 }],
  ['rename', { key: 'a', new_key: 'a' }, { a: 1 }, { a: 1 }],
  ['drop_key', { key: 'a.b' }, { a: { b: 1, c: 2 } }, { a: { c: 2 } }],
  ['drop_key', { key: 'list.0' }, { list: [1, 2, 3] }, { list: [2, 3] }],
  ['drop', { key: 'absent.b' }, { a: 1 }, { a: 1 }],
  ['drop_key', { key: 'toString' }, { a: 1 }, { a: 1 }],
  ['add', { key: 'a.b.c', value: [null] }, {}, { a: { b: { c: [null] } } }],
  ['add', { key: 'list.1', value: 'x' }, { list: [1] }, { list: [1, 'x'] }],
  ['add', { key: 'a', value: null }, { a: 1 }, { a: null }],
  ['add', { key: 'dotted\\.key', value: 1 }, {}, { 'dotted.key': 1 }],
  ['flatten', { key: 'u' }, { u: { name: 'A', ids: [7, { x: 1 }] } }, { u_name: 'A', u_ids_0: 7, u_ids_1_x: 1 }],
  ['flatten', { key: 'a.u', delimiter: '.' }, { a: { u: { n: 1 } } }, { a: { 'u.n': 1 } }],
  ['flatten', { key: 'u', base: 'flat' }, { u: { a: { b: 1 } } }, { flat_a_b: 1 }],
  ['flatten', { key: 'u' }, { u: {} }, { u: {} }],
  ['flatten_all', {}, { a: { b: [1, []], c: null }, d: 'x' }, { a_b_0: 1, a_b_1: [], a_c: null, d: 'x' }],
  ['mutate_type', { key: 'a', type: 'int' }, { a: ' 42 ' }, { a: 42 }],
  ['mutate_type', { key: 'a', type: 'int' }, { a: '-1.9e1' }, { a: -19 }],
  ['mutate_type', { key: 'a', type: 'float' }, { a: '1.5' }, { a: 1.5 }],
  ['mutate_type', { key: 'a', type: 'bool' }, { a: 'Yes' }, { a: true }],
  ['mutate_type', { key: 'a', type: 'string' }, { a: { b: [1] } }, { a: '{"b":[1]}' }],
  ['mutate_type', { key: 'a', type: 'json' }, { a: '{"b":[1]}' }, { a: { b: [1] } }],
  ['mutate_type', { key: 'a', type: 'int' }, { a: null }, { a: null }],
  ['mutate_type', { key: 'absent', type: 'int' }, { a: 1 }, { a: 1 }],
  ['timestamp', { key: 't' }, {}, { t: '2026-03-18T12:34:56Z' }],
  ['timestamp', { key: 't', format: 'RFC3339' }, {}, { t: '2026-03-18T12:34:56Z' }],
  ['timestamp', { key: 't', format: 'iso8601' }, {}, { t: '2026-03-18T12:34:56.789Z' }],
  ['timestamp', { key: 't', format: 'unix' }, {}, { t: 1773837296 }],
  ['timestamp', { key: 't', format: 'unix_milli' }, {}, { t: NOW }],
  ['timestamp', { key: 't', format: 'unix_nano' }, {}, { t: '1773837296789000000' }],
])('%s %j', async (operation, given, record, expected) => {
  const before = structuredClone(record);
  expect(await run(record, [operation, given])).toEqual(expected);
  expect(record).toEqual(before);
});

test.each<[string, object, DataRecord, string]>([
  ['mutate_type', { key: 'a', type: 'int' }, { a: 'many' }, 'not_convertible'],
  ['mutate_type', { key: 'a', type: 'int' }, { a: '9007199254740993' }, 'not_convertible'],
  ['mutate_type', { key: 'a', type: 'float' }, { a: '1e999' }, 'not_convertible'],
  ['mutate_type', { key: 'a', type: 'json' }, { a: '{' }, 'not_convertible'],
  ['add', { key: 'a.b', value: 1 }, { a: 'text' }, 'not_an_object'],
  ['add', { key: 'list.7', value: 1 }, { list: [] }, 'not_an_object'],
  ['flatten', {}, { a_b: 1, a: { b: 2 } }, 'key_taken'],
])('%s %j rejects %j without quoting the value', async (operation, given, record, code) => {
  try {
    await run(record, [operation, given]);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(TransformRejection);
    expect(error).toMatchObject({ code });
    expect(String(error)).not.toMatch(/many|900719|999/);
  }
});

test.each([
  [null, '/operations'],
  [{ operations: Array.from({ length: 21 }, () => ({})) }, '/operations'],
  [{ operations: ['drop'] }, '/operations/0'],
  [{ operations: [{ operation: 'constructor' }] }, '/operations/0/operation'],
  [{ operations: [{ operation: 'drop_key', arguments: [] }] }, '/operations/0/arguments'],
  [{ operations: [{ operation: 'drop_key' }] }, '/operations/0/arguments/key'],
  [{ operations: [{ operation: 'rename_key', arguments: { key: 'a' } }] }, '/operations/0/arguments/new_key'],
  [{ operations: [{ operation: 'add', arguments: { key: 'a' } }] }, '/operations/0/arguments/value'],
  [
    { operations: [{ operation: 'add', arguments: { key: 'a', value: 'x'.repeat(20_000) } }] },
    '/operations/0/arguments/value',
  ],
  [{ operations: [{ operation: 'flatten', arguments: { delimiter: 7 } }] }, '/operations/0/arguments/delimiter'],
  [{ operations: [{ operation: 'flatten', arguments: { key: 'a', base: '' } }] }, '/operations/0/arguments/base'],
  [
    { operations: [{ operation: 'mutate_type', arguments: { key: 'a', type: 'date' } }] },
    '/operations/0/arguments/type',
  ],
  [
    { operations: [{ operation: 'timestamp', arguments: { key: 'a', format: 'x' } }] },
    '/operations/0/arguments/format',
  ],
])('rejects %j with the path of the problem', async (value, path) => {
  expect(await parseTransform(value)).toEqual({ ok: false, problems: [expect.objectContaining({ path })] });
});

const escaped = (key: string): string => key.replaceAll('\\', '\\\\').replaceAll('.', '\\.');

test('random records: add and drop, and renaming there and back, restore the record', async () => {
  const random = seededRandom(11);
  for (let round = 0; round < 400; round += 1) {
    const record = randomRecord(random);
    const text = JSON.stringify(record);
    expect(await run(record, ['add', { key: 'fresh.deep', value: 1 }], ['drop_key', { key: 'fresh' }])).toEqual(record);
    for (const key of Object.keys(record)) {
      const there = ['rename_key', { key: escaped(key), new_key: 'fresh' }] as [string, object];
      const back = ['rename_key', { key: 'fresh', new_key: escaped(key) }] as [string, object];
      expect(await run(record, there, back)).toEqual(record);
      expect(Object.keys(await run(record, there))).not.toContain(key);
    }
    expect(JSON.stringify(record)).toBe(text);
    expect({}).not.toHaveProperty('fresh');
  }
});

test('random records: flatten keeps all leaves and is idempotent', async () => {
  const random = seededRandom(12);
  const leaves = (value: JsonValue | undefined): string[] => {
    const children = typeof value === 'object' && value !== null ? Object.values(value) : [];
    return children.length > 0 ? children.flatMap((child) => leaves(child)) : [JSON.stringify(value)];
  };
  for (let round = 0; round < 400; round += 1) {
    const record = randomRecord(random);
    // No key contains this delimiter, so two leaves can't have the same name.
    const flat = await run(record, ['flatten', { delimiter: '~' }]);
    expect(leaves(flat)).toEqual(leaves(record));
    expect(await run(flat, ['flatten', { delimiter: '~' }])).toEqual(flat);
  }
});

const wide = (keys: number): DataRecord => ({
  u: Object.fromEntries(Array.from({ length: keys }, (_, n) => [`k${n}`, n])),
});

test('flattens the largest objects without quadratic time', async () => {
  const keys = 10_000;
  const record = wide(keys);
  for (let round = 0; round < 50; round += 1)
    expect(Object.keys(await run(record, ['flatten', { key: 'u' }]))).toHaveLength(keys);
});
