import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  jetstream,
  JetStreamApiError,
  jetstreamManager,
  type JetStreamClient,
  type JetStreamManager,
  type StoredMsg,
  type StreamInfo,
} from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { Waiters } from '../shared/waiters.js';
import { META_HEADER } from './envelope.js';
import { JetStreamSetupError } from './setup-error.js';
import { ShardFeed } from './shard-feed.js';

export interface ShardOptions {
  /** Prefix of the names of JetStream streams and of subjects. */
  prefix: string;
  /** Number of JetStream streams over which new streams are distributed. */
  count: number;
  /** Replicas of each JetStream stream. Absent: three in a cluster, otherwise one. */
  replicas?: number | undefined;
  /** Identifies the owner of the JetStream streams. Streams of another owner are rejected. */
  owner: string;
  /** Receives what an operator should know. */
  onWarning: (message: string) => void;
}

/**
 * Result of publishing. `moved`: another message is the last one of the subject. `repeated`: the
 * server remembers a message with this id, which may have been deleted since. `no_space`: the storage
 * of JetStream is used up.
 */
export type Sent =
  | { outcome: 'stored'; seq: number }
  | {
      outcome: 'moved' | 'repeated' | 'no_space';
      /** An earlier attempt had no response, and may have stored the message. */
      wasRetried: boolean;
    };

export interface Message {
  readonly body: Uint8Array;
  readonly meta: string;
  /** Detects a repeat within the duplicate window of the server. */
  readonly id?: string;
  /** Sequence of the last message of the subject; 0: there is none. */
  readonly after: number;
}

export interface Shard {
  readonly name: string;
  /** When the JetStream stream was created. Sequences of another one mean nothing. */
  readonly epoch: string;
}

/** A stored message. */
export interface Received {
  readonly seq: number;
  readonly meta: string;
  readonly body: Uint8Array;
}

/** Milliseconds: one request, all attempts to publish, between attempts, duplicates are detected. */
const REQUEST_MS = 3_000;
const PUBLISH_MS = 6_000;
const RETRY_MS = 100;
const DUPLICATE_WINDOW_MS = 120_000;
const WATCH_MS = 10_000;
/** Bytes of the largest batch with its lines and header. */
const MIN_PAYLOAD = 640 * 1024;
/** Bytes of a message beside its body and the header with the batches. */
const PROTOCOL_BYTES = 1_024;
/** The first version of nats-server whose setting `sync_interval` can force each write to disk. */
const SYNC_VERSION = [2, 10, 0] as const;
/**
 * The first version that counts the messages of a purged subject as deleted. Earlier ones count them
 * as used storage until they are restarted: https://github.com/nats-io/nats-server/pull/3876
 */
const PURGE_VERSION = [2, 9, 15] as const;

/** Error codes of JetStream (`err_code`): https://github.com/nats-io/nats-server, `errors.json`. */
const WRONG_LAST_SEQUENCE = [10071, 10164];
const NO_STORAGE = [10023, 10028, 10047];
const STORE_FAILED = 10077;
const STREAM_NOT_FOUND = 10059;

/** The fixed set of JetStream streams that hold the batches of all streams of the bus. */
export class Shards {
  readonly connection: NatsConnection;
  readonly #options: ShardOptions;
  readonly #manager: JetStreamManager;
  readonly #client: JetStreamClient;
  readonly #shards = new Map<number, Promise<Shard>>();
  readonly #feeds = new Map<number, ShardFeed>();
  #onMessage: (subject: string, seq: number, meta: string) => void = () => undefined;
  #connected = true;
  #stopping = false;
  readonly #reconnects = new Waiters();

  private constructor(connection: NatsConnection, manager: JetStreamManager, options: ShardOptions) {
    this.connection = connection;
    this.#manager = manager;
    this.#client = jetstream(connection, { timeout: REQUEST_MS });
    this.#options = options;
    void this.#watch();
  }

  /**
   * Creates the JetStream streams that are missing.
   * @throws JetStreamSetupError, and errors of the client
   */
  static async open(connection: NatsConnection, options: ShardOptions): Promise<Shards> {
    checkServer(connection, options);
    const manager = await jetstreamManager(connection, { timeout: REQUEST_MS }).catch((error: unknown) => {
      throw new JetStreamSetupError(
        'JetStream is not enabled on this NATS server, or not for this account. Start nats-server with --jetstream.',
        { cause: error },
      );
    });
    const shards = new Shards(connection, manager, options);
    for (let number = 0; number < options.count; number += 1) await shards.get(number);
    return shards;
  }

