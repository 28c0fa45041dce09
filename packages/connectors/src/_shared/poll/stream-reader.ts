import { createHash } from 'node:crypto';
import { unexpected } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import type { PollCall } from './call.js';
import type { PollResponse, PollClient } from './client.js';
import { completed, completedEarly } from './complete-records.js';
import { isJobDue, jobProgress, partCall, startJob } from './job.js';
import { isLastPage, positionAfter } from './next-page.js';
import { pageCall, type PageRead } from './pagination.js';
import { PollError } from './poll-error.js';
import { firstToken, handedOut, withToken } from './poll-token.js';
import { recordsOf } from './records.js';
import { numberOf } from './setting-number.js';
import type { StreamState } from './state.js';
import { addressPart, nextRequest, valuesOf, type StreamPage, type StreamContext } from './stream-context.js';
import type { Values } from './template.js';
import {
  CLOCK_SKEW_MS,
  correctedStart,
  firstWindowStart,
  notBefore,
  retentionFloor,
  windowEnd,
} from './time-window.js';
import { WindowRecords } from './window-records.js';

/** Statuses with which vendors reject an expired page token or link. */
const EXPIRED_STATUSES = [400, 404, 410, 416, 422];
const MAX_EMPTY = 300;
/** A difference between two clocks, in milliseconds, with which a window is opened again. */
const CLOCK_ERROR_MS = CLOCK_SKEW_MS / 5;

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
  /** The parts of a job that are left, and the one that is being read. */
  #parts: readonly (string | undefined)[] = [];
  readonly #context: StreamContext;
  readonly #pageSize: number;

  constructor(context: StreamContext, before: StreamState = {}) {
    this.#context = context;
    const { stream, client, config, startedAt } = context;
    this.#pageSize = numberOf(stream.page_size, config);
    // What changes from request to request is no part of the address.
    const fixed = { since: 0, until: 0, now: 0, after: '-', job: '-', part: '-' };
    const url = client.url(addressPart(stream), { ...valuesOf(context, {}), ...fixed });
    const of = createHash('sha256').update(url.href).digest('base64url').slice(0, 12);
    this.#state = before.of === of ? { ...before } : { of };
    const { kind } = stream.cursor;
    this.#start = this.#state.since;
    if (kind === 'time' || kind === 'link') this.#state.since ??= firstWindowStart(stream.cursor, config, startedAt);
  }

  async *read(signal: AbortSignal): AsyncGenerator<StreamPage, void, void> {
    if (this.#context.stream.job) {
      yield* this.#readJob(signal);
      return;
    }
    if (await this.#takeFirstToken(signal)) yield { records: [], state: this.#state };
    do {
      // Keep the end of a window that was partly read: a new end would change its pages.
      if (this.#state.place === undefined) this.#openWindow();
      else this.#cut = false;
      yield* this.#readWindow(signal);
    } while (this.#cut && !signal.aborted);
  }

  /** Starts an export, or continues one: a poll does not wait until it is finished. */
  async *#readJob(signal: AbortSignal): AsyncGenerator<StreamPage, void, void> {
    const { client, stream, isScheduled } = this.#context;
    const { job } = stream;
    if (!job) return;
    if (!this.#state.job) {
      const isDue = isScheduled?.(this.#state.started) ?? isJobDue(job, this.#state, client.vendorClock.now());
      if (!isDue) return;
      this.#openWindow();
      const { id, last } = await startJob(job, this.#state.last, client, this.#values(), signal);
      const started = client.vendorClock.now();
      this.#state = { ...this.#state, job: { id, started, read: 0 }, ...(last && { last }) };
      yield { records: [], state: this.#state };
    }
    const { job: current } = this.#state;
    if (!current) return;
    const progress = await jobProgress(job, current, client, this.#values(), signal);
    if (progress === 'running') return;
    if ('failed' in progress) {
      const { job: _job, place: _place, ...state } = this.#state;
      yield { records: [], state };
      throw progress.failed;
    }
    this.#parts = progress.parts.slice(current.read);
    if (this.#parts.length === 0) {
      this.#state = {
        ...new WindowRecords(this.#context, this.#state).close(this.#state, this.#cut),
        started: current.started,
      };
      yield { records: [], state: this.#state };
    }
    while (this.#parts.length > 0 && !signal.aborted) yield* this.#readWindow(signal);
  }

  #openWindow(): void {
    const { place: _place, until: _until, opened: _opened, since: previous, ...state } = this.#state;
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
    const until = since === undefined ? undefined : windowEnd(stream, config, since, now);
    this.#cut = until !== undefined && until < now;
    this.#state = { ...state, ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
  }

  async *#readWindow(signal: AbortSignal): AsyncGenerator<StreamPage, void, void> {
    const { stream, client } = this.#context;
    const { records: shape } = stream;
    const pageSize = this.#pageSize;
    const window = new WindowRecords(this.#context, this.#state);
    const visited = new Set<string>();
    let position = this.#state.place;
    let kept = (position ?? this.#state.token) !== undefined;
    let opened = position === undefined && stream.job === undefined;
    for (let empty = 0; !signal.aborted;) {
      const response = opened ? await this.#requestFirst(signal, kept) : await this.#request(position, signal, kept);
      if (opened) this.#state = { ...this.#state, opened: client.vendorClock.now() };
      opened = false;
      kept = false;
      if (response === 'expired') {
        position = await this.#restart(window, signal);
        if (stream.cursor.kind === 'continue' && stream.cursor.first) {
          yield { records: [], state: this.#state };
          throw lostPosition(client);
        }
        opened = position === undefined && stream.job === undefined;
        continue;
      }
      const listed = recordsOf(shape, response);
      if (!listed) throw new PollError(unexpected(client.subject), 'retry');
      const found = await completedEarly(this.#context, listed, this.#values(), signal);
      visited.add(shortened(position));
      empty = listed.length === 0 ? empty + 1 : 0;
      const page = { response, count: listed.length, last: listed.at(-1), pageSize, position };
      const next = window.reachesBack(found, this.#state) ? undefined : positionAfter(this.#context, page, found);
      const done = next === undefined || isLastPage(this.#context, page, next);
      const repeats = !done && visited.has(shortened(next));
      const taken = window.take(found, this.#state);
      const records = await completed(this.#context, taken.records, this.#values(), signal);
      this.#state = done
        ? this.#done(window, taken.state, page, next)
        : { ...window.within(taken.state), ...(window.resumable && !repeats && { place: next }) };
      if (!done && (repeats || !window.resumable)) delete this.#state.place;
      yield { records, state: this.#state.place === undefined && !done ? window.again(this.#state) : this.#state };
      if (repeats) throw unusable(client, `pages that repeat (${pageSize} records each)`);
      if (!done && empty > MAX_EMPTY) throw unusable(client, `more than ${MAX_EMPTY} pages without records`);
      if (done) {
        this.#start = this.#state.since;
        return;
      }
      position = next;
    }
  }

  /** The state after the last page: of the window, or of a part of a job. */
  #done(window: WindowRecords, state: StreamState, page: PageRead, next: string | undefined): StreamState {
    const { stream, client } = this.#context;
    const { cursor } = stream;
    const { job } = state;
    this.#parts = this.#parts.slice(1);
    if (job && this.#parts.length > 0) {
      const { place: _place, ...rest } = window.within(state);
      return { ...rest, job: { ...job, read: job.read + 1 } };
    }
    const closed = window.close(state, this.#cut);
    if (job) return { ...closed, started: job.started };
    if (cursor.kind === 'continue') {
      const token = handedOut(cursor, client, page.response) ?? state.token;
      const place = cursor.token ? undefined : (next ?? page.position);
      return { ...closed, ...(token !== undefined && { token }), ...(place !== undefined && { place }) };
    }
    const stays = cursor.kind === 'link' || (cursor.kind === 'id' && cursor.order !== 'descending');
    return { ...closed, ...(stays && next !== undefined && { place: next }) };
  }

  /** Starts over after a token has expired. Returns the position of the first page. */
  async #restart(window: WindowRecords, signal: AbortSignal): Promise<string | undefined> {
    const { token: _token, place: _place, ...state } = this.#state;
    this.#state = state;
    if (state.job) return undefined;
    const since = this.#start ?? state.since;
    if (since !== undefined) this.#start = window.again({ ...state, since }).since;
    await this.#takeFirstToken(signal);
    const { place } = this.#state;
    if (place === undefined) this.#openWindow();
    return place;
  }

  async #takeFirstToken(signal: AbortSignal): Promise<boolean> {
    const { client, stream } = this.#context;
    const first = await firstToken(stream, client, this.#state, this.#values(), signal);
    if (first) this.#state = { ...this.#state, ...first };
    return first !== undefined;
  }

  /**
   * Requests the first page of a window that was just opened. If the response shows that our clock
   * is wrong, opens the window again by the vendor's clock and repeats the request.
   */
  async #requestFirst(signal: AbortSignal, kept: boolean): Promise<PollResponse | 'expired'> {
    const { vendorClock } = this.#context.client;
    const { offset } = vendorClock;
    const { since, until } = this.#state;
    let response: PollResponse | 'expired' | undefined;
    let failure: unknown;
    try {
      response = await this.#request(undefined, signal, kept);
    } catch (error) {
      failure = error;
    }
    // The first window starts now, so a small error counts.
    if (Math.abs(vendorClock.offset - offset) > (this.#start === undefined ? 0 : CLOCK_ERROR_MS)) {
      this.#openWindow();
      if (this.#state.since !== since || this.#state.until !== until) return this.#request(undefined, signal, kept);
    }
    if (response === undefined) throw failure;
    return response;
  }

  /** Requests a page. `expired`: the page token came from an earlier run (`kept`) and has expired. */
  async #request(position: string | undefined, signal: AbortSignal, kept: boolean): Promise<PollResponse | 'expired'> {
    const { stream, client } = this.#context;
    const call = this.#call(position);
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

  #call(position: string | undefined): PollCall | undefined {
    const { stream, client } = this.#context;
    const first = client.request(position === undefined ? stream : nextRequest(stream), this.#values(position));
    const part = stream.job?.parts?.url ? this.#parts[0] : undefined;
    if (part !== undefined) return partCall(client, first, part);
    const call = withToken(stream.cursor, client, first, this.#state.token, position === undefined);
    return call && pageCall(stream.pagination, client, call, position, this.#pageSize);
  }

  #values(position?: string): Values {
    const { job } = this.#state;
    const [part] = this.#parts;
    return {
      ...valuesOf(this.#context, this.#state, position),
      ...(job && { job: job.id }),
      ...(part !== undefined && { part }),
    };
  }
}

/** Shortens a page token, of which many are kept to detect loops. */
const shortened = (position = ''): string =>
  position.length <= 24 ? position : createHash('sha256').update(position).digest('base64url').slice(0, 16);

function unusable({ subject }: PollClient, what: string): PollError {
  return new PollError(failed('unexpected_answer', `${subject.product} returned ${what}.`), 'retry');
}

/** The only token was that of the last poll: a new one leaves a gap, which must not go unnoticed. */
function lostPosition({ subject }: PollClient): PollError {
  const message = `${subject.product} no longer knows where the last poll ended. Records since then may be missing.`;
  return new PollError(failed('rejected', message), 'retry');
}
