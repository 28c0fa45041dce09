import {
  BusError,
  type Batch,
  type Bus,
  type ConsumerOptions,
  type Delivery,
  type Published,
  type PublishOptions,
  type StreamStats,
} from '@connector-frame/engine';
import type { Pool } from 'pg';
import type { Notifications } from '../notifications.js';
import { decodeBatch } from './batch-body.js';
import { BusQueries, withLimits, type BusFence, type StoredBatch } from './bus-queries.js';
import { StreamPublisher } from './stream-publisher.js';
import { StreamWaiters } from './stream-waiters.js';

export interface PostgresBusOptions {
  pool: Pool;
  /** Wakes readers and publishers of other processes. Starting it is up to the caller. */
  notifications: Notifications;
  /** Maximum backlog of each consumer of a stream in bytes. Default 256 MiB. */
  maxBytes?: number;
  /** Maximum backlog of a consumer with the policy `spill` in bytes. Default 4 GiB. */
  maxSpillBytes?: number;
  /** Milliseconds between queries for batches whose notification was lost. Default 2,000. */
  pollMs?: number;
  /**
   * Returns the lease that reading a stream needs, `undefined` if it is not held. Absent: none is
   * needed.
   */
  fenceOf?: (stream: string) => BusFence | undefined;
}

const MIB = 1024 * 1024;
/** Bytes that a reader asks for at once, about, and batches at least and at most. */
const READ_BYTES = 2 * MIB;
const MIN_READ = 4;
const MAX_READ = 256;
/** Channels of notifications. */
const BATCHES = 'connector_frame_batches';
const SPACE = 'connector_frame_space';

/**
 * A bus in PostgreSQL. Every process that shares the database may publish to a stream, and the one
 * that holds the lease of a pipeline consumes; a process that ends leaves nothing behind.
 *
 * Batches that arrive during a transaction are stored together by the next one. Acknowledgments are not
 * synced: a crash of the server repeats batches, but loses none.
 */
export class PostgresBus implements Bus {
  readonly #options: PostgresBusOptions;
  readonly #limits: { maxBytes: number; maxSpillBytes: number };
  readonly #queries: BusQueries;
  readonly #publishers = new Map<string, StreamPublisher>();
  readonly #waiters: StreamWaiters;
  readonly #closing = new AbortController();

