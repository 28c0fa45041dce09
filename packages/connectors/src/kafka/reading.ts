import type { Admin, Consumer, EachBatchPayload } from 'kafkajs';
import { type Clock, ConnectorError, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import type { KafkaConnection } from './connection.js';
import { Ended, Handover } from './handover.js';
import type { InputSettings } from './input-settings.js';
import { chooseStart, Positions } from './positions.js';
import { toRecord, type RecordFields } from './to-record.js';

const MAX_PAGE = 500;
const REBALANCE_MS = 60_000;
/** Interval for discovering topics and partitions, in milliseconds. */
const LOOK_MS = 60_000;
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
export class Reading {
  readonly #handover = new Handover<Chunk>();
  readonly #positions: Positions;
  readonly #admin: Admin;
  readonly #consumer: Consumer;
  /** Resolves once the partitions of the current generation have start offsets. */
  #placed: Promise<void>;
  #joined: () => void = () => undefined;
  #topics: string[] = [];
  /**
   * Partitions assigned to this member. Offsets are committed for these only: a commit for another
   * member's partition would overwrite that member's offset.
   */
  #assigned: Record<string, number[]> = {};
  #looked: number;
  #told: number;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly settings: InputSettings,
    private readonly names: RecordFields,
    private readonly clock: Clock,
    cursor: JsonValue | undefined,
  ) {
    const { groupId, sessionTimeout, fetchWait } = settings;
    this.#positions = new Positions(cursor);
    this.#placed = new Promise((resolve) => (this.#joined = resolve));
    this.#looked = clock.now();
    this.#told = clock.now();
    this.#admin = connection.kafka.admin();
    this.#consumer = connection.kafka.consumer({
      groupId,
      sessionTimeout,
      heartbeatInterval: Math.min(3_000, Math.floor(sessionTimeout / 4)),
      rebalanceTimeout: REBALANCE_MS,
      metadataMaxAge: LOOK_MS,
      maxWaitTimeInMs: fetchWait,
      maxBytesPerPartition: 1024 * 1024,
      maxBytes: 8 * 1024 * 1024,
      allowAutoTopicCreation: false,
      readUncommitted: false,
    });
    this.#consumer.on('consumer.crash', ({ payload }) => this.#handover.end(payload.error));
    this.#consumer.on('consumer.group_join', ({ payload }) => {
      this.#placed = this.#place(payload.memberAssignment);
      this.#placed.catch((error: unknown) => this.#handover.end(error instanceof Error ? error : new Ended()));
      this.#joined();
    });
  }

  /** Joins the group; resolves once the start offsets are known. */
  async start(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#handover.end(new Ended()), { once: true });
    await this.#admin.connect();
    this.#topics = await this.#findTopics();
    if (this.#topics.length === 0) throw new ConnectorError('not_found', 'No topic has a name like this yet.', 'retry');
    await this.#consumer.connect();
    // If messages were deleted before they were read, continue with the oldest one left.
    await this.#consumer.subscribe({ topics: this.#topics, fromBeginning: true });
    const first = this.#placed;
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => this.#take(payload),
    });
    await Promise.race([first, this.#handover.failed]);
    await Promise.race([this.#placed, this.#handover.failed]);
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
    if (this.settings.matches && this.clock.now() - this.#looked > LOOK_MS) {
      this.#looked = this.clock.now();
      if ((await this.#findTopics()).join() !== this.#topics.join()) return undefined;
    }
    const chunk = await this.#handover.take((done) => this.clock.sleep(IDLE_MS, AbortSignal.any([signal, done])));
    if (!chunk) return { records: [], cursor: this.#positions.cursor };
    const { topic, partition, records, next } = chunk;
    const before = this.#positions.get(topic, partition);
    const after = new Positions(this.#positions.cursor);
    after.set(topic, partition, { from: next, ...before, next });
    return { records, cursor: after.cursor };
  }

  /** Leaves the group. */
  async close(): Promise<void> {
    this.#handover.end(new Ended());
    await this.connection.close(async () => {
      await this.#tell((offsets) => this.#consumer.commitOffsets(offsets)).catch(() => undefined);
      await Promise.allSettled([this.#consumer.disconnect(), this.#admin.disconnect()]);
    });
  }

  async #findTopics(): Promise<string[]> {
    const { names, matches } = this.settings;
    // Throws if a topic does not exist or access to it is denied.
    if (names.length > 0) await this.#admin.fetchTopicMetadata({ topics: names });
    const all = matches ? await this.#admin.listTopics() : [];
    const found = all.filter((topic) => !topic.startsWith('__') && matches?.(topic));
    return [...new Set([...names, ...found])].toSorted((a, b) => (a < b ? -1 : 1));
  }

  /** Sets the start offset of every partition assigned to this member. */
  async #place(assignment: Record<string, number[]>): Promise<void> {
    const { groupId, startAt } = this.settings;
    this.#assigned = assignment;
    const committed = await this.#admin.fetchOffsets({ groupId, topics: Object.keys(assignment) });
    for (const [topic, partitions] of Object.entries(assignment)) {
      const group = new Map(
        committed
          .flatMap((each) => (each.topic === topic ? each.partitions : []))
          .flatMap(({ partition, offset }): [number, string][] => (BigInt(offset) < 0n ? [] : [[partition, offset]])),
      );
      const bounds = new Map((await this.#admin.fetchTopicOffsets(topic)).map((each) => [each.partition, each]));
      const begun = group.size > 0 || this.#positions.knows(topic);
      for (const partition of partitions) {
        const known = this.#positions.get(topic, partition);
        const told = group.get(partition);
        const between = bounds.get(partition) ?? { low: '0', high: '0' };
        const next = chooseStart(known, told, between, startAt, begun);
        this.#positions.set(topic, partition, { next, from: told ?? next });
        this.#consumer.seek({ topic, partition, offset: next });
      }
    }
  }

  /** Hands over a batch in pages and sends heartbeats while they are delivered. */
  async #take(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const { topic, partition, messages } = batch;
    await this.#placed;
    for (let from = 0; from < messages.length; from += MAX_PAGE) {
      if (!payload.isRunning() || payload.isStale()) return;
      const part = messages.slice(from, from + MAX_PAGE);
      const last = part.at(-1)?.offset ?? '0';
      // Transaction markers may follow the last message; `lastOffset()` includes them.
      const next = String(BigInt(from + MAX_PAGE < messages.length ? last : batch.lastOffset()) + 1n);
      const records = part.map((message) => toRecord(this.names, topic, partition, message));
      const offered = this.#offer({ topic, partition, records, next });
      let lost: unknown;
      try {
        lost = await this.#keepAlive(offered, () => payload.heartbeat());
      } catch (error) {
        if (error instanceof Ended) return;
        throw error;
      }
      payload.resolveOffset(last);
      const due = lost !== undefined || this.clock.now() - this.#told >= this.settings.commitEvery;
      if (due) await this.#tell((offsets) => payload.commitOffsetsIfNecessary(groupByTopic(offsets)));
      if (lost !== undefined) throw lost;
    }
  }

  async #offer(chunk: Chunk): Promise<void> {
    await this.#handover.offer(chunk);
    const { topic, partition, next } = chunk;
    this.#positions.set(topic, partition, { from: next, ...this.#positions.get(topic, partition), next });
  }

  /**
   * Sends heartbeats until a page is delivered. If a heartbeat fails, for example because the group
   * is rebalancing, delivery may continue for `drainTimeout`.
   *
   * @returns the heartbeat's error, or `undefined` if all heartbeats succeeded
   * @throws the heartbeat's error once `drainTimeout` has passed, or Ended
   */
  async #keepAlive(offered: Promise<void>, heartbeat: () => Promise<void>): Promise<unknown> {
    const done = new AbortController();
    const finished = offered.finally(() => done.abort());
    finished.catch(() => undefined);
    const beat = Math.max(50, Math.floor(this.settings.sessionTimeout / 20));
    let lost: unknown;
    let until = Infinity;
    while (!done.signal.aborted) {
      await this.clock.sleep(beat, done.signal);
      if (done.signal.aborted) break;
      if (lost !== undefined && this.clock.now() >= until) throw lost;
      if (lost !== undefined) continue;
      await heartbeat().catch((error: unknown) => {
        lost = error;
        until = this.clock.now() + this.settings.drainTimeout;
      });
    }
    await finished;
    return lost;
  }

  /** Commits the delivered offsets to the group. */
  async #tell(
    commit: (offsets: { topic: string; partition: number; offset: string }[]) => Promise<void>,
  ): Promise<void> {
    const offsets = this.#positions.untold(this.#assigned);
    this.#told = this.clock.now();
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
