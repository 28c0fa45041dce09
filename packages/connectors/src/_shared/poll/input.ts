import type { ConnectorConfig, PollDefinition, PollEach, PollStream } from '@connector-frame/catalog/types';
import { withDefaults } from '@connector-frame/catalog/validate';
import type { ConnectorContext, CreateInput, JsonValue, Page, PageInput } from '@connector-frame/engine/connector-api';
import { text } from '../read.js';
import { Acknowledgements } from './acknowledgements.js';
import { PollClient } from './client.js';
import { holds } from './condition.js';
import { entryValues, readEntries, type Entry } from './entries.js';
import { withGivenPaths } from './given-paths.js';
import { PollError } from './poll-error.js';
import { StreamReader } from './stream-reader.js';
import { isDue as isScheduleDue } from './schedule.js';
import { secondsOf } from './setting-number.js';
import { readState, type PollState, type StreamState } from './state.js';
import type { StreamContext } from './stream-context.js';

const DEFAULT_INTERVAL_S = 60;
/** Interval for checking a schedule, in milliseconds. */
const SCHEDULE_CHECK_MS = 30_000;

/** Creates the input that a catalog type's `poll` definition describes. */
export function createPollInput(poll: PollDefinition): CreateInput {
  return (config, context) => new PollInput(poll, withDefaults(context.type.config, config), context);
}

class PollInput implements PageInput {
  readonly kind = 'pages';
  /** A record is acknowledged when the page after it is requested, which must mean that it is stored. */
  readonly readsAhead?: true;
  readonly intervalMs: number;
  readonly #client: PollClient;
  readonly #schedule: string | undefined;
  /** Time up to which the schedule was checked, in milliseconds since the epoch. */
  #checkedUntil = 0;
  #startedAt: number | undefined;
  #isScheduled: StreamContext['isScheduled'];
  #verified = false;
  /** Entries of lists, and when they were read. */
  readonly #entries = new Map<PollEach, { at: number; entries: readonly Entry[] }>();
  /** Keys of the streams whose `prepare` request was accepted. */
  readonly #prepared = new Set<string>();
  /** Those whose conditions hold. */
  readonly #streams: readonly PollStream[];
  readonly #config: ConnectorConfig;
  readonly #context: ConnectorContext;

  /** @throws PollError `invalid_config` */
  constructor(definition: PollDefinition, config: ConnectorConfig, context: ConnectorContext) {
    const poll = withGivenPaths(definition, config);
    this.#config = config;
    this.#context = context;
    const { type, egress, clock, secrets, tokens, aws } = context;
    this.#client = new PollClient({ type, poll, config, egress, clock, secrets, tokens, aws });
    this.#streams = poll.streams.filter(({ when }) => holds(when, this.#client.values));
    const acknowledges = this.#streams.some((stream) => this.#acknowledgements(stream, undefined).isOn);
    if (!acknowledges) this.readsAhead = true;
    this.#schedule = poll.schedule === undefined ? undefined : text(config, ...poll.schedule.split('/').slice(1));
    this.intervalMs =
      this.#schedule === undefined
        ? secondsOf(poll.interval_seconds ?? DEFAULT_INTERVAL_S, config) * 1_000
        : SCHEDULE_CHECK_MS;
  }

