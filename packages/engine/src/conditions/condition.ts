import type { JsonValue } from '../connector-api/record.js';

export const LOGICAL_OPERATORS = ['always', 'never', 'and', 'or', 'nor', 'xor'] as const;
export type LogicalOperator = (typeof LOGICAL_OPERATORS)[number];

/**
 * Selects the records that pass an edge, in the stored format. The outermost condition is always a
 * logical one. Without conditions, `and` is true and `or` is false; `nor`: none is true; `xor`:
 * exactly one is true.
 */
export interface LogicalCondition {
  readonly operator: LogicalOperator;
  readonly conditions?: readonly (LogicalCondition | LeafCondition)[] | null;
}

/**
 * A test of one record. Each reads `config.key`; `not: true` negates it. `case_insensitive: true`
 * applies to strings.
 *
 * - `key_exists`: the record has the key, even if its value is `null`
 * - `is_empty`: absent, `null`, or an empty string, array or object
 * - `equals`, `equals_any`, `key_values`: the value, or one of `values`. A number equals its string
 *   form
 * - `contains`, `starts_with`, `ends_with`: for strings; `contains` also for arrays, where one
 *   element equals the value
 * - `greater_than`, `greater_than_or_equal`, `less_than`, `less_than_or_equal`: for numbers,
 *   numeric strings, or two RFC 3339 times
 * - `matches_regex`: a string contains a match of the regular expression `pattern`, or `value`
 */
export interface LeafCondition {
  readonly type_id: LeafType;
  readonly config: LeafConfig;
}

export const LEAF_TYPES = [
  'key_exists',
  'is_empty',
  'equals',
  'equals_any',
  'key_values',
  'contains',
  'starts_with',
  'ends_with',
  'greater_than',
  'greater_than_or_equal',
  'less_than',
  'less_than_or_equal',
  'matches_regex',
] as const;
export type LeafType = (typeof LEAF_TYPES)[number];

export interface LeafConfig {
  readonly key: string;
  /**
   * A string, number, boolean or `null`; for `equals_any` and `key_values` also an array of them.
   */
  readonly value?: JsonValue;
  /** For `equals_any` and `key_values`. */
  readonly values?: readonly JsonValue[];
  /** For `matches_regex`. */
  readonly pattern?: string;
  readonly not?: boolean;
  readonly case_insensitive?: boolean;
}
