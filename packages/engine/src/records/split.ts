import { batchId, createBatch, MAX_BATCH_BYTES, MAX_BATCH_RECORDS, type Batch } from '../connector-api/batch.js';

export interface BatchLimits {
  /** Default 500. */
  records?: number;
  /** Bytes of JSON; default 512 KiB. */
  bytes?: number;
}

/**
 * Where records come from. Reading the same records at the same position again gives the same batch
 * ids.
 */
export interface BatchSource {
  pipelineId: string;
  nodeId: string;
  /** The position in the source: the cursor before the page, an offset, a key from the sender. */
  position: string;
  /**
   * The position is random and never repeats, so the text need not be hashed to detect duplicates.
   */
  once?: boolean;
}

export interface Split {
  batches: Batch[];
  /** Indexes of lines that are larger than a batch. */
  tooLarge: number[];
}

/**
 * Splits NDJSON lines into batches, in order. Each id also covers the text: a page that has grown
 * since it was last read is not a duplicate.
 *
 * @example
 * ```ts
 * const source = { pipelineId: 'pipeline-1', nodeId: 'node-1', position: '0' };
 * const { batches, tooLarge } = splitLines(source, ['{"a":1}']);
 * ```
 */
export function splitLines(source: BatchSource, lines: readonly string[], limits: BatchLimits = {}): Split {
  const { records: maxRecords = MAX_BATCH_RECORDS, bytes: maxBytes = MAX_BATCH_BYTES } = limits;
  const split: Split = { batches: [], tooLarge: [] };
  let part: string[] = [];
  let size = 0;
  const flush = (): void => {
    if (part.length === 0) return;
    const index = String(split.batches.length);
    const text = source.once === true ? '' : part.join('\n');
    const id = batchId(source.pipelineId, source.nodeId, source.position, index, text);
    split.batches.push(createBatch(id, part, size));
    part = [];
    size = 0;
  };
  for (const [index, line] of lines.entries()) {
    const bytes = Buffer.byteLength(line, 'utf8');
    if (bytes > maxBytes) {
      split.tooLarge.push(index);
      continue;
    }
    if (part.length === maxRecords || size + bytes > maxBytes) flush();
    part.push(line);
    size += bytes;
  }
  flush();
  return split;
}
