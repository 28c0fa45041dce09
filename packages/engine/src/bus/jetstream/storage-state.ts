import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds until one batch is attempted again, and between two looks while a publisher waits. */
const FULL_MS = 1_000;
const POLL_MS = 200;

/** Whether JetStream has space for new messages, as seen in its responses. */
export class StorageState {
  #fullAt: number | undefined;
  #failure: string | undefined;

  get isFull(): boolean {
    return this.#fullAt !== undefined;
  }

  /** What the last attempt to store a message failed with. */
  get failure(): string | undefined {
    return this.#failure;
  }

  full(): void {
    this.#fullAt = performance.now();
  }

  stored(): void {
    this.#fullAt = undefined;
    this.#failure = undefined;
  }

  failed(error: unknown): void {
    this.#failure = error instanceof Error ? error.name : 'unknown';
  }

  /** Returns whether a message may be attempted; waits for at most `waitMs`. */
  async admits(waitMs: number, signal?: AbortSignal): Promise<boolean> {
    const end = performance.now() + waitMs;
    for (;;) {
      const now = performance.now();
      if (this.#fullAt === undefined || now - this.#fullAt >= FULL_MS) {
        // One attempt at a time shows whether there is space again.
        if (this.#fullAt !== undefined) this.#fullAt = now;
        return true;
      }
      if (now >= end || signal?.aborted) return false;
      await sleep(Math.min(end - now, POLL_MS), undefined, signal ? { signal } : {}).catch(() => undefined);
    }
  }
}
