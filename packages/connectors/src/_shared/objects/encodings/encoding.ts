import { type Batch, type DataRecord, isRecord, type Rejection } from '@connector-frame/engine/connector-api';

/** The result of encoding a batch. */
export interface Encoded {
  /** Content of the object; `undefined` if no record is left to write. */
  body: Uint8Array | undefined;
  rejected: readonly Rejection[];
}

/** Converts records to an object. */
export interface Encoding {
  /** Extension of the object key: `.json.gz`. */
  extension: string;
  contentType: string;
  /**
   * Maximum bytes of JSON per object. Encoding holds several copies in memory and blocks the event
   * loop.
   */
  maxBytes: number;
  encode(batch: Batch): Promise<Encoded>;
}

/** A record and its index in the batch. */
export interface Row {
  index: number;
  record: DataRecord;
}

/**
 * Parses the records of a batch. Rejects each line that is not a JSON object and keeps the others.
 */
export function rowsOf({ lines }: Batch): { rows: Row[]; rejected: Rejection[] } {
  const rows: Row[] = [];
  const rejected: Rejection[] = [];
  for (const [index, line] of lines.entries()) {
    const record = read(line);
    if (record) rows.push({ index, record });
    else rejected.push({ index, reason: 'no_json_object' });
  }
  return { rows, rejected };
}

function read(line: string): DataRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
