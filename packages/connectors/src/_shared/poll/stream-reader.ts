import { createHash } from 'node:crypto';
import type { PollRequest, PollStream } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { unexpected } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import type { PollResponse, PollClient } from './client.js';
import { nextPosition, pageCall } from './pagination.js';
import { PollError } from './poll-error.js';
import { isSelected, recordsOf } from './records.js';
import { Deduplicator } from './deduplicator.js';
import type { StreamState } from './state.js';
import { seenLimit, valuesOf, type StreamPage, type StreamContext } from './stream-context.js';
import {
  CLOCK_SKEW_MS,
  correctedStart,
  firstWindowStart,
  newestOf,
  nextWindowStart,
  notBefore,
  overlapOf,
  retentionFloor,
  windowEnd,
} from './time-window.js';
import { parseTime } from './times.js';

/** Statuses with which vendors reject an expired page token or link. */
const EXPIRED_STATUSES = [400, 404, 410, 422];
const MAX_EMPTY = 300;
/** Coarsest unit of a requested time, other than a day: those are filtered. */
const ROUNDING_MS = 1_000;

/**
 * Reads one stream page by page until no more records are available. Each page carries the state to
 * resume from once it is delivered.
 */
export class StreamReader {
  #state: StreamState;
  /** The window ends before now, because the vendor limits the length of a window. */
  #cut = false;
  /**
   * Start of the window before it is corrected by a clock; `undefined` for the first one, which
   * depends on a clock unless it is configured.
   */
  #start: number | undefined;
  /** Records of the window are newer than now. */
  #ahead = false;
  readonly #context: StreamContext;

