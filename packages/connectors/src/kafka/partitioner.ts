import { createHash } from 'node:crypto';
import type { ICustomPartitioner, Message } from 'kafkajs';
import { loadKafkajs } from './load-kafkajs.js';

/**
 * Chooses partitions. A message with a key goes where Java's default partitioner would send it. All
 * messages of a batch without a key go to one partition, derived from the id passed to `begin`, so
 * that a retry goes to the same one.
 */
export class Partitioner {
  readonly #chosen = new WeakMap<Message, number>();
  #batch = 0;

  /** Sets the batch that the following messages belong to. */
  begin(batchId: string): void {
    this.#batch = createHash('sha256').update(batchId).digest().readUInt32BE();
  }

  /** The partition that a message was last sent to. */
  of(message: Message): number | undefined {
    return this.#chosen.get(message);
  }

  readonly create: ICustomPartitioner = () => {
    const keyed = loadKafkajs().Partitioners.DefaultPartitioner();
    return (args) => {
      const partition = args.message.key === null ? this.#sticky(args.partitionMetadata) : keyed(args);
      this.#chosen.set(args.message, partition);
      return partition;
    };
  };

  #sticky(partitions: readonly { partitionId: number; leader: number }[]): number {
    const led = partitions.filter(({ leader }) => leader >= 0);
    const ids = (led.length > 0 ? led : partitions).map(({ partitionId }) => partitionId).toSorted((a, b) => a - b);
    return ids[this.#batch % ids.length] ?? 0;
  }
}
