import { isRecord, type JsonValue } from '@connector-frame/engine';
import { MAX_DURATION_MS } from './duration.js';

/** Milliseconds between two evaluations from which on the time in between counts as not observed. */
const GAP_MS = 30_000;
/** Outages kept. */
const MAX_OUTAGES = 500;
/** Part of a window that may be missing. A restart takes seconds. */
const MAX_PART = 0.05;

type Span = readonly [from: number, to: number];

/**
 * Times in which nothing was observed: no engine ran, the machine slept, or its clock was set ahead.
 * What did not arrive then may have been sent.
 */
export class Outages {
  #spans: Span[];
  #last: number | undefined;

  /** @param saved what `toJson` returned in an earlier process */
  constructor(saved?: JsonValue) {
    this.#spans = isRecord(saved) ? spansIn(saved['spans']) : [];
    this.#last = isRecord(saved) && typeof saved['last'] === 'number' ? saved['last'] : undefined;
  }

  /**
   * Records an observation.
   * @param now milliseconds since the epoch
   */
  observed(now: number): void {
    const before = this.#last ?? 0;
    if (now - before > GAP_MS) this.#spans.push([before, now]);
    this.#last = now;
    this.#spans = this.#spans.filter(([, to]) => to > now - MAX_DURATION_MS * 2).slice(-MAX_OUTAGES);
  }

  /** When the last observation was made, by this or an earlier process. */
  get last(): number | undefined {
    return this.#last;
  }

  /** Returns whether a window was observed, except for a small part. */
  covers(from: number, to: number): boolean {
    let missing = 0;
    for (const [start, end] of this.#spans) missing += Math.max(0, Math.min(end, to) - Math.max(start, from));
    return missing <= (to - from) * MAX_PART;
  }

  toJson(): JsonValue {
    return { last: this.#last ?? 0, spans: this.#spans.map(([from, to]) => [from, to]) };
  }
}

const spansIn = (value: JsonValue | undefined): Span[] =>
  (Array.isArray(value) ? value : []).flatMap((span): Span[] => {
    const [from, to] = Array.isArray(span) ? span : [];
    return typeof from === 'number' && typeof to === 'number' ? [[from, to]] : [];
  });