  constructor(context: StreamContext, before: StreamState = {}) {
    this.#context = context;
    const { stream, client, config, startedAt } = context;
    const url = client.url(addressPart(stream), valuesOf(context, {}));
    const of = createHash('sha256').update(url.href).digest('base64url').slice(0, 12);
    this.#state = before.of === of ? { ...before } : { of };
    const { kind } = stream.cursor;
    this.#start = this.#state.since;
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
    const { place: _place, until: _until, since: previous, ...state } = this.#state;
    const { stream, config, startedAt, client } = this.#context;
    const { vendorClock } = client;
    const now = vendorClock.now();
    const { newest } = state;
    const start =
      previous === undefined
        ? undefined
        : this.#start === undefined
          ? firstWindowStart(stream.cursor, config, startedAt + vendorClock.offset)
          : correctedStart(stream.cursor, config, { since: this.#start, newest }, now);
    const since = notBefore(start, retentionFloor(stream.cursor, now));
    const until = since === undefined ? undefined : windowEnd(stream, since, now);
    this.#cut = until !== undefined && until < now;
    this.#ahead = false;
    this.#state = { ...state, ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
  }

  async *#readWindow(signal: AbortSignal): AsyncGenerator<StreamPage, void, void> {
    const { stream, client } = this.#context;
    const { cursor, records: shape, page_size: pageSize } = stream;
    const deduplicator = new Deduplicator(this.#state.seen ?? [], shape.id, seenLimit(this.#context));
    const visited = new Set<string | undefined>();
    let position = this.#state.place;
    let kept = position !== undefined;
    let opened = !kept;
    for (let empty = 0; !signal.aborted;) {
      const response = opened ? await this.#requestFirst(signal) : await this.#request(position, signal, kept);
      opened = false;
      kept = false;
      if (response === 'expired') {
        position = undefined;
        opened = true;
        this.#openWindow();
        continue;
      }
      const found = recordsOf(shape, response);
      if (!found) throw new PollError(unexpected(client.subject), 'retry');
      visited.add(position);
      empty = found.length === 0 ? empty + 1 : 0;
      const next = this.#next(response, found, position);
      const done = next === undefined || isLast(stream, found.length);
      const repeats = !done && (visited.has(next) || empty > MAX_EMPTY);
      const records = this.#newRecords(found, deduplicator);
      const resumable = !repeats && !deduplicator.counted && !('resume' in cursor && cursor.resume === 'again');
      this.#state = done
        ? this.#closeWindow(next, deduplicator)
        : { ...this.#state, seen: deduplicator.seen(0, overlapOf(cursor)) };
      if (!done) {
        if (resumable) this.#state.place = next;
        else delete this.#state.place;
      }
      yield { records, state: this.#state };
      if (repeats) throw repeatedPages(client, pageSize);
      if (done) {
        this.#start = this.#state.since;
        return;
      }
      position = next;
    }
  }

  /**
   * Requests the first page of a window that was just opened. If the response shows that our clock
   * is wrong, opens the window again by the vendor's clock and repeats the request.
   */
  async #requestFirst(signal: AbortSignal): Promise<PollResponse | 'expired'> {
    const { vendorClock } = this.#context.client;
    const { offset } = vendorClock;
    const { since, until } = this.#state;
    let response: PollResponse | 'expired' | undefined;
    let failure: unknown;
    try {
      response = await this.#request(undefined, signal, false);
    } catch (error) {
      failure = error;
    }
    if (Math.abs(vendorClock.offset - offset) > CLOCK_SKEW_MS / 5) {
      this.#openWindow();
      if (this.#state.since !== since || this.#state.until !== until) return this.#request(undefined, signal, false);
    }
    if (response === undefined) throw failure;
    return response;
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
    const { stream, config, client } = this.#context;
    const { cursor, records: shape } = stream;
    const selected = found.filter((record) => isSelected(shape, config.settings, record));
    if (cursor.kind !== 'time' && cursor.kind !== 'link') return selected;
    const { since = 0 } = this.#state;
    const exact = cursor.kind !== 'time' || cursor.whole_days !== true;
    const timed = selected.map((record) => {
      const time =
        shape.time === undefined ? undefined : parseTime(getAt(record, shape.time), shape.time_form, client.zone);
      return { record, time };
    });
    const { newest, ahead } = newestOf(timed, client.vendorClock);
    this.#ahead ||= ahead;
    if (newest > (this.#state.newest ?? 0)) this.#state = { ...this.#state, newest };
    // For deduplication, a record without a time gets the newest time so far, or the current time.
    const timeless = this.#state.newest ?? client.vendorClock.now();
    return timed.flatMap(({ record, time }) =>
      (exact || time === undefined || time >= since) && deduplicator.isNew(record, time ?? timeless) ? [record] : [],
    );
  }

  /** The state after a window was read completely. */
  #closeWindow(next: string | undefined, deduplicator: Deduplicator): StreamState {
    const { stream, client } = this.#context;
    const { cursor } = stream;
    const { of, newest } = this.#state;
    const at = { clock: client.vendorClock, cut: this.#cut, ahead: this.#ahead };
    const start = nextWindowStart(cursor, this.#state, at);
    const overlap = overlapOf(cursor);
    // A start may be moved back, and some vendors round it down.
    const from = Math.min(start ?? 0, newest === undefined ? Number.POSITIVE_INFINITY : newest - overlap) - ROUNDING_MS;
    const seen = deduplicator.seen(from, overlap);
    const since = start === undefined ? undefined : notForgotten(start, start + overlap, deduplicator);
    const stays = cursor.kind === 'link' || cursor.kind === 'id';
    return {
      ...(of !== undefined && { of }),
      ...(since !== undefined && { since, seen }),
      ...(newest !== undefined && { newest }),
      ...(stays && next !== undefined && { place: next }),
    };
  }
}

/**
 * Moves the start of a window to the time since which all records are remembered, at most to `end`:
 * in a busier overlap, earlier ones would be delivered again with each poll.
 */
function notForgotten(start: number, end: number, { completeSince }: Deduplicator): number {
  if (completeSince <= start) return start;
  return Math.min(end, Math.ceil(completeSince / ROUNDING_MS) * ROUNDING_MS);
}

/**
 * Whether a page is the last one although it has a next link or id; a later run resumes from there.
 */
function isLast({ cursor, page_size: pageSize }: PollStream, count: number): boolean {
  if (cursor.kind === 'link') return count === 0;
  return cursor.kind === 'id' && count < pageSize;
}

/** Returns the part of a request that its URL without the query is made of. */
const addressPart = ({ path, base_url: base }: PollStream): PollRequest => ({
  path,
  ...(base !== undefined && { base_url: base }),
});

function repeatedPages({ subject }: PollClient, pageSize: number): PollError {
  const message = `${subject.product} returned pages that repeat (${pageSize} records each).`;
  return new PollError(failed('unexpected_answer', message), 'retry');
}
