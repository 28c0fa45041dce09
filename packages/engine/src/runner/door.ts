import type { Backoff } from './backoff.js';
import type { Clock } from './clock.js';
import { failureOf, type Failure, type PushInput, type Sink } from './ends.js';
import type { Health } from './health.js';

/** The door of a pushed input: opened once, and tried again while it does not open. */
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

  /** Resolves after the first try; if that failed, the next ones go on beside. */
  async open(sink: Sink): Promise<void> {
    if (await this.#try(sink, 1)) return;
    this.#trying = this.#again(sink);
  }

  /** Says to a run that begins how it stands. */
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
      // What a person must mend is looked at again seldom.
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
