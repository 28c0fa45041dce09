import type {
  Clock,
  ConnectorError,
  DataRecord,
  JsonValue,
  Page,
  PageInput,
} from '@connector-frame/engine/connector-api';
import type { Queue, QueueMessage } from '../_shared/aws/queue.js';
import type { FormatOptions, Found } from '../_shared/formats/index.js';
import { PageBuilder } from '../_shared/objects/page-builder.js';
import { parseObject } from '../_shared/objects/parse-object.js';
import { isParquet, readParquet } from '../_shared/objects/parquet-rows.js';
import { readObject } from '../_shared/objects/read-object.js';
import { skipObject } from '../_shared/objects/skip-object.js';
import { ObjectError, type Listed, type ObjectStore } from '../_shared/objects/store.js';
import { isDue } from '../_shared/poll/schedule.js';
import { ContentError, type Compression } from '../_shared/unpack.js';
import { holdMessages } from './hold-messages.js';
import { recordsIn, type Announced, type ReadMessage } from './notifications.js';
import { QueueProgress } from './queue-progress.js';

/** A bucket that messages name. */
export interface AnnouncedStore extends ObjectStore {
  /** Returns the size of an object in bytes; `undefined` if there is none. */
  sizeOf(key: string, signal: AbortSignal): Promise<number | undefined>;
}

export interface QueueInputOptions {
  queue: Queue;
  /** Absent: messages contain the records. */
  objects?: {
    readMessage: ReadMessage;
    storeOf: (bucket: string, region: string | undefined) => AnnouncedStore;
    format: FormatOptions & { compression: Compression };
    matches: (key: string) => boolean;
    /** Adds where a record is from. */
    hasMetadata: boolean;
  };
  /** Path to the records in a message. */
  records?: string | undefined;
  /** As in cron. Absent: the queue is always read. */
  schedule?: string | undefined;
  /** Seconds for which received messages are hidden from other readers. */
  visibility: number;
  clock: Clock;
}

/** Number of times that a message is received before its object is skipped. */
const MAX_TRIES = 3;
const INTERVAL_MS = 1_000;
/** Interval for checking a schedule, in milliseconds. */
const SCHEDULE_CHECK_MS = 30_000;

/** Whether a message was read, or has to be received again. */
type Outcome = 'done' | 'later';

/**
 * Reads a queue, or the objects that its messages announce. Messages are deleted when their records are
 * delivered: the generator continues behind a page only then.
 */
export class QueueInput implements PageInput {
  readonly kind = 'pages';
  readonly intervalMs: number;
  /** Whether any object could be read with these credentials. */
  #hasRead = false;
  #deniedError: ConnectorError | undefined;
  readonly #options: QueueInputOptions;

  constructor(options: QueueInputOptions) {
    this.#options = options;
    this.intervalMs = options.schedule === undefined ? INTERVAL_MS : SCHEDULE_CHECK_MS;
  }

