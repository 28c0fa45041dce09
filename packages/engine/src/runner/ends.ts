import type { Batch } from '../records/batch.js';
import type { DataRecord, JsonValue } from '../records/record.js';
import type { NewLogEntry } from './pipeline-log.js';

/** A page of records, and the cursor to continue from once they are delivered. */
export interface Page {
  readonly records: readonly DataRecord[];
  readonly cursor: JsonValue;
  /**
   * Data of the source at this position that could not be converted to records; it goes to the dead
   * letters.
   */
  readonly unreadable?: readonly Unreadable[];
  /** Messages about the page for the pipeline log. Written by us, without text from the source. */
  readonly notes?: readonly Omit<NewLogEntry, 'nodeId'>[];
}

export interface Unreadable {
  /** A stable code, or a short sentence written by us. */
  readonly reason: string;
  /** The data, or a description of where it is; stored as the record of the dead letter. */
  readonly found: JsonValue;
}

/**
 * An input that can be read again from a cursor. Its records are not buffered between it and the
 * outputs.
 */
export interface PageInput {
  readonly kind: 'pages';
  /** Milliseconds to wait before polling again after the last page. Default 10,000. */
  readonly intervalMs?: number;
  /**
   * Further pages may be read while earlier ones are only held by a batching output: the cursor
   * contains all state of the position, and a new run starts at a committed one. Leave it unset for
   * a source that treats a request for more as an acknowledgment of everything before; batched
   * records are then written with every page.
   */
  readonly readsAhead?: true;
  /**
   * Yields pages from a cursor (`undefined`: from the beginning) until there are no more for now.
   * The next page is requested only after the previous one is delivered and its cursor is
   * committed; see `readsAhead`.
   * @throws {EndError}
   */
  pages(cursor: JsonValue | undefined, signal: AbortSignal): AsyncIterable<Page>;
  close?(): Promise<void>;
}

export interface AppendOptions {
  /**
   * Identifies these records within the source, if the source has such an id: duplicates are
   * dropped.
   */
  readonly position?: string;
  /** Milliseconds to wait for space in the buffer. Default 0: returns `full` immediately. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * `stored`: all records are on disk and may be acknowledged to the sender, except those at the
 * indexes in `tooLarge`, which went to the dead letters. `full`: there is no space; the sender
 * should retry all records later, although some may already be stored.
 */
export type Appended = { stored: true; tooLarge: readonly number[] } | { stored: false; reason: 'full' | 'closed' };

/** Receives the records of a push input. */
export interface Sink {
  /**
   * Stores records.
   * @param lines one JSON object per line, without line breaks
   * @throws {BusError}
   */
  append(lines: readonly string[], options?: AppendOptions): Promise<Appended>;
  /**
   * Adds an entry to the pipeline log. Messages are written by us, without text from the sender.
   */
  note?(entry: Omit<NewLogEntry, 'nodeId'>): void;
}

/**
 * An input that receives records and can't be read again: its records are stored before they are
 * acknowledged.
 */
export interface PushInput {
  readonly kind: 'push';
  /**
   * Starts receiving. Records are accepted while the pipeline is paused, too.
   * @throws {EndError}
   */
  start?(sink: Sink): Promise<void>;
  close?(): Promise<void>;
}

export type Input = PageInput | PushInput;

/** A record that the output rejects permanently. */
export interface Refusal {
  /** Index in the batch. */
  readonly index: number;
  /**
   * A stable code, or a short sentence written by us; never text from the remote side, which may
   * contain a secret.
   */
  readonly reason: string;
}

/** Result of writing a batch. Records that are not listed were written. */
export interface WriteResult {
  readonly refused?: readonly Refusal[];
  readonly retry?: {
    readonly indexes: readonly number[];
    readonly reason: string;
    /** Milliseconds the remote side asked to wait. */
    readonly afterMs?: number;
    /** The remote side applied rate limiting rather than failed. */
    readonly throttled?: boolean;
  };
}

/**
 * Batching limits of an output. The first limit reached triggers the write; the last batch may
 * exceed it.
 */
export interface Gathering {
  readonly records: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** Milliseconds since the first record arrived. */
  readonly waitMs: number;
}

/** An output: writes records to a destination. */
export interface Output {
  /**
   * Merges several batches into one write; none of them is acknowledged before it succeeds. A pause
   * writes what is there without waiting for more. The id of a merged batch is that of the position
   * it begins at: a redelivered batch may hold more or fewer records than before. It should
   * therefore replace what was written under its id, not be dropped as a duplicate.
   */
  readonly gather?: Gathering;
  /**
   * Checks the connection. Called before the first batch of a run, and retried until it succeeds.
   * @throws {EndError}
   */
  open?(signal: AbortSignal): Promise<void>;
  /**
   * Writes a batch; resolves once it is durable at the destination. The same batch may be
   * redelivered with the same id and record ids. An error applies to the whole batch.
   * @throws {EndError}
   */
  write(batch: Batch, signal: AbortSignal): Promise<WriteResult>;
  /** Releases resources at the end of a run, including a pause. The next run begins with `open`. */
  close?(): Promise<void>;
}

/** Result for a batch that was written completely. */
export const WRITTEN: WriteResult = {};

/**
 * - `retry`: temporary, a retry may succeed
 * - `throttled`: the remote side applied rate limiting
 * - `permanent`: will fail until a person intervenes; retried at the maximum interval
 */
export type FailureKind = 'retry' | 'throttled' | 'permanent';

/**
 * An error of an input or output. The message is shown to users: written by us, without secrets.
 */
export class EndError extends Error {
  override readonly name = 'EndError';
  /** @param afterMs milliseconds the remote side asked to wait */
  constructor(
    readonly code: string,
    message: string,
    readonly kind: FailureKind = 'retry',
    readonly afterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface Failure {
  code: string;
  message: string;
  kind: FailureKind;
  afterMs?: number;
}

/**
 * Converts any thrown value to a failure that is safe to show. Omits the text of unknown errors: it
 * may contain sent data.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof EndError) {
    const { code, message, kind, afterMs } = error;
    return { code, message, kind, ...(afterMs !== undefined && { afterMs }) };
  }
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unexpected';
  const name = error instanceof Error ? error.name : 'an error';
  return { code: /^\w{1,40}$/.test(code) ? code : 'unexpected', message: `It failed with ${name}.`, kind: 'retry' };
}
