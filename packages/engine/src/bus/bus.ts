import type { Batch } from '../connector-api/batch.js';

/**
 * Outcome of `publish`. `repeated`: the stream already holds a batch with this id; nothing was
 * added.
 */
export type Published = { stored: true; sequence: number; repeated: boolean } | { stored: false; reason: 'full' };

export interface PublishOptions {
  /**
   * Milliseconds to wait for space when the buffer is full. Default 0: returns `full` immediately.
   */
  waitMs?: number;
  /**
   * Aborts the wait for space; the result is then `full`. A write already in progress still
   * completes.
   */
  signal?: AbortSignal;
}

/** A batch delivered to one consumer. */
export interface Delivery {
  /** Increases with every batch of the stream. A gap means that a damaged batch was lost. */
  readonly sequence: number;
  readonly batch: Batch;
  /** Milliseconds since the epoch. */
  readonly publishedAt: number;
  /**
   * Acknowledges this batch and all earlier ones. They are not redelivered, not even after a
   * restart.
   */
  ack(): Promise<void>;
}

/** Backlog of one consumer, or of the slowest one. Sizes are as stored. */
export interface Waiting {
  batches: number;
  records: number;
  bytes: number;
}

export interface StreamStats extends Waiting {
  maxBytes: number;
  /** A batch was rejected or had to wait, and no space has been freed since. */
  full: boolean;
  consumers: Readonly<Record<string, Waiting>>;
  /** Unreadable bytes found since the stream was opened. */
  damagedBytes: number;
}

/**
 * Durable, ordered buffers of batches, one per stream. Delivery is at least once and in order; each
 * consumer of a stream has its own position. A batch is deleted once every consumer has
 * acknowledged it.
 *
 * Duplicates are detected by batch id within the last thousand or so batches of a stream.
 */
export interface Bus {
  /**
   * Creates a stream or reopens an existing one. Removes consumers that are not listed; a new
   * consumer starts at the oldest batch that is still stored.
   */
  declare(stream: string, consumers: readonly string[]): Promise<void>;
  /**
   * Appends a batch. Resolves with `stored: true` only once the batch would survive a crash or a
   * power failure.
   * @throws {BusError}
   */
  publish(stream: string, batch: Batch, options?: PublishOptions): Promise<Published>;
  /**
   * Yields batches from the consumer's position onward and waits for new ones; ends when `signal`
   * is aborted. Each consumer must have at most one reader at a time; the coordinator's leases
   * ensure this.
   * @throws {BusError}
   */
  consume(stream: string, consumer: string, signal: AbortSignal): AsyncIterable<Delivery>;
  stats(stream: string): Promise<StreamStats>;
  /** Deletes a stream and its batches. */
  remove(stream: string): Promise<void>;
  /** Ends all reads and waits and releases all resources. Stored batches are kept. */
  close(): Promise<void>;
}

/**
 * - `unknown_stream`, `unknown_consumer`: not declared
 * - `closed`: the bus is closed, or the stream was removed
 * - `bad_name`: a name must consist of letters, digits, `.`, `_` and `-`, at most 128 characters
 * - `storage`: writing failed (disk full or broken); nothing was acknowledged, and the next batch
 *   is attempted normally
 */
export type BusErrorCode = 'unknown_stream' | 'unknown_consumer' | 'closed' | 'bad_name' | 'storage';

export class BusError extends Error {
  readonly code: BusErrorCode;
  override readonly name = 'BusError';
  constructor(code: BusErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
