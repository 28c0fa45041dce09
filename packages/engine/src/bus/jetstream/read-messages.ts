import { setTimeout as sleep } from 'node:timers/promises';
import type { Batch } from '../../connector-api/batch.js';
import type { Delivery } from '../bus.js';
import type { RecordRange } from '../shared/lost-records.js';
import { decodeBody, decodeMeta, NO_DROPS, type MessageMeta } from './envelope.js';
import type { MessageCache } from './message-cache.js';
import type { ConsumerPosition } from './registry.js';
import type { Received, Shard, Shards } from './shards.js';
import { ahead } from './stream-consumer.js';
import type { StreamLog } from './stream-log.js';

export interface Reading {
  consumer: string;
  log: StreamLog;
  shards: Shards;
  shard: Shard;
  subject: string;
  cache: MessageCache;
  from: ConsumerPosition;
  signal: AbortSignal;
  /** Whether the read should end. */
  ended(): boolean;
  /** Resolves when more batches may be stored or the read should end. */
  waitForMore(): Promise<void>;
  ack(position: ConsumerPosition): Promise<void>;
  /** Continues at `to` once everything up to `after` is acknowledged. */
  jump(after: number, to: ConsumerPosition): void;
  onLost(range: RecordRange): void;
  /** A message was read. */
  onRead(seq: number, meta: MessageMeta): void;
}

interface Message {
  readonly seq: number;
  readonly meta: MessageMeta;
  batches(): readonly Batch[];
}

/** Milliseconds before a message that is not there yet, or a server that is away, is tried again. */
const LATE_MS = 20;
const AWAY_MS = 250;
/** Attempts until the leader is asked instead of any replica. */
const PATIENCE = 3;

/** Yields batches from a position onward, except those dropped for this consumer. */
export async function* readMessages(reading: Reading): AsyncGenerator<Delivery, void, void> {
  const { consumer, log, shard, cache, from } = reading;
  let at = from;
  /** The last batch that was delivered. */
  let delivered = from.number;
  let seq = from.epoch === shard.epoch ? from.seq : 0;
  let misses = 0;
  /** Everything that is stored was read, because batches seemed to be missing. */
  let isRescanned = false;
  let early: { seq: number; message: Promise<Received | undefined> } | undefined;

  while (!reading.ended()) {
    const { tail } = log;
    if (ahead(tail, consumer, at).batches === 0) {
      await reading.waitForMore();
      continue;
    }
    let message: Message | undefined;
    const cached = cache.after(at.number);
    if (cached) message = { ...cached, batches: () => cached.batches };
    else {
      const isExact = misses >= PATIENCE;
      const fetched = await fetch(reading, seq, isExact, early?.seq === seq ? early.message : undefined);
      early = undefined;
      if (reading.ended()) return;
      if (fetched === 'away') continue;
      if (!fetched) {
        misses += 1;
        if (!isExact) await pause(LATE_MS, reading.signal);
        else if (!isRescanned) [seq, isRescanned] = [0, true];
        else if (log.tail === tail) {
          // The last messages were deleted by someone else.
          const end = endOf(reading, tail);
          reading.onLost(endingAt(tail.records, ahead(tail, consumer, at).records));
          reading.jump(delivered, end);
          at = end;
        }
        continue;
      }
      message = messageOf(fetched);
      if (!message) {
        seq = fetched.seq + 1;
        continue;
      }
    }
    misses = 0;
    const { meta } = message;
    seq = message.seq + 1;
    if (meta.number + meta.batches.length <= at.number) continue;
    if (meta.number > at.number) {
      const start = positionAt(reading, message.seq, meta);
      const gone = ahead({ ...meta, seq: 0 }, consumer, at);
      // After JetStream has lost its last messages, new ones have the sequences of those.
      if (gone.batches > 0 && !isRescanned) {
        [seq, isRescanned] = [0, true];
        continue;
      }
      if (gone.batches > 0) {
        reading.onLost(endingAt(meta.records, gone.records));
        reading.jump(delivered, start);
      }
      at = start;
    }
    if (!cache.after(meta.number + meta.batches.length) && log.tail.seq > message.seq) {
      const next = fetch(reading, seq, false);
      early = { seq, message: next.then((found) => (found === 'away' ? undefined : found)) };
    }
    isRescanned = false;
    reading.onRead(message.seq, meta);
    const batches = message.batches();
    let position = positionAt(reading, message.seq, meta);
    for (const [index, entry] of meta.batches.entries()) {
      const isDropped = entry.droppedFor.includes(consumer);
      position = after(position, entry, isDropped);
      if (position.number <= at.number) continue;
      at = position;
      const batch = batches[index];
      if (isDropped || !batch) continue;
      if (reading.ended()) return;
      delivered = position.number;
      const done = position;
      yield {
        sequence: done.number,
        batch,
        publishedAt: meta.publishedAt,
        ack: () => reading.ack(done),
      };
    }
  }
}

/** Reads the next message. `away`: the server did not respond. Ends early when the signal is aborted. */
async function fetch(
  { shards, shard, subject, signal }: Reading,
  seq: number,
  isExact: boolean,
  early?: Promise<Received | undefined>,
): Promise<Received | undefined | 'away'> {
  const found = (early ?? shards.next(shard, subject, seq, isExact)).catch(async () => {
    await pause(AWAY_MS, signal);
    return 'away' as const;
  });
  if (signal.aborted) return undefined;
  let stop: (() => void) | undefined;
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([found, aborted]);
  } finally {
    if (stop) signal.removeEventListener('abort', stop);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

function messageOf({ seq, meta: text, body }: Received): Message | undefined {
  const meta = decodeMeta(text);
  return meta && { seq, meta, batches: () => decodeBody(meta, body) };
}

/** Returns the last `count` records before record number `end`. */
const endingAt = (end: number, count: number): RecordRange => [end - count, end];

/** Returns the position before the first batch of a message. */
function positionAt({ consumer, shard }: Reading, seq: number, meta: MessageMeta): ConsumerPosition {
  const { number, records, bytes, drops } = meta;
  const { dropping: _, ...dropped } = drops[consumer] ?? NO_DROPS;
  return { number, records, bytes, dropped, seq, epoch: shard.epoch };
}

/** Returns the position at the end of the stream. */
function endOf({ consumer, shard }: Reading, tail: StreamLog['tail']): ConsumerPosition {
  const { number, records, bytes, drops, seq } = tail;
  const { dropping: _, ...dropped } = drops[consumer] ?? NO_DROPS;
  return { number, records, bytes, dropped, seq, epoch: shard.epoch };
}

function after(
  position: ConsumerPosition,
  { records, bytes }: MessageMeta['batches'][number],
  isDropped: boolean,
): ConsumerPosition {
  const { dropped } = position;
  return {
    ...position,
    number: position.number + 1,
    records: position.records + records,
    bytes: position.bytes + bytes,
    dropped: isDropped
      ? {
          batches: dropped.batches + 1,
          records: dropped.records + records,
          bytes: dropped.bytes + bytes,
        }
      : dropped,
  };
}
