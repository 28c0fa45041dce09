import { createHash } from 'node:crypto';
import type { PollStream } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { unexpected } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import type { Answer, PollClient } from './client.js';
import { nextPlace, pageUrl } from './pagination.js';
import { PollError } from './poll-error.js';
import { isWanted, recordsIn } from './records.js';
import { SeenRecords } from './seen.js';
import type { StreamState } from './state.js';
import { seenLimit, valuesOf, type StreamPage, type StreamParts } from './stream-parts.js';
import { endOf, firstSince, nextSince } from './stretch.js';
import { readTime } from './times.js';

/** Statuses with which vendors reject an expired page token or link. */
const GONE = [400, 404, 410, 422];
const MAX_EMPTY = 300;

/**
 * Reads one stream page by page until no more records are available. Each page carries the state to
 * resume from once it is delivered.
 */
export class StreamReader {
  #state: StreamState;
  /** The window ends before now, because the vendor limits the length of a window. */
  #cut = false;

  constructor(
    private readonly parts: StreamParts,
    before: StreamState = {},
  ) {
    const { stream, client, config, begun } = parts;
    const url = client.url({ path: stream.path }, valuesOf(parts, {}));
    const of = createHash('sha256').update(url.href).digest('base64url').slice(0, 12);
    this.#state = before.of === of ? { ...before } : { of };
    const { kind } = stream.cursor;
    if (kind === 'time' || kind === 'link') this.#state.since ??= firstSince(stream.cursor, config, begun);
  }

  async *read(signal: AbortSignal): AsyncGenerator<StreamPage, void, void> {
    do {
      // Keep the end of a window that was partly read: a new end would change its pages.
      if (this.#state.place === undefined) this.#open();
      else this.#cut = false;
      yield* this.#stretch(signal);
    } while (this.#cut && !signal.aborted);
  }

  #open(): void {
    const { place: _place, until: _until, ...state } = this.#state;
    const now = this.parts.clock.now();
    const until = state.since === undefined ? undefined : endOf(this.parts.stream, state.since, now);
    this.#cut = until !== undefined && until < now;
    this.#state = { ...state, ...(until !== undefined && { until }) };
  }

  async *#stretch(signal: AbortSignal): AsyncGenerator<StreamPage, void, void> {
    const { stream, client } = this.parts;
    const { cursor, records: shape, page_size: pageSize } = stream;
    const seen = new SeenRecords(this.#state.seen ?? [], shape.id, seenLimit(this.parts));
    const visited = new Set<string | undefined>();
    let place = this.#state.place;
    let kept = place !== undefined;
    for (let empty = 0; !signal.aborted;) {
      const answer = await this.#ask(place, signal, kept);
      kept = false;
      if (answer === 'gone') {
        place = undefined;
        this.#open();
        continue;
      }
      const found = recordsIn(shape, answer.body);
      if (!found) throw new PollError(unexpected(client.subject), 'retry');
      visited.add(place);
      empty = found.length === 0 ? empty + 1 : 0;
      const next = this.#next(answer, found, place);
      const done = next === undefined || isLast(stream, found.length);
      const circle = !done && (visited.has(next) || empty > MAX_EMPTY);
      const records = this.#fresh(found, seen);
      const lasting = !circle && !seen.counted && !('resume' in cursor && cursor.resume === 'again');
      this.#state = done ? this.#closed(next, seen) : { ...this.#state, seen: seen.entries() };
      if (!done) {
        if (lasting) this.#state.place = next;
        else delete this.#state.place;
      }
      yield { records, state: this.#state };
      if (circle) throw inCircles(client, pageSize);
      if (done) return;
      place = next;
    }
  }

  /** Requests a page. `gone`: the page token came from an earlier run (`kept`) and has expired. */
  async #ask(place: string | undefined, signal: AbortSignal, kept: boolean): Promise<Answer | 'gone'> {
    const { stream, client } = this.parts;
    const first = client.url(stream, valuesOf(this.parts, this.#state, place));
    const url = pageUrl(stream.pagination, client, first, place);
    if (!url) return 'gone';
    try {
      return await client.get(url, signal);
    } catch (error) {
      const gone = error instanceof PollError && error.status !== undefined && GONE.includes(error.status);
      if (gone && kept && stream.cursor.kind !== 'id') return 'gone';
      throw error;
    }
  }

  #next(answer: Answer, found: readonly DataRecord[], place: string | undefined): string | undefined {
    const { stream, client } = this.parts;
    if (stream.cursor.kind !== 'id')
      return nextPlace(stream.pagination, client, { answer, count: found.length, pageSize: stream.page_size, place });
    const last = found.at(-1);
    const id: unknown = typeof stream.records.id === 'string' ? getAt(last, stream.records.id) : undefined;
    return typeof id === 'string' || typeof id === 'number' ? String(id) : place;
  }

  /** Returns the records not delivered before, and updates the newest time in the state. */
  #fresh(found: readonly DataRecord[], seen: SeenRecords): DataRecord[] {
    const { stream, config } = this.parts;
    const { cursor, records: shape } = stream;
    const wanted = found.filter((record) => isWanted(shape, config.settings, record));
    if (cursor.kind !== 'time' && cursor.kind !== 'link') return wanted;
    const { since = 0 } = this.#state;
    const exact = cursor.kind !== 'time' || cursor.whole_days !== true;
    const timed = wanted.map((record) => {
      const time = shape.time === undefined ? undefined : readTime(getAt(record, shape.time), shape.time_form);
      return { record, time };
    });
    const newest = timed.reduce((latest, { time }) => Math.max(latest, time ?? 0), this.#state.newest ?? 0);
    if (newest > 0) this.#state = { ...this.#state, newest };
    // For deduplication, a record without a time gets the newest time so far, or the current time.
    const timeless = newest > 0 ? newest : this.parts.clock.now();
    return timed.flatMap(({ record, time }) =>
      (exact || time === undefined || time >= since) && seen.isNew(record, time ?? timeless) ? [record] : [],
    );
  }

  /** The state after a window was read completely. */
  #closed(next: string | undefined, seen: SeenRecords): StreamState {
    const { cursor } = this.parts.stream;
    const { of, newest } = this.#state;
    const since = nextSince(cursor, this.#state, { now: this.parts.clock.now(), cut: this.#cut });
    const stays = cursor.kind === 'link' || cursor.kind === 'id';
    return {
      ...(of !== undefined && { of }),
      ...(since !== undefined && { since, seen: seen.entries(since) }),
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

function inCircles({ subject }: PollClient, pageSize: number): PollError {
  const message = `${subject.product} returned pages that repeat (${pageSize} records each).`;
  return new PollError(failed('unexpected_answer', message), 'retry');
}
