import { createBatch } from '../../connector-api/batch.js';
import type { Delivery } from '../bus.js';
import type { FrameHead } from './frame.js';
import type { BatchCache } from './batch-cache.js';
import type { FileHandlePool } from '../../files/idle-file.js';
import { isErrno } from '../../files/is-errno.js';
import type { BatchRange, DroppedBatches } from './dropped-batches.js';
import { FrameReader, type ReadFrame } from './frame-reader.js';
import type { Position } from './position-file.js';
import type { Damage, Segment, Segments } from './segments.js';
import type { RecordRange } from '../shared/lost-records.js';

export interface Reading {
  stream: string;
  segments: Segments;
  from: Position;
  /** Whether the read should end. */
  ended(): boolean;
  /** Resolves when more data may be available or the read should end. */
  waitForMore(): Promise<void>;
  ack(done: Position): Promise<void>;
  /** Continues at `to` once everything up to `after` is acknowledged. */
  jump(after: number, to: Position): Promise<void>;
  /** The batches that this consumer does not receive. */
  dropped: DroppedBatches;
  onDamage(damage: Damage): void;
  onLost(range: RecordRange): void;
  /** Open readers. The stream closes those that abandoned iterators leave open. */
  readers: Set<FrameReader>;
  files: FileHandlePool;
  cache: BatchCache;
}

/**
 * Yields batches from a position onward, except those dropped for this consumer. Reports damaged
 * bytes and missing files and skips them, so that one bad byte does not block the rest.
 */
export async function* readFrom(reading: Reading): AsyncGenerator<Delivery, void, void> {
  const { segments, from, dropped } = reading;
  let current: { segment: Segment; reader: FrameReader } | undefined;
  let { offset, sequence, records } = from;
  /** The last batch that was delivered. */
  let delivered = sequence;
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
  /** Reports the records between the last known batch and `end` that were not dropped. */
  const reportGap = (end: { sequence: number; records: number }): void => {
    if (end.sequence <= sequence || end.records <= records) return;
    for (const range of notDropped(dropped.ranges, records, end.records)) reading.onLost(range);
  };
  /** Waits for more, after reporting what is missing at the end of the stream. */
  const atEnd = async (at: { segment: number; offset: number }): Promise<void> => {
    const end = { sequence: segments.lastSequence, records: segments.records };
    reportGap(end);
    if (end.sequence <= sequence || dropped.has(end.sequence)) return reading.waitForMore();
    ({ sequence, records } = end);
    return reading.jump(delivered, { ...end, ...at });
  };
  try {
    while (!reading.ended()) {
      let segment = current?.segment;
      // A segment that holds only dropped batches may be deleted while it is being read.
      if (!segment || !segments.list.includes(segment)) {
        const at = segment?.first ?? from.segment;
        segment = segments.list.find(({ first }) => first >= at);
        if (!segment) {
          await atEnd({ segment: segments.lastSequence + 1, offset: 0 });
          continue;
        }
        await openSegment(segment, segment.first === from.segment && !current ? from.offset : 0);
      }
      const reader = current?.reader;
      if (!reader) continue;
      const cached = reading.cache.at(sequence + 1, segment.first, offset);
      if (cached) {
        ({ offset, sequence, records } = cached.done);
        if (dropped.has(sequence)) continue;
        delivered = sequence;
        const { batch, publishedAt, done } = cached;
        yield { sequence, batch, publishedAt, ack: () => reading.ack(done) };
        continue;
      }
      const limit = segment.missing ? offset : segment.size;
      const read = await readFrame(reader, segments, segment, offset, limit);
      if (read.found === 'frame') {
        offset = read.end;
        const { head } = read;
        if (head.kind === 'ids' || head.sequence <= from.sequence) continue;
        reportGap({ sequence: head.sequence - 1, records: head.recordsBefore });
        ({ sequence } = head);
        records = head.recordsBefore + head.records;
        if (dropped.has(sequence)) continue;
        delivered = sequence;
        yield delivery(reading, segment, head, read.body, offset);
      } else if (read.found === 'end') {
        if (offset < segment.size && !segment.missing) continue;
        const currentFirst = segment.first;
        const following = nextToRead(segments.list, currentFirst, dropped);
        if (following) await openSegment(following, 0);
        else await atEnd({ segment: segment.first, offset });
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

/** Reads a frame. The end of the data if the file is missing. */
async function readFrame(
  reader: FrameReader,
  segments: Segments,
  segment: Segment,
  offset: number,
  limit: number,
): Promise<ReadFrame> {
  try {
    return await reader.frame(offset, limit);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    // It may have been deleted in the meantime, because nobody needs it anymore.
    if (segments.list.includes(segment)) segments.markMissing(segment);
    return { found: 'end' };
  }
}

/** Returns the next segment after `first`; skips those in which everything was dropped. */
function nextToRead(list: readonly Segment[], first: number, dropped: DroppedBatches): Segment | undefined {
  return list.find((segment, index) => {
    const following = list[index + 1];
    return segment.first > first && !(following && dropped.covers(segment.first, following.first));
  });
}

/** Returns the record numbers from `from` up to `to` that are in no range. */
function notDropped(ranges: readonly BatchRange[], from: number, to: number): RecordRange[] {
  const parts: RecordRange[] = [];
  let at = from;
  for (const { recordsBefore, records } of ranges) {
    if (recordsBefore > at && at < to) parts.push([at, Math.min(recordsBefore, to)]);
    at = Math.max(at, records);
  }
  if (at < to) parts.push([at, to]);
  return parts;
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
