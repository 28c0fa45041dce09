import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileHandlePool } from '../../files/idle-file.js';
import type { Batch } from '../../connector-api/batch.js';
import {
  BusError,
  type ConsumerOptions,
  type Delivery,
  type Published,
  type PublishOptions,
  type StreamStats,
  type Waiting,
} from '../bus.js';
import { batchFrame, HEAD_BYTES } from './frame.js';
import { BatchCache, type CacheBudget } from './batch-cache.js';
import type { FrameReader } from './frame-reader.js';
import type { FreeSpace } from './free-space.js';
import { readFrom } from './read-from.js';
import { ByteQuota } from '../shared/byte-quota.js';
import { namesIn, Segments, type Damage, type Segment } from './segments.js';
import { Waiters } from '../shared/waiters.js';
import { StreamConsumer } from './stream-consumer.js';
import type { RecordRange } from '../shared/lost-records.js';
import { StreamState } from './stream-state.js';

export interface StreamOptions {
  /** Maximum backlog of a consumer in bytes, as stored, and with the policy `spill`. */
  maxBytes: number;
  maxSpillBytes: number;
  /** Size in bytes at which a new segment is started. */
  segmentBytes: number;
  files: FileHandlePool;
  cacheBudget: CacheBudget;
  space: FreeSpace;
  now(): number;
  onDamage(damage: Damage): void;
}

interface Entry {
  batch: Batch;
  bytes: number;
  resolve(published: Published): void;
  reject(error: unknown): void;
}

/** A batch to write, and the consumers that do not receive it. */
interface Planned {
  entry: Entry;
  droppedFor: readonly StreamConsumer[];
}

/** Maximum bytes per write and `fdatasync`. */
const GROUP_BYTES = 4 * 1024 * 1024;
/** Size above which the last segment is worth reclaiming. */
const RECLAIM_BYTES = 256 * 1024;
/** Backlog above which a consumer has no claim to the cache. */
const LAG_BYTES = 16 * 1024 * 1024;

/** One stream of the embedded bus: segment files, and a position per consumer. */
export class EmbeddedStream {
  readonly #folder: string;
  readonly name: string;
  readonly #options: StreamOptions;
  readonly #segments: Segments;
  readonly #state: StreamState;
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
  /** The files that must not need space later have been created. */
  #reserved = false;
  readonly #waiters = new Waiters();

  private constructor(
    folder: string,
    name: string,
    options: StreamOptions,
    { segments, state, isNew }: { segments: Segments; state: StreamState; isNew: boolean },
  ) {
    this.#folder = folder;
    this.name = name;
    this.#options = options;
    this.#segments = segments;
    this.#state = state;
    this.#isNew = isNew;
    this.#cache = new BatchCache(options.cacheBudget);
    this.#quota = new ByteQuota((bytes, reserved) => this.#fits(bytes, reserved));
  }

  /** @param isNew the stream has no files yet */
  static async open(folder: string, name: string, options: StreamOptions, isNew: boolean): Promise<EmbeddedStream> {
    let report: ((damage: Damage) => void) | undefined;
    const early: Damage[] = [];
    const onDamage = (damage: Damage): void => (report ? report(damage) : void early.push(damage));
    const { segmentBytes, files } = options;
    const segments = await Segments.open(folder, name, segmentBytes, files, onDamage, isNew);
    const state = await StreamState.open(join(folder, 'stream.state'), files, isNew);
    segments.continueAfter(state.end);
    const stream = new EmbeddedStream(folder, name, options, { segments, state, isNew });
    report = (damage) => stream.#damaged(damage);
    early.forEach(report);
    return stream;
  }

