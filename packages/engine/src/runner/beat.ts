import { QUIETLY, type Clock } from './clock.js';
import type { RunnerLimits } from './runner-options.js';

/** Has a runner look at its pipeline: with each beat, and at once when it is woken; one look after the other. */
export class Beat {
  #turn: Promise<void> = Promise.resolve();
  #loop: Promise<void> | undefined;
  #ended = false;
  #reporting = false;
  readonly #stopped = new AbortController();
  #wake = new AbortController();

  /** @param look never rejects */
  constructor(
    private readonly clock: Clock,
    private readonly limits: Pick<RunnerLimits, 'beat' | 'report'>,
    private readonly look: () => Promise<void>,
  ) {}

  get stopped(): boolean {
    return this.#ended;
  }

  start(): void {
    this.#loop ??= this.#beat();
  }

  /** The next beat is now. */
  wake(): void {
    this.#wake.abort(QUIETLY);
  }

  /** Something was counted. */
  reportSoon(): void {
    // With each beat it is told anyway.
    if (this.#reporting || this.limits.report >= this.limits.beat) return;
    this.#reporting = true;
    void this.#wakeLater();
  }

  /** One after the other. */
  tick(): Promise<void> {
    this.#turn = this.#turn.then(() => this.look());
    return this.#turn;
  }

  /** No beat comes any more; a look that somebody else asked for may still be under way. */
  async stop(): Promise<void> {
    this.#ended = true;
    this.#stopped.abort(QUIETLY);
    this.wake();
    await this.#loop;
  }

  /** Resolves once no look is under way. */
  settled(): Promise<void> {
    return this.#turn;
  }

  async #beat(): Promise<void> {
    while (!this.#ended) {
      this.#wake = new AbortController();
      await this.tick();
      await this.clock.sleep(this.limits.beat, this.#wake.signal);
    }
  }

  async #wakeLater(): Promise<void> {
    await this.clock.sleep(this.limits.report, this.#stopped.signal);
    this.#reporting = false;
    this.wake();
  }
}
