import type { DataRecord, JsonValue } from './record.js';

/** A record, and the cursor to continue from once it is delivered. */
export interface AlertRecord {
  readonly record: DataRecord;
  readonly cursor: JsonValue;
}

/** What happens to the alerts of an organization, as records for one of its pipelines. */
export interface AlertRecords {
  /**
   * Returns the cursor of a pipeline that has none yet. It begins with the alerts that are firing.
   * @throws {ConnectorError}
   */
  start(): Promise<JsonValue>;
  /**
   * Returns some of the records after a cursor, oldest first; empty if there are none now.
   * @throws {ConnectorError}
   */
  after(cursor: JsonValue): Promise<readonly AlertRecord[]>;
  /** Resolves when there may be more than at the last call of `after`, or `signal` is aborted. */
  changed(signal: AbortSignal): Promise<void>;
}
