import { isRecord, type DataRecord, type JsonValue } from '../../connector-api/record.js';
import type { Lost } from '../bus.js';

/** Record numbers of a stream, from `from` up to `to` (exclusive). */
export type RecordRange = readonly [from: number, to: number];

/** Older ranges are only kept as a count. */
const MAX_RANGES = 20;

/** The records of a stream that were lost. Each consumer finds the losses ahead of it; they count once. */
export class LostRecords {
  #lost: Lost | undefined;
  /** Sorted. */
  #ranges: RecordRange[] = [];

  get lost(): Lost | undefined {
    return this.#lost;
  }

  /**
   * Adds lost records. Returns how many of them are new.
   * @param exact `false`: the range held at least these
   * @param at milliseconds since the epoch
   */
  add(range: RecordRange, exact: boolean, at: number): number {
    let count = range[1] - range[0];
    let [from, to] = range;
    const others: RecordRange[] = [];
    for (const other of this.#ranges) {
      count -= Math.max(0, Math.min(other[1], range[1]) - Math.max(other[0], range[0]));
      if (other[1] < from || other[0] > to) others.push(other);
      else [from, to] = [Math.min(from, other[0]), Math.max(to, other[1])];
    }
    if (count <= 0) return 0;
    this.#ranges = [...others, [from, to] as const].sort((a, b) => a[0] - b[0]).slice(-MAX_RANGES);
    this.#lost = {
      records: (this.#lost?.records ?? 0) + count,
      exact: exact && (this.#lost?.exact ?? true),
      since: this.#lost?.since ?? at,
      latest: at,
    };
    return count;
  }

  toJson(): DataRecord {
    return {
      ranges: this.#ranges.map((range) => [...range]),
      ...(this.#lost && { lost: { ...this.#lost } }),
    };
  }

  load(saved: DataRecord): void {
    const ranges: JsonValue[] = Array.isArray(saved['ranges']) ? saved['ranges'] : [];
    this.#ranges = ranges.flatMap((range): RecordRange[] =>
      Array.isArray(range) ? [[Number(range[0]), Number(range[1])]] : [],
    );
    const { lost } = saved;
    if (!isRecord(lost)) return;
    this.#lost = {
      records: Number(lost['records'] ?? 0),
      exact: lost['exact'] === true,
      since: Number(lost['since'] ?? 0),
      latest: Number(lost['latest'] ?? 0),
    };
  }
}
