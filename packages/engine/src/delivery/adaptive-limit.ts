/** Weight of the newest window in the averages. */
const ALPHA = 0.4;
/** A window is slower than usual if its mean is this many mean deviations above the average. */
const DEVIATIONS = 2.5;
/** Differences below this share of the average are noise, even if no window deviated before. */
const NOISE = 0.1;
const SLOWER = 0.9;
const FAILING = 0.5;
/** Maximum length of a window in milliseconds. */
const MAX_WINDOW = 10_000;

/**
 * Adaptive limit of concurrent writes to one destination, after Vector's Adaptive Request
 * Concurrency (https://vector.dev/blog/adaptive-request-concurrency/): additive increase and
 * multiplicative decrease.
 *
 * It is adjusted at most once per window, which is as long as a usual write: by one up if writes used
 * the whole limit and were as fast as usual, by a tenth down if they were slower, and in half if one
 * failed or was throttled. A destination that queues requests responds more slowly with each
 * additional one, so the limit settles where concurrency stops adding throughput.
 */
export class AdaptiveLimit {
  readonly #max: number;
  readonly #now: () => number;
  #value = 1;
  #reached = false;
  /** The limit was decreased for a failure in this window. */
  #isDecreased = false;
  #total = 0;
  #count = 0;
  #windowEnd: number | undefined;
  #average: number | undefined;
  #deviation = 0;

  /** @param now returns monotonic milliseconds */
  constructor(max: number, now: () => number) {
    this.#max = Math.max(1, Math.floor(max));
    this.#now = now;
  }

  /** Maximum number of writes at a time. */
  get value(): number {
    return this.#value;
  }

  /** Records that a write was started. @param inFlight number of writes, this one included */
  started(inFlight: number): void {
    if (inFlight >= this.#value) this.#reached = true;
  }

  /** Records a write that succeeded after `ms` milliseconds. */
  succeeded(ms: number): void {
    this.#total += ms;
    this.#count += 1;
    if (this.#windowEnd !== undefined && this.#now() < this.#windowEnd) return;
    const mean = this.#total / this.#count;
    const average = this.#average ?? mean;
    const isSlower = mean > average + Math.max(DEVIATIONS * this.#deviation, NOISE * average, 1);
    if (isSlower) this.#decrease(SLOWER);
    else if (this.#reached) this.#value = Math.min(this.#max, this.#value + 1);
    this.#deviation += ALPHA * (Math.abs(mean - average) - this.#deviation);
    this.#average = average + ALPHA * (mean - average);
    this.#startWindow();
  }

  /** Records a write that failed, was throttled or timed out. */
  failed(): void {
    // Writes that were in flight together fail for the same reason: decrease once for all of them.
    if (this.#isDecreased && this.#windowEnd !== undefined && this.#now() < this.#windowEnd) return;
    this.#decrease(FAILING);
    this.#startWindow();
    this.#isDecreased = true;
  }

  #decrease(factor: number): void {
    this.#value = Math.max(1, Math.floor(this.#value * factor));
  }

  #startWindow(): void {
    this.#windowEnd = this.#now() + Math.min(this.#average ?? 0, MAX_WINDOW);
    this.#reached = this.#isDecreased = false;
    this.#total = this.#count = 0;
  }
}