  /** Receives the header of every message that is stored from now on. */
  onMessage(receive: (subject: string, seq: number, meta: string) => void): void {
    this.#onMessage = receive;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Whether the storage of messages that `purge` deletes is free at once. */
  get purgeFreesStorage(): boolean {
    return isAtLeast(this.connection.info?.version ?? '', PURGE_VERSION);
  }

  /** Largest body and header of a message together, in bytes. */
  get maxBytes(): number {
    return (this.connection.info?.max_payload ?? MIN_PAYLOAD) - PROTOCOL_BYTES;
  }

  /** Returns the number of the JetStream stream for a new stream. */
  shardOf(stream: string): number {
    return createHash('sha256').update(stream).digest().readUInt32BE() % this.#options.count;
  }

  subjectOf(shard: number, stream: string): string {
    // A name may contain dots in places where a subject must not.
    return `${this.#options.prefix}.${shard}.${stream.replaceAll('.', '%')}`;
  }

  /** Returns a JetStream stream; creates it if it is missing. */
  get(number: number): Promise<Shard> {
    let shard = this.#shards.get(number);
    if (!shard) {
      shard = this.#open(number);
      this.#shards.set(number, shard);
      shard.catch(() => this.#shards.delete(number));
    }
    return shard;
  }

  /**
   * Stores a message behind the last one of its subject.
   * @throws errors of the client, if the server has not confirmed it. It may be stored nevertheless
   */
  async publish(subject: string, { body, meta, id, after }: Message): Promise<Sent> {
    const end = performance.now() + PUBLISH_MS;
    for (let wasRetried = false; ; wasRetried = true) {
      try {
        if (!this.#connected) throw new Error('NATS is disconnected.');
        const header = headers();
        header.set(META_HEADER, meta);
        const ack = await this.#client.publish(subject, body, {
          headers: header,
          ...(id !== undefined && { msgID: id }),
          expect: { lastSubjectSequence: after },
          timeout: REQUEST_MS,
          retries: 0,
        });
        return ack.duplicate ? { outcome: 'repeated', wasRetried } : { outcome: 'stored', seq: ack.seq };
      } catch (error) {
        if (error instanceof JetStreamApiError) {
          if (WRONG_LAST_SEQUENCE.includes(error.code)) return { outcome: 'moved', wasRetried };
          if (isNoSpace(error)) return { outcome: 'no_space', wasRetried };
        }
        const left = end - performance.now();
        if (left <= 0 || this.#stopping) throw error;
        // While a leader is elected, or the connection is opened again.
        await this.#pause(left);
      }
    }
  }

  /** Waits before another attempt: for a moment, or until the connection is open again. */
  async #pause(ms: number): Promise<void> {
    const over = AbortSignal.timeout(Math.max(1, Math.ceil(ms)));
    if (this.#connected) await sleep(Math.min(ms, RETRY_MS));
    else await this.#reconnects.wait(over);
  }

  /**
   * Returns the first message of a subject from a sequence on. A replica that is behind may not have
   * it yet; with `exact`, the leader is asked.
   */
  async next(shard: Shard, subject: string, seq: number, exact = false): Promise<Received | undefined> {
    const query = { seq, next_by_subj: subject };
    const found = exact
      ? await this.#manager.streams.getMessage(shard.name, query).catch(notFound)
      : await this.#manager.direct.getMessage(shard.name, query);
    return received(found);
  }

  /** Returns the last message of a subject. */
  async last(shard: Shard, subject: string, exact = false): Promise<Received | undefined> {
    const query = { last_by_subj: subject };
    const found = exact
      ? await this.#manager.streams.getMessage(shard.name, query).catch(notFound)
      : await this.#manager.direct.getMessage(shard.name, query);
    return received(found);
  }

  /** Deletes the messages of a subject below a sequence, or all. */
  async purge(shard: Shard, subject: string, below?: number): Promise<void> {
    await this.#manager.streams.purge(shard.name, {
      filter: subject,
      ...(below !== undefined && { seq: below }),
    });
  }

  /** Deletes one message if it exists. */
  async delete(shard: Shard, seq: number): Promise<void> {
    await this.#manager.streams.deleteMessage(shard.name, seq, false).catch(notFound);
  }

