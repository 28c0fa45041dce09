import type { NodeCounts } from '@connector-frame/engine';
import type { SpanCounts, TotalCounts } from '../../alerts/counts.js';
import type { MetricsPoint } from '../engine.js';

export const INTERVAL_SECONDS = 10;
const INTERVAL = INTERVAL_SECONDS * 1_000;
/** Intervals kept: ten minutes. */
const KEPT = 60;
/** Milliseconds for which intervals are kept. */
export const HISTORY_MS = KEPT * INTERVAL;

/** Returns the start of the interval that contains `now`. Both in milliseconds since the epoch. */
export const intervalOf = (now: number): number => Math.floor(now / INTERVAL) * INTERVAL;

type Point = MetricsPoint & TotalCounts;

/**
 * Throughput of one pipeline in recent intervals. Empty intervals are not stored; `points` fills
 * them in.
 */
export class MetricsHistory {
  readonly #points: Point[] = [];
  #before: TotalCounts | undefined;
  #since: number | undefined;

  /**
   * Starts measuring. Later calls have no effect.
   * @param counts totals up to now, which are not part of any interval
   */
  begin(counts: TotalCounts, now: number): void {
    this.#before ??= counts;
    this.#since ??= now;
  }

  /**
   * Records a sample.
   * @param counts totals up to now
   * @param interval start of the interval that has just ended
   * @returns the difference from the previous sample
   */
  sample(counts: TotalCounts, interval: number): MetricsPoint {
    const point = { time: interval, ...less(counts, this.#before ?? counts) };
    this.#before = counts;
    this.#forgetFuture(interval);
    if (point.ingress.records + point.egress.records + point.errors + point.failedAttempts > 0) {
      this.#points.push(point);
      if (this.#points.length > KEPT) this.#points.shift();
    }
    return point;
  }

  /**
   * Continues with the totals of a changed pipeline, which lack those of removed nodes.
   * @param last totals before the change
   * @param first totals after it
   */
  rebase(last: TotalCounts, first: TotalCounts): void {
    const before = this.#before;
    if (!before) return;
    const rebased = (total: (counts: TotalCounts) => number): number => total(before) + total(first) - total(last);
    this.#before = {
      ingress: {
        records: rebased(({ ingress }) => ingress.records),
        bytes: rebased(({ ingress }) => ingress.bytes),
      },
      egress: { records: rebased(({ egress }) => egress.records), bytes: rebased(({ egress }) => egress.bytes) },
      errors: rebased(({ errors }) => errors),
      failedAttempts: rebased(({ failedAttempts }) => failedAttempts),
    };
  }

  /** Returns the completed intervals of the last ten minutes, without gaps, oldest first. */
  points(now: number): MetricsPoint[] {
    const end = intervalOf(now);
    const from = Math.max(end - HISTORY_MS, this.#since === undefined ? end : intervalOf(this.#since));
    const known = new Map(this.#points.map((point) => [point.time, point]));
    const points: MetricsPoint[] = [];
    for (let time = from; time < end; time += INTERVAL) {
      const { ingress, egress, errors } = known.get(time) ?? NONE;
      points.push({ time, ingress, egress, errors });
    }
    return points;
  }

  /**
   * Returns what was counted in the last `ms` milliseconds, at most ten minutes.
   * @param ms a multiple of the interval
   * @param now end of the last interval that was sampled
   */
  last(ms: number, now: number): SpanCounts {
    const from = now - ms;
    this.#forgetFuture(now);
    const sum = { ingress: { ...NONE.ingress }, egress: { ...NONE.egress }, errors: 0, failedAttempts: 0 };
    for (let index = this.#points.length - 1; index >= 0; index -= 1) {
      const point = this.#points[index];
      if (!point || point.time < from) break;
      sum.ingress.records += point.ingress.records;
      sum.ingress.bytes += point.ingress.bytes;
      sum.egress.records += point.egress.records;
      sum.egress.bytes += point.egress.bytes;
      sum.errors += point.errors;
      sum.failedAttempts += point.failedAttempts;
    }
    return { ...sum, isWhole: this.#since !== undefined && this.#since <= from };
  }

  /** After the clock was set back, points of the future would be counted a second time. */
  #forgetFuture(now: number): void {
    while ((this.#points.at(-1)?.time ?? Number.NEGATIVE_INFINITY) >= now) this.#points.pop();
  }
}

const NONE = { ingress: { records: 0, bytes: 0 }, egress: { records: 0, bytes: 0 }, errors: 0 } as const;

/** Totals never shrink, except when a node was removed without `rebase`. */
const less = (now: TotalCounts, before: TotalCounts): TotalCounts => ({
  ingress: amount(now.ingress, before.ingress),
  egress: amount(now.egress, before.egress),
  errors: Math.max(0, now.errors - before.errors),
  failedAttempts: Math.max(0, now.failedAttempts - before.failedAttempts),
});

type Amount = NodeCounts['ingress'];

const amount = (now: Amount, before: Amount): Amount => ({
  records: Math.max(0, now.records - before.records),
  bytes: Math.max(0, now.bytes - before.bytes),
});
