import type { DataRecord, JsonValue } from './record.js';

/** The audit log of an organization, as records for its pipelines. */
export interface ActivityRecords {
  /**
   * Returns some of the changes after a cursor, oldest first, and the cursor to continue from. Without
   * a cursor, none: reading begins now. Recent changes are returned after a moment, because changes are
   * not stored in the order of their times.
   * @throws {ConnectorError}
   */
  after(cursor: JsonValue | undefined): Promise<{ records: readonly DataRecord[]; cursor: JsonValue }>;
}
