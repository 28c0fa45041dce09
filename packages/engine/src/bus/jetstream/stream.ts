import type { Batch } from '../../connector-api/batch.js';
import { BusError, type Delivery, type Published, type PublishOptions, type StreamStats } from '../bus.js';
import { ByteQuota } from '../shared/byte-quota.js';
import { LostRecords, type RecordRange } from '../shared/lost-records.js';
import { Waiters } from '../shared/waiters.js';
import { NO_DROPS, sizeOf } from './envelope.js';
import { MessageCache, type CacheBudget } from './message-cache.js';
import { PositionSaver } from './position-saver.js';
import { readMessages, type Reading } from './read-messages.js';
import type { ConsumerPosition, RegisteredStream, StreamRegistry } from './registry.js';
import type { Shard, Shards } from './shards.js';
import type { StorageState } from './storage-state.js';
import { START, StreamConsumer, type BudgetLimits, type Tail } from './stream-consumer.js';
import { StreamLog } from './stream-log.js';
import { StreamTrimmer } from './stream-trimmer.js';
import { StreamWriter } from './stream-writer.js';

export interface StreamOptions extends BudgetLimits {
  shards: Shards;
  registry: StreamRegistry;
  storage: StorageState;
  /** Other processes may read and declare consumers, too. */
  isShared: boolean;
  cacheBudget: CacheBudget;
  /** Acknowledged bytes of a stream that are kept until they are deleted together. */
  purgeBytes: number;
  /** Milliseconds without batches after which a stream keeps only the ids of recent ones. */
  idleMs: number;
  now(): number;
  onLost(stream: string, records: number): void;
}

/** Backlog above which a consumer has no claim to the cache. */
const LAG_BYTES = 16 * 1024 * 1024;
/** Milliseconds for which the positions that other processes have stored are used. */
const POSITIONS_MS = 1_000;
/** The same while a batch waits for space. */
const WAITING_MS = 200;
/** Milliseconds to wait for the oldest batch. */
const PEEK_MS = 5_000;
/** One stream of the bus: a JetStream subject, and a position per consumer in the registry. */
export class JetStreamStream {
  readonly name: string;
  readonly #options: StreamOptions;
  readonly #shard: Shard;
  readonly #subject: string;
  readonly #log: StreamLog;
  readonly #consumers = new Map<string, StreamConsumer>();
  readonly #saver: PositionSaver;
  readonly #trimmer: StreamTrimmer;
  readonly #writer: StreamWriter;
  readonly #inFlight = new Map<string, Promise<Published>>();
  readonly #quota: ByteQuota;
  readonly #cache: MessageCache;
  readonly #waiters = new Waiters();
  /** New consumers, whose start is not known yet. */
  readonly #unplaced = new Set<string>();
  #activeReaders = 0;
  #readAt = performance.now();
  #reading: Promise<void> | undefined;
  #placing: Promise<void> | undefined;
  #polling: NodeJS.Timeout | undefined;
  readonly #lost = new LostRecords();
  /** Increases with each declaration. */
  #declarations = 0;
  #closed = false;

