import {
  type Clock,
  type DataRecord,
  isRecord,
  type JsonValue,
  type Page,
  type PageInput,
  systemClock,
} from '@connector-frame/engine/connector-api';
import { auditEvent } from './audit-event.js';

export interface SyntheticInputOptions {
  /** Records per second, 0.001 to 100,000. Default 1. */
  rate?: number;
  /** Ends after this many records. Default: never. */
  total?: number;
  /**
   * Creates the record with a number, counted from 0, and a time in milliseconds since the epoch.
   * Default: an audit event.
   */
  shape?: (number: number, at: number) => DataRecord;
  clock?: Clock;
}

/** Milliseconds between pages, unless the rate is lower. */
const PAGE_MS = 100;
const MAX_PAGE = 1_000;
/** An input that lags by more milliseconds does not catch up. */
const MAX_LAG_MS = 1_000;

/**
 * Creates an input that generates records at a fixed rate. A page depends only on its cursor, so a
 * page that is read again is identical and its duplicate can be dropped.
 *
 * @example
 * ```ts
 * const input = createSyntheticInput({ rate: 100, total: 10_000 });
 * ```
 */
export function createSyntheticInput(options: SyntheticInputOptions = {}): PageInput {
  const { total = Number.POSITIVE_INFINITY, shape = auditEvent, clock = systemClock } = options;
  const rate = Math.min(Math.max(options.rate ?? 1, 0.001), 100_000);
  const size = Math.min(Math.max(1, Math.round((rate * PAGE_MS) / 1_000)), MAX_PAGE);

  async function* pages(cursor: JsonValue | undefined, signal: AbortSignal): AsyncGenerator<Page, void, void> {
    let { next, at } = placeIn(cursor) ?? { next: 0, at: clock.now() };
    for (let due = clock.now(); next < total; due += (size / rate) * 1_000) {
      await clock.sleep(due - clock.now(), signal);
      if (signal.aborted) return;
      due = Math.max(due, clock.now() - MAX_LAG_MS);
      const [first, time] = [next, at];
      const records = Array.from({ length: Math.min(size, total - first) }, (_, index) => shape(first + index, time));
      next += records.length;
      at = clock.now();
      yield { records, cursor: { next, at } };
    }
  }
  return { kind: 'pages', readsAhead: true, pages };
}

function placeIn(cursor: JsonValue | undefined): { next: number; at: number } | undefined {
  if (!isRecord(cursor)) return undefined;
  const { next, at } = cursor;
  return typeof next === 'number' && typeof at === 'number' ? { next, at } : undefined;
}
