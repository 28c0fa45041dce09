import type { Batch } from '../../connector-api/batch.js';
import type { StoredMessage } from './stream-log.js';

/** A message that is stored and still cached in memory. */
export interface CachedMessage extends StoredMessage {
  readonly batches: readonly Batch[];
}

/** Memory budget shared by all streams of a bus, in bytes. */
export interface CacheBudget {
  bytes: number;
  readonly maxBytes: number;
}

/**
 * Cache of the newest messages that this process has stored. A consumer that keeps up reads from it
 * rather than from the server.
 */
export class MessageCache {
  readonly #budget: CacheBudget;
  /** By the number of batches before the message, in order. */
  readonly #messages = new Map<number, CachedMessage>();
  #bytes = 0;

  constructor(budget: CacheBudget) {
    this.#budget = budget;
  }

  /** Caches the message if the budget allows it. */
  add(message: CachedMessage): void {
    const bytes = sizeOf(message);
    if (this.#budget.bytes + bytes > this.#budget.maxBytes) return;
    this.#messages.set(message.meta.number, message);
    this.#free(-bytes);
  }

  /** Returns the message that begins after `number` batches. */
  after(number: number): CachedMessage | undefined {
    return this.#messages.get(number);
  }

  /** Drops the messages whose batches are all up to `number`. */
  dropUpTo(number: number): void {
    for (const [before, message] of this.#messages) {
      if (before + message.batches.length > number) return;
      this.#messages.delete(before);
      this.#free(sizeOf(message));
    }
  }

  clear(): void {
    this.#messages.clear();
    this.#free(this.#bytes);
  }

  #free(bytes: number): void {
    this.#bytes -= bytes;
    this.#budget.bytes -= bytes;
  }
}

const sizeOf = ({ meta }: CachedMessage): number => meta.batches.reduce((sum, { bytes }) => sum + bytes, 0);
