/** Weight of the newest window in the averages. */
const ALPHA = 0.4;
/** A window is slower than usual if its mean exceeds the baseline by this share of it, ... */
const TOLERANCE = 0.5;
/** ... by this many mean deviations, ... */
const DEVIATIONS = 2.5;
/** ... and by this many milliseconds: less is noise of this process. */
const NOISE = 5;
const SLOWER = 0.9;
const FAILING = 0.5;
/** Maximum length of a window in milliseconds. */
const MAX_WINDOW = 10_000;

/**
 * Adaptive limit of concurrent writes to one destination: additive increase and multiplicative
 * decrease, as in Vector's Adaptive Request Concurrency
 * (https://vector.dev/blog/adaptive-request-concurrency/).
 *
 * It is adjusted at most once per window, which is as long as a usual write: by one up if writes used
 * the whole limit and were as fast as usual, by a tenth down if they were slower, and in half if one
 * failed or was throttled. A destination that queues requests responds more slowly with each
 * additional one, so the limit settles where concurrency stops adding throughput.
 *
 * Usual is what the fastest windows took. A moving average would follow a queue that grows by one
 * request at a time. While the limit is one, this process causes no queue, so the baseline then
 * follows a destination that has become slower.
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
  #baseline: number | undefined;

  /** @param now returns monotonic milliseconds */
  constructor(max: number, now: () => number) {
    this.#max = Math.max(1, Math.floor(max));
    this.#now = now;
  }

  /** Maximum number of writes at a time. */
  get value(): number {
    return this.#value;
  }

  /** Forgets how long writes take: the next ones are different. */
  reset(): void {
    this.#baseline = this.#average = undefined;
    this.#deviation = this.#total = this.#count = 0;
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
    const baseline = this.#baseline ?? mean;
    const isSlower = mean > baseline + Math.max(TOLERANCE * baseline, DEVIATIONS * this.#deviation, NOISE);
    if (isSlower) this.#decrease(SLOWER);
    else if (this.#reached) this.#value = Math.min(this.#max, this.#value + 1);
    if (mean < baseline || this.#value === 1) this.#baseline = baseline + ALPHA * (mean - baseline);
    else this.#baseline = baseline;
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
