import { describe, expect, test } from 'vitest';
import { seededRandom } from '../testing/random.js';
import { compileCondition } from './compile-condition.js';
import { LOGICAL_OPERATORS, type LeafCondition, type LogicalCondition } from './condition.js';
import { parseKeyPath, valueAt } from '../connector-api/key-path.js';
import { isCondition, validateCondition } from './validate-condition.js';
import type { DataRecord } from '../connector-api/record.js';

function holds(condition: unknown, record: DataRecord): boolean {
  expect(validateCondition(condition)).toEqual([]);
  const test = isCondition(condition) ? compileCondition(condition) : 'never';
  return typeof test === 'function' ? test(record) : test === 'always';
}
const leaf = (type_id: string, config: object) => ({ operator: 'and', conditions: [{ type_id, config }] });

const record = {
  actor: { email: 'Ana@Example.com', ids: [7, 'x'] },
  'dotted.key': 'yes',
  severity: 5,
  port: '443',
  ok: true,
  none: null,
  blank: '',
  list: [],
  at: '2026-01-02T03:04:05Z',
} satisfies DataRecord;

test.each([
  ['key_exists', { key: 'actor.email' }, true],
  ['key_exists', { key: 'none' }, true],
  ['key_exists', { key: 'toString' }, false],
  ['key_exists', { key: '__proto__' }, false],
  ['key_exists', { key: 'actor.ids.1' }, true],
  ['key_exists', { key: 'actor.ids.2' }, false],
  ['key_exists', { key: 'dotted\\.key' }, true],
  ['key_exists', { key: 'dotted.key', not: true }, true],
  ['is_empty', { key: 'none' }, true],
  ['is_empty', { key: 'absent' }, true],
  ['is_empty', { key: 'list' }, true],
  ['is_empty', { key: 'blank' }, true],
  ['is_empty', { key: 'severity' }, false],
  ['equals', { key: 'actor.email', value: 'ana@example.com' }, false],
  ['equals', { key: 'actor.email', value: 'ana@example.com', case_insensitive: true }, true],
  ['equals', { key: 'severity', value: '5' }, true],
  ['equals', { key: 'port', value: 443 }, true],
  ['equals', { key: 'ok', value: 'true' }, true],
  ['equals', { key: 'none', value: null }, true],
  ['equals', { key: 'none', value: 'null' }, false],
  ['equals', { key: 'absent', value: 'x', not: true }, true],
  ['equals_any', { key: 'severity', values: ['4', '5'] }, true],
  ['equals_any', { key: 'severity', values: ['4', '6'] }, false],
  ['key_values', { key: 'port', value: ['80', '443'] }, true],
  ['key_values', { key: 'port', value: '443' }, true],
  ['key_values', { key: 'absent', value: ['80'] }, false],
  ['contains', { key: 'actor.email', value: '@Example' }, true],
  ['contains', { key: 'actor.ids', value: 'x' }, true],
  ['contains', { key: 'actor.ids', value: '7' }, true],
  ['contains', { key: 'severity', value: '5' }, false],
  ['starts_with', { key: 'actor.email', value: 'ana', case_insensitive: true }, true],
  ['ends_with', { key: 'actor.email', value: '.com' }, true],
  ['greater_than', { key: 'severity', value: 4 }, true],
  ['greater_than', { key: 'severity', value: '5' }, false],
  ['greater_than_or_equal', { key: 'severity', value: '5' }, true],
  ['less_than', { key: 'port', value: 1000 }, true],
  ['less_than_or_equal', { key: 'at', value: '2026-01-02T03:04:05+00:00' }, true],
  ['less_than', { key: 'at', value: '2026-01-02T03:04:05+00:00' }, false],
  ['greater_than', { key: 'at', value: '2025' }, false],
  ['greater_than', { key: 'absent', value: 0 }, false],
  ['less_than', { key: 'blank', value: 1 }, false],
])('%s %j is %s', (type, config, expected) => {
  expect(holds(leaf(type, config), record)).toBe(expected);
  const turned = { ...config, not: !('not' in config && config.not) };
  expect(holds(leaf(type, turned), record)).toBe(!expected);
});

test('a list of conditions that is null is empty', () => {
  const empty = LOGICAL_OPERATORS.map((operator) => holds({ operator, conditions: null }, record));
  expect(empty).toEqual(LOGICAL_OPERATORS.map((operator) => holds({ operator, conditions: [] }, record)));
  expect(holds({ operator: 'and', conditions: [{ operator: 'or', conditions: null }] }, record)).toBe(false);
});

