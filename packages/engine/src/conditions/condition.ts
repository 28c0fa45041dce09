import type { JsonValue } from '../records/record.js';

export const LOGICAL_OPERATORS = ['always', 'never', 'and', 'or', 'nor', 'xor'] as const;
export type LogicalOperator = (typeof LOGICAL_OPERATORS)[number];

/**
 * Which records go along an edge, as it is stored and sent. The outermost condition is always a logical one. `and`
 * without conditions holds, `or` does not; `nor`: none holds; `xor`: exactly one holds.
 */
export interface LogicalCondition {
  readonly operator: LogicalOperator;
  readonly conditions?: readonly (LogicalCondition | LeafCondition)[];
}

/**
 * One look at one record. Each reads `config.key`; `not: true` turns it around. `case_insensitive: true` is for texts.
 *
 * - `key_exists`: the record has the key, even with `null`. `is_empty`: absent, `null`, or an empty text, list, object
 * - `equals`, `equals_any`, `key_values`: the value, or one of `values`. A number and its text are equal
 * - `contains`, `starts_with`, `ends_with`: of a text; `contains` also of a list, where one element equals the value
 * - `greater_than`, `greater_than_or_equal`, `less_than`, `less_than_or_equal`: of numbers, or of texts that are
 *   numbers, or of two RFC 3339 times
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
] as const;
export type LeafType = (typeof LEAF_TYPES)[number];

export interface LeafConfig {
  readonly key: string;
  /** A text, number, switch or `null`; for `equals_any` and `key_values` also a list of them. */
  readonly value?: JsonValue;
  /** For `equals_any` and `key_values`. */
  readonly values?: readonly JsonValue[];
  readonly not?: boolean;
  readonly case_insensitive?: boolean;
}