  /** Returns the bytes that are stored. */
  async storedBytes(): Promise<number> {
    let bytes = 0;
    for (const shard of this.#shards.values())
      bytes += (await this.#manager.streams.info((await shard).name)).state.bytes;
    return bytes;
  }

  /** Ends attempts to publish. */
  stop(): void {
    this.#stopping = true;
    this.#reconnects.wakeAll();
  }

  async close(): Promise<void> {
    this.stop();
    for (const feed of this.#feeds.values()) await feed.close();
    await this.connection.close();
  }

  async #open(number: number): Promise<Shard> {
    const { prefix, owner, onWarning } = this.#options;
    const name = `${prefix}-${number}`;
    let info = await this.#manager.streams.info(name).catch(notFound);
    info ??= await this.#create(name, `${prefix}.${number}.>`);
    const { config, state } = info;
    if (config.description !== describe(owner))
      throw new JetStreamSetupError(
        `The JetStream stream ${name} belongs to another database. Set NATS_PREFIX to another name.`,
      );
    if (config.num_replicas < this.#replicas())
      onWarning(
        `The JetStream stream ${name} has ${config.num_replicas} replicas. Add some with: nats stream edit ${name} --replicas 3`,
      );
    const feed = new ShardFeed({
      name,
      after: state.last_seq,
      client: this.#client,
      onMessage: (...message) => this.#onMessage(...message),
      lastSeq: async () => (await this.#manager.streams.info(name)).state.last_seq,
      watchMs: WATCH_MS,
    });
    this.#feeds.set(number, feed);
    await feed.start();
    return { name, epoch: info.created };
  }

  async #create(name: string, subject: string): Promise<StreamInfo> {
    const add = (replicas: number): Promise<StreamInfo> =>
      this.#manager.streams.add({
        name,
        description: describe(this.#options.owner),
        subjects: [subject],
        retention: 'limits',
        discard: 'new',
        storage: 'file',
        allow_direct: true,
        duplicate_window: DUPLICATE_WINDOW_MS * 1_000_000,
        num_replicas: replicas,
      });
    const replicas = this.#replicas();
    try {
      return await add(replicas);
    } catch (error) {
      // Another process has created it in the meantime.
      const found = await this.#manager.streams.info(name).catch(notFound);
      if (found) return found;
      if (replicas === 1 || this.#options.replicas !== undefined) throw error;
      this.#options.onWarning(
        `JetStream can't place three replicas of ${name}: it has one, and its records are lost with that server.`,
      );
      return add(1);
    }
  }

  #replicas(): number {
    return this.#options.replicas ?? (this.connection.info?.cluster === undefined ? 1 : 3);
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === 'disconnect' || type === 'close') this.#connected = false;
      if (type !== 'reconnect') continue;
      this.#connected = true;
      this.#reconnects.wakeAll();
    }
  }
}

/** @throws JetStreamSetupError */
function checkServer({ info }: NatsConnection, { onWarning }: ShardOptions): void {
  if (!info) return;
  if (info.max_payload < MIN_PAYLOAD + PROTOCOL_BYTES)
    throw new JetStreamSetupError(
      `max_payload of the NATS server is ${info.max_payload} bytes. Batches need 1 MiB: set max_payload to 1MB, its default, or more.`,
    );
  if (!isAtLeast(info.version, SYNC_VERSION))
    onWarning(
      `nats-server ${info.version} forces writes to disk every two minutes: a power failure loses acknowledged records. Use 2.10 or later with sync_interval: always.`,
    );
}

function isAtLeast(version: string, least: readonly [number, number, number]): boolean {
  const given = version.split(/[.-]/).map(Number);
  const index = least.findIndex((part, place) => part !== (given[place] ?? 0));
  return index < 0 || (given[index] ?? 0) > (least[index] ?? 0);
}

const describe = (owner: string): string => `Buffers of connector-frame ${owner}`;

function isNoSpace({ code, message }: JetStreamApiError): boolean {
  if (code === STORE_FAILED) return /maximum|no space|insufficient|exceeded/i.test(message);
  return NO_STORAGE.includes(code);
}

const NO_MESSAGE = [10037, 10043, 10057, STREAM_NOT_FOUND];

function notFound(error: unknown): undefined {
  if (error instanceof JetStreamApiError && NO_MESSAGE.includes(error.code)) return undefined;
  throw error;
}

function received(message: StoredMsg | null | undefined): Received | undefined {
  if (!message) return undefined;
  return { seq: message.seq, meta: message.header.get(META_HEADER), body: message.data };
}
