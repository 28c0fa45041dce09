import type { DataRecord, JsonValue } from '../connector-api/record.js';
import type { LogicalCondition } from '../conditions/condition.js';

/** One operation of a transform, as it is stored. `operationType` finds its definition. */
export interface Operation {
  readonly operation: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** References to secrets by the name that the operation gives them. */
  readonly secrets?: Readonly<Record<string, unknown>>;
  readonly description?: string;
}

export const MUTATED_TYPES = ['string', 'int', 'float', 'bool', 'json'] as const;
export type MutatedType = (typeof MUTATED_TYPES)[number];

/**
 * `rfc3339` to the second, `iso8601` to the millisecond; `unix` in seconds and `unix_milli` as
 * numbers, `unix_nano` as a string.
 */
export const TIMESTAMP_FORMATS = ['rfc3339', 'iso8601', 'unix', 'unix_milli', 'unix_nano'] as const;
export type TimestampFormat = (typeof TIMESTAMP_FORMATS)[number];

/** What happens to a record for which the conditions of a transform don't hold. */
export const ELSE_ACTIONS = ['bypass', 'drop'] as const;
export type ElseAction = (typeof ELSE_ACTIONS)[number];

/** Configuration of a transform component. */
export interface TransformConfig {
  readonly operations: readonly Operation[];
  /** The operations apply to the records for which this holds. Absent: to all. */
  readonly conditions?: LogicalCondition;
  /** What happens to the other records: they pass unchanged (`bypass`, the default) or are dropped. */
  readonly else_action?: ElseAction;
}

/** What an operation knows of a record besides its content. */
export interface RecordContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The same in every redelivery. */
  readonly recordId: string;
}

/**
 * Returns a modified copy of a record, or `undefined` to drop it.
 * @throws {TransformRejection} if an operation can't be applied to this record
 */
export type Transform = (record: DataRecord, context: RecordContext) => DataRecord | undefined;

/** Result of a record: the JSON of each output, or why it goes to the dead letters. */
export type Outcome = readonly string[] | string;

/** A stage that runs synchronously, record by record. */
export interface EachStage {
  readonly kind: 'each';
  readonly apply: Transform;
}

/** Records as JSON, and what is known about them. */
export interface StageInput {
  readonly lines: readonly string[];
  /** The records, if they are parsed already. */
  readonly records?: readonly DataRecord[];
  readonly recordId: (index: number) => string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * An asynchronous stage that processes many records at once. A record may result in none or
 * several.
 */
export interface BatchStage {
  readonly kind: 'batch';
  /**
   * The outcome of a record may differ each time. It is then stored as a dead letter on each path on
   * which it is rejected, because it may pass on another one.
   */
  readonly varies?: true;
  /**
   * @returns the outcome of each record, in order; `undefined` if aborted by `signal`
   * @throws {ConnectorError} of kind `retry`
   */
  run(input: StageInput, bounds: Bounds): Promise<readonly Outcome[] | undefined>;
}

export interface Bounds {
  signal: AbortSignal;
  /** Maximum output for all records in bytes; work in progress may exceed it. */
  maxBytes: number;
  /** Maximum processing time for all records in milliseconds. */
  maxMs: number;
}

/** A compiled transform: its stages, in order. */
export type CompiledTransform = readonly (EachStage | BatchStage)[];

/** Returns the value of a secret of the organization, or `undefined` if it has none with this id. */
export type ResolveSecret = (id: string) => string | undefined;

export type { JsonValue };