  async *pages(
    cursor: JsonValue | undefined,
    signal: AbortSignal,
    isRequested = false,
  ): AsyncGenerator<Page, void, void> {
    const { queue, schedule, visibility: seconds, clock } = this.#options;
    const progress = QueueProgress.read(cursor);
    const now = clock.now();
    if (schedule !== undefined && !isRequested && progress.ran !== undefined && !isDue(schedule, progress.ran, now))
      return;
    const page = new PageBuilder();
    this.#deniedError = undefined;
    for (;;) {
      const messages = await queue.receive(seconds, signal);
      if (messages.length === 0) break;
      const hold = holdMessages(queue, messages, { seconds, clock, signal });
      const done: string[] = [];
      let failure: unknown;
      try {
        for (const message of messages) {
          try {
            if ((yield* this.#read(message, page, progress, signal)) === 'done') done.push(message.handle);
          } catch (error) {
            failure = error;
            break;
          }
        }
        signal.throwIfAborted();
        if (!page.isEmpty || done.length > 0) yield page.take(progress);
        await queue.delete(done, signal);
      } finally {
        hold.release();
      }
      if (failure !== undefined) throw failure;
      if (this.#deniedError && !this.#hasRead) throw this.#deniedError;
    }
    if (schedule !== undefined) {
      progress.ran = now;
      yield page.take(progress);
    }
  }

  async *#read(
    message: QueueMessage,
    page: PageBuilder,
    progress: QueueProgress,
    signal: AbortSignal,
  ): AsyncGenerator<Page, Outcome, void> {
    const { objects, records } = this.#options;
    if (!objects) {
      if (progress.isDone(message.id)) return 'done';
      const found = recordsIn(message.body, records);
      if (found.length === 0) rejectMessage(message, page);
      for (const each of found) page.add(each);
      page.passed(message.body.length);
      progress.finish(message.id);
      if (page.isFull) yield page.take(progress);
      return 'done';
    }
    const announced = objects.readMessage(message.body);
    if (!announced) {
      rejectMessage(message, page);
      return 'done';
    }
    let outcome: Outcome = 'done';
    for (const each of announced) {
      if (!objects.matches(each.key)) continue;
      const id = JSON.stringify([each.bucket, each.key, each.version]);
      if (progress.isDone(id)) continue;
      const isLast = message.times >= MAX_TRIES;
      if ((yield* this.#readObject(each, id, isLast, page, progress, signal)) === 'later') outcome = 'later';
      else progress.finish(id);
    }
    return outcome;
  }

  async *#readObject(
    announced: Announced,
    id: string,
    isLast: boolean,
    page: PageBuilder,
    progress: QueueProgress,
    signal: AbortSignal,
  ): AsyncGenerator<Page, Outcome, void> {
    const { objects, clock } = this.#options;
    if (!objects) return 'done';
    const { bucket, key, region, etag } = announced;
    const object: Listed = { key, etag, time: clock.now(), size: announced.size ?? 0 };
    try {
      const store = objects.storeOf(bucket, region);
      object.size = announced.size ?? (await store.sizeOf(key, signal)) ?? 0;
      const before = progress.itemsOf(id);
      let items = 0;
      for await (const found of this.#contentOf(store, object, page, signal)) {
        this.#hasRead = true;
        for (const each of found) {
          items += 1;
          if (items <= before) continue;
          page.add(objects.hasMetadata ? withOrigin(each, announced) : each);
          if (!page.isFull) continue;
          progress.setCurrent(id, items);
          yield page.take(progress);
        }
      }
      return 'done';
    } catch (error) {
      return this.#outcomeOf(error, object, isLast, page);
    }
  }

  async *#contentOf(
    store: ObjectStore,
    object: Listed,
    page: PageBuilder,
    signal: AbortSignal,
  ): AsyncGenerator<Found[], void, void> {
    const { objects } = this.#options;
    if (!objects || object.size === 0) return;
    if (isParquet(object.key)) {
      for await (const rows of readParquet(store, object, signal)) yield rows.map((record) => ({ record }));
      return;
    }
    for await (const { found, length } of parseObject(readObject(store, object, signal), objects.format)) {
      page.passed(length);
      yield found;
    }
  }

  /** @throws the error, if it does not concern this object alone */
  #outcomeOf(error: unknown, object: Listed, isLast: boolean, page: PageBuilder): Outcome {
    if (error instanceof ObjectError) {
      const { fault, asFailure } = error;
      // The new content has its own message.
      if (fault === 'gone' || fault === 'replaced') return 'done';
      if (fault === 'denied') {
        this.#deniedError = asFailure;
        if (!isLast || !this.#hasRead) return 'later';
      }
      skipObject(object, fault, page);
      return 'done';
    }
    if (!(error instanceof ContentError)) throw error;
    if (!isLast) return 'later';
    skipObject(object, error.reason, page);
    return 'done';
  }
}

function rejectMessage({ id, body }: QueueMessage, page: PageBuilder): void {
  page.reject({ reason: 'unknown_message', found: { message_id: id, body: body.slice(0, 2_000) } });
  page.note('unknown_message', 'A message was not one that this type reads. It is in the dead letters.');
}

function withOrigin(found: Found, { bucket, key }: Announced): Found {
  if (!('record' in found)) return found;
  const record: DataRecord = { ...found.record, s3_object: { bucket, key } };
  return { record };
}
