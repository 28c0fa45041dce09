import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileHandlePool } from '../../files/idle-file.js';
import type { Batch } from '../../connector-api/batch.js';
import { BusError, type Delivery, type Published, type PublishOptions, type StreamStats } from '../bus.js';
import { batchFrame, HEAD_BYTES } from './frame.js';
import { BatchCache, type CacheBudget } from './batch-cache.js';
import type { FrameReader } from './frame-reader.js';
import { PositionFile } from './position-file.js';
import { readFrom } from './read-from.js';
import { ByteQuota } from './byte-quota.js';
import { namesIn, Segments, type Damage, type Segment } from './segments.js';
import { Waiters } from './waiters.js';
import { StreamConsumer } from './stream-consumer.js';

export interface StreamOptions {
  /** Maximum backlog in bytes, as stored. */
  maxBytes: number;
  /** Size in bytes at which a new segment is started. */
  segmentBytes: number;
  files: FileHandlePool;
  cacheBudget: CacheBudget;
  now(): number;
  onDamage(damage: Damage): void;
}

interface Entry {
  batch: Batch;
  bytes: number;
  resolve(published: Published): void;
  reject(error: unknown): void;
}

/** Maximum bytes per write and `fdatasync`. */
const GROUP_BYTES = 4 * 1024 * 1024;

/** One stream of the embedded bus: segment files, and a position per consumer. */
export class EmbeddedStream {
  readonly #folder: string;
  readonly name: string;
  readonly #options: StreamOptions;
  readonly #segments: Segments;
  readonly #consumers = new Map<string, StreamConsumer>();
  readonly #inFlight = new Map<string, Promise<Published>>();
  readonly #quota: ByteQuota;
  readonly #readers = new Set<FrameReader>();
  readonly #cache: BatchCache;
  /** Number of active readers. */
  #activeReaders = 0;
  #queue: Entry[] = [];
  /** Nothing has been written to disk yet. */
  #isNew: boolean;
  #flushing: Promise<void> | undefined;
  #closed = false;
  #damagedBytes = 0;
  readonly #waiters = new Waiters();

  private constructor(folder: string, name: string, options: StreamOptions, segments: Segments, isNew: boolean) {
    this.#folder = folder;
    this.name = name;
    this.#options = options;
    this.#segments = segments;
    this.#isNew = isNew;
    this.#cache = new BatchCache(options.cacheBudget);
    this.#quota = new ByteQuota(options.maxBytes, () => this.#segments.end - this.#slowest());
  }

  /** @param isNew the stream has no files yet */
  static async open(folder: string, name: string, options: StreamOptions, isNew: boolean): Promise<EmbeddedStream> {
    const early: Damage[] = [];
    const { segmentBytes, files } = options;
    const segments = await Segments.open(folder, name, segmentBytes, files, (damage) => early.push(damage), isNew);
    const stream = new EmbeddedStream(folder, name, options, segments, isNew);
    for (const damage of early) stream.#damaged(damage);
    return stream;
  }

