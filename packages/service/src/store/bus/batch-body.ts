import { createBatch, type Batch } from '@connector-frame/engine';

/** What a row takes besides its records, about. */
const ROW_BYTES = 48;

/** Returns the size of a batch as stored: records with their line ends, id, row. */
export const sizeOf = ({ bytes, lines, id }: Batch): number => bytes + lines.length + Buffer.byteLength(id) + ROW_BYTES;

/** Encodes the records of a batch. Lines contain no line breaks. */
export const encodeBody = (lines: readonly string[]): Buffer => Buffer.from(lines.join('\n'));

/** Decodes a stored batch. */
export const decodeBatch = ({ id, body, recordBytes }: { id: string; body: Buffer; recordBytes: number }): Batch =>
  createBatch(id, body.toString('utf8').split('\n'), recordBytes);
