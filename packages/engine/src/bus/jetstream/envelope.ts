import { createBatch, type Batch } from '../../connector-api/batch.js';
import { encodeLines } from '../../connector-api/encode-lines.js';
import type { Waiting } from '../bus.js';

/** Header with the contents of a message as JSON. */
export const META_HEADER = 'Cf-Batches';

/** A batch inside a message. */
export interface BatchEntry {
  readonly id: string;
  readonly records: number;
  /** Size that counts towards the budgets. */
  readonly bytes: number;
  /** Consumers that do not receive it. */
  readonly droppedFor: readonly string[];
}

/** What was dropped for a consumer, and whether its new batches are being dropped. */
export interface Drops extends Readonly<Waiting> {
  readonly dropping: boolean;
}

/**
 * Contents of a message. All counts are those before its first batch, cumulative since the stream
 * began. As every message names its predecessor (`Nats-Expected-Last-Subject-Sequence`), the last
 * one tells the size of the whole stream.
 */
export interface MessageMeta {
  /** Batches, records and bytes before this message. */
  readonly number: number;
  readonly records: number;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly publishedAt: number;
  /** The latest checkpoint, and the messages and bytes between it and this message. */
  readonly checkpoint: { readonly seq: number; readonly messages: number; readonly bytes: number };
  readonly drops: Readonly<Record<string, Drops>>;
  /** Empty in a checkpoint, whose body is the text of `RecentIds`. */
  readonly batches: readonly BatchEntry[];
  /** All of its batches are dropped for all consumers, so that the body is empty. */
  readonly isEmpty: boolean;
}

export const isCheckpoint = ({ batches }: MessageMeta): boolean => batches.length === 0;

/** Encodes the header. Arrays rather than objects: it is sent with every message. */
export function encodeMeta(meta: MessageMeta): string {
  const { checkpoint } = meta;
  return JSON.stringify([
    [meta.number, meta.records, meta.bytes, meta.publishedAt, meta.isEmpty ? 1 : 0],
    [checkpoint.seq, checkpoint.messages, checkpoint.bytes],
    meta.batches.map(({ id, records, bytes, droppedFor }) => [id, records, bytes, ...droppedFor]),
    Object.entries(meta.drops).map(([name, { batches, records, bytes, dropping }]) => [
      name,
      batches,
      records,
      bytes,
      dropping ? 1 : 0,
    ]),
  ]).replaceAll(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Decodes the header. Returns `undefined` if it is missing or invalid. */
export function decodeMeta(text: string): MessageMeta | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const [head, checkpoint, batches, drops] = rows(value);
  const [number, records, bytes, publishedAt, isEmpty] = numbers(head);
  const [seq, messages, since] = numbers(checkpoint);
  if (number === undefined || records === undefined || bytes === undefined || publishedAt === undefined)
    return undefined;
  return {
    number,
    records,
    bytes,
    publishedAt,
    isEmpty: isEmpty === 1,
    checkpoint: { seq: seq ?? 0, messages: messages ?? 0, bytes: since ?? 0 },
    batches: rows(batches).map((row) => {
      const [id, count, size, ...droppedFor] = rows(row);
      return {
        id: String(id),
        records: Number(count),
        bytes: Number(size),
        droppedFor: droppedFor.map(String),
      };
    }),
    drops: Object.fromEntries(
      rows(drops).map((row) => {
        const [name, count, ofRecords, ofBytes, dropping] = rows(row);
        const amounts = {
          batches: Number(count),
          records: Number(ofRecords),
          bytes: Number(ofBytes),
        };
        return [String(name), { ...amounts, dropping: dropping === 1 }];
      }),
    ),
  };
}

const rows = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const numbers = (value: unknown): number[] => rows(value).map(Number);

/** What a batch counts in addition to its lines and its id, as in the embedded bus. */
const OVERHEAD = 48;

/** Returns the size of a batch that counts towards the budgets. */
export const sizeOf = ({ id, lines, bytes }: Batch): number => bytes + lines.length + Buffer.byteLength(id) + OVERHEAD;

/** Encodes the records of the batches, one per line. */
export function encodeBody(batches: readonly Batch[]): Buffer {
  const [first] = batches;
  if (first && batches.length === 1) return encodeLines(first, { between: '\n' });
  return Buffer.concat(batches.map((batch) => encodeLines(batch, { between: '\n', after: '\n' })));
}

/** Splits a body into the batches of its message. Batches that are dropped for all have no lines. */
export function decodeBody(meta: MessageMeta, body: Uint8Array): Batch[] {
  if (meta.isEmpty) return meta.batches.map(({ id }) => createBatch(id, [], 0));
  const lines = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8').split('\n');
  let from = 0;
  return meta.batches.map(({ id, records, bytes }) => {
    const own = lines.slice(from, (from += records));
    return createBatch(id, own, bytes - records - Buffer.byteLength(id) - OVERHEAD);
  });
}

/** Returns the state of the stream after a message. */
export function stateAfter(meta: MessageMeta): Pick<MessageMeta, 'number' | 'records' | 'bytes' | 'drops'> {
  let { records, bytes } = meta;
  const drops: Record<string, Drops> = { ...meta.drops };
  for (const batch of meta.batches) {
    records += batch.records;
    bytes += batch.bytes;
    for (const name of batch.droppedFor) drops[name] = addDrop(drops[name], batch);
  }
  return { number: meta.number + meta.batches.length, records, bytes, drops };
}

export const NO_DROPS: Drops = { batches: 0, records: 0, bytes: 0, dropping: false };

/** Returns the counts with one more batch. `dropping` stays. */
export const addDrop = (drops: Drops = NO_DROPS, { records, bytes }: BatchEntry): Drops => ({
  batches: drops.batches + 1,
  records: drops.records + records,
  bytes: drops.bytes + bytes,
  dropping: drops.dropping,
});