  async *pages(
    cursor: JsonValue | undefined,
    signal: AbortSignal,
    isRequested = false,
  ): AsyncGenerator<Page, void, void> {
    const now = this.#context.clock.now();
    let state = readState(cursor);
    if (isRequested) this.#client.retrySignIn();
    const isDue = isRequested || this.#isDue(state, now);
    // Finish a run that was interrupted, and exports that are prepared.
    if (this.#streams.length === 0 || (!isDue && !isUnfinished(state))) {
      await this.#verify(signal);
      return;
    }
    this.#startedAt ??= now;
    const schedule = this.#schedule;
    this.#isScheduled =
      schedule === undefined
        ? undefined
        : (started) => isDue && (isRequested || started === undefined || isScheduleDue(schedule, started, now));
    for await (const next of this.#readAll(state, signal)) {
      state = next.cursor;
      yield next;
    }
    if (this.#schedule !== undefined && !signal.aborted) yield { records: [], cursor: { ...state, ran: now } };
  }

  /**
   * Reads all streams. A permanent failure of one stream does not stop the others; it is thrown at
   * the end.
   */
  async *#readAll(before: PollState, signal: AbortSignal): AsyncGenerator<Page & { cursor: PollState }, void, void> {
    let state = before;
    let failure: unknown;
    for (const stream of this.#streams) {
      const entries = await this.#entriesOf(stream, signal);
      state = { ...state, streams: withoutRemoved(state.streams, stream, entries) };
      for (const each of entries) {
        const key = keyOf(stream, each);
        try {
          await this.#prepare(stream, each, key, signal);
          const stored = this.#acknowledgements(stream, each, state.streams[key]);
          let isChanged = await stored.send(signal);
          for await (const page of this.#reader(
            { stream, entries: entries.length, ...(each !== undefined && { each }) },
            state.streams[key],
          ).read(signal)) {
            this.#verified = true;
            stored.add(page.records);
            state = withStream(state, key, { ...page.state, ...stored.state });
            yield { records: page.records, cursor: state };
            isChanged = await stored.send(signal);
          }
          if (isChanged) {
            const { pending: _pending, ...rest } = state.streams[key] ?? {};
            state = withStream(state, key, { ...rest, ...stored.state });
            yield { records: [], cursor: state };
          }
          failure ??= stored.failure;
        } catch (error) {
          const alone = this.#streams.length * entries.length === 1;
          if (alone || !(error instanceof PollError && error.kind === 'permanent')) throw error;
          failure ??= error;
        }
        if (signal.aborted) return;
      }
    }
    if (failure !== undefined) throw failure;
  }

  #acknowledgements(stream: PollStream, each: Entry | undefined, before?: StreamState): Acknowledgements {
    return new Acknowledgements(stream, this.#client, { ...this.#client.values, ...entryValues(each) }, before);
  }

  #reader(of: Pick<StreamContext, 'stream' | 'each' | 'entries'>, before: StreamState | undefined): StreamReader {
    const config = this.#config;
    const { clock } = this.#context;
    return new StreamReader(
      {
        ...of,
        client: this.#client,
        config,
        clock,
        startedAt: this.#startedAt ?? clock.now(),
        ...(this.#isScheduled && { isScheduled: this.#isScheduled }),
      },
      before,
    );
  }

  async #entriesOf(stream: PollStream, signal: AbortSignal): Promise<readonly (Entry | undefined)[]> {
    const { each } = stream;
    if (!each) return [undefined];
    const now = this.#context.clock.now();
    const kept = this.#entries.get(each);
    const refreshMs = 'path' in each ? (each.refresh_seconds ?? 0) * 1_000 : 0;
    if (kept && Math.abs(now - kept.at) < refreshMs) return kept.entries;
    const entries = await readEntries({ ...stream, each }, this.#client, signal);
    this.#entries.set(each, { at: now, entries });
    return entries;
  }

  /** Sends the request that a stream needs once before it is read. */
  async #prepare(stream: PollStream, each: Entry | undefined, key: string, signal: AbortSignal): Promise<void> {
    const { prepare } = stream;
    if (!prepare || this.#prepared.has(key)) return;
    const values = { ...this.#client.values, ...entryValues(each) };
    await this.#client.send(this.#client.request(prepare, values), signal);
    this.#prepared.add(key);
  }

  #isDue({ ran }: PollState, now: number): boolean {
    if (this.#schedule === undefined || ran === undefined) return true;
    // A clock that was put back makes earlier checks meaningless.
    if (this.#checkedUntil > now) this.#checkedUntil = 0;
    const due = isScheduleDue(this.#schedule, Math.max(ran, this.#checkedUntil), now);
    if (!due) this.#checkedUntil = now;
    return due;
  }

  /**
   * Sends one check request if the vendor has not responded yet, so that no success status is
   * reported unverified.
   */
  async #verify(signal: AbortSignal): Promise<void> {
    if (this.#verified) return;
    await this.#client.check(signal);
    this.#verified = true;
  }
}

const isUnfinished = ({ streams }: PollState): boolean =>
  Object.values(streams).some(({ place, job }) => (place ?? job) !== undefined);

const withStream = (state: PollState, key: string, stream: StreamState): PollState => ({
  ...state,
  streams: { ...state.streams, [key]: stream },
});

const keyOf = ({ name }: PollStream, each: Entry | undefined): string =>
  [name, each?.parent, each?.id].filter((part) => part !== undefined).join('/');

/** Drops the state of list entries that no longer exist, so that the cursor does not grow. */
function withoutRemoved(
  streams: PollState['streams'],
  stream: PollStream,
  entries: readonly (Entry | undefined)[],
): PollState['streams'] {
  // An empty list may be a mistake of the vendor: without cursors, entries would start over.
  if (entries.length === 0) return streams;
  const known = new Set(entries.map((each) => keyOf(stream, each)));
  return Object.fromEntries(
    Object.entries(streams).filter(
      ([key]) => known.has(key) || (key !== stream.name && !key.startsWith(`${stream.name}/`)),
    ),
  );
}
