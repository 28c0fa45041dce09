import type { Batch } from '../../connector-api/batch.js';
import {
  BusError,
  type Bus,
  type ConsumerOptions,
  type Delivery,
  type Published,
  type PublishOptions,
  type StreamStats,
} from '../bus.js';
import { checkName } from '../shared/check-name.js';
import { connectNats } from './connect-nats.js';
import type { NatsSettings } from './nats-settings.js';
import type { StreamRegistry } from './registry.js';
import { Shards } from './shards.js';
import { StorageState } from './storage-state.js';
import { JetStreamStream, type StreamOptions } from './stream.js';

export interface JetStreamBusOptions {
  nats: NatsSettings;
  /** Stores streams, consumers and positions, for all processes that use the bus. */
  registry: StreamRegistry;
  /**
   * Identifies the registry. JetStream streams that were created for another one are not touched.
   */
  owner: string;
  /** Prefix of JetStream streams and subjects. Default `connector-frame`. */
  prefix?: string;
  /** Number of JetStream streams over which new streams are distributed. Default 4. */
  shards?: number;
  /** Replicas of each JetStream stream. Default: three in a cluster, otherwise one. */
  replicas?: number | undefined;
  /**
   * Another process may read a consumer after this one, and declare consumers: positions are read again
   * before each read and before messages are deleted. Default `false`.
   */
  isShared?: boolean;
  /** Maximum backlog of each consumer of a stream in bytes. Default 256 MiB. */
  maxBytes?: number;
  /** Maximum backlog of a consumer with the policy `spill` in bytes. Default 4 GiB. */
  maxSpillBytes?: number;
  /** Acknowledged bytes of a stream that are kept until they are deleted together. Default 8 MiB. */
  purgeBytes?: number;
  /** Milliseconds without batches after which a stream keeps no acknowledged ones. Default 10 s. */
  idleMs?: number;
  /** Returns the current time in milliseconds since the epoch. Default: the system clock. */
  now?: () => number;
  /** Receives what an operator should know. */
  onWarning?: (message: string) => void;
  /** Called when stored records can't be read anymore. */
  onLost?: (stream: string, records: number) => void;
}

const MIB = 1024 * 1024;
/** Memory for the newest batches, shared by all streams. */
const CACHE_BYTES = 32 * MIB;

/**
 * Creates a bus that stores its batches in NATS JetStream. Any number of processes may publish to a
 * stream; each consumer has at most one reader at a time.
 * @throws JetStreamSetupError, and errors of the client
 *
 * @example
 * ```ts
 * const bus = await createJetStreamBus({
 *   nats: { url: 'nats://127.0.0.1:4222' },
 *   registry: createMemoryRegistry(),
 *   owner: 'example',
 * });
 * ```
 */
