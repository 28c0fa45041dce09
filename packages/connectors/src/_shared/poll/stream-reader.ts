import { createHash } from 'node:crypto';
import type { PollStream } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { unexpected } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import type { PollResponse, PollClient } from './client.js';
import { nextPosition, pageCall } from './pagination.js';
import { PollError } from './poll-error.js';
import { isSelected, recordsIn } from './records.js';
import { Deduplicator } from './deduplicator.js';
import type { StreamState } from './state.js';
import { seenLimit, valuesOf, type StreamPage, type StreamContext } from './stream-context.js';
import { windowEnd, firstWindowStart, nextWindowStart } from './time-window.js';
import { parseTime } from './times.js';

/** Statuses with which vendors reject an expired page token or link. */
const EXPIRED_STATUSES = [400, 404, 410, 422];
const MAX_EMPTY = 300;

/**
 * Reads one stream page by page until no more records are available. Each page carries the state to
 * resume from once it is delivered.
 */
export class StreamReader {
  #state: StreamState;
  /** The window ends before now, because the vendor limits the length of a window. */
  #cut = false;
  readonly #context: StreamContext;

  constructor(context: StreamContext, before: StreamState = {}) {
    this.#context = context;
    const { stream, client, config, startedAt } = context;
    const url = client.url({ path: stream.path }, valuesOf(context, {}));
    const of = createHash('sha256').update(url.href).digest('base64url').slice(0, 12);
    this.#state = before.of === of ? { ...before } : { of };
    const { kind } = stream.cursor;
    if (kind === 'time' || kind === 'link') this.#state.since ??= firstWindowStart(stream.cursor, config, startedAt);
  }

  async *read(signal: AbortSignal): AsyncGenerator<StreamPage, void, void> {
    do {
      // Keep the end of a window that was partly read: a new end would change its pages.
      if (this.#state.place === undefined) this.#openWindow();
      else this.#cut = false;
      yield* this.#readWindow(signal);
    } while (this.#cut && !signal.aborted);
  }

  #openWindow(): void {
    const { place: _place, until: _until, ...state } = this.#state;
    const now = this.#context.clock.now();
    const until = state.since === undefined ? undefined : windowEnd(this.#context.stream, state.since, now);
    this.#cut = until !== undefined && until < now;
    this.#state = { ...state, ...(until !== undefined && { until }) };
  }

  async *#readWindow(signal: AbortSignal): AsyncGenerator<StreamPage, void, void> {
    const { stream, client } = this.#context;
    const { cursor, records: shape, page_size: pageSize } = stream;
    const deduplicator = new Deduplicator(this.#state.seen ?? [], shape.id, seenLimit(this.#context));
    const visited = new Set<string | undefined>();
    let position = this.#state.place;
    let kept = position !== undefined;
    for (let empty = 0; !signal.aborted;) {
      const response = await this.#request(position, signal, kept);
      kept = false;
      if (response === 'expired') {
        position = undefined;
        this.#openWindow();
        continue;
      }
      const found = recordsIn(shape, response.body);
      if (!found) throw new PollError(unexpected(client.subject), 'retry');
      visited.add(position);
      empty = found.length === 0 ? empty + 1 : 0;
      const next = this.#next(response, found, position);
      const done = next === undefined || isLast(stream, found.length);
      const repeats = !done && (visited.has(next) || empty > MAX_EMPTY);
      const records = this.#newRecords(found, deduplicator);
      const resumable = !repeats && !deduplicator.counted && !('resume' in cursor && cursor.resume === 'again');
      this.#state = done ? this.#closeWindow(next, deduplicator) : { ...this.#state, seen: deduplicator.entries() };
      if (!done) {
        if (resumable) this.#state.place = next;
        else delete this.#state.place;
      }
      yield { records, state: this.#state };
      if (repeats) throw repeatedPages(client, pageSize);
      if (done) return;
      position = next;
    }
  }

  /** Requests a page. `expired`: the page token came from an earlier run (`kept`) and has expired. */
  async #request(position: string | undefined, signal: AbortSignal, kept: boolean): Promise<PollResponse | 'expired'> {
    const { stream, client } = this.#context;
    const first = client.request(stream, valuesOf(this.#context, this.#state, position));
    const call = pageCall(stream.pagination, client, first, position);
    if (!call) return 'expired';
    try {
      return await client.send(call, signal);
    } catch (error) {
      const expired =
        error instanceof PollError && error.status !== undefined && EXPIRED_STATUSES.includes(error.status);
      if (expired && kept && stream.cursor.kind !== 'id') return 'expired';
      throw error;
    }
  }

  #next(response: PollResponse, found: readonly DataRecord[], position: string | undefined): string | undefined {
    const { stream, client } = this.#context;
    if (stream.cursor.kind !== 'id')
      return nextPosition(stream.pagination, client, {
        response,
        count: found.length,
        pageSize: stream.page_size,
        position,
      });
    const last = found.at(-1);
    const id: unknown = typeof stream.records.id === 'string' ? getAt(last, stream.records.id) : undefined;
    return typeof id === 'string' || typeof id === 'number' ? String(id) : position;
  }

  /** Returns the records not delivered before, and updates the newest time in the state. */
  #newRecords(found: readonly DataRecord[], deduplicator: Deduplicator): DataRecord[] {
    const { stream, config } = this.#context;
    const { cursor, records: shape } = stream;
    const selected = found.filter((record) => isSelected(shape, config.settings, record));
    if (cursor.kind !== 'time' && cursor.kind !== 'link') return selected;
    const { since = 0 } = this.#state;
    const exact = cursor.kind !== 'time' || cursor.whole_days !== true;
    const timed = selected.map((record) => {
      const time = shape.time === undefined ? undefined : parseTime(getAt(record, shape.time), shape.time_form);
      return { record, time };
    });
    const newest = timed.reduce((latest, { time }) => Math.max(latest, time ?? 0), this.#state.newest ?? 0);
    if (newest > 0) this.#state = { ...this.#state, newest };
    // For deduplication, a record without a time gets the newest time so far, or the current time.
    const timeless = newest > 0 ? newest : this.#context.clock.now();
    return timed.flatMap(({ record, time }) =>
      (exact || time === undefined || time >= since) && deduplicator.isNew(record, time ?? timeless) ? [record] : [],
    );
  }

  /** The state after a window was read completely. */
  #closeWindow(next: string | undefined, deduplicator: Deduplicator): StreamState {
    const { cursor } = this.#context.stream;
    const { of, newest } = this.#state;
    const since = nextWindowStart(cursor, this.#state, { now: this.#context.clock.now(), cut: this.#cut });
    const stays = cursor.kind === 'link' || cursor.kind === 'id';
    return {
      ...(of !== undefined && { of }),
      ...(since !== undefined && { since, seen: deduplicator.entries(since) }),
      ...(newest !== undefined && { newest }),
      ...(stays && next !== undefined && { place: next }),
    };
  }
}

/**
 * Whether a page is the last one although it has a next link or id; a later run resumes from there.
 */
function isLast({ cursor, page_size: pageSize }: PollStream, count: number): boolean {
  if (cursor.kind === 'link') return count === 0;
  return cursor.kind === 'id' && count < pageSize;
}

function repeatedPages({ subject }: PollClient, pageSize: number): PollError {
  const message = `${subject.product} returned pages that repeat (${pageSize} records each).`;
  return new PollError(failed('unexpected_answer', message), 'retry');
}
