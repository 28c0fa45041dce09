import type { JsonValue } from '../connector-api/record.js';
import type { Store, Stored } from './store.js';

/** Creates a store in memory; its content is lost when the process ends. */
export function createMemoryStore(): Store {
  const kept = new Map<string, Stored>();
  return {
    get: (key) => Promise.resolve(kept.get(key)),
    compareAndSet(key: string, version: number, value: JsonValue) {
      if ((kept.get(key)?.version ?? 0) !== version) return Promise.resolve(undefined);
      // Clones the value, so that later mutations by the caller do not affect the store.
      kept.set(key, { value: structuredClone(value), version: version + 1 });
      return Promise.resolve(version + 1);
    },
    removeAll(prefix) {
      for (const key of kept.keys()) if (key.startsWith(prefix)) kept.delete(key);
      return Promise.resolve();
    },
  };
}
