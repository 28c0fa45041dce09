import { createHash } from 'node:crypto';
import type { Batch } from '../../connector-api/batch.js';
import { BusError, type Published } from '../bus.js';
import type { ByteQuota } from '../shared/byte-quota.js';
import type { Waiters } from '../shared/waiters.js';
import type { BatchEntry } from './envelope.js';
import type { MessageCache } from './message-cache.js';
import type { Sent } from './shards.js';
import type { StorageState } from './storage-state.js';
import type { StreamConsumer } from './stream-consumer.js';
import type { Planned, StreamLog } from './stream-log.js';
import type { StreamTrimmer } from './stream-trimmer.js';

export interface StreamWriterOptions {
  /** Name of the stream. */
  name: string;
  log: StreamLog;
  storage: StorageState;
  quota: ByteQuota;
  cache: MessageCache;
  trimmer: StreamTrimmer;
  /** Readers that wait for new messages. */
  waiters: Waiters;
  consumers: ReadonlyMap<string, StreamConsumer>;
  /** Returns the largest body and header of a message together, in bytes. */
  maxBytes(): number;
  hasReaders(): boolean;
  now(): number;
}

interface Entry {
  batch: Batch;
  bytes: number;
  /** It was sent before, and there was no response. */
  wasSent: boolean;
  resolve(published: Published): void;
  reject(error: unknown): void;
}

interface PlannedEntry extends Planned {
  source: Entry;
}

/** Maximum bytes and batches per message. */
const GROUP_BYTES = 384 * 1024;
const GROUP_BATCHES = 64;
/** Bytes that the header of a batch takes at most, beside its id and the consumers it is dropped for. */
const ENTRY_BYTES = 64;
/** Attempts to store a message behind the last one while nothing else is stored. */
const MAX_VAIN = 20;

/**
 * Stores the batches of one stream, in the order in which they arrive. One message is in flight at a
 * time; what arrives meanwhile is stored with the next one.
 */
export class StreamWriter {
  readonly #options: StreamWriterOptions;
  #queue: Entry[] = [];
  #flushing: Promise<void> | undefined;
  #wantsCheckpoint = false;
  #closed = false;

  constructor(options: StreamWriterOptions) {
    this.#options = options;
  }

  /** Returns what a batch takes in a message at most, in bytes. */
  sizeInMessage(bytes: number): number {
    return bytes + ENTRY_BYTES + this.#namesLength();
  }

  /**
   * Stores a batch, whose bytes the caller has acquired from the quota. They are released when it is
   * stored or rejected.
   * @throws BusError `storage`
   */
  store(batch: Batch, bytes: number): Promise<Published> {
    return new Promise<Published>((resolve, reject) => {
      this.#queue.push({ batch, bytes, wasSent: false, resolve, reject });
      this.#startFlush();
    });
  }

  /** Stores a message without batches. Resolves when it was tried. */
  requestCheckpoint(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#wantsCheckpoint = true;
    this.#startFlush();
    return this.#flushing ?? Promise.resolve();
  }

  /** Refuses further checkpoints, and waits for the batches in progress. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
  }

  #startFlush(): void {
    this.#flushing ??= this.#flush();
  }

  /** Everything that arrives while a message is being stored is stored with the next one. */
  async #flush(): Promise<void> {
    // Batches that are published in the same turn are stored together.
    await Promise.resolve();
    for (let vain = 0; this.#queue.length > 0 || this.#wantsCheckpoint;) {
      if (this.#wantsCheckpoint || this.#options.log.needsCheckpoint) await this.#storeCheckpoint();
      const group = this.#takeGroup();
      if (group.length > 0) vain = (await this.#storeGroup(group, vain)) ? 0 : vain + 1;
    }
    // In the same step as the check: a batch that is queued now starts another one.
    this.#flushing = undefined;
  }

  /** Stores a message. Returns whether anything has changed. */
  async #storeGroup(queued: readonly Entry[], vain: number): Promise<boolean> {
    try {
      await this.#options.log.openIds();
    } catch (error) {
      this.#reject([...queued, ...this.#queue.splice(0)], error);
      return true;
    }
    // From here until the message is sent, nothing else runs: no other batch becomes known.
    const group = this.#unknown(queued);
    if (group.length === 0) return true;
    const { plan, dropping } = this.#plan(group);
    const isEmpty = plan.every(
      ({ entry }) => this.#options.consumers.size > 0 && entry.droppedFor.length === this.#options.consumers.size,
    );
    const before = this.#options.log.tail.number;
    let sent: Awaited<ReturnType<StreamLog['append']>>;
    let hasChanged = true;
    try {
      // The server may remember a batch that was deleted with its stream: then without its memory.
      const id = vain % 2 === 0 ? { id: this.#messageId(group) } : {};
      sent = await this.#options.log.append(plan, { dropping, publishedAt: this.#options.now(), ...id }, isEmpty);
      if (sent.outcome === 'moved' || sent.outcome === 'repeated') hasChanged = await this.#options.log.catchUp();
      if (vain > MAX_VAIN) throw new Error('Every attempt found another last message.');
    } catch (error) {
      this.#options.storage.failed(error);
      // The others would wait as long, one after the other.
      this.#reject([...group, ...this.#queue.splice(0)], error);
      return true;
    }
    if (sent.outcome === 'stored') {
      this.#options.storage.stored();
      if (this.#options.hasReaders() && sent.message && !isEmpty)
        this.#options.cache.add({ ...sent.message, batches: group.map(({ batch }) => batch) });
      if (isEmpty) this.#options.trimmer.storedEmpty(sent.seq);
      this.#options.trimmer.active();
      for (const [index, entry] of group.entries()) this.#resolve(entry, before + index + 1, false);
      this.#options.waiters.wakeAll();
      return true;
    }
    if (sent.outcome === 'no_space') {
      this.#options.storage.full();
      for (const entry of group) {
        this.#options.quota.release(entry.bytes);
        entry.resolve({ stored: false, reason: 'no_space' });
      }
      this.#options.quota.admitWaiters();
      return true;
    }
    if (sent.wasRetried) for (const entry of group) entry.wasSent = true;
    // Tried again, unless they are among the messages that were stored in the meantime.
    this.#queue.unshift(...group);
    this.#options.waiters.wakeAll();
    return hasChanged;
  }

  /** Returns the batches that are not stored. The others were published by another process. */
  #unknown(group: readonly Entry[]): Entry[] {
    return group.filter((entry) => {
      const number = this.#options.log.numberOf(entry.batch.id);
      if (number !== undefined) this.#resolve(entry, number, !entry.wasSent);
      return number === undefined;
    });
  }

  #resolve(entry: Entry, sequence: number, repeated: boolean): void {
    this.#options.quota.release(entry.bytes);
    entry.resolve({ stored: true, sequence, repeated });
  }

