import { createHash } from 'node:crypto';
import kafkajs, { type ICustomPartitioner, type Message } from 'kafkajs';

/** Sends a message with a key where Java's clients send it; those without one go together, and repeats to the same place. */
export class Partitioner {
  readonly #keyed = kafkajs.Partitioners.DefaultPartitioner();
  readonly #chosen = new WeakMap<Message, number>();
  #batch = 0;

  /** What follows belongs to this batch. */
  begin(batchId: string): void {
    this.#batch = createHash('sha256').update(batchId).digest().readUInt32BE();
  }

  /** Where a message was last sent. */
  of(message: Message): number | undefined {
    return this.#chosen.get(message);
  }

  readonly create: ICustomPartitioner = () => (args) => {
    const partition = args.message.key === null ? this.#sticky(args.partitionMetadata) : this.#keyed(args);
    this.#chosen.set(args.message, partition);
    return partition;
  };

  #sticky(partitions: readonly { partitionId: number; leader: number }[]): number {
    const led = partitions.filter(({ leader }) => leader >= 0);
    const ids = (led.length > 0 ? led : partitions).map(({ partitionId }) => partitionId).toSorted((a, b) => a - b);
    return ids[this.#batch % ids.length] ?? 0;
  }
}
