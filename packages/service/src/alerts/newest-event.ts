import type { AlertEvents } from '../store/alerts.js';

/** Milliseconds between queries while there are readers. */
const POLL_MS = 1_000;

/**
 * Notifies readers of new events, whichever process has stored them: one query a second, however many
 * readers there are, and none without readers.
 */
export class NewestEvent {
  readonly #events: Pick<AlertEvents, 'newest'>;
  readonly #waiting = new Set<(newest: number) => void>();
  #isPolling = false;

  constructor(events: Pick<AlertEvents, 'newest'>) {
    this.#events = events;
  }

  /**
   * Resolves with the sequence of the newest event once it is another one than `seen`, or with `seen`
   * when `signal` is aborted.
   */
  next(seen: number, signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.resolve(seen);
    return new Promise((resolve) => {
      const done = (newest: number): void => {
        if (newest === seen && !signal.aborted) return;
        this.#waiting.delete(done);
        signal.removeEventListener('abort', stop);
        resolve(newest);
      };
      const stop = (): void => done(seen);
      this.#waiting.add(done);
      signal.addEventListener('abort', stop);
      this.#pollLater();
    });
  }

  #pollLater(): void {
    if (this.#isPolling || this.#waiting.size === 0) return;
    this.#isPolling = true;
    setTimeout(() => void this.#poll(), POLL_MS).unref();
  }

  async #poll(): Promise<void> {
    try {
      const newest = await this.#events.newest();
      for (const done of this.#waiting) done(newest);
    } catch {
      // Without the database, there are no new events. The readers wait.
    }
    this.#isPolling = false;
    this.#pollLater();
  }
}
