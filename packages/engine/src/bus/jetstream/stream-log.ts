import type { Batch } from '../../connector-api/batch.js';
import { BusError } from '../bus.js';
import { RecentIds } from '../shared/recent-ids.js';
import {
  decodeMeta,
  encodeBody,
  encodeMeta,
  isCheckpoint,
  NO_DROPS,
  stateAfter,
  type BatchEntry,
  type Drops,
  type MessageMeta,
} from './envelope.js';
import type { Received, Sent, Shard, Shards } from './shards.js';
import type { Tail } from './stream-consumer.js';

export interface StreamLogOptions {
  shards: Shards;
  shard: Shard;
  subject: string;
  stream: string;
  /** Bytes after which the ids of recent batches are stored again. */
  checkpointBytes: number;
  /** Returns where the stream ends if no message is stored: at the latest position of a consumer. */
  emptyTail: () => Tail;
}

/** A batch to store, with the consumers that do not receive it. */
export interface Planned {
  readonly batch: Batch;
  readonly entry: BatchEntry;
}

/** A message that was stored, as it would be read. */
export interface StoredMessage {
  readonly seq: number;
  readonly meta: MessageMeta;
}

type Checkpoint = MessageMeta['checkpoint'];

/** Messages after which the ids of recent batches are stored again. */
const CHECKPOINT_MESSAGES = 256;
const NO_CHECKPOINT: Checkpoint = { seq: 0, messages: 0, bytes: 0 };

/**
 * The messages of one stream on its JetStream subject. Each one is only stored behind the one that
 * its publisher knows as the last one, so that all publishers count alike, and each of them knows the
 * ids of all earlier batches when it stores one.
 */
export class StreamLog {
  readonly #options: StreamLogOptions;
  #tail: Tail | undefined;
  #checkpoint = NO_CHECKPOINT;
  #recent = new RecentIds();
  /** `#recent` holds the ids of all recent batches. */
  #hasIds = false;
  /** A message may have been stored without a confirmation. */
  #isUncertain = false;
  #opening: Promise<void> | undefined;
  #openingIds: Promise<void> | undefined;
  #catchingUp: Promise<boolean> | undefined;
  /** The last message of another publisher that arrived before the end of the stream was known. */
  #missed = 0;

  constructor(options: StreamLogOptions) {
    this.#options = options;
  }

  /** Where the stream ends. `open` must have resolved. */
  get tail(): Tail {
    return this.#tail ?? this.#options.emptyTail();
  }

  get checkpoint(): Checkpoint {
    return this.#checkpoint;
  }

  /** The ids of recent batches should be stored again. */
  get needsCheckpoint(): boolean {
    return this.#checkpoint.messages >= CHECKPOINT_MESSAGES || this.#checkpoint.bytes >= this.#options.checkpointBytes;
  }

  /** Returns the number of a recent batch with this id. `openIds` must have resolved. */
  numberOf(id: string): number | undefined {
    return this.#recent.get(id);
  }

