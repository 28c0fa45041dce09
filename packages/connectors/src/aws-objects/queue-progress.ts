import { createHash } from 'node:crypto';
import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';

/** Number of objects to remember. SQS redelivers a message that could not be deleted within minutes. */
const MAX_DONE = 500;
const HASH = 11;

/**
 * What was delivered of a queue: a message that comes back, because it could not be deleted, does not
 * repeat its records.
 */
export class QueueProgress {
  /** Hashes, oldest first. */
  readonly #done: Set<string>;
  #current: { hash: string; items: number } | undefined;
  /** When the queue was read on schedule, in milliseconds since the epoch. */
  ran: number | undefined;

  private constructor(done: Iterable<string>) {
    this.#done = new Set(done);
  }

  static read(cursor: JsonValue | undefined): QueueProgress {
    const { done, current, ran } = isRecord(cursor) ? cursor : {};
    const progress = new QueueProgress(
      typeof done === 'string' ? (done.match(new RegExp(`.{${HASH}}`, 'g')) ?? []) : [],
    );
    if (isRecord(current) && typeof current['hash'] === 'string' && typeof current['items'] === 'number')
      progress.#current = { hash: current['hash'], items: current['items'] };
    if (typeof ran === 'number') progress.ran = ran;
    return progress;
  }

  isDone(id: string): boolean {
    return this.#done.has(hashOf(id));
  }

  /** Returns the number of records of an object that were delivered before. */
  itemsOf(id: string): number {
    return this.#current?.hash === hashOf(id) ? this.#current.items : 0;
  }

  setCurrent(id: string, items: number): void {
    this.#current = { hash: hashOf(id), items };
  }

  finish(id: string): void {
    const hash = hashOf(id);
    if (this.#current?.hash === hash) this.#current = undefined;
    this.#done.add(hash);
    for (const oldest of this.#done) {
      if (this.#done.size <= MAX_DONE) break;
      this.#done.delete(oldest);
    }
  }

  toJson(): JsonValue {
    return {
      done: [...this.#done].join(''),
      ...(this.#current && { current: { ...this.#current } }),
      ...(this.ran !== undefined && { ran: this.ran }),
    };
  }
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, HASH);