  #reject(group: readonly Entry[], error: unknown): void {
    const failure = new BusError('storage', `Stream ${this.#options.name} could not be written.`, {
      cause: error,
    });
    for (const entry of group) {
      this.#options.quota.release(entry.bytes);
      entry.reject(failure);
    }
    this.#options.quota.admitWaiters();
  }

  async #storeCheckpoint(): Promise<void> {
    this.#wantsCheckpoint = false;
    const dropping = new Map([...this.#options.consumers.keys()].map((name) => [name, this.#isDropping(name)]));
    const { checkpoint } = this.#options.log;
    let sent: Sent;
    try {
      await this.#options.log.openIds();
      sent = await this.#options.log.storeCheckpoint(dropping, this.#options.now());
      if (sent.outcome === 'moved') await this.#options.log.catchUp();
    } catch {
      // The next batch, or the next idle time, tries again.
      return;
    }
    if (sent.outcome !== 'stored') return;
    this.#options.storage.stored();
    this.#options.trimmer.storedCheckpoint(checkpoint.seq);
  }

  /** Decides for each batch which consumers do not receive it. */
  #plan(group: readonly Entry[]): { plan: PlannedEntry[]; dropping: Map<string, boolean> } {
    const { tail } = this.#options.log;
    const consumers = [...this.#options.consumers.values()];
    const dropping = new Map(consumers.map(({ name }) => [name, this.#isDropping(name)]));
    const pending = new Map<string, number>();
    const plan = group.map((source): PlannedEntry => {
      const { batch, bytes } = source;
      const droppedFor: string[] = [];
      for (const consumer of consumers) {
        const { name } = consumer;
        const before = pending.get(name) ?? 0;
        const isDropped = consumer.shouldDrop(tail, bytes, before, dropping.get(name) ?? false);
        dropping.set(name, isDropped);
        if (isDropped) droppedFor.push(name);
        else pending.set(name, before + bytes);
      }
      const entry: BatchEntry = { id: batch.id, records: batch.lines.length, bytes, droppedFor };
      return { source, batch, entry };
    });
    return { plan, dropping };
  }

  #isDropping(name: string): boolean {
    const consumer = this.#options.consumers.get(name);
    return consumer?.drops === true && this.#options.log.tail.drops[name]?.dropping === true;
  }

  #takeGroup(): Entry[] {
    let bytes = 0;
    const names = this.#namesLength();
    const max = Math.min(GROUP_BYTES, this.#options.maxBytes());
    const end = this.#queue.findIndex(
      (entry, index) => index === GROUP_BATCHES || (bytes += entry.bytes + ENTRY_BYTES + names) > max,
    );
    return this.#queue.splice(0, end < 0 ? this.#queue.length : Math.max(1, end));
  }

  /** Bytes of the names of all consumers, which the header of a batch may contain. */
  #namesLength(): number {
    return [...this.#options.consumers.keys()].reduce((sum, name) => sum + name.length + 3, 0);
  }

  #messageId(group: readonly Entry[]): string {
    const [first] = group;
    if (first && group.length === 1) return `${this.#options.name}/${first.batch.id}`;
    const hash = createHash('sha256');
    for (const { batch } of group) hash.update(`${batch.id.length}:${batch.id}`);
    return `${this.#options.name}/${hash.digest('base64url').slice(0, 22)}`;
  }
}
