import type { NodeCounts } from '@connector-frame/engine';
import type { MetricsPoint } from '../engine.js';

export const INTERVAL_SECONDS = 10;
const INTERVAL = INTERVAL_SECONDS * 1_000;
/** Ten minutes. */
const KEPT = 60;

/** The interval in which a moment lies: when it began. Milliseconds since the epoch. */
export const intervalOf = (now: number): number => Math.floor(now / INTERVAL) * INTERVAL;

/** What one pipeline moved in each of the last intervals. Those without anything are not kept, only told. */
export class MetricsHistory {
  readonly #points: MetricsPoint[] = [];
  #before: NodeCounts | undefined;
  #since: number | undefined;

  /** From here on it is measured. @param counts of the time before */
  begin(counts: NodeCounts, now: number): void {
    this.#before ??= counts;
    this.#since ??= intervalOf(now);
  }

  /**
   * Takes what was counted up to now.
   * @param interval that is just over
   * @returns what came since the last time
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

  /** The last intervals that are over, without gaps, oldest first. */
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

/** Counts of a node that is gone are gone with it; nothing is ever taken back. */
const less = (now: Amount, before: Amount): Amount => ({
  records: Math.max(0, now.records - before.records),
  bytes: Math.max(0, now.bytes - before.bytes),
});
