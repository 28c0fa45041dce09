import { createBatch } from '../../connector-api/batch.js';
import type { Delivery } from '../bus.js';
import type { FrameHead } from './frame.js';
import type { BatchCache } from './batch-cache.js';
import type { FileHandlePool } from '../../files/idle-file.js';
import { FrameReader } from './frame-reader.js';
import type { Position } from './position-file.js';
import type { Damage, Segment, Segments } from './segments.js';

export interface Reading {
  stream: string;
  segments: Segments;
  from: Position;
  /** Whether the read should end. */
  ended(): boolean;
  /** Resolves when more data may be available or the read should end. */
  waitForMore(): Promise<void>;
  ack(done: Position): Promise<void>;
  onDamage(damage: Damage): void;
  /** Open readers. The stream closes those that abandoned iterators leave open. */
  readers: Set<FrameReader>;
  files: FileHandlePool;
  cache: BatchCache;
}

/**
 * Yields batches from a position onward. Reports damaged bytes and skips them, so that one bad byte
 * does not block the rest.
 */
export async function* readFrom(reading: Reading): AsyncGenerator<Delivery, void, void> {
  const { segments, from } = reading;
  let current: { segment: Segment; reader: FrameReader } | undefined;
  let offset = from.offset;
  let { sequence } = from;
  const closeReader = async (): Promise<void> => {
    const reader = current?.reader;
    current = undefined;
    if (reader && reading.readers.delete(reader)) await reader.close();
  };
  const openSegment = async (segment: Segment, to: number): Promise<void> => {
    await closeReader();
    const reader = new FrameReader(segment.path, reading.files);
    reading.readers.add(reader);
    current = { segment, reader };
    offset = to;
  };
  try {
    while (!reading.ended()) {
      let segment = current?.segment;
      if (!segment) {
        segment = segments.list.find(({ first }) => first >= from.segment);
        if (!segment) {
          await reading.waitForMore();
          continue;
        }
        await openSegment(segment, segment.first === from.segment ? from.offset : 0);
      }
      const reader = current?.reader;
      if (!reader) continue;
      const cached = reading.cache.at(sequence + 1, segment.first, offset);
      if (cached) {
        ({ offset, sequence } = cached.done);
        const { batch, publishedAt, done } = cached;
        yield { sequence, batch, publishedAt, ack: () => reading.ack(done) };
        continue;
      }
      const limit = segment.size;
      const read = await reader.frame(offset, limit);
      if (read.found === 'frame') {
        offset = read.end;
        if (read.head.kind === 'ids' || read.head.sequence <= from.sequence) continue;
        ({ sequence } = read.head);
        yield delivery(reading, segment, read.head, read.body, offset);
      } else if (read.found === 'end') {
        if (offset < segment.size) continue;
        const currentFirst = segment.first;
        const following = segments.list.find(({ first }) => first > currentFirst);
        if (following) await openSegment(following, 0);
        else await reading.waitForMore();
      } else {
        const next = (await reader.next(offset + 1, limit)) ?? limit;
        const name = segment.path.slice(-20);
        reading.onDamage({ stream: reading.stream, segment: name, offset, bytes: next - offset, kind: 'skipped' });
        offset = next;
      }
    }
  } finally {
    await closeReader();
  }
}

function delivery(reading: Reading, segment: Segment, head: FrameHead, body: Buffer, offset: number): Delivery {
  const [id = '', ...lines] = body.toString('utf8').split('\n');
  const { sequence, publishedAt } = head;
  const done = { sequence, segment: segment.first, offset, records: head.recordsBefore + head.records };
  return {
    sequence,
    publishedAt,
    batch: createBatch(id, lines, head.bodyLength - Buffer.byteLength(id) - lines.length),
    ack: () => reading.ack(done),
  };
}
