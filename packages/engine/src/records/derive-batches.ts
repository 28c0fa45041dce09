import { batchId, MAX_BATCH_BYTES, MAX_BATCH_RECORDS, type Batch } from '../connector-api/batch.js';
import { createNamedBatch, type NamedLine } from './merged-batch.js';

/** The result of transforming the record at `index` of a batch: any number of records. */
export interface Derived {
  readonly index: number;
  readonly lines: readonly string[];
}

/**
 * Creates batches from the records derived from one batch, in order, within the batch limits. A
 * record with one result keeps its id; several results get that id with their number appended
 * (`.0`, `.1`). If every record has exactly one result and they fit in one batch, it keeps the
 * batch's id. All ids are the same in every repetition with the same results.
 * @param derived no line may be larger than a batch
 */
export function deriveBatches(batch: Batch, derived: readonly Derived[]): Batch[] {
  const batches: Batch[] = [];
  const oneToOne = derived.length === batch.lines.length && derived.every(({ lines }) => lines.length === 1);
  let part: NamedLine[] = [];
  let size = 0;
  const flush = (last: boolean): void => {
    if (part.length === 0) return;
    const same = oneToOne && last && batches.length === 0;
    const id = same ? batch.id : batchId(batch.id, ...part.map(({ recordId }) => recordId));
    batches.push(createNamedBatch(id, part, batch.at));
    part = [];
    size = 0;
  };
  for (const { index, lines } of derived) {
    const recordId = batch.recordId(index);
    for (const [number, text] of lines.entries()) {
      const bytes = Buffer.byteLength(text);
      if (part.length === MAX_BATCH_RECORDS || size + bytes > MAX_BATCH_BYTES) flush(false);
      part.push({ text, recordId: lines.length === 1 ? recordId : `${recordId}.${number}` });
      size += bytes;
    }
  }
  flush(true);
  return batches;
}
