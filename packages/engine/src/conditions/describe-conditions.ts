import { LEAF_TYPES, type LeafType } from './condition.js';

/** What users read about a type of condition. */
export interface ConditionInfo {
  readonly type_id: LeafType;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the config. */
  readonly config_meta: Record<string, unknown>;
}

const SCALAR = { type: ['string', 'number', 'boolean', 'null'] };
const LIST = { type: 'array', items: SCALAR, minItems: 1, maxItems: 1000 };
const KEY = { type: 'string', format: 'key-path', minLength: 1, description: 'Path of the key, such as actor.email.' };
const NOT = { type: 'boolean', default: false, description: 'Negates the condition.' };
const CASE = { type: 'boolean', default: false, description: 'Ignores upper and lower case.' };

type Properties = Record<string, unknown>;

const none: Properties = {};
const scalar: Properties = { value: { ...SCALAR, description: 'The value. A number equals its string form.' } };
const text: Properties = { value: { type: 'string', description: 'The text.' } };
const list: Properties = {
  value: { anyOf: [SCALAR, LIST], description: 'One value, or a list.' },
  values: { ...LIST, description: 'The values; takes precedence over value.' },
};
const pattern: Properties = {
  pattern: { type: 'string', minLength: 1, maxLength: 1000, description: 'The regular expression.' },
  value: { type: 'string', minLength: 1, maxLength: 1000, description: 'The same as pattern.' },
};
const order: Properties = {
  value: { type: ['number', 'string'], description: 'A number, also as a string, or a time (RFC 3339).' },
};

const TYPES: Record<LeafType, readonly [name: string, description: string, properties: Properties]> = {
  key_exists: ['Key exists', 'The record has the key, even if its value is null.', none],
  is_empty: ['Is empty', 'The value is absent, null, or an empty string, array or object.', none],
  equals: ['Equals', 'The value equals a given one.', scalar],
  equals_any: ['Equals any', 'The value equals one of a list.', list],
  key_values: ['Key has one of the values', 'The same as equals_any.', list],
  contains: ['Contains', 'A string contains the value, or an array has an element that equals it.', scalar],
  starts_with: ['Starts with', 'A string starts with the value.', text],
  ends_with: ['Ends with', 'A string ends with the value.', text],
  greater_than: ['Greater than', 'A number or time is greater than the value.', order],
  greater_than_or_equal: ['Greater than or equal', 'A number or time is greater than the value, or equal.', order],
  less_than: ['Less than', 'A number or time is less than the value.', order],
  less_than_or_equal: ['Less than or equal', 'A number or time is less than the value, or equal.', order],
  matches_regex: ['Matches a regular expression', 'A string contains a match.', pattern],
};

/** Returns all types of leaf conditions with the schemas of their configs. */
export function describeConditions(): ConditionInfo[] {
  return LEAF_TYPES.map((type) => {
    const [name, description, properties] = TYPES[type];
    const isOptional = properties === none || properties === list || properties === pattern;
    const required = isOptional ? ['key'] : ['key', 'value'];
    const config = { key: KEY, ...properties, not: NOT, case_insensitive: CASE };
    return {
      type_id: type,
      name,
      description,
      config_meta: { type: 'object', properties: config, required },
    };
  });
}
