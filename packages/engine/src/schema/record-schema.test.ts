import { expect, test } from 'vitest';
import type { DataRecord } from '../connector-api/record.js';
import { MAX_FIELDS, RecordSchema } from './record-schema.js';

/** Observes records, one per millisecond, and returns what was new. */
function observe(schema: RecordSchema, records: readonly DataRecord[]): string[] {
  const changes: string[] = [];
  for (const [now, record] of records.entries())
    schema.observe(record, now, {
      added: (path) => changes.push(`+${path}`),
      typed: (path, type) => changes.push(`${path}:${type}`),
    });
  return changes;
}

test('learns fields, items of lists, and their types, with counts and times', () => {
  const schema = new RecordSchema();
  const records = [
    { user: { name: 'canary', age: 7 }, groups: [{ id: 1 }, { id: null }] },
    { user: { name: null }, groups: [], ok: true },
  ];
  expect(observe(schema, records)).toEqual([
    '+user',
    '+user.name',
    '+user.age',
    '+groups',
    '+groups[]',
    '+groups[].id',
    'groups[].id:null',
    'user.name:null',
    '+ok',
  ]);
  expect(schema.fields()).toMatchObject({
    user: { types: { object: { count: 2, firstSeen: 0, lastSeen: 1 } }, records: 2 },
    'user.name': { types: { string: { count: 1 }, null: { count: 1, firstSeen: 1 } } },
    'user.age': { types: { number: { count: 1, lastSeen: 0 } }, records: 1 },
    'groups[].id': { types: { number: { count: 1 }, null: { count: 1 } }, records: 1 },
    ok: { types: { boolean: { count: 1 } } },
  });
  expect(JSON.stringify(schema.fields())).not.toContain('canary');
});

test('continues from what was stored', () => {
  const first = new RecordSchema();
  observe(first, [{ a: 1 }, { a: 2 }]);
  const stored = JSON.parse(JSON.stringify(first.fields()));
  const second = new RecordSchema(stored, first.records);
  expect(observe(second, [{ a: 'x', b: 1 }])).toEqual(['a:string', '+b']);
  expect(second.fields()['a']).toMatchObject({ types: { number: { count: 2 }, string: { count: 1 } }, records: 3 });
  expect(second.records).toBe(3);
});

test('a source with ever new names, deep nesting or endless lists can not make it grow', () => {
  const schema = new RecordSchema();
  observe(
    schema,
    Array.from({ length: 3 * MAX_FIELDS }, (_, n) => ({ [`key-${n}`]: n })),
  );
  expect([Object.keys(schema.fields()).length, schema.isFull]).toEqual([MAX_FIELDS, true]);

  const deep = new RecordSchema();
  let nested: DataRecord = {};
  for (let depth = 0; depth < 5_000; depth += 1) nested = { a: nested };
  observe(deep, [nested, { list: Array.from({ length: 100_000 }, (_, n) => ({ [`k${n}`]: 1 })) }]);
  expect(Object.keys(deep.fields()).length).toBeLessThan(300);
  observe(deep, [{ ['x'.repeat(10_000)]: 1 }]);
  expect(JSON.stringify(deep.fields()).length).toBeLessThan(50_000);
});

test('names of the prototype are names like others', () => {
  const schema = new RecordSchema();
  expect(observe(schema, [JSON.parse('{"__proto__":{"a":1},"constructor":2}')])).toEqual([
    '+__proto__',
    '+__proto__.a',
    '+constructor',
  ]);
  expect(Object.keys(schema.fields())).toEqual(['__proto__', '__proto__.a', 'constructor']);
  expect({}).not.toHaveProperty('a');
});

test('a field is missing when a thousand records lack it that used to have it', () => {
  const schema = new RecordSchema();
  observe(
    schema,
    Array.from({ length: 100 }, (_, n) => ({ always: 1, often: 1, ...(n < 5 && { rare: 1 }) })),
  );
  observe(
    schema,
    Array.from({ length: 999 }, () => ({ always: 1 })),
  );
  expect(schema.forgetMissing().size).toBe(0);
  observe(schema, [{ always: 1 }]);
  expect([...schema.forgetMissing().keys()]).toEqual(['often']);
  expect(Object.keys(schema.fields())).toEqual(['always', 'rare']);
});