  async setConsumers(consumers: readonly ConsumerOptions[]): Promise<void> {
    const names = consumers.map(({ name }) => name);
    for (const [name, consumer] of this.#consumers) {
      if (names.includes(name)) continue;
      this.#consumers.delete(name);
      await consumer.remove();
    }
    const kept = this.#isNew ? [] : await namesIn(this.#positions);
    for (const name of kept) {
      const known = names.includes(name.replace(/\.(?:pos|drops)$/, ''));
      if (!known) await rm(join(this.#positions, name), { force: true });
    }
    for (const each of consumers) {
      let consumer = this.#consumers.get(each.name);
      if (!consumer) {
        const { files } = this.#options;
        consumer = await StreamConsumer.open(this.#positions, each, {
          segments: this.#segments,
          files,
          isNew: this.#isNew,
        });
        this.#consumers.set(each.name, consumer);
      }
      consumer.configure(each, this.#options);
    }
    this.#reserved = false;
    // On a full disk, the stream still has to be read. The next batch tries again.
    if (!this.#isNew) await this.#reserve().catch(() => undefined);
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
    const consumer = this.#consumer(name);
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
          if (this.#options.space.low) await this.reclaim();
        },
        jump: async (after, to) => {
          await consumer.jump(after, to);
          await this.#trim();
        },
        dropped: consumer.dropped,
        onLost: (range) => this.#lost(range),
        onDamage: (damage) => this.#damaged(damage),
        readers: this.#readers,
        files: this.#options.files,
        cache: this.#cache,
      }),
    );
  }

  /** Returns when the oldest batch that a consumer has not acknowledged was published. */
  async oldestAt(name: string): Promise<number | undefined> {
    const consumer = this.#consumer(name);
    const { position } = consumer;
    if (consumer.waiting().batches === 0) return undefined;
    if (consumer.oldest?.after === position) return consumer.oldest.at;
    let isAtEnd = false;
    const batches = readFrom({
      stream: this.name,
      segments: this.#segments,
      from: position,
      ended: () => isAtEnd || this.#closed,
      waitForMore: async () => void (isAtEnd = true),
      // Only looks: damage and losses are reported once, to the consumer.
      ack: async () => undefined,
      jump: async () => undefined,
      dropped: consumer.dropped,
      onLost: () => undefined,
      onDamage: () => undefined,
      readers: this.#readers,
      files: this.#options.files,
      cache: this.#cache,
    });
    for await (const { publishedAt } of batches) {
      consumer.oldest = { after: position, at: publishedAt };
      return publishedAt;
    }
    return undefined;
  }

  #consumer(name: string): StreamConsumer {
    this.#assertOpen();
    const consumer = this.#consumers.get(name);
    if (!consumer) throw new BusError('unknown_consumer', `Stream ${this.name} has no consumer ${name}. Declare it.`);
    return consumer;
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
    const { lost } = this.#state;
    const consumers = [...this.#consumers].map(([name, consumer]) => [name, consumer.stats()] as const);
    const slowest = this.#limiting().map((consumer) => consumer.waiting());
    return {
      ...slowest.reduce((most, waiting) => (waiting.bytes > most.bytes ? waiting : most)),
      maxBytes: this.#options.maxBytes,
      full: this.#quota.full,
      noSpace: this.#options.space.low,
      consumers: Object.fromEntries(consumers),
      damagedBytes: this.#damagedBytes,
      ...(lost && { lost }),
    };
  }

