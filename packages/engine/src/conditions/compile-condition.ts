import { isRecord, type DataRecord, type JsonValue } from '../connector-api/record.js';
import type { LeafCondition, LeafConfig, LeafType, LogicalCondition, LogicalOperator } from './condition.js';
import { parseKeyPath, valueAt } from '../connector-api/key-path.js';
import { orderOf } from './order-of.js';
import { compilePattern } from './pattern/compile-pattern.js';

export type Predicate = (record: DataRecord) => boolean;
type Test = (value: JsonValue | undefined) => boolean;

/**
 * Compiles a valid condition to a function. `always` and `never` need no record and are returned as
 * they are.
 */
export function compileCondition(condition: LogicalCondition | undefined): Predicate | 'always' | 'never' {
  if (!condition || condition.operator === 'always') return 'always';
  return condition.operator === 'never' ? 'never' : logical(condition);
}

const operators: Record<LogicalOperator, (parts: readonly Predicate[]) => Predicate> = {
  always: () => () => true,
  never: () => () => false,
  and: (parts) => (record) => parts.every((holds) => holds(record)),
  or: (parts) => (record) => parts.some((holds) => holds(record)),
  nor: (parts) => (record) => !parts.some((holds) => holds(record)),
  xor: (parts) => (record) => parts.filter((holds) => holds(record)).length === 1,
};

function logical({ operator, conditions }: LogicalCondition): Predicate {
  return operators[operator]((conditions ?? []).map((part) => ('type_id' in part ? leaf(part) : logical(part))));
}

function leaf({ type_id: type, config }: LeafCondition): Predicate {
  const path = parseKeyPath(config.key) ?? [];
  const test = leaves[type](config);
  const expected = config.not !== true;
  return (record) => test(valueAt(record, path)) === expected;
}

const leaves: Record<LeafType, (config: LeafConfig) => Test> = {
  key_exists: () => (value) => value !== undefined,
  is_empty: () => isEmpty,
  equals: (config) => equalsAny(config, [config.value]),
  equals_any: (config) => equalsAny(config, listIn(config)),
  key_values: (config) => equalsAny(config, listIn(config)),
  contains: (config) => {
    const inText = text(config, (value, expected) => value.includes(expected));
    const asElement = equalsAny(config, [config.value]);
    return (value) => (Array.isArray(value) ? value.some((one: JsonValue) => asElement(one)) : inText(value));
  },
  starts_with: (config) => text(config, (value, expected) => value.startsWith(expected)),
  ends_with: (config) => text(config, (value, expected) => value.endsWith(expected)),
  greater_than: (config) => ordered(config, (value, expected) => value > expected),
  greater_than_or_equal: (config) => ordered(config, (value, expected) => value >= expected),
  less_than: (config) => ordered(config, (value, expected) => value < expected),
  less_than_or_equal: (config) => ordered(config, (value, expected) => value <= expected),
  matches_regex: (config) => {
    const matches = compilePattern(patternOf(config), config.case_insensitive);
    return (value) => typeof value === 'string' && matches(value);
  },
};

const patternOf = ({ pattern, value }: LeafConfig): string => pattern ?? (typeof value === 'string' ? value : '');

function listIn({ value, values }: LeafConfig): readonly (JsonValue | undefined)[] {
  if (values) return values;
  return Array.isArray(value) ? value.map((one: JsonValue) => one) : [value];
}

const fold = (config: LeafConfig, value: string): string => (config.case_insensitive ? value.toLowerCase() : value);

/**
 * Normalizes a scalar for comparison: configurations hold strings where records hold numbers and
 * booleans, so those compare as strings. `null` stays distinct from every string.
 */
function scalar(config: LeafConfig, value: JsonValue | undefined): string | null | undefined {
  if (value === null) return null;
  if (typeof value === 'string') return fold(config, value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function equalsAny(config: LeafConfig, list: readonly (JsonValue | undefined)[]): Test {
  const expected = new Set(list.map((one) => scalar(config, one)).filter((one) => one !== undefined));
  return (value) => {
    const one = scalar(config, value);
    return one !== undefined && expected.has(one);
  };
}

function text(config: LeafConfig, compare: (value: string, expected: string) => boolean): Test {
  const expected = scalar(config, config.value) ?? '';
  return (value) => typeof value === 'string' && compare(fold(config, value), expected);
}

function ordered(config: LeafConfig, compare: (value: number, expected: number) => boolean): Test {
  const expected = orderOf(config.value);
  return (value) => {
    const order = orderOf(value);
    return order !== undefined && order.kind === expected?.kind && compare(order.order, expected.order);
  };
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
