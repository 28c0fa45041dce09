import type { Batch } from './batch.js';
import type { DataRecord } from './record.js';

/** A record that the output rejects permanently. */
export interface Rejection {
  /** Index in the batch. */
  readonly index: number;
  /**
   * A stable code, or a short sentence written by us; never text from the remote side, which may
   * contain a secret.
   */
  readonly reason: string;
}

/**
 * Records that the destination refused together, in one request. The cause may be one of them, all
 * of them, or the request itself.
 */
export interface Refusal {
  /** Indexes in the batch. */
  readonly indexes: readonly number[];
  /** As in `Rejection`. */
  readonly reason: string;
  /** Index in the batch of the record at fault, if the destination names it. */
  readonly at?: number;
}

/** Result of writing a batch. Records that are not listed were written. */
export interface WriteResult {
  readonly rejected?: readonly Rejection[];
  /**
   * Requests that were refused without telling which record is at fault. The engine writes their
   * records again in halves until it has isolated the cause.
   */
  readonly refused?: readonly Refusal[];
  /** Records that were not sent because requests before them were refused. */
  readonly unsent?: readonly number[];
  readonly retry?: {
    readonly indexes: readonly number[];
    readonly reason: string;
    /** Milliseconds the remote side asked to wait. */
    readonly afterMs?: number;
    /** The remote side applied rate limiting rather than failed. */
    readonly throttled?: boolean;
  };
}

/**
 * Batching limits of an output. Stored batches are joined, and split at a limit, until one of these
 * is reached; that triggers the write. A single record may exceed `bytes`.
 */
export interface Batching {
  readonly records: number;
  /** Bytes of JSON, counting one byte between two records. */
  readonly bytes: number;
  /** Milliseconds that records wait for others. */
  readonly waitMs: number;
  /**
   * What `waitMs` is measured from. `record` (default): the arrival of the first record. `write`: the
   * start of the previous write, so that a record that arrives after a pause is written immediately.
   */
  readonly waitFrom?: 'record' | 'write';
  /**
   * A write replaces what was written under the same batch id, as an object in a bucket does. The id
   * is then that of the position at which the batch begins, and stored batches are not split: a
   * redelivered batch may hold more or fewer records than before. Requires `ordering: 'stream'`.
   */
  readonly replaces?: true;
}

/**
 * The order in which an output must receive records.
 *
 * - `stream`: as in the input; one write at a time
 * - `none`: any; several writes at a time
 * - `key`: records with the same key as in the input; writes with different keys may overlap
 *
 * A failed record that is retried alone, as in `WriteResult.retry`, may arrive after later ones.
 */
export type Ordering = 'stream' | 'none' | { readonly key: (record: DataRecord) => string };

/** Limits of the delay between two attempts. */
export interface RetryLimits {
  /** Maximum milliseconds before the first retry; doubles with each attempt. */
  firstMs: number;
  /** Maximum milliseconds between two attempts. */
  maxMs: number;
}

/** An output: writes records to a destination. */
export interface Output {
  /**
   * Joins several batches into one write; none of them is acknowledged before it succeeds. A pause
   * writes what is there without waiting for more. A batch with the same id holds the same records,
   * unless `replaces` is set. Default: each stored batch is written on its own.
   */
  readonly batching?: Batching;
  /** Default `stream`. With another one, `write` must support concurrent calls. */
  readonly ordering?: Ordering;
  /**
   * Maximum number of writes at a time, for an `ordering` that allows several. The engine starts
   * with one and adapts to how the destination responds. Default 32, and 8 with a key.
   */
  readonly maxConcurrency?: number;
  /** Limits that the vendor recommends. Default: those of the engine, 300 and 30,000. */
  readonly retry?: Partial<RetryLimits>;
  /**
   * Checks the connection. Called before the first batch of a run, and retried until it succeeds.
   * @throws {ConnectorError}
   */
  open?(signal: AbortSignal): Promise<void>;
  /**
   * Writes a batch; resolves once it is durable at the destination. The same batch may be
   * redelivered with the same id and record ids. An error applies to the whole batch.
   * @throws {ConnectorError}
   */
  write(batch: Batch, signal: AbortSignal): Promise<WriteResult>;
  /** Releases resources at the end of a run, including a pause. The next run begins with `open`. */
  close?(): Promise<void>;
}

/**
 * Number of refusals in a row, without an accepted record in between, after which an output stops
 * and the engine treats the destination as failing. A run of ten records that are each at fault is
 * rarer than a destination that refuses everything, and mistaking one for the other costs a wait of
 * less than a second.
 */
export const MAX_REFUSALS = 10;

/** Result for a batch that was written completely. */
export const WRITTEN: WriteResult = {};
