import type { MessageMeta } from './envelope.js';
import type { Shard, Shards } from './shards.js';
import type { StorageState } from './storage-state.js';
import type { StreamConsumer } from './stream-consumer.js';
import type { StreamLog } from './stream-log.js';

export interface StreamTrimmerOptions {
  shards: Shards;
  shard: Shard;
  subject: string;
  log: StreamLog;
  storage: StorageState;
  consumers: () => readonly StreamConsumer[];
  /** Stores the ids of recent batches, so that the messages that hold them can be deleted. */
  storeCheckpoint: () => Promise<void>;
  /**
   * Reads the consumers that other processes have declared, and their positions. Absent: there are none.
   * Rejects if that is not possible: then nothing is deleted.
   * @param maxAgeMs what was read in this time is used
   */
  refresh: ((maxAgeMs: number) => Promise<void>) | undefined;
  purgeBytes: number;
  idleMs: number;
}

/** A message that some consumers do not receive. */
interface PartlyDropped {
  /** Number of its last batch. */
  readonly last: number;
  readonly droppedFor: ReadonlySet<string>;
}

/** Milliseconds between reads of the consumers while single messages are deleted. */
const REFRESH_MS = 1_000;

/**
 * Deletes the messages of a stream that no consumer needs: those below the slowest stored position,
 * many at a time, and single ones that were dropped for all consumers that have not passed them.
 */
export class StreamTrimmer {
  readonly #options: StreamTrimmerOptions;
  readonly #dropped = new Map<number, PartlyDropped>();
  /** Messages that were read and not deleted, for servers on which `purge` frees no storage. */
  readonly #read = new Set<number>();
  /** Messages without records. Their ids are needed until the next checkpoint. */
  #empty: number[] = [];
  /** Cumulative bytes up to which messages were deleted. */
  #purgedBytes = 0;
  #work: Promise<void> | undefined;
  #isPurgeQueued = false;
  #timer: NodeJS.Timeout | undefined;
  #activeAt = 0;
  #closed = false;

  constructor(options: StreamTrimmerOptions) {
    this.#options = options;
  }

  /** Batches were stored or acknowledged: the stream is tidied up when it has been idle for a while. */
  active(): void {
    this.#activeAt = performance.now();
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#whenIdle(), this.#options.idleMs).unref();
  }

  /** A consumer has read a message. */
  read(seq: number, { number, batches }: MessageMeta): void {
    if (!this.#options.shards.purgeFreesStorage) this.#read.add(seq);
    const [first, ...others] = batches;
    if (!first || first.droppedFor.length === 0) return;
    const droppedFor = first.droppedFor.filter((name) => others.every((each) => each.droppedFor.includes(name)));
    if (droppedFor.length > 0)
      this.#dropped.set(seq, { last: number + batches.length, droppedFor: new Set(droppedFor) });
  }

  /** A message was stored whose batches were dropped for all consumers. */
  storedEmpty(seq: number): void {
    this.#empty.push(seq);
  }

  /** A checkpoint was stored. The previous one is not needed anymore. */
  storedCheckpoint(previous: number): void {
    const old = [...(previous > 0 ? [previous] : []), ...this.#empty];
    this.#empty = [];
    this.#do(() => this.#deleteAll(old));
    this.#do(() => this.#deleteDropped());
  }

  /** A position was stored: deletes what is not needed, if it is worth a request. */
  trim(): void {
    const { purgeBytes, storage } = this.#options;
    const bytes = Math.min(...this.#options.consumers().map(({ saved }) => saved.bytes));
    if (bytes - this.#purgedBytes >= (storage.isFull ? 1 : purgeBytes)) {
      this.#purgedBytes = bytes;
      this.#requestPurge();
    }
    const [oldest] = this.#dropped.keys();
    if (oldest !== undefined && oldest < this.#options.log.checkpoint.seq) this.#do(() => this.#deleteDropped());
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#work;
  }

  #whenIdle(): void {
    this.#timer = undefined;
    const left = this.#options.idleMs - (performance.now() - this.#activeAt);
    if (left <= 0) this.#do(() => this.#tidy());
    else this.#timer = setTimeout(() => this.#whenIdle(), left).unref();
  }

  /** Keeps only the ids of recent batches if everything is acknowledged. */
  async #tidy(): Promise<void> {
    const { log, consumers, storeCheckpoint, refresh } = this.#options;
    await refresh?.(0);
    const isDone = (): boolean =>
      consumers().length > 0 && consumers().every((each) => each.isSaved && each.waiting(log.tail).batches === 0);
    if (!isDone() || log.tail.seq === 0) return;
    if (log.tail.seq !== log.checkpoint.seq) await storeCheckpoint();
    if (isDone()) await this.#purge();
  }

  #requestPurge(): void {
    if (this.#isPurgeQueued) return;
    this.#isPurgeQueued = true;
    this.#do(async () => {
      this.#isPurgeQueued = false;
      await this.#purge();
    });
  }

  async #purge(): Promise<void> {
    const { shards, shard, subject, log, storage, consumers, storeCheckpoint, refresh } = this.#options;
    const { checkpoint } = log;
    const { isFull } = storage;
    // A consumer that is declared after the positions were stored starts behind them.
    const passed = this.#passed();
    if (passed === Infinity) return;
    await refresh?.(0);
    // The ids of the batches behind the checkpoint are in their messages. Without space, another
    // checkpoint can only be stored after messages are deleted.
    const below = Math.min(passed, this.#passed(), isFull ? Infinity : checkpoint.seq);
    if (consumers().length === 0 || below <= 1) return;
    const read = [...this.#read].filter((seq) => seq < below);
    for (const seq of read) this.#read.delete(seq);
    await this.#deleteAll(read);
    await shards.purge(shard, subject, below);
    if (isFull) await storeCheckpoint();
  }

  /** Returns the sequence below which no known consumer needs a message. */
  #passed(): number {
    const { shard, log, consumers } = this.#options;
    const { tail } = log;
    const needed = consumers().map((each) => {
      if (each.isSaved && each.waiting(tail).batches === 0) return tail.seq;
      return each.saved.epoch === shard.epoch ? each.saved.seq : 0;
    });
    return Math.min(...needed);
  }

  async #deleteDropped(): Promise<void> {
    await this.#options.refresh?.(REFRESH_MS);
    const consumers = this.#options.consumers();
    const unneeded: number[] = [];
    const { checkpoint } = this.#options.log;
    for (const [seq, { last, droppedFor }] of this.#dropped) {
      // The ids of its batches must be in a checkpoint.
      if (seq >= checkpoint.seq) return this.#deleteAll(unneeded);
      const behind = consumers.filter(({ saved }) => saved.number < last);
      if (behind.some(({ name }) => !droppedFor.has(name))) continue;
      this.#dropped.delete(seq);
      // Without consumers behind, it is deleted with the messages below the slowest position.
      if (behind.length > 0) unneeded.push(seq);
    }
    await this.#deleteAll(unneeded);
  }

  async #deleteAll(messages: readonly number[]): Promise<void> {
    const { shards, shard } = this.#options;
    await Promise.all(messages.map((seq) => shards.delete(shard, seq)));
  }

  /** Runs deletions one after the other. Failures are ignored: unneeded messages only take space. */
  #do(work: () => Promise<void>): void {
    if (this.#closed) return;
    const before = this.#work ?? Promise.resolve();
    this.#work = before.then(work).catch(() => undefined);
  }
}