  constructor(options: PostgresBusOptions) {
    const { pool, notifications, maxBytes = 256 * MIB, maxSpillBytes = 4096 * MIB, pollMs = 2_000 } = options;
    this.#options = options;
    this.#limits = { maxBytes, maxSpillBytes };
    this.#queries = new BusQueries(pool);
    this.#waiters = new StreamWaiters((names) => this.#queries.sequences(names), pollMs);
    notifications.on(BATCHES, (stream) => this.#waiters.wake(stream));
    notifications.on(SPACE, (stream) => {
      if (stream !== undefined) this.#publishers.get(stream)?.wake();
    });
  }

  declare(stream: string, consumers: readonly (string | ConsumerOptions)[]): Promise<void> {
    return this.declareAt(stream, consumers, 0);
  }

  /**
   * Like `declare`, unless a process that knows a later version has declared the stream: then it only
   * ensures that the stream exists.
   * @param version version of the pipeline
   */
  async declareAt(stream: string, given: readonly (string | ConsumerOptions)[], version: number): Promise<void> {
    const consumers = given.map((each) => (typeof each === 'string' ? { name: each } : each));
    for (const each of [stream, ...consumers.map(({ name }) => name)]) checkName(each);
    this.#assertOpen();
    const limited = consumers.map((each) => withLimits(each, this.#limits));
    await this.#queries.declare(stream, limited, version);
    // Removed consumers may be waiting in a read, and publishers for a larger budget.
    this.#waiters.wake(stream);
    this.#publishers.get(stream)?.wake();
  }

  /** Returns this bus for a version of a pipeline: see `declareAt`. */
  at(version: number): Bus {
    return {
      declare: (stream, consumers) => this.declareAt(stream, consumers, version),
      publish: (stream, batch, options) => this.publish(stream, batch, options),
      consume: (stream, consumer, signal) => this.consume(stream, consumer, signal),
      stats: (stream) => this.stats(stream),
      oldestAt: (stream, consumer) => this.oldestAt(stream, consumer),
      remove: (stream) => this.remove(stream),
      close: () => this.close(),
    };
  }

  async publish(stream: string, batch: Batch, options: PublishOptions = {}): Promise<Published> {
    this.#assertOpen();
    let publisher = this.#publishers.get(stream);
    if (!publisher) {
      publisher = new StreamPublisher({
        stream,
        store: (batches) => this.#queries.store(stream, batches, this.#limits.maxBytes),
        onStored: () => this.#stored(stream),
      });
      this.#publishers.set(stream, publisher);
    }
    return publisher.publish(batch, options);
  }

  async *consume(stream: string, consumer: string, signal: AbortSignal): AsyncGenerator<Delivery, void, void> {
    this.#assertOpen();
    const ended = (): boolean => signal.aborted || this.#closing.signal.aborted;
    const over = AbortSignal.any([signal, this.#closing.signal]);
    const fence = this.#options.fenceOf?.(stream);
    if (this.#options.fenceOf && !fence) throw lost(stream);
    let after: number | undefined;
    let limit = MIN_READ;
    while (!ended()) {
      const listening = this.#waiters.listen(stream, after ?? 0);
      let batches: StoredBatch[] | undefined;
      try {
        batches = await this.#queries.read(stream, consumer, after, limit);
        if (batches?.length === 0) await listening.wait(over);
      } finally {
        listening.end();
      }
      if (!batches) throw unknown(stream, consumer);
      let bytes = 0;
      for (const stored of batches) {
        if (ended()) return;
        const { sequence, publishedAt } = stored;
        after = sequence;
        bytes += stored.body.length;
        const ack = (): Promise<void> => this.#acknowledge(stream, consumer, sequence, fence);
        yield { sequence, batch: decodeBatch(stored), publishedAt, ack };
      }
      if (batches.length > 0)
        limit = Math.min(MAX_READ, Math.max(MIN_READ, Math.floor(READ_BYTES / (bytes / batches.length + 1))));
    }
  }

  async stats(stream: string): Promise<StreamStats> {
    this.#assertOpen();
    const stats = await this.#queries.stats(stream, this.#limits.maxBytes);
    if (!stats) throw unknown(stream);
    return stats;
  }

  async oldestAt(stream: string, consumer: string): Promise<number | undefined> {
    this.#assertOpen();
    const at = await this.#queries.oldestAt(stream, consumer);
    if (at === undefined) throw unknown(stream, consumer);
    return at ?? undefined;
  }

  async remove(stream: string): Promise<void> {
    checkName(stream);
    this.#assertOpen();
    await this.#queries.remove(stream);
    this.#publishers.delete(stream);
    this.#waiters.wake(stream);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiters.close();
    await Promise.all([...this.#publishers.values()].map((each) => each.close()));
  }

  #stored(stream: string): void {
    // A process that reads the stream itself needs no notification, and has the only reader.
    if (this.#waiters.wake(stream)) return;
    this.#options.notifications.notify(BATCHES, stream);
  }

  async #acknowledge(stream: string, consumer: string, to: number, fence: BusFence | undefined): Promise<void> {
    // The bus was closed, for example after the grace period: the batch is delivered again.
    if (this.#closing.signal.aborted) return;
    const held = await this.#queries.advance(stream, consumer, to, fence);
    if (!held.ok) throw lost(stream);
    if (!held.wasBlocking) return;
    this.#publishers.get(stream)?.wake();
    this.#options.notifications.notify(SPACE, stream);
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new BusError('closed', 'The bus is closed.');
  }
}

const unknown = (stream: string, consumer?: string): BusError =>
  consumer === undefined
    ? new BusError('unknown_stream', `There is no stream ${stream}. Declare it.`)
    : new BusError('unknown_consumer', `Stream ${stream} has no consumer ${consumer}. Declare it.`);

const lost = (stream: string): BusError =>
  new BusError('closed', `The lease for reading stream ${stream} is not held.`);

function checkName(name: string): void {
  if (/^[\w-][\w.-]{0,127}$/.test(name)) return;
  throw new BusError(
    'bad_name',
    `${JSON.stringify(name)} can't be a name: letters, digits, ".", "_" and "-", at most 128.`,
  );
}