export async function createJetStreamBus(options: JetStreamBusOptions): Promise<JetStreamBus> {
  const { prefix = 'connector-frame', shards: count = 4, replicas, owner, onWarning = () => undefined } = options;
  const connection = await connectNats(options.nats);
  try {
    const shards = await Shards.open(connection, { prefix, count, replicas, owner, onWarning });
    return new JetStreamBus({
      shards,
      registry: options.registry,
      storage: new StorageState(),
      isShared: options.isShared ?? false,
      cacheBudget: { bytes: 0, maxBytes: CACHE_BYTES },
      maxBytes: options.maxBytes ?? 256 * MIB,
      maxSpillBytes: options.maxSpillBytes ?? 4096 * MIB,
      purgeBytes: options.purgeBytes ?? 8 * MIB,
      idleMs: options.idleMs ?? 10_000,
      now: options.now ?? Date.now,
      onLost: options.onLost ?? (() => undefined),
    });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** A bus in NATS JetStream. Create it with `createJetStreamBus`. */
export class JetStreamBus implements Bus {
  readonly #options: StreamOptions;
  readonly #streams = new Map<string, Promise<JetStreamStream>>();
  readonly #bySubject = new Map<string, JetStreamStream>();
  #closed = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    options.shards.onMessage((subject, seq, meta) => this.#bySubject.get(subject)?.seen(seq, meta));
  }

  /** @param version see `StreamRegistry.declare` */
  async declare(name: string, given: readonly (string | ConsumerOptions)[], version?: number): Promise<void> {
    const consumers = given.map((each) => (typeof each === 'string' ? { name: each } : each));
    for (const each of [name, ...consumers.map((consumer) => consumer.name)]) checkName(each);
    this.#assertOpen();
    const { registry, shards } = this.#options;
    let registered;
    try {
      registered = await registry.declare(name, shards.shardOf(name), consumers, version);
    } catch (error) {
      throw new BusError('storage', `Stream ${name} could not be declared.`, { cause: error });
    }
    this.#assertOpen();
    const open = (): Promise<JetStreamStream> => JetStreamStream.open(name, registered, this.#options);
    let stream = await this.#opened(name, open);
    if (stream.isOutdated(registered)) {
      this.#forget(name, stream);
      await stream.close();
      stream = await this.#opened(name, open);
    }
    stream.setConsumers(registered);
  }

  /** Returns this bus for a version of a pipeline. */
  at(version: number): Bus {
    return {
      declare: (name, consumers) => this.declare(name, consumers, version),
      publish: (name, batch, options) => this.publish(name, batch, options),
      consume: (name, consumer, signal) => this.consume(name, consumer, signal),
      stats: (name) => this.stats(name),
      oldestAt: (name, consumer) => this.oldestAt(name, consumer),
      remove: (name) => this.remove(name),
      close: () => this.close(),
    };
  }

  async publish(name: string, batch: Batch, options: PublishOptions = {}): Promise<Published> {
    return (await this.#stream(name)).publish(batch, options);
  }

  async *consume(name: string, consumer: string, signal: AbortSignal): AsyncGenerator<Delivery, void, void> {
    yield* (await this.#stream(name)).consume(consumer, signal);
  }

  async stats(name: string): Promise<StreamStats> {
    return (await this.#stream(name)).stats();
  }

  async oldestAt(name: string, consumer: string): Promise<number | undefined> {
    return (await this.#stream(name)).oldestAt(consumer);
  }

  /** Returns the names of all streams, also of those that this process has not declared. */
  list(): Promise<string[]> {
    return this.#options.registry.list();
  }

  /** Returns `ok`, or in a few words what is wrong. */
  check(): string {
    const { shards, storage } = this.#options;
    if (!shards.connected) return 'disconnected';
    if (storage.isFull) return 'storage full';
    return storage.failure === undefined ? 'ok' : 'writes fail';
  }

  async remove(name: string): Promise<void> {
    const { registry, shards } = this.#options;
    const stream = await this.#streams.get(name)?.catch(() => undefined);
    this.#forget(name, stream);
    await stream?.close();
    try {
      const registered = await registry.read(name);
      if (!registered) {
        // Another process has removed it; this one may have published since.
        if (stream) await shards.purge(stream.shard, stream.subject);
        return;
      }
      await shards.purge(await shards.get(registered.shard), shards.subjectOf(registered.shard, name));
      await registry.remove(name);
    } catch (error) {
      throw new BusError('storage', `Stream ${name} could not be removed.`, { cause: error });
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.shards.stop();
    const streams = await Promise.allSettled(this.#streams.values());
    this.#streams.clear();
    await Promise.all(streams.flatMap((stream) => (stream.status === 'fulfilled' ? [stream.value.close()] : [])));
    await this.#options.shards.close();
  }

  /** Returns a stream that was declared here or by another process. */
  async #stream(name: string): Promise<JetStreamStream> {
    this.#assertOpen();
    const known = this.#streams.get(name);
    if (known) return known;
    let registered;
    try {
      registered = await this.#options.registry.read(name);
    } catch (error) {
      throw new BusError('storage', `Stream ${name} could not be looked up.`, { cause: error });
    }
    if (!registered) throw new BusError('unknown_stream', `There is no stream ${name}. Declare it.`);
    const found = registered;
    return this.#opened(name, async () => {
      const stream = await JetStreamStream.open(name, found, this.#options);
      stream.setConsumers(found);
      return stream;
    });
  }

  async #opened(name: string, open: () => Promise<JetStreamStream>): Promise<JetStreamStream> {
    this.#assertOpen();
    let opening = this.#streams.get(name);
    if (!opening) {
      opening = open();
      this.#streams.set(name, opening);
      opening.then(
        (stream) => this.#bySubject.set(stream.subject, stream),
        () => this.#streams.delete(name),
      );
    }
    try {
      return await opening;
    } catch (error) {
      throw new BusError('storage', `Stream ${name} could not be opened.`, { cause: error });
    }
  }

  #forget(name: string, stream: JetStreamStream | undefined): void {
    this.#streams.delete(name);
    if (stream && this.#bySubject.get(stream.subject) === stream) this.#bySubject.delete(stream.subject);
  }

  #assertOpen(): void {
    if (this.#closed) throw new BusError('closed', 'The bus is closed.');
  }
}
