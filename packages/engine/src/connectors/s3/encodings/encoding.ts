import { isRecord, type DataRecord } from '../../../records/record.js';
import type { Batch } from '../../../records/batch.js';
import type { Refusal } from '../../../runner/ends.js';

/** What became of a batch. */
export interface Encoded {
  /** Of the object; `undefined`: no record is left to write. */
  body: Uint8Array | undefined;
  refused: readonly Refusal[];
}

/** How records become an object. */
export interface Encoding {
  /** `.json.gz` */
  extension: string;
  contentType: string;
  /** Of JSON, at once: it is in memory, several times over, and nothing else happens meanwhile. */
  maxBytes: number;
  encode(batch: Batch): Promise<Encoded>;
}

/** A record and its place in the batch. */
export interface Row {
  index: number;
  record: DataRecord;
}

/** The records of a batch; a line that is none is refused, the others go on. */
export function rowsOf({ lines }: Batch): { rows: Row[]; refused: Refusal[] } {
  const rows: Row[] = [];
  const refused: Refusal[] = [];
  for (const [index, line] of lines.entries()) {
    const record = read(line);
    if (record) rows.push({ index, record });
    else refused.push({ index, reason: 'no_json_object' });
  }
  return { rows, refused };
}

function read(line: string): DataRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