  /** Finds out where the stream ends. */
  async open(): Promise<void> {
    if (this.#tail) return;
    await (this.#opening ??= this.#load(false).finally(() => (this.#opening = undefined)));
  }

  /** Reads the ids of recent batches in addition. */
  async openIds(): Promise<void> {
    await this.open();
    if (this.#isUncertain) await this.catchUp();
    if (!this.#hasIds) await (this.#openingIds ??= this.#loadIds().finally(() => (this.#openingIds = undefined)));
  }

  /** Another process, or this one, has stored a message. Returns whether it was not known yet. */
  seen(seq: number, text: string): boolean {
    if (!this.#tail || this.#opening) this.#missed = Math.max(this.#missed, seq);
    if (!this.#tail || seq <= this.#tail.seq) return false;
    const meta = decodeMeta(text);
    if (!meta) return false;
    if (meta.number !== this.#tail.number) this.#hasIds = false;
    this.#apply(meta, seq);
    return true;
  }

  /**
   * Stores batches behind the last known message.
   * @param dropping consumers with their new state
   * @param id detects a repeat; absent: the server's memory of ids is not used
   * @throws errors of the client, if the server has not confirmed it
   */
  async append(
    plan: readonly Planned[],
    { dropping, publishedAt, id }: { dropping: ReadonlyMap<string, boolean>; publishedAt: number; id?: string },
    isEmpty: boolean,
  ): Promise<Sent & { message?: StoredMessage }> {
    const meta = this.#metaOf(
      plan.map(({ entry }) => entry),
      dropping,
      publishedAt,
      isEmpty,
    );
    const body = isEmpty ? new Uint8Array() : encodeBody(plan.map(({ batch }) => batch));
    return this.#publish(meta, body, id);
  }

  /** Stores the ids of recent batches. The messages before are not needed for them anymore. */
  async storeCheckpoint(dropping: ReadonlyMap<string, boolean>, publishedAt: number): Promise<Sent> {
    return this.#publish(this.#metaOf([], dropping, publishedAt, false), Buffer.from(this.#recent.toText()));
  }

  /** Reads what other publishers have stored. Returns whether there was anything. */
  catchUp(): Promise<boolean> {
    return (this.#catchingUp ??= this.#catchUp().finally(() => (this.#catchingUp = undefined)));
  }

  async #catchUp(): Promise<boolean> {
    const { shards, shard, subject } = this.#options;
    let found = false;
    for (;;) {
      const { seq } = this.tail;
      const message = await shards.next(shard, subject, seq + 1, true);
      if (!message) break;
      found = true;
      // The feed may have been faster.
      if (message.seq > this.tail.seq) this.#receive(message);
    }
    // The last message that is known has been deleted, for example with the stream.
    if (!found) await this.#load(true);
    this.#isUncertain = false;
    return found;
  }

  async #publish(meta: MessageMeta, body: Uint8Array, id?: string): Promise<Sent & { message?: StoredMessage }> {
    const { shards, subject } = this.#options;
    const after = this.tail.seq;
    try {
      const sent = await shards.publish(subject, {
        body,
        meta: encodeMeta(meta),
        after,
        ...(id !== undefined && { id }),
      });
      if (sent.outcome !== 'stored') return sent;
      if (sent.seq > this.tail.seq) this.#apply(meta, sent.seq);
      return { ...sent, message: { seq: sent.seq, meta } };
    } catch (error) {
      this.#isUncertain = true;
      throw error;
    }
  }

  #metaOf(
    batches: readonly BatchEntry[],
    dropping: ReadonlyMap<string, boolean>,
    publishedAt: number,
    isEmpty: boolean,
  ): MessageMeta {
    const { number, records, bytes, drops } = this.tail;
    const current: Record<string, Drops> = {};
    for (const [name, isDropping] of dropping) {
      const before = drops[name] ?? NO_DROPS;
      if (isDropping || before.batches > 0) current[name] = { ...before, dropping: isDropping };
    }
    return {
      number,
      records,
      bytes,
      publishedAt,
      isEmpty,
      checkpoint: this.#checkpoint,
      drops: current,
      batches,
    };
  }

  async #load(exact: boolean): Promise<void> {
    const { shards, shard, subject, emptyTail, stream } = this.#options;
    this.#missed = 0;
    let last = await shards.last(shard, subject, exact);
    // A replica may be behind what the feed has shown.
    if (this.#missed > (last?.seq ?? 0)) last = await shards.last(shard, subject, true);
    this.#recent = new RecentIds();
    this.#hasIds = true;
    if (!last) {
      const [known, empty] = [this.#tail, emptyTail()];
      // Deleted by someone else: the numbers go on, so that the batches count as lost.
      this.#tail = known && known.number > empty.number ? { ...known, seq: 0 } : empty;
      this.#checkpoint = NO_CHECKPOINT;
      return;
    }
    const meta = decodeMeta(last.meta);
    if (!meta) throw new BusError('storage', `The last message of stream ${stream} in JetStream can't be read.`);
    this.#apply(meta, last.seq);
    const empty = emptyTail();
    // JetStream has lost messages that were delivered: numbers must not be used again.
    if (this.tail.number < empty.number) this.#tail = { ...empty, seq: last.seq };
    if (isCheckpoint(meta)) this.#recent.addText(textOf(last));
    else this.#hasIds = meta.number === 0;
  }

  async #loadIds(): Promise<void> {
    const { shards, shard, subject } = this.#options;
    const recent = new RecentIds();
    let seq = Math.max(0, this.#checkpoint.seq - 1);
    for (;;) {
      const message = await shards.next(shard, subject, seq + 1, true);
      const meta = message && decodeMeta(message.meta);
      if (!message) break;
      ({ seq } = message);
      if (meta && isCheckpoint(meta)) recent.addText(textOf(message));
      else if (meta) addIds(recent, meta);
      if (message.seq > this.tail.seq && meta) this.#apply(meta, message.seq);
      else if (message.seq >= this.tail.seq) break;
    }
    this.#recent = recent;
    this.#hasIds = true;
  }

  #receive(message: Received): void {
    const meta = decodeMeta(message.meta);
    if (!meta) throw new BusError('storage', `A message of stream ${this.#options.stream} in JetStream can't be read.`);
    if (meta.number !== this.tail.number) this.#hasIds = false;
    this.#apply(meta, message.seq);
    if (isCheckpoint(meta)) this.#recent.addText(textOf(message));
  }

  #apply(meta: MessageMeta, seq: number): void {
    this.#tail = { ...stateAfter(meta), seq };
    const { checkpoint } = meta;
    const size = meta.batches.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#checkpoint = isCheckpoint(meta)
      ? { seq, messages: 0, bytes: 0 }
      : { seq: checkpoint.seq, messages: checkpoint.messages + 1, bytes: checkpoint.bytes + size };
    addIds(this.#recent, meta);
  }
}

function addIds(recent: RecentIds, { number, batches }: MessageMeta): void {
  for (const [index, { id }] of batches.entries()) recent.add(id, number + index + 1);
}

const textOf = ({ body }: Received): string =>
  Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