describe('operators', () => {
  const yes: LeafCondition = { type_id: 'key_exists', config: { key: 'ok' } };
  const no: LeafCondition = { type_id: 'key_exists', config: { key: 'absent' } };
  const table: [LogicalCondition['operator'], (count: number, total: number) => boolean][] = [
    ['always', () => true],
    ['never', () => false],
    ['and', (count, total) => count === total],
    ['or', (count) => count > 0],
    ['nor', (count) => count === 0],
    ['xor', (count) => count === 1],
  ];

  test.each(table)('%s, for every combination of up to four', (operator, expected) => {
    for (let total = 0; total <= 4; total += 1) {
      for (let bits = 0; bits < 2 ** total; bits += 1) {
        const conditions = Array.from({ length: total }, (_, n) => ((bits >> n) & 1 ? yes : no));
        const count = conditions.filter((one) => one === yes).length;
        expect(holds({ operator, conditions }, record)).toBe(expected(count, total));
      }
    }
  });

  test('random nested conditions agree with the single operators', () => {
    const random = seededRandom(3);
    const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
    const known = new Map(table);
    const grow = (depth: number): { condition: LogicalCondition | LeafCondition; value: boolean } => {
      if (depth > 3 || (depth > 0 && random() < 0.3))
        return random() < 0.5 ? { condition: yes, value: true } : { condition: no, value: false };
      const parts = Array.from({ length: Math.floor(random() * 4) }, () => grow(depth + 1));
      const operator = pick(LOGICAL_OPERATORS) ?? 'and';
      const value = known.get(operator)?.(parts.filter((part) => part.value).length, parts.length) ?? false;
      return { condition: { operator, conditions: parts.map((part) => part.condition) }, value };
    };
    for (let round = 0; round < 500; round += 1) {
      const { condition, value } = grow(0);
      expect(holds(condition, record)).toBe(value);
    }
  });
});

test.each([
  [null, '', 'type'],
  [{}, '/operator', 'unknown'],
  [{ operator: 'AND' }, '/operator', 'unknown'],
  [{ type_id: 'equals', config: { key: 'a', value: 1 } }, '/operator', 'unknown'],
  [{ operator: 'and', conditions: {} }, '/conditions', 'type'],
  [
    { operator: 'and', conditions: [{ operator: 'or', conditions: [{ type_id: 'is' }] }] },
    '/conditions/0/conditions/0/type_id',
    'unknown',
  ],
  [leaf('matches_regex', { key: 'a' }), '/conditions/0/config/value', 'required'],
  [leaf('matches_regex', { key: 'a', pattern: '(a' }), '/conditions/0/config/pattern', 'invalid'],
  [leaf('matches_regex', { key: 'a', pattern: '(?=a)b' }), '/conditions/0/config/pattern', 'invalid'],
  [leaf('matches_regex', { key: 'a', pattern: '(a)\\1' }), '/conditions/0/config/pattern', 'invalid'],
  [leaf('matches_regex', { key: 'a', pattern: '((a{50}){50}){50}' }), '/conditions/0/config/pattern', 'invalid'],
  [
    {
      operator: 'or',
      conditions: ['a{90}', 'b{90}', 'c{90}'].map((pattern) => ({
        type_id: 'matches_regex',
        config: { key: 'a', pattern },
      })),
    },
    '/conditions/2/config/pattern',
    'too_many',
  ],
  [leaf('sample', { percent: 5 }), '/conditions/0/type_id', 'not_supported'],
  [leaf('toString', { key: 'a' }), '/conditions/0/type_id', 'unknown'],
  [{ operator: 'and', conditions: [{ type_id: 'equals' }] }, '/conditions/0/config', 'required'],
  [leaf('equals', { key: '', value: 1 }), '/conditions/0/config/key', 'required'],
  [leaf('equals', { key: 'a..b', value: 1 }), '/conditions/0/config/key', 'required'],
  [leaf('equals', { key: 'a' }), '/conditions/0/config/value', 'required'],
  [leaf('equals', { key: 'a', value: {} }), '/conditions/0/config/value', 'type'],
  [leaf('equals', { key: 'a', value: 1, not: 'yes' }), '/conditions/0/config/not', 'type'],
  [leaf('equals_any', { key: 'a', values: [] }), '/conditions/0/config/values', 'required'],
  [leaf('key_values', { key: 'a', value: [[]] }), '/conditions/0/config/value', 'type'],
  [leaf('greater_than', { key: 'a', value: 'high' }), '/conditions/0/config/value', 'type'],
  [leaf('starts_with', { key: 'a', value: 4 }), '/conditions/0/config/value', 'type'],
  [
    { operator: 'or', conditions: Array.from({ length: 201 }, () => ({ operator: 'always' })) },
    '/conditions',
    'too_many',
  ],
])('rejects %j with the path of the problem', (condition, path, code) => {
  expect(validateCondition(condition)).toEqual([expect.objectContaining({ path, code })]);
});

test('limits the depth of nested conditions', () => {
  let condition: object = { operator: 'always' };
  for (let n = 0; n < 1_000; n += 1) condition = { operator: 'and', conditions: [condition] };
  expect(validateCondition(condition)).toEqual([expect.objectContaining({ code: 'too_deep' })]);
});

test('parses a key path as written', () => {
  expect(parseKeyPath('a.b\\.c.0')).toEqual(['a', 'b.c', '0']);
  expect(parseKeyPath('a\\\\.b')).toEqual(['a\\', 'b']);
  expect(parseKeyPath('a.')).toBeUndefined();
  expect(valueAt({ a: { 'b.c': ['x'] } }, ['a', 'b.c', '0'])).toBe('x');
  expect(valueAt({ a: 'text' }, ['a', 'length'])).toBeUndefined();
});
