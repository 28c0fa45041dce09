import { FencedError, type StreamRegistry } from './registry.js';
import type { StreamConsumer } from './stream-consumer.js';

export interface PositionSaverOptions {
  onSaved(): void;
  /** Another process has taken over the stream. */
  onFenced(consumer: string): void;
}

/** Milliseconds until a position that could not be stored is stored again. */
const RETRY_MS = 1_000;

/** Stores the positions of the consumers of a stream, always the latest one. */
export class PositionSaver {
  readonly #stream: string;
  readonly #registry: StreamRegistry;
  readonly #options: PositionSaverOptions;
  readonly #saving = new Map<StreamConsumer, Promise<boolean>>();
  readonly #retries = new Map<StreamConsumer, NodeJS.Timeout>();
  readonly #fenced = new WeakSet<StreamConsumer>();
  #closed = false;

  constructor(stream: string, registry: StreamRegistry, options: PositionSaverOptions) {
    this.#stream = stream;
    this.#registry = registry;
    this.#options = options;
  }

  isFenced(consumer: StreamConsumer): boolean {
    return this.#fenced.has(consumer);
  }

  /**
   * Resolves when the position is stored, or at once while storing fails: deliveries continue then.
   * A failure is not reported: the batches would be delivered again only after a restart, and it is
   * tried again.
   */
  async save(consumer: StreamConsumer): Promise<void> {
    if (!this.#retries.has(consumer)) await this.#saveAll(consumer);
  }

  async #saveAll(consumer: StreamConsumer): Promise<void> {
    for (let wasSaved = true; wasSaved && !consumer.isSaved;) {
      let saving = this.#saving.get(consumer);
      if (!saving) {
        saving = this.#saveNow(consumer).finally(() => this.#saving.delete(consumer));
        this.#saving.set(consumer, saving);
      }
      wasSaved = await saving;
    }
  }

  async close(consumers: readonly StreamConsumer[]): Promise<void> {
    this.#closed = true;
    for (const timer of this.#retries.values()) clearTimeout(timer);
    await Promise.all(consumers.map((consumer) => this.#saveAll(consumer)));
  }

  async #saveNow(consumer: StreamConsumer): Promise<boolean> {
    const { position } = consumer;
    try {
      await this.#registry.savePosition(this.#stream, consumer.name, position);
      consumer.stored(position);
      clearTimeout(this.#retries.get(consumer));
      this.#retries.delete(consumer);
      this.#options.onSaved();
      return true;
    } catch (error) {
      if (error instanceof FencedError) {
        this.#fenced.add(consumer);
        this.#options.onFenced(consumer.name);
      } else if (!this.#closed) {
        this.#retries.set(consumer, setTimeout(() => void this.#saveAll(consumer), RETRY_MS).unref());
      }
      return false;
    }
  }
}
