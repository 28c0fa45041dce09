import type { JsonValue } from '../connector-api/record.js';

/**
 * The operations of a transform, with their arguments in the stored format. Keys are paths:
 * `actor.email`.
 */
export interface OperationArguments {
  /**
   * Moves the value of `key` to `new_key`, replacing any value there. A record without the key is
   * unchanged.
   */
  rename_key: { key: string; new_key: string };
  drop_key: { key: string };
  /** Sets `value` at `key`, replacing any value there. */
  add: { key: string; value: JsonValue };
  /**
   * Replaces the object or array at `key` by keys next to it: `user.name` becomes `user_name`,
   * `ids.0` becomes `ids_0`. Without `key`, flattens the whole record. `base`: prefix of the new
   * keys, default the last part of `key`. `delimiter`: default `_`. Empty objects and arrays are
   * unchanged.
   */
  flatten: { key?: string; base?: string; delimiter?: string };
  /**
   * Converts the value at `key` to another type. A value that can't be converted rejects the
   * record. A record without the key is unchanged.
   */
  mutate_type: { key: string; type: MutatedType };
  /** Sets the processing time at `key`. `format`: default `rfc3339`. */
  timestamp: { key: string; format?: TimestampFormat };
  /**
   * Replaces each record by the outputs of a jq program: none drops the record, several create
   * several records. Each output must be an object, or any value if `key` says where to put it in
   * the record. A program has access to one record only. `prevent_data_dropping`: a record without
   * outputs is unchanged.
   */
  jq: { query: string; key?: string; prevent_data_dropping?: boolean };
}

export type OperationName = keyof OperationArguments;
export type Operation = {
  [Name in OperationName]: { readonly operation: Name; readonly arguments: Readonly<OperationArguments[Name]> };
}[OperationName];
/** An operation that maps one record to one record synchronously. */
export type RecordOperation = Exclude<Operation, { readonly operation: 'jq' }>;

export const MUTATED_TYPES = ['string', 'int', 'float', 'bool', 'json'] as const;
export type MutatedType = (typeof MUTATED_TYPES)[number];

/**
 * `rfc3339` to the second, `iso8601` to the millisecond; `unix` in seconds and `unix_milli` as
 * numbers, `unix_nano` as a string.
 */
export const TIMESTAMP_FORMATS = ['rfc3339', 'iso8601', 'unix', 'unix_milli', 'unix_nano'] as const;
export type TimestampFormat = (typeof TIMESTAMP_FORMATS)[number];

/** Configuration of a transform component. */
export interface TransformConfig {
  readonly operations: readonly Operation[];
}

/** Aliases of the operations, accepted as input and never written. */
export const OPERATION_ALIASES: Readonly<Record<string, OperationName>> = {
  rename: 'rename_key',
  drop: 'drop_key',
  flatten_all: 'flatten',
  flattenall: 'flatten',
  utc_timestamp: 'timestamp',
};
