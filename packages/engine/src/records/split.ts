import { batchId, createBatch, MAX_BATCH_BYTES, MAX_BATCH_RECORDS, type Batch } from './batch.js';

export interface BatchLimits {
  /** Default 500. */
  records?: number;
  /** Bytes of JSON; default 512 KiB. */
  bytes?: number;
}

/** Where records come from. Two reads of the same records at the same place give the same batch ids. */
export interface BatchSource {
  pipelineId: string;
  nodeId: string;
  /** The place in the source: a cursor before the page, an offset, a key the sender gave. */
  position: string;
  /** The position was made up and never comes again: the text need not be read to tell repeats. */
  once?: boolean;
}

export interface Split {
  batches: Batch[];
  /** Indexes of lines that no batch can take. */
  tooLarge: number[];
}

/**
 * Cuts lines of JSON into batches, in order. The id of each also covers its text: a page that is read again and has
 * meanwhile grown is no repeat.
 */
export function splitLines(source: BatchSource, lines: readonly string[], limits: BatchLimits = {}): Split {
  const { records: maxRecords = MAX_BATCH_RECORDS, bytes: maxBytes = MAX_BATCH_BYTES } = limits;
  const split: Split = { batches: [], tooLarge: [] };
  let part: string[] = [];
  let size = 0;
  const cut = (): void => {
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
    if (part.length === maxRecords || size + bytes > maxBytes) cut();
    part.push(line);
    size += bytes;
  }
  cut();
  return split;
}