  /**
   * Called when a consumer has advanced: deletes what all consumers have acknowledged and admits
   * waiting publishers.
   */
  async #trim(): Promise<void> {
    this.#quota.admitWaiters();
    const consumers = [...this.#consumers.values()];
    if (consumers.length === 0) return;
    // A consumer that lags far behind reads the files: it must not keep the others out of the
    // cache.
    const sequences = consumers.map(({ position }) => position.sequence);
    const close = sequences.filter((_, index) => (consumers[index]?.backlog ?? 0) <= LAG_BYTES);
    this.#cache.dropUpTo(close.length > 0 ? Math.min(...close) : Math.max(...sequences));
    const dropping = consumers.filter(({ dropped }) => dropped.ranges.length > 0);
    const first = this.#segments.list[0];
    // Without dropped batches, segments are deleted in order.
    if (dropping.length === 0 && first && consumers.some((consumer) => consumer.needs(first, Infinity))) return;
    const unneeded = this.#segments.unneeded((segment, end) =>
      consumers.some((consumer) => consumer.needs(segment, end)),
    );
    if (unneeded.length === 0) return;
    // After a power failure, a gap must be known as dropped, or it would be reported as lost.
    for (const { dropped } of dropping) await dropped.sync().catch(() => undefined);
    await this.#segments.delete(unneeded);
    // Deleting has made space for positions that could not be saved.
    for (const consumer of consumers) await consumer.saveIfNeeded();
  }

  /**
   * Frees the space of the last segment if all of it is acknowledged. Only worth its writes when
   * the disk is full: the segment is filled and deleted later anyway.
   */
  async reclaim(): Promise<void> {
    const { tail } = this.#segments;
    if (this.#closed || this.#flushing || !tail || tail.size < RECLAIM_BYTES) return;
    const consumers = [...this.#consumers.values()];
    if (consumers.length === 0 || consumers.some(({ backlog }) => backlog > 0)) return;
    // On failure, the next reading of the free space tries again.
    this.#flushing = this.#segments.renew().catch(() => undefined);
    await this.#flushing;
    this.#flushing = undefined;
    if (this.#queue.length > 0) this.#startFlush();
    await this.#trim();
  }

  /** Creates the files that must be writable on a full disk. */
  async #reserve(): Promise<void> {
    if (this.#reserved) return;
    await this.#state.reserve();
    for (const consumer of this.#consumers.values()) await consumer.reserve();
    this.#reserved = true;
  }

  /** Consumers whose backlog bounds the stream. Without any, the whole stream is the backlog. */
  #limiting(): StreamConsumer[] {
    if (this.#consumers.size > 0) return [...this.#consumers.values()];
    const whole = StreamConsumer.atStart(this.#segments);
    whole.configure({}, this.#options);
    return [whole];
  }

  #fits(bytes: number, reserved: number): boolean {
    return this.#limiting().every((consumer) => consumer.drops || consumer.fits(bytes, reserved));
  }

  #lost(range: RecordRange): void {
    if (this.#state.addLost(range, this.#segments.exact, this.#options.now()) > 0) this.#saveState();
  }

  /** A failure only matters if segments are lost, too. The next batch saves again. */
  #saveState(): void {
    this.#state.save().catch(() => undefined);
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
    await this.#state.close();
    for (const consumer of this.#consumers.values()) await consumer.close();
    // Readers of iterators that were abandoned in the middle of a batch.
    for (const reader of this.#readers) await reader.close();
    this.#readers.clear();
  }

  async remove(): Promise<void> {
    await this.close();
    this.#options.space.forget(this.name);
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #positions(): string {
    return join(this.#folder, 'positions');
  }

  async #store(batch: Batch, { waitMs = 0, signal }: PublishOptions): Promise<Published> {
    // Lines with their line ends, id, head.
    const bytes = batch.bytes + batch.lines.length + Buffer.byteLength(batch.id) + HEAD_BYTES;
    const hasSpace = await this.#options.space.admits(waitMs, signal);
    this.#assertOpen();
    if (!hasSpace) return { stored: false, reason: 'no_space' };
    const acquired = await this.#quota.acquire(bytes, waitMs, signal);
    this.#assertOpen();
    if (!acquired) return { stored: false, reason: 'full' };
    const stored = new Promise<Published>((resolve, reject) => this.#queue.push({ batch, bytes, resolve, reject }));
    this.#startFlush();
    return stored;
  }

  #startFlush(): void {
    this.#flushing ??= this.#flush();
  }

  /** Group commit: everything queued during the previous write is written with one `fdatasync`. */
  async #flush(): Promise<void> {
    while (this.#queue.length > 0) await this.#flushGroup();
    // In the same step as the check: a batch that is queued now starts another one.
    this.#flushing = undefined;
  }

  async #flushGroup(): Promise<void> {
    const plan = this.#plan(this.#takeGroup());
    const stored = plan.filter(({ droppedFor }) => droppedFor.length === 0 || droppedFor.length < this.#consumers.size);
    let sequence = this.#segments.lastSequence;
    try {
      if (stored.length > 0) await this.#append(stored);
    } catch (error) {
      this.#options.space.failed(this.name, error);
      const failure = new BusError('storage', `Stream ${this.name} could not be written.`, { cause: error });
      for (const { entry } of plan) {
        this.#quota.release(entry.bytes);
        entry.reject(failure);
      }
      this.#quota.admitWaiters();
      return;
    }
    await this.#saveDropped(plan, stored);
    for (const each of plan) {
      const { entry } = each;
      if (stored.includes(each)) sequence += 1;
      this.#quota.release(entry.bytes);
      this.#segments.recent.add(entry.batch.id, sequence);
      entry.resolve({ stored: true, sequence, repeated: false });
    }
    this.#saveState();
    this.#waiters.wakeAll();
  }

  /** Decides for each batch which consumers do not receive it. */
  #plan(group: readonly Entry[]): Planned[] {
    const dropping = [...this.#consumers.values()].filter(({ drops }) => drops);
    const pending = new Map<StreamConsumer, number>();
    return group.map((entry) => {
      const droppedFor = dropping.filter((consumer) => {
        const before = pending.get(consumer) ?? 0;
        const isDropped = consumer.shouldDrop(entry.bytes, before);
        if (!isDropped) pending.set(consumer, before + entry.bytes);
        return isDropped;
      });
      return { entry, droppedFor };
    });
  }

  async #append(stored: readonly Planned[]): Promise<void> {
    const { lastSequence, records } = this.#segments;
    const publishedAt = this.#options.now();
    let recordsBefore = records;
    const frames = stored.map(({ entry: { batch } }, index) => {
      const frame = batchFrame(batch, { recordsBefore, sequence: lastSequence + index + 1, publishedAt });
      recordsBefore += batch.lines.length;
      return frame;
    });
    this.#isNew = false;
    await this.#reserve();
    const at = await this.#segments.append(frames);
    this.#addDropped(stored, frames, at);
    this.#cacheBatches(stored, frames, at, publishedAt);
    this.#segments.records = recordsBefore;
    this.#segments.lastSequence = lastSequence + stored.length;
    this.#state.end = { sequence: this.#segments.lastSequence, records: recordsBefore };
    const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
    this.#options.space.stored(this.name, bytes);
  }

  /** Records which of the batches that were just written are dropped for which consumer. */
  #addDropped(
    stored: readonly Planned[],
    frames: readonly Buffer[],
    { segment, offset }: { segment: Segment; offset: number },
  ): void {
    let { lastSequence: sequence, records: recordsBefore } = this.#segments;
    let from = segment.base + offset;
    for (const [index, { entry, droppedFor }] of stored.entries()) {
      sequence += 1;
      const to = from + (frames[index]?.length ?? 0);
      const records = recordsBefore + entry.batch.lines.length;
      for (const { dropped } of droppedFor)
        dropped.add(sizeOf(entry), { first: sequence, end: sequence + 1, from, to, recordsBefore, records });
      from = to;
      recordsBefore = records;
    }
  }

  /** Saves what is dropped, before the batches count as published. */
  async #saveDropped(plan: readonly Planned[], stored: readonly Planned[]): Promise<void> {
    for (const each of plan) {
      if (stored.includes(each)) continue;
      for (const { dropped } of each.droppedFor) dropped.add(sizeOf(each.entry));
    }
    for (const consumer of new Set(plan.flatMap(({ droppedFor }) => droppedFor))) {
      // The next batch saves again. Until then, a kill makes the consumer receive what was dropped.
      await consumer.dropped.save().catch((error: unknown) => this.#options.space.failed(this.name, error));
    }
  }

  /** Caches the new batches for active readers. */
  #cacheBatches(
    stored: readonly Planned[],
    frames: readonly Buffer[],
    { segment, offset }: { segment: Segment; offset: number },
    publishedAt: number,
  ): void {
    if (this.#activeReaders === 0) return;
    let { lastSequence: sequence, records } = this.#segments;
    let at = offset;
    for (const [index, { entry }] of stored.entries()) {
      const { batch } = entry;
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

  #assertOpen(): void {
    if (this.#closed) throw new BusError('closed', `Stream ${this.name} is closed.`);
  }
}

const sizeOf = ({ batch, bytes }: Entry): Waiting => ({ batches: 1, records: batch.lines.length, bytes });
