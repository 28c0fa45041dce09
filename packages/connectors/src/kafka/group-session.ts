import type { Admin, Consumer, EachBatchPayload } from 'kafkajs';
import { type Clock, ConnectorError, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import type { KafkaClient } from './client.js';
import { ChannelClosed, Channel } from './channel.js';
import type { InputSettings } from './config.js';
import { chooseStart, Positions } from './positions.js';
import { toRecords, type RecordFields } from './to-record.js';

const MAX_PAGE = 500;
const REBALANCE_MS = 60_000;
/** Interval for discovering topics and partitions, in milliseconds. */
const REFRESH_MS = 60_000;
/** Without messages, an empty page is produced at this interval, in milliseconds. */
const IDLE_MS = 5_000;

interface Chunk {
  topic: string;
  partition: number;
  records: DataRecord[];
  /** The offset after the last message. */
  next: string;
}

/** One session as a member of the consumer group. */
export class GroupSession {
  readonly #channel = new Channel<Chunk>();
  readonly #positions: Positions;
  readonly #admin: Admin;
  readonly #consumer: Consumer;
  /** Resolves once the partitions of the current generation have start offsets. */
  #positioned: Promise<void>;
  #joined: () => void = () => undefined;
  #topics: string[] = [];
  /**
   * Partitions assigned to this member. Offsets are committed for these only: a commit for another
   * member's partition would overwrite that member's offset.
   */
  #assigned: Record<string, number[]> = {};
  #refreshedAt: number;
  #committedAt: number;
  readonly #client: KafkaClient;
  readonly #settings: InputSettings;
  readonly #names: RecordFields;
  readonly #clock: Clock;

  constructor(
    client: KafkaClient,
    settings: InputSettings,
    names: RecordFields,
    clock: Clock,
    cursor: JsonValue | undefined,
  ) {
    this.#client = client;
    this.#settings = settings;
    this.#names = names;
    this.#clock = clock;
    const { groupId, sessionTimeout, fetchWait } = settings;
    this.#positions = new Positions(cursor);
    this.#positioned = new Promise((resolve) => (this.#joined = resolve));
    this.#refreshedAt = clock.now();
    this.#committedAt = clock.now();
    this.#admin = client.kafka.admin();
    this.#consumer = client.kafka.consumer({
      groupId,
      sessionTimeout,
      heartbeatInterval: Math.min(3_000, Math.floor(sessionTimeout / 4)),
      rebalanceTimeout: REBALANCE_MS,
      metadataMaxAge: REFRESH_MS,
      maxWaitTimeInMs: fetchWait,
      maxBytesPerPartition: 1024 * 1024,
      maxBytes: 8 * 1024 * 1024,
      allowAutoTopicCreation: false,
      readUncommitted: false,
    });
    this.#consumer.on('consumer.crash', ({ payload }) => this.#channel.close(payload.error));
    this.#consumer.on('consumer.group_join', ({ payload }) => {
      this.#positioned = this.#setStartOffsets(payload.memberAssignment);
      this.#positioned.catch((error: unknown) =>
        this.#channel.close(error instanceof Error ? error : new ChannelClosed()),
      );
      this.#joined();
    });
  }

  /** Joins the group; resolves once the start offsets are known. */
  async start(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#channel.close(new ChannelClosed()), { once: true });
    await this.#admin.connect();
    this.#topics = await this.#findTopics();
    if (this.#topics.length === 0)
      throw new ConnectorError('not_found', 'No topic matches the configured names yet.', 'retry');
    await this.#consumer.connect();
    // If messages were deleted before they were read, continue with the oldest one left.
    await this.#consumer.subscribe({ topics: this.#topics, fromBeginning: true });
    const first = this.#positioned;
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => this.#take(payload),
    });
    await Promise.race([first, this.#channel.failed]);
    await Promise.race([this.#positioned, this.#channel.failed]);
  }

  /** The current positions. */
  get cursor(): JsonValue {
    return this.#positions.cursor;
  }

  /**
   * Returns the next page and its cursor, without records if none arrived for `IDLE_MS`. Calling it
   * acknowledges the previous page.
   *
   * @returns `undefined` if the set of matching topics has changed: start a new session
   */
  async next(signal: AbortSignal): Promise<{ records: DataRecord[]; cursor: JsonValue } | undefined> {
    if (this.#settings.matches && this.#clock.now() - this.#refreshedAt > REFRESH_MS) {
      this.#refreshedAt = this.#clock.now();
      if ((await this.#findTopics()).join() !== this.#topics.join()) return undefined;
    }
    const chunk = await this.#channel.receive((done) => this.#clock.sleep(IDLE_MS, AbortSignal.any([signal, done])));
    if (!chunk) return { records: [], cursor: this.#positions.cursor };
    const { topic, partition, records, next } = chunk;
    const before = this.#positions.get(topic, partition);
    const after = new Positions(this.#positions.cursor);
    after.set(topic, partition, { from: next, ...before, next });
    return { records, cursor: after.cursor };
  }

  /** Leaves the group. */
  async close(): Promise<void> {
    this.#channel.close(new ChannelClosed());
    await this.#client.close(async () => {
      await this.#commit((offsets) => this.#consumer.commitOffsets(offsets)).catch(() => undefined);
      await Promise.allSettled([this.#consumer.disconnect(), this.#admin.disconnect()]);
    });
  }

  async #findTopics(): Promise<string[]> {
    const { names, matches } = this.#settings;
    // Throws if a topic does not exist or access to it is denied.
    if (names.length > 0) await this.#admin.fetchTopicMetadata({ topics: names });
    const all = matches ? await this.#admin.listTopics() : [];
    const found = all.filter((topic) => !topic.startsWith('__') && matches?.(topic));
    return [...new Set([...names, ...found])].toSorted((a, b) => (a < b ? -1 : 1));
  }

  /** Sets the start offset of every partition assigned to this member. */
  async #setStartOffsets(assignment: Record<string, number[]>): Promise<void> {
    const { groupId, startAt } = this.#settings;
    this.#assigned = assignment;
    const committed = await this.#admin.fetchOffsets({ groupId, topics: Object.keys(assignment) });
    for (const [topic, partitions] of Object.entries(assignment)) {
      const group = new Map(
        committed
          .flatMap((each) => (each.topic === topic ? each.partitions : []))
          .flatMap(({ partition, offset }): [number, string][] => (BigInt(offset) < 0n ? [] : [[partition, offset]])),
      );
      const bounds = new Map((await this.#admin.fetchTopicOffsets(topic)).map((each) => [each.partition, each]));
      const started = group.size > 0 || this.#positions.hasTopic(topic);
      const since = started ? undefined : await this.#offsetsSince(topic);
      for (const partition of partitions) {
        const known = this.#positions.get(topic, partition);
        const committedOffset = group.get(partition);
        const between = { ...(bounds.get(partition) ?? { low: '0', high: '0' }), since: since?.get(partition) };
        const next = chooseStart(known, committedOffset, between, startAt, started);
        this.#positions.set(topic, partition, { next, from: committedOffset ?? next });
        this.#consumer.seek({ topic, partition, offset: next });
      }
    }
  }

  /** Returns the offsets of the first messages since the time to start at, if there is one. */
  async #offsetsSince(topic: string): Promise<ReadonlyMap<number, string> | undefined> {
    const { startAt, lookback = 0 } = this.#settings;
    if (startAt !== 'since') return undefined;
    const found = await this.#admin.fetchTopicOffsetsByTimestamp(topic, this.#clock.now() - lookback);
    return new Map(found.map(({ partition, offset }) => [partition, offset]));
  }

  /** Hands over a batch in pages and sends heartbeats while they are delivered. */
  async #take(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const { topic, partition, messages } = batch;
    await this.#positioned;
    for (let from = 0; from < messages.length; from += MAX_PAGE) {
      if (!payload.isRunning() || payload.isStale()) return;
      const part = messages.slice(from, from + MAX_PAGE);
      const last = part.at(-1)?.offset ?? '0';
      // Transaction markers may follow the last message; `lastOffset()` includes them.
      const next = String(BigInt(from + MAX_PAGE < messages.length ? last : batch.lastOffset()) + 1n);
      const records = part.flatMap((message) => toRecords(this.#names, topic, partition, message));
      const delivered = this.#send({ topic, partition, records, next });
      let failure: unknown;
      try {
        failure = await this.#keepAlive(delivered, () => payload.heartbeat());
      } catch (error) {
        if (error instanceof ChannelClosed) return;
        throw error;
      }
      payload.resolveOffset(last);
      const due = failure !== undefined || this.#clock.now() - this.#committedAt >= this.#settings.commitEvery;
      if (due) await this.#commit((offsets) => payload.commitOffsetsIfNecessary(groupByTopic(offsets)));
      if (failure !== undefined) throw failure;
    }
  }

  async #send(chunk: Chunk): Promise<void> {
    await this.#channel.send(chunk);
    const { topic, partition, next } = chunk;
    this.#positions.set(topic, partition, { from: next, ...this.#positions.get(topic, partition), next });
  }

  /**
   * Sends heartbeats until a page is delivered. If a heartbeat fails, for example because the group
   * is rebalancing, delivery may continue for `drainTimeout`.
   *
   * @returns the heartbeat's error, or `undefined` if all heartbeats succeeded
   * @throws the heartbeat's error once `drainTimeout` has passed, or ChannelClosed
   */
  async #keepAlive(delivered: Promise<void>, heartbeat: () => Promise<void>): Promise<unknown> {
    const done = new AbortController();
    const finished = delivered.finally(() => done.abort());
    finished.catch(() => undefined);
    const intervalMs = Math.max(50, Math.floor(this.#settings.sessionTimeout / 20));
    let failure: unknown;
    let until = Infinity;
    while (!done.signal.aborted) {
      await this.#clock.sleep(intervalMs, done.signal);
      if (done.signal.aborted) break;
      if (failure !== undefined && this.#clock.now() >= until) throw failure;
      if (failure !== undefined) continue;
      await heartbeat().catch((error: unknown) => {
        failure = error;
        until = this.#clock.now() + this.#settings.drainTimeout;
      });
    }
    await finished;
    return failure;
  }

  /** Commits the delivered offsets to the group. */
  async #commit(
    commit: (offsets: { topic: string; partition: number; offset: string }[]) => Promise<void>,
  ): Promise<void> {
    const offsets = this.#positions.uncommitted(this.#assigned);
    this.#committedAt = this.#clock.now();
    if (offsets.length === 0) return;
    await commit(offsets);
    for (const { topic, partition, offset } of offsets)
      this.#positions.set(topic, partition, { next: offset, from: offset });
  }
}

function groupByTopic(offsets: readonly { topic: string; partition: number; offset: string }[]): {
  topics: { topic: string; partitions: { partition: number; offset: string }[] }[];
} {
  const topics = new Map<string, { partition: number; offset: string }[]>();
  for (const { topic, partition, offset } of offsets)
    topics.set(topic, [...(topics.get(topic) ?? []), { partition, offset }]);
  return { topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })) };
}
