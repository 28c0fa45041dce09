import type { DataRecord } from '../../connector-api/record.js';
import type { ConsumerOptions, Waiting } from '../bus.js';

/** How far a consumer has acknowledged a stream. The counts are cumulative since the stream began. */
export interface ConsumerPosition {
  /** Batches of the stream up to and including the last acknowledged one. */
  readonly number: number;
  readonly records: number;
  readonly bytes: number;
  /** Batches up to `number` that were dropped for this consumer. */
  readonly dropped: Readonly<Waiting>;
  /** Sequence of the message that holds the batch, in the JetStream stream created at `epoch`. */
  readonly seq: number;
  readonly epoch: string;
}

/** A declared consumer. Without a position, it has acknowledged nothing yet. */
export interface RegisteredConsumer extends ConsumerOptions {
  readonly position?: ConsumerPosition;
}

export interface RegisteredStream {
  /** Number of the JetStream stream that holds its batches. */
  readonly shard: number;
  readonly consumers: readonly RegisteredConsumer[];
  /** What was lost, as given to `saveLost`. */
  readonly lost?: DataRecord;
}

/**
 * Stores which streams and consumers exist, and the positions of the consumers. What flows is in
 * JetStream; what is decided is here.
 */
export interface StreamRegistry {
  /**
   * Creates a stream or replaces its list of consumers. Removes the positions of consumers that are
   * not listed.
   * @param shard used if the stream is new
   * @param version of the pipeline. If several processes declare the stream, the list of an earlier one is
   *   ignored
   */
  declare(
    stream: string,
    shard: number,
    consumers: readonly ConsumerOptions[],
    version?: number,
  ): Promise<RegisteredStream>;
  read(stream: string): Promise<RegisteredStream | undefined>;
  /** Stores where a new consumer starts, unless another process has. Returns the start that is stored. */
  place(stream: string, consumer: string, start: ConsumerPosition): Promise<ConsumerPosition>;
  /**
   * Stores a position unless a later one is stored.
   * @throws FencedError when another process has taken over the stream
   */
  savePosition(stream: string, consumer: string, position: ConsumerPosition): Promise<void>;
  saveLost(stream: string, lost: DataRecord): Promise<void>;
  remove(stream: string): Promise<void>;
  /** Returns the names of all streams. */
  list(): Promise<string[]>;
}

/** A write was rejected because another process has taken over the stream. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
  readonly code = 'fenced';
}

/** Returns a registry in memory, for tests. */
export function createMemoryRegistry(streams = new Map<string, RegisteredStream>()): StreamRegistry {
  return {
    declare(name, shard, consumers) {
      const known = streams.get(name);
      const positions = new Map(known?.consumers.map((each) => [each.name, each.position]));
      const stream: RegisteredStream = {
        ...known,
        shard: known?.shard ?? shard,
        consumers: consumers.map((each) => {
          const position = positions.get(each.name);
          return { ...each, ...(position && { position }) };
        }),
      };
      streams.set(name, stream);
      return Promise.resolve(stream);
    },
    read: (name) => Promise.resolve(streams.get(name)),
    place(name, consumer, start) {
      const stream = streams.get(name);
      const placed = stream?.consumers.find((each) => each.name === consumer)?.position;
      if (!stream || placed) return Promise.resolve(placed ?? start);
      const consumers = stream.consumers.map((each) => (each.name === consumer ? { ...each, position: start } : each));
      streams.set(name, { ...stream, consumers });
      return Promise.resolve(start);
    },
    savePosition(name, consumer, position) {
      const stream = streams.get(name);
      if (!stream) return Promise.resolve();
      const consumers = stream.consumers.map((each) =>
        each.name === consumer && position.number > (each.position?.number ?? -1) ? { ...each, position } : each,
      );
      streams.set(name, { ...stream, consumers });
      return Promise.resolve();
    },
    saveLost(name, lost) {
      const stream = streams.get(name);
      if (stream) streams.set(name, { ...stream, lost });
      return Promise.resolve();
    },
    remove: (name) => Promise.resolve(void streams.delete(name)),
    list: () => Promise.resolve([...streams.keys()]),
  };
}
