import { failureOf, type Failure } from '../connector-api/connector-error.js';
import type { PushInput, Sink } from '../connector-api/input.js';
import type { PipelineContext } from '../delivery/pipeline-context.js';

/** Listener of a push input: started once, and retried until starting succeeds. */
export class Listener {
  readonly #nodeId: string;
  readonly #input: PushInput;
  readonly #context: Pick<PipelineContext, 'clock' | 'health' | 'retryDelay'>;
  #state: 'closed' | 'open' | Failure = 'closed';
  #retrying: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(nodeId: string, input: PushInput, context: Pick<PipelineContext, 'clock' | 'health' | 'retryDelay'>) {
    this.#nodeId = nodeId;
    this.#input = input;
    this.#context = context;
  }

  /** Starts the input. Resolves after the first attempt; retries continue in the background. */
  async open(sink: Sink): Promise<void> {
    if (await this.#try(sink, 1)) return;
    this.#retrying = this.#retry(sink);
  }

  /** Reports the current state to the health of a new run. */
  reportState(): void {
    const { health } = this.#context;
    if (this.#state === 'open') health.responded(this.#nodeId);
    else if (this.#state !== 'closed') health.failed(this.#nodeId, this.#state, 0);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#retrying;
    await this.#input.close?.();
  }

  async #retry(sink: Sink): Promise<void> {
    const { clock, retryDelay } = this.#context;
    for (let attempt = 1; ; attempt += 1) {
      const failure = typeof this.#state === 'object' ? this.#state : { kind: 'retry' as const };
      await clock.sleep(retryDelay(failure, attempt), this.#closing.signal);
      if (this.#closing.signal.aborted || (await this.#try(sink, attempt + 1))) return;
    }
  }

  async #try(sink: Sink, attempt: number): Promise<boolean> {
    const { health } = this.#context;
    try {
      await this.#input.start?.(sink);
      this.#state = 'open';
      if (attempt > 1) health.responded(this.#nodeId);
      return true;
    } catch (error) {
      this.#state = failureOf(error);
      health.failed(this.#nodeId, this.#state, 0);
      return false;
    }
  }
}
