import type { Clock } from '../clock.js';

/** Caches database results for a short time and coalesces concurrent loads of the same key. */
export interface TtlCache<T> {
  /** @param cached false: loads the value now, and caches it for others */
  get(key: string, load: () => Promise<T | undefined>, cached?: boolean): Promise<T | undefined>;
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
    get(key, load, cached = true) {
      const now = clock.elapsed();
      const known = entries.get(key);
      if (cached && known && known.until > now) return known.value;
      if (entries.size >= MAX_ENTRIES) entries.clear();
      // A query of Drizzle runs each time it is awaited: the cache keeps its result.
      const value = Promise.resolve(load());
      const entry = { until: now + lifetime, value };
      entries.set(key, entry);
      // Do not cache a failure: the next caller loads again.
      value.catch(() => entries.get(key) === entry && entries.delete(key));
      return value;
    },
    forget: () => entries.clear(),
  };
}
