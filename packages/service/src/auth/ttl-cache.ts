import type { Clock } from '../clock.js';

/** Caches database results for a short time and coalesces concurrent loads of the same key. */
export interface TtlCache<T> {
  get(key: string, load: () => Promise<T | undefined>): Promise<T | undefined>;
  /**
   * Clears the cache after a local change. Other replicas see the change when their entries expire.
   */
  forget(): void;
}

const MAX_ENTRIES = 10_000;

/**
 * Creates an empty cache.
 * @param lifetime milliseconds, counted from the start of the load, so a value is never older
 */
export function createTtlCache<T>(lifetime: number, clock: Clock): TtlCache<T> {
  const entries = new Map<string, { until: number; value: Promise<T | undefined> }>();
  return {
    get(key, load) {
      const now = clock.elapsed();
      const known = entries.get(key);
      if (known && known.until > now) return known.value;
      if (entries.size >= MAX_ENTRIES) entries.clear();
      const value = load();
      entries.set(key, { until: now + lifetime, value });
      // Do not cache a failure: the next caller loads again.
      value.catch(() => entries.delete(key));
      return value;
    },
    forget: () => entries.clear(),
  };
}
