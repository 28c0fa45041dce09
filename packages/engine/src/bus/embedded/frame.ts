import { crc32 } from 'node:zlib';
import type { Batch } from '../../connector-api/batch.js';
import { encodeLines } from '../../connector-api/encode-lines.js';

/**
 * `batch` holds records; `ids` holds the ids of earlier batches, so that duplicates are detected
 * across segments.
 */
export type FrameKind = 'batch' | 'ids';

export interface FrameHead {
  kind: FrameKind;
  bodyLength: number;
  /** Records in this frame, and in all earlier frames of the stream. */
  records: number;
  recordsBefore: number;
  sequence: number;
  /** Milliseconds since the epoch. */
  publishedAt: number;
  bodySum: number;
}

/**
 * Bytes of a frame's head: magic, kind, lengths, numbers, checksum of the body, checksum of the
 * head itself.
 */
export const HEAD_BYTES = 48;
/**
 * A head with a larger body length is invalid. The largest body has 512 KiB of records, their line
 * ends and an id.
 */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
export const MAGIC = Buffer.from('CFs1');

const kinds: readonly FrameKind[] = ['batch', 'ids'];

/** Placeholder for the head before a body. */
const BLANK_HEAD = ' '.repeat(HEAD_BYTES);

type Numbers = Pick<FrameHead, 'recordsBefore' | 'sequence' | 'publishedAt'>;

/** Encodes a batch as a frame: head, id, lines. */
export function batchFrame(batch: Batch, numbers: Numbers): Buffer {
  const frame = encodeLines(batch, { before: `${BLANK_HEAD}${batch.id}\n`, between: '\n' });
  return sealFrame({ kind: 'batch', records: batch.lines.length, ...numbers }, frame);
}

/** Encodes the text of `RecentIds` as a frame. */
export function idsFrame(text: string, numbers: Numbers): Buffer {
  return sealFrame({ kind: 'ids', records: 0, ...numbers }, Buffer.from(BLANK_HEAD + text));
}

/** Fills in the placeholder for the head at the start of `frame`. */
function sealFrame(head: Omit<FrameHead, 'bodyLength' | 'bodySum'>, frame: Buffer): Buffer {
  const bodyLength = frame.length - HEAD_BYTES;
  MAGIC.copy(frame);
  frame.writeUInt32LE(kinds.indexOf(head.kind), 4);
  frame.writeUInt32LE(bodyLength, 8);
  frame.writeUInt32LE(head.records, 12);
  // Integers below 2^53 are exact as doubles.
  frame.writeDoubleLE(head.sequence, 16);
  frame.writeDoubleLE(head.recordsBefore, 24);
  frame.writeDoubleLE(head.publishedAt, 32);
  frame.writeUInt32LE(crc32(frame.subarray(HEAD_BYTES)), 40);
  frame.writeUInt32LE(crc32(frame.subarray(0, 44)), 44);
  return frame;
}

/** Decodes the head at the start of `bytes`. Returns `undefined` if it is missing or invalid. */
export function decodeHead(bytes: Buffer): FrameHead | undefined {
  if (bytes.length < HEAD_BYTES || !bytes.subarray(0, 4).equals(MAGIC)) return undefined;
  if (crc32(bytes.subarray(0, 44)) !== bytes.readUInt32LE(44)) return undefined;
  const kind = kinds[bytes.readUInt32LE(4)];
  const bodyLength = bytes.readUInt32LE(8);
  if (!kind || bodyLength > MAX_BODY_BYTES) return undefined;
  return {
    kind,
    bodyLength,
    records: bytes.readUInt32LE(12),
    sequence: bytes.readDoubleLE(16),
    recordsBefore: bytes.readDoubleLE(24),
    publishedAt: bytes.readDoubleLE(32),
    bodySum: bytes.readUInt32LE(40),
  };
}

export const bodyFits = (head: FrameHead, body: Buffer): boolean => crc32(body) === head.bodySum;
