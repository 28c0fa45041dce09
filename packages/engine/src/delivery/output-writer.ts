import { crc32 } from 'node:zlib';
import { MAX_BATCH_BYTES, type Batch } from '../connector-api/batch.js';
import { WAKE_UP } from '../connector-api/clock.js';
import type { Ordering } from '../connector-api/output.js';
import { BatchCollector, type CollectedBatch, type Source } from './batch-collector.js';
import { ConcurrencyLimiter } from './concurrency-limiter.js';
import { deliver, type RunContext } from './deliver.js';
import { batchesFor, type OutputPaths } from './deliver-paths.js';

const DEFAULT_CONCURRENCY = 32;
const DEFAULT_KEYED_CONCURRENCY = 8;
/** Maximum bytes of JSON that are being written to one output, unless a single batch exceeds it. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Collected records, and the writes that must not overlap. */
interface Sequence {
  readonly collector: BatchCollector;
  isWriting: boolean;
}

/** A sleep until collected records are due. */
interface Timer {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly ended: AbortController;
}

/**
 * Writes the batches that reach one output in one run: joins and splits them, writes several at a
 * time if their order allows it, and waits when too much is in memory.
 *
 * In memory are at most 16 MiB that are being written, one further write per sequence that is
 * collected (8 MiB for all), and the batch that was added last; more if a single write is larger.
 */
export class OutputWriter {
  readonly #context: RunContext;
  readonly #to: OutputPaths;
  readonly #limiter: ConcurrencyLimiter;
  readonly #ordering: Ordering;
  readonly #max: number;
  /** One; with a key, several. */
  readonly #sequences: readonly Sequence[];
  readonly #waiters = new Set<() => void>();
  /** Batches being delivered, by number in the order in which they were started. */
  readonly #active = new Map<number, number>();
  #activeBytes = 0;
  #started = 0;
  #nextSequence = 0;
  #flushing = false;
  #pumping = false;
  #stopped = false;
  #error: unknown;
  #timer: Timer | undefined;

