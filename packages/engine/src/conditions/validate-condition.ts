import { Problems, shown, type Problem } from '../problem.js';
import { isRecord, type DataRecord } from '../connector-api/record.js';
import { LEAF_TYPES, LOGICAL_OPERATORS, type LogicalCondition } from './condition.js';
import { parseKeyPath } from '../connector-api/key-path.js';
import { orderOf } from './order-of.js';
import { checkPattern } from './pattern/compile-pattern.js';

const MAX_DEPTH = 8;
const MAX_CONDITIONS = 200;
/** Maximum number of states of all patterns. It bounds the time per character of a record. */
const MAX_PATTERN_STATES = 200;
const LIST_TYPES: readonly unknown[] = ['equals_any', 'key_values'];
const ORDER_TYPES: readonly unknown[] = ['greater_than', 'greater_than_or_equal', 'less_than', 'less_than_or_equal'];
const TEXT_TYPES: readonly unknown[] = ['starts_with', 'ends_with'];
/** Leaf types that other services with this format support and this engine does not. */
const NOT_HERE: Readonly<Record<string, string>> = {
  sample: 'records are never left out at random',
  sample_rate: 'records are never left out at random',
};

/**
 * Validates an untrusted condition. If the list is empty, the condition can be compiled.
 *
 * @example
 * ```ts
 * validateCondition({ operator: 'always' }); // []
 * ```
 */
export function validateCondition(value: unknown, problems = new Problems()): readonly Problem[] {
  logical(value, problems, { depth: 1, count: 0, states: 0 });
  return problems.list;
}

/** Type guard: whether `validateCondition` finds no problems. */
export function isCondition(value: unknown): value is LogicalCondition {
  return validateCondition(value).length === 0;
}

interface Budget {
  depth: number;
  count: number;
  /** States of patterns. */
  states: number;
}

function logical(value: unknown, problems: Problems, budget: Budget): void {
  if (!isRecord(value)) return problems.add('type', `A condition is an object with an operator, not ${shown(value)}.`);
  const { operator, conditions } = value;
  if (!LOGICAL_OPERATORS.some((known) => known === operator)) {
    const words = LOGICAL_OPERATORS.join(', ');
    const hint = value['type_id'] === undefined ? '' : ' Put this leaf into the conditions of one of them.';
    return problems.at('operator').add('unknown', `The operator is one of ${words}, not ${shown(operator)}.${hint}`);
  }
  if (conditions === undefined || conditions === null) return;
  const inside = problems.at('conditions');
  if (!Array.isArray(conditions)) return inside.add('type', `Conditions are a list, not ${shown(conditions)}.`);
  if (budget.depth > MAX_DEPTH) return inside.add('too_deep', `Conditions nest at most ${MAX_DEPTH} deep.`);
  budget.count += conditions.length;
  if (budget.count > MAX_CONDITIONS)
    return inside.add('too_many', `An edge has at most ${MAX_CONDITIONS} conditions in all.`);
  for (const [index, child] of conditions.entries()) {
    const isLeaf = isRecord(child) && child['type_id'] !== undefined;
    if (isLeaf) leaf(child, inside.at(index), budget);
    else {
      budget.depth += 1;
      logical(child, inside.at(index), budget);
      budget.depth -= 1;
    }
  }
}

function leaf({ type_id: type, config }: DataRecord, problems: Problems, budget: Budget): void {
  if (!LEAF_TYPES.some((known) => known === type)) {
    const reason = typeof type === 'string' && Object.hasOwn(NOT_HERE, type) ? NOT_HERE[type] : undefined;
    return reason === undefined
      ? problems.at('type_id').add('unknown', `${shown(type)} is no condition. Known: ${LEAF_TYPES.join(', ')}.`)
      : problems.at('type_id').add('not_supported', `${shown(type)} is not supported here: ${reason}.`);
  }
  const inside = problems.at('config');
  if (!isRecord(config)) return inside.add('required', 'A condition needs a config with a key.');
  const { key, value, values } = config;
  if (typeof key !== 'string' || !parseKeyPath(key))
    inside.at('key').add('required', `The key names a place in the record, like actor.email, not ${shown(key)}.`);
  for (const flag of ['not', 'case_insensitive']) {
    if (config[flag] !== undefined && typeof config[flag] !== 'boolean')
      inside.at(flag).add('type', `It is true or false, not ${shown(config[flag])}.`);
  }
  if (type === 'key_exists' || type === 'is_empty') return;
  if (type === 'matches_regex') return pattern(config, inside, budget);
  if (LIST_TYPES.includes(type)) {
    const [place, list] = values === undefined ? ['value', value] : ['values', values];
    const items: readonly unknown[] = Array.isArray(list) ? list : [list];
    if (list === undefined || items.length === 0)
      inside.at(place ?? '').add('required', 'It needs at least one value.');
    if (items.length > 1000) inside.at(place ?? '').add('too_many', 'It takes at most 1000 values.');
    if (!items.every(isScalar)) inside.at(place ?? '').add('type', 'Values are texts, numbers, true, false or null.');
    return;
  }
  if (value === undefined) inside.at('value').add('required', `${shown(type)} compares with a value.`);
  else if (!isScalar(value)) inside.at('value').add('type', 'The value is a text, a number, true, false or null.');
  else if (ORDER_TYPES.includes(type) && !orderOf(value))
    inside.at('value').add('type', `${shown(type)} compares numbers or times (RFC 3339), not ${shown(value)}.`);
  else if (TEXT_TYPES.includes(type) && typeof value !== 'string')
    inside.at('value').add('type', `${shown(type)} compares texts, not ${shown(value)}.`);
}

function pattern(config: DataRecord, problems: Problems, budget: Budget): void {
  const name = config['pattern'] === undefined ? 'value' : 'pattern';
  const text = config[name];
  const place = problems.at(name);
  if (typeof text !== 'string' || text === '' || text.length > 1_000)
    return place.add('required', `It is a regular expression of at most 1000 characters, not ${shown(text)}.`);
  const states = checkPattern(text);
  if (typeof states === 'string') return place.add('invalid', `The regular expression is not valid. ${states}`);
  budget.states += states;
  if (budget.states > MAX_PATTERN_STATES)
    place.add('too_many', 'The regular expressions of this condition are too large.');
}

const isScalar = (value: unknown): boolean => value === null || ['string', 'number', 'boolean'].includes(typeof value);
