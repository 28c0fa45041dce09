import { rm } from 'node:fs/promises';
import { join } from 'node:path';
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
import { FileHandlePool } from '../../files/idle-file.js';
import { FreeSpace, type DiskState } from './free-space.js';
import { namesIn, type Damage } from './segments.js';
import { EmbeddedStream, type StreamOptions } from './stream.js';

export interface EmbeddedBusOptions {
  /**
   * Folder for the stream files. Only one process may use it at a time; the caller must ensure
   * this.
   */
  folder: string;
  /** Maximum backlog of each consumer of a stream in bytes. Default 256 MiB. */
  maxBytes?: number;
  /** Maximum backlog of a consumer with the policy `spill` in bytes. Default 4 GiB. */
  maxSpillBytes?: number;
  /**
   * New batches are rejected with `no_space` while the disk has less free space, in bytes. Default
   * 0: only when the disk is full.
   */
  minFreeBytes?: number;
  /**
   * Size of a segment file in bytes. A stream occupies up to two segments more than its backlog.
   * Default 8 MiB.
   */
  segmentBytes?: number;
  /** Returns the current time in milliseconds since the epoch. Default: the system clock. */
  now?: () => number;
  /** Called for every damaged range found on disk. */
  onDamage?: (damage: Damage) => void;
}

const MIB = 1024 * 1024;
/** Memory for the newest batches, shared by all streams. */
const CACHE_BYTES = 32 * MIB;

/**
 * Creates a bus that stores its batches in local files. A published batch is synced to disk before
 * `publish` resolves.
 *
 * @example
 * ```ts
 * const bus = createEmbeddedBus({ folder: '/var/lib/connector-frame/bus' });
 * await bus.declare('pipeline-1', ['output-1']);
 * await bus.publish('pipeline-1', createBatch(batchId('pipeline-1', '0'), ['{"a":1}']));
 * ```
 */
export function createEmbeddedBus(options: EmbeddedBusOptions): EmbeddedBus {
  return new EmbeddedBus(options.folder, {
    maxBytes: options.maxBytes ?? 256 * MIB,
    maxSpillBytes: options.maxSpillBytes ?? 4096 * MIB,
    segmentBytes: options.segmentBytes ?? 8 * MIB,
    files: new FileHandlePool(),
    cacheBudget: { bytes: 0, maxBytes: CACHE_BYTES },
    minFreeBytes: options.minFreeBytes ?? 0,
    now: options.now ?? Date.now,
    onDamage: options.onDamage ?? (() => undefined),
  });
}

/** A bus in local files. Create it with `createEmbeddedBus`. */
export class EmbeddedBus implements Bus {
  readonly #folder: string;
  readonly #options: StreamOptions;
  readonly #streams = new Map<string, Promise<EmbeddedStream>>();
  /** Names of the streams that existed on disk when the bus was first used. */
  #existing: Promise<ReadonlySet<string>> | undefined;
  #closed = false;
  #reclaiming = false;

  constructor(folder: string, { minFreeBytes, ...options }: Omit<StreamOptions, 'space'> & { minFreeBytes: number }) {
    this.#folder = folder;
    this.#options = { ...options, space: new FreeSpace(folder, minFreeBytes, () => void this.#reclaim()) };
  }

  async declare(name: string, given: readonly (string | ConsumerOptions)[]): Promise<void> {
    const consumers = given.map((each) => (typeof each === 'string' ? { name: each } : each));
    for (const each of [name, ...consumers.map((consumer) => consumer.name)]) checkName(each);
    if (this.#closed) throw new BusError('closed', 'The bus is closed.');
    let opening = this.#streams.get(name);
    if (!opening) {
      opening = this.#open(name);
      this.#streams.set(name, opening);
      opening.catch(() => this.#streams.delete(name));
    }
    await (await opening).setConsumers(consumers);
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

  /** Returns the state of the disk under the buffers. */
  disk(): Promise<DiskState> {
    return this.#options.space.state();
  }

  async remove(name: string): Promise<void> {
    checkName(name);
    const stream = await this.#streams.get(name);
    this.#streams.delete(name);
    if (stream) await stream.remove();
    else await rm(join(this.#folder, name), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const streams = await Promise.all(this.#streams.values());
    this.#streams.clear();
    for (const stream of streams) await stream.close();
  }

  /** Frees what no consumer needs, one stream at a time. */
  async #reclaim(): Promise<void> {
    if (this.#reclaiming) return;
    this.#reclaiming = true;
    // A stream that could not be opened has nothing to free.
    for (const opening of this.#streams.values()) await (await opening.catch(() => undefined))?.reclaim();
    this.#reclaiming = false;
  }

  async #open(name: string): Promise<EmbeddedStream> {
    return EmbeddedStream.open(join(this.#folder, name), name, this.#options, !(await this.#names()).has(name));
  }

  /**
   * Lists the folder once for all streams: checking ten thousand missing folders one by one takes
   * seconds.
   */
  #names(): Promise<ReadonlySet<string>> {
    return (this.#existing ??= namesIn(this.#folder).then(
      (names) => new Set(names),
      (error: unknown) => {
        this.#existing = undefined;
        throw error;
      },
    ));
  }

  #stream(name: string): Promise<EmbeddedStream> {
    if (this.#closed) throw new BusError('closed', 'The bus is closed.');
    const stream = this.#streams.get(name);
    if (!stream) throw new BusError('unknown_stream', `There is no stream ${name}. Declare it.`);
    return stream;
  }
}
