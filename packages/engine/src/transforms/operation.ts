import type { JsonValue } from '../records/record.js';

/** The operations of a transform, with their arguments as they are stored and sent. Keys are paths: `actor.email`. */
export interface OperationArguments {
  /** Moves the value of `key` to `new_key`, over what is there. A record without the key stays as it is. */
  rename_key: { key: string; new_key: string };
  drop_key: { key: string };
  /** Puts `value` at `key`, over what is there. */
  add: { key: string; value: JsonValue };
  /**
   * Turns the object or list at `key` into keys beside it: `user.name` becomes `user_name`, `ids.0` becomes `ids_0`.
   * Without `key`: the whole record. `base`: what they begin with, default the last of `key`. `delimiter`: default `_`.
   * Empty objects and lists stay as they are.
   */
  flatten: { key?: string; base?: string; delimiter?: string };
  /** The value at `key` as another type. What can't be one refuses the record. A record without the key stays. */
  mutate_type: { key: string; type: MutatedType };
  /** The time the record passed, at `key`. `format`: default `rfc3339`. */
  timestamp: { key: string; format?: TimestampFormat };
  /**
   * The outputs of a jq program for each record: none drops it, several make several of it. Each must be an object, or
   * any value where `key` says to put it in the record. A program sees one record and nothing else.
   */
  jq: { query: string; key?: string };
}

export type OperationName = keyof OperationArguments;
export type Operation = {
  [Name in OperationName]: { readonly operation: Name; readonly arguments: Readonly<OperationArguments[Name]> };
}[OperationName];
/** What is done to one record at once, and leaves one. */
export type RecordOperation = Exclude<Operation, { readonly operation: 'jq' }>;

export const MUTATED_TYPES = ['string', 'int', 'float', 'bool', 'json'] as const;
export type MutatedType = (typeof MUTATED_TYPES)[number];

/** `rfc3339` to the second, `iso8601` to the millisecond; `unix` in seconds, `unix_milli`, `unix_nano` as numbers. */
export const TIMESTAMP_FORMATS = ['rfc3339', 'iso8601', 'unix', 'unix_milli', 'unix_nano'] as const;
export type TimestampFormat = (typeof TIMESTAMP_FORMATS)[number];

/** What a transform component holds. */
export interface TransformConfig {
  readonly operations: readonly Operation[];
}

/** Other names for the same operations, read and never written. */
export const OPERATION_ALIASES: Readonly<Record<string, OperationName>> = {
  rename: 'rename_key',
  drop: 'drop_key',
  flatten_all: 'flatten',
  utc_timestamp: 'timestamp',
};
