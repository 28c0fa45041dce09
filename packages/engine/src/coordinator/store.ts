import type { JsonValue } from '../connector-api/record.js';

export interface Stored {
  readonly value: JsonValue;
  /** Increases with each change of this key. */
  readonly version: number;
}

/** Storage of the embedded coordinator: small values by key, changed one at a time. */
export interface Store {
  get(key: string): Promise<Stored | undefined>;
  /**
   * Writes `value` durably if the key is still at `version` (0: absent) and returns the new
   * version. Returns `undefined` without writing if the version differs.
   */
  compareAndSet(key: string, version: number, value: JsonValue): Promise<number | undefined>;
  /** Removes every key that begins with `prefix`. */
  removeAll(prefix: string): Promise<void>;
}
