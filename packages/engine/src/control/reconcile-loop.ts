import { WAKE_UP, type Clock } from '../connector-api/clock.js';
import type { RunnerLimits } from '../delivery/runner-options.js';

/**
 * Runs the reconcile loop of a pipeline runner: at each interval, and immediately when woken. Runs
 * never overlap.
 */
export class ReconcileLoop {
  readonly #clock: Clock;
  readonly #limits: Pick<RunnerLimits, 'reconcile' | 'report'>;
  readonly #reconcile: () => Promise<void>;
  #queue: Promise<void> = Promise.resolve();
  #loop: Promise<void> | undefined;
  #isStopped = false;
  #reporting = false;
  readonly #stopped = new AbortController();
  #wake = new AbortController();

  /** @param reconcile reconciles the pipeline; never rejects */
  constructor(clock: Clock, limits: Pick<RunnerLimits, 'reconcile' | 'report'>, reconcile: () => Promise<void>) {
    this.#clock = clock;
    this.#limits = limits;
    this.#reconcile = reconcile;
  }

  get stopped(): boolean {
    return this.#isStopped;
  }

  start(): void {
    this.#loop ??= this.#repeat();
  }

  /** Starts the next run immediately. */
  wake(): void {
    this.#wake.abort(WAKE_UP);
  }

  /** Schedules a run because counters have changed. */
  reportSoon(): void {
    // Each regular run reports the counters anyway.
    if (this.#reporting || this.#limits.report >= this.#limits.reconcile) return;
    this.#reporting = true;
    void this.#wakeLater();
  }

  /** Runs the reconciliation after any that are in progress. */
  tick(): Promise<void> {
    this.#queue = this.#queue.then(() => this.#reconcile());
    return this.#queue;
  }

  /** Stops the loop. A run requested through `tick` may still be in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopped.abort(WAKE_UP);
    this.wake();
    await this.#loop;
  }

  /** Resolves once no run is in progress. */
  settled(): Promise<void> {
    return this.#queue;
  }

  async #repeat(): Promise<void> {
    while (!this.#isStopped) {
      this.#wake = new AbortController();
      await this.tick();
      await this.#clock.sleep(this.#limits.reconcile, this.#wake.signal);
    }
  }

  async #wakeLater(): Promise<void> {
    await this.#clock.sleep(this.#limits.report, this.#stopped.signal);
    this.#reporting = false;
    this.wake();
  }
}
