import type { JsonValue } from '../records/record.js';

export interface Stored {
  readonly value: JsonValue;
  /** Rises with each change of this key. */
  readonly version: number;
}

/** Where the embedded coordinator keeps its state: small values by key, changed one at a time. */
export interface Store {
  get(key: string): Promise<Stored | undefined>;
  /**
   * Writes `value` if the key is still at `version` (0: it is absent), and answers the new version. `undefined`: it is
   * not, and nothing was written. Resolved means durable.
   */
  compareAndSet(key: string, version: number, value: JsonValue): Promise<number | undefined>;
  /** Removes every key that begins with `prefix`. */
  removeAll(prefix: string): Promise<void>;
}