  async setConsumers(names: readonly string[]): Promise<void> {
    for (const [name, consumer] of this.#consumers) {
      if (names.includes(name)) continue;
      this.#consumers.delete(name);
      await consumer.remove();
    }
    const kept = this.#isNew ? [] : await namesIn(this.#positions);
    for (const name of kept) {
      const known = name.endsWith('.pos') && names.includes(name.slice(0, -4));
      if (!known) await rm(join(this.#positions, name), { force: true });
    }
    for (const name of names) {
      if (this.#consumers.has(name)) continue;
      const { file, position } = await PositionFile.open(
        join(this.#positions, `${name}.pos`),
        this.#options.files,
        this.#isNew,
      );
      this.#consumers.set(name, new StreamConsumer(this.#segments, file, position));
    }
    await this.#trim();
    // Removed consumers may be waiting in a read.
    this.#waiters.wakeAll();
  }

  publish(batch: Batch, options: PublishOptions): Promise<Published> {
    this.#assertOpen();
    const sequence = this.#segments.recent.get(batch.id);
    if (sequence !== undefined) return Promise.resolve({ stored: true, sequence, repeated: true });
    const inFlight = this.#inFlight.get(batch.id);
    if (inFlight)
      return inFlight.then((published) => (published.stored ? { ...published, repeated: true } : published));
    const storing = this.#store(batch, options).finally(() => this.#inFlight.delete(batch.id));
    this.#inFlight.set(batch.id, storing);
    return storing;
  }

  consume(name: string, signal: AbortSignal): AsyncIterable<Delivery> {
    this.#assertOpen();
    const consumer = this.#consumers.get(name);
    if (!consumer) throw new BusError('unknown_consumer', `Stream ${this.name} has no consumer ${name}. Declare it.`);
    const ended = (): boolean => signal.aborted || this.#closed || this.#consumers.get(name) !== consumer;
    return this.#counted(
      readFrom({
        stream: this.name,
        segments: this.#segments,
        from: consumer.position,
        ended,
        waitForMore: () => this.#waiters.wait(signal),
        ack: async (done) => {
          if (this.#closed || this.#consumers.get(name) !== consumer) return;
          await consumer.advance(done);
          await this.#trim();
        },
        onDamage: (damage) => this.#damaged(damage),
        readers: this.#readers,
        files: this.#options.files,
        cache: this.#cache,
      }),
    );
  }

  /** Counts active readers; clears the cache when the last one ends. */
  async *#counted(deliveries: AsyncIterable<Delivery>): AsyncGenerator<Delivery, void, void> {
    this.#activeReaders += 1;
    try {
      yield* deliveries;
    } finally {
      this.#activeReaders -= 1;
      if (this.#activeReaders === 0) this.#cache.clear();
    }
  }

  stats(): StreamStats {
    this.#assertOpen();
    const consumers = [...this.#consumers].map(([name, consumer]) => [name, consumer.waiting()] as const);
    // Without consumers, the whole stream is the backlog.
    const wholeStream =
      this.#consumers.size === 0 ? [new StreamConsumer(this.#segments, undefined, undefined).waiting()] : [];
    const slowest = [...wholeStream, ...consumers.map(([, waiting]) => waiting)].reduce((most, waiting) =>
      waiting.bytes > most.bytes ? waiting : most,
    );
    return {
      ...slowest,
      maxBytes: this.#quota.maxBytes,
      full: this.#quota.full,
      consumers: Object.fromEntries(consumers),
      damagedBytes: this.#damagedBytes,
    };
  }

  /**
   * Called when a consumer has advanced: deletes what all consumers have acknowledged and admits
   * waiting publishers.
   */
  async #trim(): Promise<void> {
    this.#quota.admitWaiters();
    const sequences = [...this.#consumers.values()].map(({ position }) => position.sequence);
    if (sequences.length > 0) this.#cache.dropUpTo(Math.min(...sequences));
    await this.#segments.deleteBefore(this.#slowest());
  }

  #damaged(damage: Damage): void {
    this.#damagedBytes += damage.bytes;
    this.#options.onDamage(damage);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#quota.close();
    this.#cache.clear();
    this.#waiters.wakeAll();
    await this.#flushing;
    await this.#segments.close();
    for (const consumer of this.#consumers.values()) await consumer.close();
    // Readers of iterators that were abandoned in the middle of a batch.
    for (const reader of this.#readers) await reader.close();
    this.#readers.clear();
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #positions(): string {
    return join(this.#folder, 'positions');
  }

  async #store(batch: Batch, { waitMs = 0, signal }: PublishOptions): Promise<Published> {
    // Lines with their line ends, id, head.
    const bytes = batch.bytes + batch.lines.length + Buffer.byteLength(batch.id) + HEAD_BYTES;
    const acquired = await this.#quota.acquire(bytes, waitMs, signal);
    if (!acquired) {
      this.#assertOpen();
      return { stored: false, reason: 'full' };
    }
    const stored = new Promise<Published>((resolve, reject) => this.#queue.push({ batch, bytes, resolve, reject }));
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
    return stored;
  }

  /** Group commit: everything queued during the previous write is written with one `fdatasync`. */
  async #flush(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      const { lastSequence, records } = this.#segments;
      try {
        let recordsBefore = records;
        const publishedAt = this.#options.now();
        const frames = group.map(({ batch }, index) => {
          const frame = batchFrame(batch, { recordsBefore, sequence: lastSequence + index + 1, publishedAt });
          recordsBefore += batch.lines.length;
          return frame;
        });
        this.#isNew = false;
        const position = await this.#segments.append(frames);
        this.#cacheBatches(group, frames, position, publishedAt);
        this.#segments.records = recordsBefore;
        this.#segments.lastSequence = lastSequence + group.length;
      } catch (error) {
        const failure = new BusError('storage', `Stream ${this.name} could not be written.`, { cause: error });
        for (const entry of group) this.#quota.release(entry.bytes);
        for (const entry of group) entry.reject(failure);
        this.#quota.admitWaiters();
        continue;
      }
      for (const [index, entry] of group.entries()) {
        const sequence = lastSequence + index + 1;
        this.#quota.release(entry.bytes);
        this.#segments.recent.add(entry.batch.id, sequence);
        entry.resolve({ stored: true, sequence, repeated: false });
      }
      this.#waiters.wakeAll();
    }
  }

  /** Caches the new batches for active readers. */
  #cacheBatches(
    group: readonly Entry[],
    frames: readonly Buffer[],
    { segment, offset }: { segment: Segment; offset: number },
    publishedAt: number,
  ): void {
    if (this.#activeReaders === 0) return;
    let { lastSequence: sequence, records } = this.#segments;
    let at = offset;
    for (const [index, { batch }] of group.entries()) {
      const end = at + (frames[index]?.length ?? 0);
      sequence += 1;
      records += batch.lines.length;
      const done = { sequence, segment: segment.first, offset: end, records };
      this.#cache.add({ batch, publishedAt, segment: segment.first, offset: at, done });
      at = end;
    }
  }

  #takeGroup(): Entry[] {
    let bytes = 0;
    const end = this.#queue.findIndex((entry) => (bytes += entry.bytes) > GROUP_BYTES);
    return this.#queue.splice(0, end < 0 ? this.#queue.length : Math.max(1, end));
  }

  /** Byte offset of the slowest consumer in the stream; without consumers, everything is kept. */
  #slowest(): number {
    const offsets = [...this.#consumers.values()].map((consumer) => consumer.byteOffset);
    return offsets.length > 0 ? Math.min(...offsets) : (this.#segments.list[0]?.base ?? 0);
  }

  #assertOpen(): void {
    if (this.#closed) throw new BusError('closed', `Stream ${this.name} is closed.`);
  }
}
