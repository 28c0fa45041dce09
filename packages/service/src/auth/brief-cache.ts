import type { Clock } from '../clock.js';

/** Remembers answers of the database for a moment, and asks each question once when many ask it together. */
export interface BriefCache<T> {
  get(key: string, load: () => Promise<T | undefined>): Promise<T | undefined>;
  /** Forgets all: something was changed here. Other replicas find out when the moment is over. */
  forget(): void;
}

const MAX_ENTRIES = 10_000;

/** @param lifetime milliseconds, from the question on: an answer is never older than that. */
export function createBriefCache<T>(lifetime: number, clock: Clock): BriefCache<T> {
  const entries = new Map<string, { until: number; value: Promise<T | undefined> }>();
  return {
    get(key, load) {
      const now = clock.now();
      const known = entries.get(key);
      if (known && known.until > now) return known.value;
      if (entries.size >= MAX_ENTRIES) entries.clear();
      const value = load();
      entries.set(key, { until: now + lifetime, value });
      // A failed question is asked again by the next one who wants to know.
      value.catch(() => entries.delete(key));
      return value;
    },
    forget: () => entries.clear(),
  };
}
