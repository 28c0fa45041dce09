import type { DataRecord } from '@connector-frame/engine/connector-api';
import { Deduplicator } from './deduplicator.js';
import { compareIds, greatestId, idAt } from './id-order.js';
import { timeOf } from './record-time.js';
import { isSelected } from './select.js';
import type { StreamState } from './state.js';
import { seenLimit, type StreamContext } from './stream-context.js';
import { newestOf, nextWindowStart, overlapOf } from './time-window.js';

/** Coarsest unit of a requested time, other than a day: those are filtered. */
const ROUNDING_MS = 1_000;

/** The records of one window: which of them are new, and where the next window starts. */
export class WindowRecords {
  readonly #context: StreamContext;
  readonly #deduplicator: Deduplicator;
  /** The window was opened by an earlier poll. */
  readonly #resumed: boolean;
  /** Time of the newest record of the pages that were read. */
  #reached = 0;
  /** Records are newer than now. */
  #ahead = false;

  constructor(context: StreamContext, { seen = [], place }: StreamState) {
    this.#context = context;
    this.#resumed = place !== undefined;
    this.#deduplicator = new Deduplicator(seen, context.stream.records.id, seenLimit(context));
  }

  /** Whether a window that was stopped can be resumed with its next page. */
  get resumable(): boolean {
    const { cursor } = this.#context.stream;
    return !this.#deduplicator.counted && !('resume' in cursor && cursor.resume === 'again');
  }

  /** Returns the records not delivered before, and the state with the newest time or id. */
  take(found: readonly DataRecord[], state: StreamState): { records: DataRecord[]; state: StreamState } {
    const { stream, client } = this.#context;
    const { cursor, records: shape } = stream;
    const selected = found.filter((record) => isSelected(shape, client.values, record));
    if (cursor.kind === 'id') return this.#takeById(selected, state);
    if (cursor.kind !== 'time' && cursor.kind !== 'link') return { records: selected, state };
    const { since = 0 } = state;
    const exact = cursor.kind !== 'time' || (cursor.whole_days !== true && !isListedWithoutTime(cursor));
    const timed = selected.map((record) => ({ record, time: this.#timeOf(record) }));
    const { newest, ahead } = newestOf(timed, client.vendorClock);
    this.#ahead ||= ahead;
    this.#reached = Math.max(this.#reached, newest);
    const latest = Math.max(newest, state.newest ?? 0);
    // For deduplication, a record without a time gets the newest time so far, or the current time.
    const timeless = latest > 0 ? latest : client.vendorClock.now();
    const records = timed.flatMap(({ record, time }) =>
      (exact || time === undefined || time >= since) && this.#deduplicator.isNew(record, time ?? timeless)
        ? [record]
        : [],
    );
    return { records, state: latest > 0 ? { ...state, newest: latest } : state };
  }

  /** Whether a page reaches back to what was read before, where the newest records come first. */
  reachesBack(found: readonly DataRecord[], { since = 0, after }: StreamState): boolean {
    const { cursor, records: shape } = this.#context.stream;
    if (!('order' in cursor) || cursor.order !== 'descending') return false;
    if (cursor.kind === 'id') {
      const id = idAt(found.at(-1), shape.id);
      return id !== undefined && after !== undefined && compareIds(id, after) <= 0;
    }
    const time = found.map((record) => this.#timeOf(record)).findLast((each) => each !== undefined);
    return time !== undefined && time < since;
  }

  /** The state within a window. */
  within(state: StreamState): StreamState {
    const { cursor } = this.#context.stream;
    const overlap = overlapOf(cursor);
    const from = this.#needed(state);
    return { ...state, seen: this.#deduplicator.seen(from === undefined ? 0 : from - ROUNDING_MS, overlap) };
  }

  /**
   * The state from which a window is read again that can't be resumed: of records in ascending
   * order, the overlap suffices.
   */
  again(state: StreamState): StreamState {
    const needed = this.#needed(state);
    const { since } = state;
    return since === undefined || needed === undefined ? state : { ...state, since: Math.max(since, needed) };
  }

  /**
   * Returns the time since which records of this window have to be read again if it starts over;
   * `undefined` if their order is not known.
   */
  #needed({ opened = Number.POSITIVE_INFINITY }: StreamState): number | undefined {
    const { cursor } = this.#context.stream;
    if (cursor.kind !== 'time' || cursor.order !== 'ascending' || this.#reached === 0) return undefined;
    return Math.min(this.#reached, opened) - overlapOf(cursor);
  }

  /** The state after a window was read completely. */
  close(state: StreamState, cut: boolean): StreamState {
    const { cursor } = this.#context.stream;
    const { of, newest, after, top, last: job } = state;
    const clock = this.#context.client.vendorClock;
    const { opened, ...unopened } = state;
    // Our clock may be slow, so it counts only where the time since then matters.
    const isOpened = opened !== undefined && (clock.known || this.#resumed);
    const start = nextWindowStart(cursor, isOpened ? state : unopened, { clock, cut, ahead: this.#ahead });
    const overlap = overlapOf(cursor);
    // A start may be moved back, and some vendors round it down.
    const from = Math.min(start ?? 0, newest === undefined ? Number.POSITIVE_INFINITY : newest - overlap) - ROUNDING_MS;
    const seen = this.#deduplicator.seen(from, overlap);
    const since = start === undefined ? undefined : notForgotten(start, start + overlap, this.#deduplicator);
    const last = top ?? after;
    return {
      ...(of !== undefined && { of }),
      ...(since !== undefined && { since, seen }),
      ...(newest !== undefined && { newest }),
      ...(last !== undefined && { after: last }),
      ...(job && { last: job }),
    };
  }

  #takeById(selected: DataRecord[], state: StreamState): { records: DataRecord[]; state: StreamState } {
    const { cursor, records: shape } = this.#context.stream;
    if (cursor.kind !== 'id' || cursor.order !== 'descending') {
      // Some vendors return the record with the requested id again.
      const { place } = state;
      return { records: selected.filter((record) => place === undefined || idAt(record, shape.id) !== place), state };
    }
    const { after } = state;
    const records = selected.filter((record) => {
      const id = idAt(record, shape.id);
      const isNewer = id === undefined || after === undefined || compareIds(id, after) > 0;
      // New records move others to the next page.
      return isNewer && this.#deduplicator.isNew(record, 0);
    });
    const top = greatestId(records, shape.id, state.top);
    return { records, state: top === undefined ? state : { ...state, top } };
  }

  #timeOf(record: DataRecord): number | undefined {
    const { client, stream } = this.#context;
    return timeOf(record, stream.records, client.zone);
  }
}

/** Whether older records are listed too. */
const isListedWithoutTime = ({ order }: { order?: string }): boolean => order === 'descending' || order === 'any';

/**
 * Moves the start of a window to the time since which all records are remembered, at most to `end`:
 * in a busier overlap, earlier ones would be delivered again with each poll.
 */
function notForgotten(start: number, end: number, { completeSince }: Deduplicator): number {
  if (completeSince <= start) return start;
  return Math.min(end, Math.ceil(completeSince / ROUNDING_MS) * ROUNDING_MS);
}
