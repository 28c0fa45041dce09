import type { Backoff } from './backoff.js';
import type { Clock } from './clock.js';
import { failureOf, type Failure, type PushInput, type Sink } from './ends.js';
import type { Health } from './health.js';

/** Listener of a push input: started once, and retried until starting succeeds. */
export class Door {
  #state: 'closed' | 'open' | Failure = 'closed';
  #trying: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(
    private readonly nodeId: string,
    private readonly input: PushInput,
    private readonly health: Health,
    private readonly clock: Clock,
    private readonly backoff: Backoff,
  ) {}

  /** Starts the input. Resolves after the first attempt; retries continue in the background. */
  async open(sink: Sink): Promise<void> {
    if (await this.#try(sink, 1)) return;
    this.#trying = this.#again(sink);
  }

  /** Reports the current state to the health of a new run. */
  tell(): void {
    if (this.#state === 'open') this.health.answered(this.nodeId);
    else if (this.#state !== 'closed') this.health.failed(this.nodeId, this.#state, 0);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#trying;
    await this.input.close?.();
  }

  async #again(sink: Sink): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const failure = typeof this.#state === 'object' ? this.#state : undefined;
      // Permanent failures are retried at the maximum interval.
      const wait = this.backoff(failure?.kind === 'permanent' ? 100 : attempt, failure?.afterMs);
      await this.clock.sleep(wait, this.#closing.signal);
      if (this.#closing.signal.aborted || (await this.#try(sink, attempt + 1))) return;
    }
  }

  async #try(sink: Sink, attempt: number): Promise<boolean> {
    try {
      await this.input.start?.(sink);
      this.#state = 'open';
      if (attempt > 1) this.health.answered(this.nodeId);
      return true;
    } catch (error) {
      this.#state = failureOf(error);
      this.health.failed(this.nodeId, this.#state, 0);
      return false;
    }
  }
}
