import type { NodeCounts } from '@connector-frame/engine';
import type { MetricsPoint } from '../engine.js';

export const INTERVAL_SECONDS = 10;
const INTERVAL = INTERVAL_SECONDS * 1_000;
/** Intervals kept: ten minutes. */
const KEPT = 60;

/** Returns the start of the interval that contains `now`. Both in milliseconds since the epoch. */
export const intervalOf = (now: number): number => Math.floor(now / INTERVAL) * INTERVAL;

/**
 * Throughput of one pipeline in recent intervals. Empty intervals are not stored; `points` fills
 * them in.
 */
export class MetricsHistory {
  readonly #points: MetricsPoint[] = [];
  #before: NodeCounts | undefined;
  #since: number | undefined;

  /**
   * Starts measuring. Later calls have no effect.
   * @param counts totals up to now, which are not part of any interval
   */
  begin(counts: NodeCounts, now: number): void {
    this.#before ??= counts;
    this.#since ??= intervalOf(now);
  }

  /**
   * Records a sample.
   * @param counts totals up to now
   * @param interval start of the interval that has just ended
   * @returns the difference from the previous sample
   */
  sample(counts: NodeCounts, interval: number): MetricsPoint {
    const before = this.#before ?? counts;
    const point = {
      time: interval,
      ingress: less(counts.ingress, before.ingress),
      egress: less(counts.egress, before.egress),
      errors: Math.max(0, counts.errors - before.errors),
    };
    this.#before = counts;
    if (point.ingress.records + point.egress.records + point.errors > 0) {
      this.#points.push(point);
      if (this.#points.length > KEPT) this.#points.shift();
    }
    return point;
  }

  /** Returns the completed intervals of the last ten minutes, without gaps, oldest first. */
  points(now: number): MetricsPoint[] {
    const end = intervalOf(now);
    const from = Math.max(end - KEPT * INTERVAL, this.#since ?? end);
    const known = new Map(this.#points.map((point) => [point.time, point]));
    const points: MetricsPoint[] = [];
    for (let time = from; time < end; time += INTERVAL)
      points.push(
        known.get(time) ?? { time, ingress: { records: 0, bytes: 0 }, egress: { records: 0, bytes: 0 }, errors: 0 },
      );
    return points;
  }
}

type Amount = NodeCounts['ingress'];

/** Totals shrink when a node is removed; a negative difference counts as zero. */
const less = (now: Amount, before: Amount): Amount => ({
  records: Math.max(0, now.records - before.records),
  bytes: Math.max(0, now.bytes - before.bytes),
});
