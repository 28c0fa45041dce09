import { isRecord, PipelineLog, type DataRecord, type LogEntry } from '@connector-frame/engine';
import type { Pool } from 'pg';
import type { LoggedEntry } from '../../alerts/alert-evaluator.js';
import { transactionOn } from '../../store/database.js';
import type { Notifications } from '../../store/notifications.js';
import type { FollowedEntry, LogFilter, LogStart } from '../engine.js';

export interface SharedLogsOptions {
  pool: Pool;
  notifications: Notifications;
  now: () => number;
  /** Called when entries could not be written, once until it succeeds again. */
  onFailure: (error: unknown) => void;
}

interface Source {
  organizationId: string | undefined;
  pipelineId: string | undefined;
}

interface Row {
  sequence: string;
  organization_id: string | null;
  pipeline_id: string | null;
  logged_at: string;
  entry: string;
}

const CHANNEL = 'connector_frame_logs';
/** Entries kept per pipeline and of the API of an organization, and days for which the latter are. */
const CAPACITY = 200;
const API_CAPACITY = 1_000;
const API_DAYS = 7;
/** Milliseconds from a new entry to its write, and from a failed write to the next attempt. */
const FLUSH_MS = 500;
const RETRY_MS = 5_000;
/** Entries per statement, and entries kept while the database does not respond. */
const MAX_ROWS = 500;
const MAX_PENDING = 20_000;
/** Characters of a stored message. */
const MAX_MESSAGE = 1_000;
/** Milliseconds between reads of a stream whose notification was lost. */
const POLL_MS = 3_000;
// An arbitrary number, but the same for every process.
const LOCK = 7_214_033_902;

/**
 * The logs of all pipelines and of the API, in the database for all processes. A kill loses the last
 * half second.
 */
export class SharedLogs {
  readonly #options: SharedLogsOptions;
  readonly #logs = new Map<string, { source: Source; log: PipelineLog }>();
  readonly #waiters = new Set<() => void>();
  readonly #removed = new Map<string, Set<() => void>>();
  #pending: { source: Source; entry: LogEntry }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #closed = false;

  constructor(options: SharedLogsOptions) {
    this.#options = options;
    options.notifications.on(CHANNEL, () => this.#wake());
  }

  /** Returns the log of a pipeline. */
  of(pipelineId: string, organizationId?: string): PipelineLog {
    const known = this.#logs.get(pipelineId);
    if (!known) return this.#create(pipelineId, { pipelineId, organizationId });
    if (organizationId !== undefined) known.source.organizationId = organizationId;
    return known.log;
  }

  /** Returns the log of the API of an organization. */
  ofApi(organizationId: string): PipelineLog {
    const key = `api ${organizationId}`;
    return this.#logs.get(key)?.log ?? this.#create(key, { pipelineId: undefined, organizationId });
  }

  /** Returns the last entries of a pipeline, oldest first. */
  async read(pipelineId: string, limit = CAPACITY): Promise<LogEntry[]> {
    await this.flush();
    const { rows } = await this.#options.pool.query<Row>(
      'select * from engine_logs where pipeline_id = $1 order by sequence desc limit $2',
      [pipelineId, limit],
    );
    return rows.toReversed().flatMap((row) => entryOf(row) ?? []);
  }