  constructor(context: RunContext, to: OutputPaths) {
    const { ordering = 'stream', batching, maxConcurrency } = to.output;
    this.#to = to;
    this.#ordering = batching?.replaces === true ? 'stream' : ordering;
    const isKeyed = typeof this.#ordering === 'object';
    const max = maxConcurrency ?? (isKeyed ? DEFAULT_KEYED_CONCURRENCY : DEFAULT_CONCURRENCY);
    this.#max = this.#ordering === 'stream' ? 1 : Math.max(1, Math.floor(max));
    this.#limiter = new ConcurrencyLimiter({
      context,
      output: to.output,
      max: this.#max,
      onChange: () => this.#pump(),
    });
    this.#context = { ...context, aborted: this.#limiter.abandoned };
    this.#sequences = Array.from({ length: isKeyed ? this.#max : 1 }, () => ({
      collector: new BatchCollector({ nodeId: to.nodeId, batching, clock: context.clock }),
      isWriting: false,
    }));
  }

  /**
   * Adds a batch of the input, and waits while too much is in memory. Returns `false` if the run
   * stopped first.
   * @param finish called when all records of the batch are written or dead-lettered
   * @param at when the batch was ingested, in milliseconds since the epoch, if that is the same in
   *   every redelivery
   * @throws errors of a delivery
   */
  async add(batch: Batch, finish: () => void, at?: number): Promise<boolean> {
    const arriving = await batchesFor(this.#context, this.#to, batch);
    if (!arriving) this.#stopped = true;
    if (!arriving || this.#hasStopped) return this.#outcome();
    const source: Source = {
      id: batch.id,
      open: arriving.reduce((sum, { lines }) => sum + lines.length, 0),
      finish: () => {
        this.#context.counters.addUnfiltered(this.#to.nodeId, batch.lines.length, batch.bytes);
        finish();
      },
    };
    if (source.open === 0) source.finish();
    for (const each of arriving) this.#collect(each, source, at);
    this.#pump();
    const { stopping } = this.#context;
    await this.#until(() => this.#hasStopped || this.#hasRoom || stopping.aborted);
    return this.#outcome();
  }

  /**
   * Writes everything that was collected, without waiting for more. Returns `false` if the run
   * stopped first.
   * @throws errors of a delivery
   */
  async flush(): Promise<boolean> {
    this.#flushing = true;
    this.#pump();
    await this.#until(() => this.#active.size === 0 && (this.#hasStopped || this.#isEmpty));
    this.#flushing = false;
    return this.#outcome();
  }

  /** Drops what was collected; resolves when no write is in progress. */
  async close(): Promise<void> {
    this.#stopped = true;
    await this.#until(() => this.#active.size === 0);
    this.#timer?.ended.abort(WAKE_UP);
    this.#limiter.close();
  }

  #outcome(): boolean {
    if (this.#error !== undefined) throw this.#error;
    return !this.#hasStopped;
  }

  get #hasStopped(): boolean {
    return this.#stopped || this.#limiter.abandoned.aborted;
  }

  get #isEmpty(): boolean {
    return this.#sequences.every(({ collector }) => collector.isEmpty);
  }

  get #hasRoom(): boolean {
    const [first, ...others] = this.#sequences;
    if (others.length === 0) return first?.collector.isFull !== true;
    // Keys may be unevenly distributed: one full collector must not block the others.
    const bytes = this.#sequences.reduce((sum, { collector }) => sum + collector.bytes, 0);
    const limit = this.#to.output.batching?.bytes ?? MAX_BATCH_BYTES;
    return bytes < Math.max(limit, Math.min(this.#sequences.length * limit, MAX_BYTES / 2));
  }

  /** Whether another batch may be started in addition to those that are not finished. */
  get #mayStart(): boolean {
    if (this.#hasStopped || this.#active.size >= this.#max || !this.#limiter.ready) return false;
    // Bounds how much is delivered again after a crash, while one batch is retried.
    for (const oldest of this.#active.keys()) return this.#started - oldest < 2 * this.#max;
    return true;
  }

  #collect(batch: Batch, source: Source, at: number | undefined): void {
    const { length } = this.#sequences;
    if (typeof this.#ordering !== 'object') {
      this.#sequences[0]?.collector.add(batch, source, at);
      return;
    }
    const indexes = this.#sequences.map((): number[] => []);
    for (const [index, record] of batch.records.entries())
      indexes[crc32(this.#ordering.key(record)) % length]?.push(index);
    for (const [number, picked] of indexes.entries())
      if (picked.length > 0) this.#sequences[number]?.collector.add(batch.pick(picked), source, at);
  }

  /** Starts the writes that are due and allowed. */
  #pump(): void {
    // Starting a write can end synchronously in another call.
    if (this.#pumping) return;
    this.#pumping = true;
    // One time for both: what is not due yet for the first must get a timer from the other.
    const now = this.#context.clock.now();
    while (this.#mayStart) {
      const sequence = this.#nextDue(now);
      const collected = sequence?.collector.take();
      if (!sequence || !collected) break;
      void this.#write(sequence, collected);
    }
    this.#pumping = false;
    this.#schedule(now);
    for (const wake of this.#waiters) wake();
  }

  /** Returns a sequence that should be written now; starts after the previous one. */
  #nextDue(now: number): Sequence | undefined {
    const { length } = this.#sequences;
    const isCrowded = !this.#hasRoom;
    for (let step = 0; step < length; step += 1) {
      const number = (this.#nextSequence + step) % length;
      const sequence = this.#sequences[number];
      if (!sequence || sequence.collector.isEmpty || (this.#ordering !== 'none' && sequence.isWriting)) continue;
      if (!this.#flushing && !isCrowded && sequence.collector.dueIn(now) !== 0) continue;
      const bytes = Math.min(sequence.collector.bytes, this.#to.output.batching?.bytes ?? Infinity);
      if (this.#active.size > 0 && this.#activeBytes + bytes > MAX_BYTES) continue;
      this.#nextSequence = number + 1;
      return sequence;
    }
    return undefined;
  }

  async #write(sequence: Sequence, { batch, sources }: CollectedBatch): Promise<void> {
    const { health } = this.#context;
    const { nodeId } = this.#to;
    const number = this.#started;
    this.#started += 1;
    this.#active.set(number, batch.bytes);
    this.#activeBytes += batch.bytes;
    sequence.isWriting = true;
    health.opened(nodeId, 1);
    const lane = this.#limiter.open();
    try {
      const ids = sources.map(([{ id }]) => id);
      if (await deliver(this.#context, nodeId, lane.output, batch, ids)) {
        health.acknowledged(nodeId);
        for (const [source, records] of sources) {
          source.open -= records;
          if (source.open === 0) source.finish();
        }
      } else {
        health.opened(nodeId, -1);
        this.#stopped = true;
      }
    } catch (error) {
      health.opened(nodeId, -1);
      this.#error ??= error;
      this.#stopped = true;
    }
    sequence.isWriting = false;
    this.#active.delete(number);
    this.#activeBytes -= batch.bytes;
    lane.end();
    this.#pump();
  }

  /** Starts a timer for the next collected records that become due. */
  #schedule(now: number): void {
    if (this.#hasStopped) return;
    const dues = this.#sequences.map(({ collector }) => collector.dueIn(now) ?? 0).filter((due) => due > 0);
    if (dues.length === 0) return;
    const due = Math.min(...dues);
    const at = now + due;
    if (this.#timer && this.#timer.at <= at) return;
    this.#timer?.ended.abort(WAKE_UP);
    this.#timer = { at, ended: new AbortController() };
    void this.#pumpAfter(due, this.#timer);
  }

  async #pumpAfter(ms: number, timer: Timer): Promise<void> {
    await this.#context.clock.sleep(ms, timer.ended.signal);
    if (this.#timer !== timer) return;
    this.#timer = undefined;
    this.#pump();
  }

  async #until(isReached: () => boolean): Promise<void> {
    const { stopping } = this.#context;
    while (!isReached()) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiters.delete(wake);
          stopping.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiters.add(wake);
        stopping.addEventListener('abort', wake);
      });
    }
  }
}
