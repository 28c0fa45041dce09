import type { Batch } from '../records/batch.js';

/** What became of a batch. `repeated`: a batch with this id is stored already, nothing was added. */
export type Published = { stored: true; sequence: number; repeated: boolean } | { stored: false; reason: 'full' };

export interface PublishOptions {
  /** Milliseconds to wait for space when the buffer is full. Default 0: answers `full` at once. */
  waitMs?: number;
  /** Ends the waiting; the answer then is `full`. What is being stored is stored all the same. */
  signal?: AbortSignal;
}

/** A batch on its way to one consumer. */
export interface Delivery {
  /** Rises with every batch of the stream. A gap means that a batch was lost to damage. */
  readonly sequence: number;
  readonly batch: Batch;
  /** Milliseconds since the epoch. */
  readonly publishedAt: number;
  /** This batch and all before it are done with: they do not come again, also not after a restart. */
  ack(): Promise<void>;
}

/** What waits, for one consumer or for the slowest of all. Bytes as stored. */
export interface Waiting {
  batches: number;
  records: number;
  bytes: number;
}

export interface StreamStats extends Waiting {
  maxBytes: number;
  /** A batch was turned away or had to wait, and there has been no room since. */
  full: boolean;
  consumers: Readonly<Record<string, Waiting>>;
  /** Bytes found unreadable since the stream was opened. */
  damagedBytes: number;
}

/**
 * Buffers of batches, one by stream. Delivery is at least once and in order; each consumer of a stream has a position
 * of its own. A batch that every consumer is done with is forgotten.
 *
 * A repeat is told by its id within the last thousand batches or so of its stream.
 */
export interface Bus {
  /**
   * Makes a stream, or takes it up where it was. Consumers that are not named are forgotten; one that is new begins
   * with the oldest batch that is still there.
   */
  declare(stream: string, consumers: readonly string[]): Promise<void>;
  /** Resolves `stored` only once the batch would survive a crash and a loss of power. @throws BusError */
  publish(stream: string, batch: Batch, options?: PublishOptions): Promise<Published>;
  /**
   * Batches from the position of a consumer on, as they come; ends when `signal` is aborted. One reader at a time by
   * consumer: leases of the coordinator see to that. @throws BusError
   */
  consume(stream: string, consumer: string, signal: AbortSignal): AsyncIterable<Delivery>;
  stats(stream: string): Promise<StreamStats>;
  /** Forgets a stream and what it holds. */
  remove(stream: string): Promise<void>;
  /** Ends all reading and waiting, lets go of everything. What is stored stays. */
  close(): Promise<void>;
}

/**
 * `unknown_stream`, `unknown_consumer`: not declared. `closed`: the bus, or the stream was removed. `bad_name`: letters,
 * digits, `.`, `_`, `-`, at most 128. `storage`: writing failed (disk full, disk broken); nothing was acknowledged, and
 * the next batch is tried again.
 */
export type BusErrorCode = 'unknown_stream' | 'unknown_consumer' | 'closed' | 'bad_name' | 'storage';

export class BusError extends Error {
  override readonly name = 'BusError';
  constructor(
    readonly code: BusErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
