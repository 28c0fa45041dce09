import type { ConsumerMessages, JetStreamClient } from '@nats-io/jetstream';
import { META_HEADER } from './envelope.js';

export interface ShardFeedOptions {
  /** Name of the JetStream stream. */
  name: string;
  /** Sequence after which the feed begins. */
  after: number;
  client: JetStreamClient;
  onMessage: (subject: string, seq: number, meta: string) => void;
  /** Returns the last sequence of the JetStream stream. */
  lastSeq: () => Promise<number>;
  /** Milliseconds between two checks that the feed is not behind. */
  watchMs: number;
}

/**
 * Reads the headers of all messages of a JetStream stream in order. Tells this process what other
 * processes have published, without their records.
 */
export class ShardFeed {
  readonly #options: ShardFeedOptions;
  #seq: number;
  /** The last sequence of the JetStream stream at the previous check. */
  #expected = 0;
  #messages: ConsumerMessages | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ShardFeedOptions) {
    this.#options = options;
    this.#seq = options.after;
  }

  async start(): Promise<void> {
    const { client, name, onMessage, watchMs } = this.#options;
    const consumer = await client.consumers.get(name, {
      deliver_policy: 'by_start_sequence',
      opt_start_seq: this.#seq + 1,
      headers_only: true,
    });
    this.#messages = await consumer.consume({
      callback: (message) => {
        if (message.seq <= this.#seq) return;
        this.#seq = message.seq;
        onMessage(message.subject, message.seq, message.headers?.get(META_HEADER) ?? '');
      },
    });
    this.#timer ??= setInterval(() => void this.#check(), watchMs).unref();
    if (this.#closed) await this.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#messages?.close().catch(() => undefined);
  }

  /** The client recovers its consumer; this is for the case that it does not. */
  async #check(): Promise<void> {
    try {
      const isBehind = this.#seq < this.#expected;
      this.#expected = await this.#options.lastSeq();
      if (!isBehind || this.#closed) return;
      await this.#messages?.close();
      await this.start();
    } catch {
      // NATS is away: the next check tries again.
    }
  }
}