  /** Returns the sequence of the last entry. */
  async lastSequence(): Promise<number> {
    const { rows } = await this.#options.pool.query<{ last: string }>(
      'select coalesce(max(sequence), 0) as last from engine_logs',
    );
    return Number(rows[0]?.last);
  }

  /** Returns up to 500 entries of pipelines after a sequence, in order. */
  async entriesAfter(sequence: number): Promise<LoggedEntry[]> {
    const { rows } = await this.#options.pool.query<Row>(
      `select * from engine_logs where sequence > $1 and pipeline_id is not null and organization_id is not null
       order by sequence limit ${MAX_ROWS}`,
      [sequence],
    );
    return rows.flatMap((row) => {
      const { organization_id: organizationId, pipeline_id: pipelineId } = row;
      const entry = entryOf(row);
      return entry && organizationId !== null && pipelineId !== null ? [{ organizationId, pipelineId, entry }] : [];
    });
  }

  /** Yields stored entries of an organization, then new ones. See `PipelineEngine.followLogs`. */
  follow(filter: LogFilter, signal: AbortSignal, start: LogStart = {}): AsyncIterable<FollowedEntry> {
    return this.#follow(filter, signal, start);
  }

  /** Yields stored entries of a pipeline after a sequence, then new ones. */
  tail(pipelineId: string, signal: AbortSignal, after = 0): AsyncIterable<LogEntry> {
    return this.#follow({ pipelineId }, signal, { after });
  }

  /** Ends the streams of a pipeline that was removed, and deletes its entries. */
  async remove(pipelineId: string): Promise<void> {
    this.#logs.delete(pipelineId);
    this.#pending = this.#pending.filter(({ source }) => source.pipelineId !== pipelineId);
    for (const end of this.#removed.get(pipelineId) ?? []) end();
    await this.#options.pool.query('delete from engine_logs where pipeline_id = $1', [pipelineId]);
  }

  /** Deletes what is beyond the capacity of its log. For one process. */
  async tidy(): Promise<void> {
    await this.#options.pool.query(
      `delete from engine_logs where (pipeline_id is null and logged_at < $1) or sequence in (
         select sequence from (select sequence, pipeline_id,
           row_number() over (partition by organization_id, pipeline_id order by sequence desc) as nth from engine_logs) as each
         where nth > case when pipeline_id is null then ${API_CAPACITY} else ${CAPACITY} end)`,
      [this.#options.now() - API_DAYS * 86_400_000],
    );
  }

  /** Writes what is not written yet. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#turn = this.#turn.then(() => this.#save()));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
    this.#wake();
  }

  async *#follow(
    filter: Partial<LogFilter>,
    signal: AbortSignal,
    { after, since = 0 }: LogStart,
  ): AsyncGenerator<FollowedEntry, void, void> {
    const { pool } = this.#options;
    let isRemoved = false;
    const ended = (): boolean => signal.aborted || this.#closed || isRemoved;
    const forget = this.#onRemoval(filter.pipelineId, () => {
      isRemoved = true;
      this.#wake();
    });
    const [source, from] = [filter.source ?? null, after === undefined ? since : 0];
    let last = after ?? 0;
    try {
      await this.flush();
      while (!ended()) {
        const wait = this.#listen();
        const { rows } = await pool.query<Row>(
          `select * from engine_logs where sequence > $1 and logged_at >= $2 and ($3::text is null or organization_id = $3)
             and ($4::text is null or pipeline_id = $4) and ($5::text is null or ($5 = 'api') = (pipeline_id is null))
             and ($6::text is null or entry::json ->> 'nodeId' = $6)
           order by sequence limit ${MAX_ROWS}`,
          [last, from, filter.organizationId ?? null, filter.pipelineId ?? null, source, filter.nodeId ?? null],
        );
        for (const row of rows) {
          if (ended()) break;
          const entry = entryOf(row);
          last = Number(row.sequence);
          if (entry) yield row.pipeline_id === null ? entry : { ...entry, pipelineId: row.pipeline_id };
        }
        if (rows.length === 0) await wait(signal);
      }
    } finally {
      forget();
    }
  }

  #onRemoval(pipelineId: string | undefined, end: () => void): () => void {
    if (pipelineId === undefined) return () => undefined;
    const ends = this.#removed.get(pipelineId) ?? new Set();
    this.#removed.set(pipelineId, ends.add(end));
    return () => {
      ends.delete(end);
      if (ends.size === 0 && this.#removed.get(pipelineId) === ends) this.#removed.delete(pipelineId);
    };
  }

  #create(key: string, source: Source): PipelineLog {
    const log = new PipelineLog(this.#options.now, {
      capacity: CAPACITY,
      onAdd: (entry) => {
        this.#pending.push({ source, entry });
        if (!this.#closed) this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
      },
    });
    this.#logs.set(key, { source, log });
    return log;
  }

  async #save(): Promise<void> {
    const { pool, notifications, onFailure } = this.#options;
    while (this.#pending.length > 0) {
      const some = this.#pending.slice(0, MAX_ROWS);
      try {
        await transactionOn(pool, async (client) => {
          // A later sequence must not be committed before an earlier one.
          await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
          await client.query(
            `insert into engine_logs (organization_id, pipeline_id, logged_at, entry)
             select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[])`,
            [
              some.map(({ source }) => source.organizationId ?? null),
              some.map(({ source }) => source.pipelineId ?? null),
              some.map(({ entry }) => entry.at),
              some.map(({ entry: { sequence: _sequence, at: _at, ...rest } }) =>
                JSON.stringify({ ...rest, message: rest.message.slice(0, MAX_MESSAGE) }),
              ),
            ],
          );
        });
        this.#pending.splice(0, some.length);
        this.#hasFailed = false;
        notifications.notify(CHANNEL, '');
      } catch (error) {
        if (!this.#hasFailed) onFailure(error);
        this.#hasFailed = true;
        this.#pending.splice(0, Math.max(0, this.#pending.length - MAX_PENDING));
        if (!this.#closed) this.#timer ??= setTimeout(() => void this.flush(), RETRY_MS).unref();
        return;
      }
    }
  }

  /** Starts to listen. The returned function waits for a notification, or for a while. */
  #listen(): (signal: AbortSignal) => Promise<void> {
    let isWoken = false;
    let done: (() => void) | undefined;
    const wake = (): void => {
      isWoken = true;
      this.#waiters.delete(wake);
      done?.();
    };
    this.#waiters.add(wake);
    const timer = setTimeout(wake, POLL_MS).unref();
    return (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) wake();
        if (isWoken) return resolve();
        signal.addEventListener('abort', wake, { once: true });
        done = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          resolve();
        };
      });
  }

  #wake(): void {
    for (const wake of this.#waiters) wake();
  }
}

function entryOf({ sequence, logged_at: at, entry: text }: Row): LogEntry | undefined {
  const entry: unknown = JSON.parse(text);
  if (!isRecord(entry)) return undefined;
  const { level, code, message, nodeId, details } = entry;
  if (level !== 'info' && level !== 'warn' && level !== 'error') return undefined;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return {
    sequence: Number(sequence),
    at: Number(at),
    level,
    code,
    message,
    ...(typeof nodeId === 'string' && { nodeId }),
    ...(isRecord(details) && { details: valuesIn(details) }),
  };
}

const valuesIn = (details: DataRecord): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(details).filter(
      (entry): entry is [string, string | number] => typeof entry[1] === 'string' || typeof entry[1] === 'number',
    ),
  );
