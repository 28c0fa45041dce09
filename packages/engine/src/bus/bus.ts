import type { Batch } from '../connector-api/batch.js';

/**
 * Outcome of `publish`. `repeated`: the stream already holds a batch with this id; nothing was
 * added. `full`: the backlog of a consumer exceeds its budget. `no_space`: the disk has too little
 * free space.
 */
export type Published =
  | { stored: true; sequence: number; repeated: boolean }
  | { stored: false; reason: 'full' | 'no_space' };

/**
 * What happens to new batches while the backlog of a consumer exceeds its budget:
 *
 * - `block`: the stream rejects them for all consumers, and publishers have to retry
 * - `drop_newest`: this consumer does not receive them, the others do; the stream counts them
 * - `spill`: like `block`, with a larger budget
 */
export const OVERFLOW_POLICIES = ['block', 'drop_newest', 'spill'] as const;
export type OverflowPolicy = (typeof OVERFLOW_POLICIES)[number];

/** A consumer of a stream. A name alone means `block` with the largest budget. */
export interface ConsumerOptions {
  readonly name: string;
  readonly policy?: OverflowPolicy;
  /** Maximum backlog in bytes. The bus lowers it to its own limit for the policy. */
  readonly maxBytes?: number;
}

export interface PublishOptions {
  /**
   * Milliseconds to wait for space. Default 0: returns `full` or `no_space` immediately.
   */
  waitMs?: number;
  /** Aborts the wait for space. A write already in progress still completes. */
  signal?: AbortSignal;
}

/** A batch delivered to one consumer. */
export interface Delivery {
  /** Increases with every batch of the stream. A gap means that batches were dropped or lost. */
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

/** Backlog of one consumer, and the batches it did not receive. */
export interface ConsumerStats extends Waiting {
  maxBytes: number;
  /** Its backlog exceeds its budget, and new batches are dropped for it. */
  dropping: boolean;
  /** Batches dropped for it since it was declared first. Survives a restart. */
  dropped: Waiting;
}

/** Stored batches that can't be read anymore: their files are damaged or missing. */
export interface Lost {
  /** Records that at least one consumer had not acknowledged. */
  records: number;
  /** `false`: at least this many; a damaged range does not tell how many records it held. */
  exact: boolean;
  /** When the first and the latest loss were found, in milliseconds since the epoch. */
  since: number;
  latest: number;
}

export interface StreamStats extends Waiting {
  maxBytes: number;
  /** A batch was rejected or had to wait, and no space has been freed since. */
  full: boolean;
  /** The disk has too little free space, so new batches are rejected. */
  noSpace: boolean;
  consumers: Readonly<Record<string, ConsumerStats>>;
  /** Unreadable bytes found since the stream was opened. */
  damagedBytes: number;
  /** All losses since the stream was created. Absent if there were none. */
  lost?: Lost;
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
   * consumer starts at the oldest batch that is still stored. An existing consumer keeps its
   * position; a changed policy or budget applies to new batches.
   */
  declare(stream: string, consumers: readonly (string | ConsumerOptions)[]): Promise<void>;
  /**
   * Appends a batch. Resolves with `stored: true` only once the batch would survive a crash or a
   * power failure, or is dropped for every consumer.
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
  /**
   * Returns when the oldest batch that a consumer has not acknowledged was published, in
   * milliseconds since the epoch, or `undefined` if it has acknowledged all of them. May read a file.
   * @throws {BusError}
   */
  oldestAt(stream: string, consumer: string): Promise<number | undefined>;
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
 *   is attempted normally. While the disk is known to be full, `publish` returns `no_space` instead
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