  private constructor(name: string, shard: Shard, subject: string, options: StreamOptions) {
    this.name = name;
    this.#shard = shard;
    this.#subject = subject;
    this.#options = options;
    this.#cache = new MessageCache(options.cacheBudget);
    this.#quota = new ByteQuota((bytes, reserved) => this.#fits(bytes, reserved));
    const { shards, registry, storage, isShared, purgeBytes, idleMs } = options;
    this.#log = new StreamLog({
      shards,
      shard,
      subject,
      stream: name,
      checkpointBytes: purgeBytes,
      emptyTail: () => this.#emptyTail(),
    });
    this.#saver = new PositionSaver(name, registry, {
      onSaved: () => this.#trimmer.trim(),
      onFenced: (consumer) => this.#fenced(consumer),
    });
    this.#trimmer = new StreamTrimmer({
      shards,
      shard,
      subject,
      log: this.#log,
      storage,
      consumers: () => [...this.#consumers.values()],
      storeCheckpoint: () => this.#writer.requestCheckpoint(),
      refresh: isShared ? (maxAgeMs) => this.#readNow(maxAgeMs) : undefined,
      purgeBytes,
      idleMs,
    });
    this.#writer = new StreamWriter({
      name,
      log: this.#log,
      storage,
      quota: this.#quota,
      cache: this.#cache,
      trimmer: this.#trimmer,
      waiters: this.#waiters,
      consumers: this.#consumers,
      maxBytes: () => shards.maxBytes,
      hasReaders: () => this.#activeReaders > 0,
      now: () => options.now(),
    });
  }

  static async open(
    name: string,
    { shard: number }: RegisteredStream,
    options: StreamOptions,
  ): Promise<JetStreamStream> {
    const { shards } = options;
    return new JetStreamStream(name, await shards.get(number), shards.subjectOf(number, name), options);
  }

  get shard(): Shard {
    return this.#shard;
  }

  get subject(): string {
    return this.#subject;
  }

  /** Sets the consumers as they are registered. */
  setConsumers({ consumers, lost }: RegisteredStream): void {
    const names = new Set(consumers.map(({ name }) => name));
    for (const name of this.#consumers.keys()) if (!names.has(name)) this.#consumers.delete(name);
    for (const each of consumers) {
      let consumer = this.#consumers.get(each.name);
      if (consumer && each.position) consumer.adopt(each.position);
      if (!consumer) {
        consumer = new StreamConsumer(each.name, each.position, START);
        this.#consumers.set(each.name, consumer);
        if (!each.position) this.#unplaced.add(each.name);
      }
      consumer.configure(each, this.#options);
    }
    if (lost && !this.#lost.lost) this.#lost.load(lost);
    this.#declarations += 1;
    this.#changed();
  }

  /** Whether the stream was removed and declared again since, by another process. */
  isOutdated({ consumers }: RegisteredStream): boolean {
    return consumers.some(({ name, position }) => !position && (this.#consumers.get(name)?.saved.number ?? 0) > 0);
  }

  /** Another process has stored a message. */
  seen(seq: number, meta: string): void {
    if (this.#log.seen(seq, meta)) this.#waiters.wakeAll();
  }

  async publish(batch: Batch, options: PublishOptions): Promise<Published> {
    await this.#connected(async () => {
      await this.#open();
      await this.#log.openIds();
    });
    this.#assertOpen();
    const number = this.#log.numberOf(batch.id);
    if (number !== undefined) return { stored: true, sequence: number, repeated: true };
    const inFlight = this.#inFlight.get(batch.id);
    if (inFlight) {
      const published = await inFlight;
      return published.stored ? { ...published, repeated: true } : published;
    }
    const storing = this.#store(batch, options).finally(() => this.#inFlight.delete(batch.id));
    this.#inFlight.set(batch.id, storing);
    return storing;
  }

  async *consume(name: string, signal: AbortSignal): AsyncGenerator<Delivery, void, void> {
    if (this.#options.isShared) await this.#connected(() => this.#readNow());
    this.#consumer(name);
    await this.#connected(() => this.#open());
    const consumer = this.#consumer(name);
    const ended = (): boolean => signal.aborted || this.#closed || this.#consumers.get(name) !== consumer;
    this.#activeReaders += 1;
    try {
      yield* readMessages({
        ...this.#readingOf(consumer, signal),
        ended,
        waitForMore: () => this.#waiters.wait(signal),
        ack: async (position) => {
          if (this.#closed || this.#consumers.get(name) !== consumer) return;
          if (!consumer.advance(position)) return;
          this.#changed();
          await this.#saver.save(consumer);
        },
        jump: (after, to) => {
          if (!consumer.jump(after, to)) return;
          this.#changed();
          void this.#saver.save(consumer);
        },
        onLost: (range) => this.#reportLost(range),
        onRead: (seq, meta) => this.#trimmer.read(seq, meta),
      });
      if (this.#saver.isFenced(consumer)) throw fenced(this.name);
    } finally {
      this.#activeReaders -= 1;
      if (this.#activeReaders === 0) this.#cache.clear();
    }
  }

  /** Returns when the oldest batch that a consumer has not acknowledged was published. */
  async oldestAt(name: string): Promise<number | undefined> {
    this.#consumer(name);
    await this.#connected(() => this.#open());
    const consumer = this.#consumer(name);
    const { position } = consumer;
    if (consumer.waiting(this.#log.tail).batches === 0) return undefined;
    if (consumer.oldest?.after === position) return consumer.oldest.at;
    const first = await this.#peek(consumer);
    if (first) consumer.oldest = { after: position, at: first.publishedAt };
    return first?.publishedAt;
  }

  async stats(): Promise<StreamStats> {
    await this.#connected(() => this.#open());
    this.#assertOpen();
    const { tail } = this.#log;
    const consumers = [...this.#consumers.values()];
    const slowest = this.#limiting().map((consumer) => consumer.waiting(tail));
    return {
      ...slowest.reduce((most, waiting) => (waiting.bytes > most.bytes ? waiting : most)),
      maxBytes: this.#options.maxBytes,
      full: this.#quota.full,
      noSpace: this.#options.storage.isFull,
      consumers: Object.fromEntries(consumers.map((consumer) => [consumer.name, consumer.stats(tail)])),
      damagedBytes: 0,
      ...(this.#lost.lost && { lost: this.#lost.lost }),
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#polling);
    this.#quota.close();
    this.#waiters.wakeAll();
    await this.#writer.close();
    this.#cache.clear();
    await this.#saver.close([...this.#consumers.values()]);
    await this.#trimmer.close();
  }

  #readingOf({ name, position }: StreamConsumer, signal: AbortSignal) {
    return {
      consumer: name,
      log: this.#log,
      shards: this.#options.shards,
      shard: this.#shard,
      subject: this.#subject,
      cache: this.#cache,
      from: position,
      signal,
    } satisfies Partial<Reading>;
  }

  #consumer(name: string): StreamConsumer {
    this.#assertOpen();
    const consumer = this.#consumers.get(name);
    if (!consumer) throw new BusError('unknown_consumer', `Stream ${this.name} has no consumer ${name}. Declare it.`);
    return consumer;
  }

  /** Finds out where the stream ends, and where its new consumers start. */
  async #open(): Promise<void> {
    await this.#log.open();
    if (this.#unplaced.size > 0) await (this.#placing ??= this.#place().finally(() => (this.#placing = undefined)));
  }

  async #place(): Promise<void> {
    const { tail } = this.#log;
    const others = [...this.#consumers.values()].filter(({ name }) => !this.#unplaced.has(name));
    // Only what an other consumer still receives is stored without gaps.
    const complete = others.filter((each) => each.waiting(tail).batches >= tail.number - each.position.number);
    const [first] = complete.map(({ position }) => position).sort((a, b) => a.number - b.number);
    const end = others.length > 0 ? this.#end(tail) : undefined;
    const start = first ?? end ?? (await this.#firstStored());
    for (const name of this.#unplaced) {
      const consumer = this.#consumers.get(name);
      if (!consumer) {
        this.#unplaced.delete(name);
        continue;
      }
      const { batches, records, bytes } = this.#log.tail.drops[name] ?? NO_DROPS;
      const position = { ...start, dropped: { batches, records, bytes } };
      // Stored first: after a restart, it must not look like a consumer that is new then.
      consumer.place(await this.#options.registry.place(this.name, name, position));
      this.#unplaced.delete(name);
    }
  }

  /** Returns the position before the first batch that is still stored. */
  async #firstStored(): Promise<ConsumerPosition> {
    let start = START;
    await this.#peek(new StreamConsumer('', undefined, START), (to) => (start = to));
    return start;
  }

  /**
   * Reads the next batch of a consumer without acknowledging anything. Losses are reported once, to
   * the consumer itself.
   * @throws BusError `storage` when NATS does not respond
   */
  async #peek(
    consumer: StreamConsumer,
    jump: (to: ConsumerPosition) => void = () => undefined,
  ): Promise<Delivery | undefined> {
    const end = new AbortController();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      end.abort();
    }, PEEK_MS);
    const batches = readMessages({
      ...this.#readingOf(consumer, end.signal),
      ended: () => end.signal.aborted || this.#closed,
      waitForMore: () => Promise.resolve(end.abort()),
      ack: () => Promise.resolve(),
      jump: (_after, to) => jump(to),
      onLost: () => undefined,
      onRead: () => undefined,
    });
    try {
      const { value } = await batches.next();
      if (isLate) throw new BusError('storage', `NATS did not respond for stream ${this.name}.`);
      return value ?? undefined;
    } finally {
      clearTimeout(timer);
      end.abort();
    }
  }

  /** @throws BusError `storage` when NATS does not respond */
  async #connected(work: () => Promise<void>): Promise<void> {
    this.#assertOpen();
    try {
      await work();
    } catch (error) {
      this.#assertOpen();
      if (error instanceof BusError) throw error;
      throw new BusError('storage', `NATS did not respond for stream ${this.name}.`, {
        cause: error,
      });
    }
  }

  async #store(batch: Batch, { waitMs = 0, signal }: PublishOptions): Promise<Published> {
    const bytes = sizeOf(batch);
    const { shards, storage } = this.#options;
    const size = this.#writer.sizeInMessage(bytes);
    if (size > shards.maxBytes)
      throw new BusError(
        'storage',
        `A batch of ${size} bytes exceeds max_payload of the NATS server. Set it to 1MB or more.`,
      );
    const end = performance.now() + waitMs;
    for (;;) {
      const left = Math.max(0, end - performance.now());
      const hasSpace = await storage.admits(left, signal);
      this.#assertOpen();
      if (!hasSpace) return { stored: false, reason: 'no_space' };
      await this.#refresh(bytes);
      const acquired = await this.#acquire(bytes, left, signal);
      this.#assertOpen();
      if (!acquired) return { stored: false, reason: 'full' };
      const published = await this.#writer.store(batch, bytes);
      if (published.stored || published.reason !== 'no_space' || performance.now() >= end || signal?.aborted)
        return published;
    }
  }

  async #acquire(bytes: number, waitMs: number, signal?: AbortSignal): Promise<boolean> {
    const acquiring = this.#quota.acquire(bytes, waitMs, signal);
    if (typeof acquiring === 'boolean') return acquiring;
    this.#polling ??= setInterval(() => void this.#readPositions(WAITING_MS), WAITING_MS).unref();
    return acquiring.finally(() => {
      if (this.#quota.isWaiting) return;
      clearInterval(this.#polling);
      this.#polling = undefined;
    });
  }

  /** Reads positions that other processes have stored, when they decide whether a batch is stored. */
  async #refresh(bytes: number): Promise<void> {
    if (this.#activeReaders > 0) return;
    const reading = this.#readPositions(this.#fits(bytes, 0) ? POSITIONS_MS : WAITING_MS);
    if (!this.#fits(bytes, 0)) await reading;
  }

  /** Reads the consumers and their positions again. Failures are ignored: the known ones are used. */
  #readPositions(maxAgeMs: number): Promise<void> {
    if (this.#activeReaders > 0 || performance.now() - this.#readAt < maxAgeMs) return Promise.resolve();
    return (this.#reading ??= this.#readNow()
      .catch(() => undefined)
      .finally(() => (this.#reading = undefined)));
  }

  /** @throws BusError if the stream was removed, and errors of the registry */
  async #readNow(maxAgeMs = 0): Promise<void> {
    if (performance.now() - this.#readAt < maxAgeMs) return;
    this.#readAt = performance.now();
    const declarations = this.#declarations;
    const registered = await this.#options.registry.read(this.name);
    this.#assertOpen();
    if (!registered) throw new BusError('unknown_stream', `Stream ${this.name} was removed.`);
    // A declaration in the meantime is later than what was read, but positions only increase.
    if (declarations === this.#declarations) this.setConsumers(registered);
    else
      for (const { name, position } of registered.consumers) if (position) this.#consumers.get(name)?.adopt(position);
    await this.#open();
    this.#quota.admitWaiters();
  }

  /** A position has changed: admits waiting publishers and drops what is not needed from the cache. */
  #changed(): void {
    this.#quota.admitWaiters();
    this.#waiters.wakeAll();
    this.#trimmer.active();
    const consumers = [...this.#consumers.values()];
    if (consumers.length === 0 || this.#activeReaders === 0) return;
    const { tail } = this.#log;
    const numbers = consumers.map(({ position }) => position.number);
    // A consumer that lags far behind must not keep the others out of the cache.
    const close = numbers.filter((_, index) => (consumers[index]?.waiting(tail).bytes ?? 0) <= LAG_BYTES);
    this.#cache.dropUpTo(close.length > 0 ? Math.min(...close) : Math.max(...numbers));
  }

  #fenced(name: string): void {
    this.#consumers.delete(name);
    this.#waiters.wakeAll();
    // This process still publishes, within the budgets of all consumers.
    if (this.#options.isShared) this.#readNow().catch(() => undefined);
  }

  #reportLost(range: RecordRange): void {
    const records = this.#lost.add(range, true, this.#options.now());
    if (records === 0) return;
    this.#options.onLost(this.name, records);
    this.#options.registry.saveLost(this.name, this.#lost.toJson()).catch(() => undefined);
  }

  /** Consumers whose backlog bounds the stream. Without any, the whole stream is the backlog. */
  #limiting(): StreamConsumer[] {
    if (this.#consumers.size > 0) return [...this.#consumers.values()];
    const whole = new StreamConsumer('', undefined, START);
    whole.configure({}, this.#options);
    return [whole];
  }

  #fits(bytes: number, reserved: number): boolean {
    const { tail } = this.#log;
    return this.#limiting().every((consumer) => consumer.drops || consumer.fits(tail, bytes, reserved));
  }

  #end({ number, records, bytes, seq }: Tail): ConsumerPosition {
    return { ...START, number, records, bytes, seq, epoch: this.#shard.epoch };
  }

  /** Without messages, the stream ends where its consumers are. */
  #emptyTail(): Tail {
    const positions = [...this.#consumers.values()].map(({ position }) => position);
    const last = positions.reduce((most, position) => (position.number > most.number ? position : most), START);
    const drops = Object.fromEntries(
      [...this.#consumers].map(([name, { position }]) => [name, { ...NO_DROPS, ...position.dropped }]),
    );
    return { number: last.number, records: last.records, bytes: last.bytes, drops, seq: 0 };
  }

  #assertOpen(): void {
    if (this.#closed) throw new BusError('closed', `Stream ${this.name} is closed.`);
  }
}

const fenced = (stream: string): BusError =>
  new BusError('closed', `Another process has taken over the stream ${stream}.`);
