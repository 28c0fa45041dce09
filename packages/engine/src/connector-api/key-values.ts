/** An entry of a key-value table. */
export interface KeyValueEntry {
  readonly key: string;
  /** JSON. */
  readonly value: string;
}

/** Reads a key-value table. */
export interface KeyValueReader {
  /**
   * Returns the values, as JSON, of those of these keys that exist and have not expired.
   * @throws {ConnectorError} of kind `retry`
   */
  get(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** A key-value table in the storage of the service. */
export interface KeyValueTable extends KeyValueReader {
  /**
   * Writes entries, all or none; resolves once they are durable. Of several entries with the same
   * key, the last one counts.
   * @param ttlMs milliseconds until they expire. Absent: never
   * @throws {ConnectorError} `table_full`, throttled; of kind `retry` if the storage fails
   */
  put(entries: readonly KeyValueEntry[], ttlMs?: number): Promise<void>;
}

/** The key-value tables that a connector may use. */
export interface KeyValueTables {
  /** The table of this output. Absent for other connectors. */
  readonly own?: KeyValueTable;
  /** Returns the table of an output of the same organization. */
  of(outputId: string): KeyValueReader;
}
