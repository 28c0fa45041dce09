import type { Batch } from '../records/batch.js';
import type { DataRecord, JsonValue } from '../records/record.js';
import type { NewLogEntry } from './pipeline-log.js';

/** Records of a source, and the place to go on from once they are delivered. */
export interface Page {
  readonly records: readonly DataRecord[];
  readonly cursor: JsonValue;
  /** What the source held at this place and no record could be made of: it is kept with the dead letters. */
  readonly unreadable?: readonly Unreadable[];
  /** What people should know of it. Our own words. */
  readonly notes?: readonly Omit<NewLogEntry, 'nodeId'>[];
}

export interface Unreadable {
  /** A stable word, or a short sentence of our own. */
  readonly reason: string;
  /** What was found, or what tells where: stands in the dead letter as its record. */
  readonly found: JsonValue;
}

/** A source that can be read again from a place: nothing is stored between it and the outputs. */
export interface PageInput {
  readonly kind: 'pages';
  /** Milliseconds to wait before asking again once there was nothing more. Default 10,000. */
  readonly intervalMs?: number;
  /**
   * Pages may be asked for while those before are only held by an output that gathers: all that matters of the place is in
   * the cursor, and a new run is given one that was committed. Absent, for a source that takes being asked for more as a
   * word that all before has arrived: what is gathered is written with every page.
   */
  readonly readsAhead?: true;
  /**
   * Pages from a cursor on (`undefined`: from the beginning), until there is nothing more for now. The next page is
   * asked for only when the one before is delivered and its cursor committed; see `readsAhead`. @throws EndError
   */
  pages(cursor: JsonValue | undefined, signal: AbortSignal): AsyncIterable<Page>;
  close?(): Promise<void>;
}

export interface AppendOptions {
  /** What tells these records apart from all others of the source, where it has such a thing: repeats are dropped. */
  readonly position?: string;
  /** Milliseconds to wait for room in the buffer. Default 0: answers `full` at once. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * `stored`: all records are on disk and may be acknowledged to the sender, but those at `tooLarge`, which went to the
 * dead letters. `full`: there is no room; the sender should come again later with all of them, some may be there already.
 */
export type Appended = { stored: true; tooLarge: readonly number[] } | { stored: false; reason: 'full' | 'closed' };

/** Where a pushed input puts what it is given. */
export interface Sink {
  /** @param lines records, each as the JSON of one object without a line break in it @throws BusError */
  append(lines: readonly string[], options?: AppendOptions): Promise<Appended>;
  /** What people should know of what happened at the door. Our own words. */
  note?(entry: Omit<NewLogEntry, 'nodeId'>): void;
}

/** A source that comes by itself and cannot be asked again: what it brings is stored before it is acknowledged. */
export interface PushInput {
  readonly kind: 'push';
  /** Opens the door. Records are taken in also while the pipeline is paused. @throws EndError */
  start?(sink: Sink): Promise<void>;
  close?(): Promise<void>;
}

export type Input = PageInput | PushInput;

/** A record that the output will never take. */
export interface Refusal {
  /** In the batch. */
  readonly index: number;
  /** A stable word, or a short sentence of our own; never text of the other side, which may repeat a secret. */
  readonly reason: string;
}

/** What became of a batch. Records that are not named were written. */
export interface WriteResult {
  readonly refused?: readonly Refusal[];
  readonly retry?: {
    readonly indexes: readonly number[];
    readonly reason: string;
    /** Milliseconds the other side asked for. */
    readonly afterMs?: number;
    /** It asked for less, rather than failed. */
    readonly throttled?: boolean;
  };
}

/** How much an output has written at once. What is reached first counts; the last batch may go over it. */
export interface Gathering {
  readonly records: number;
  /** Of JSON. */
  readonly bytes: number;
  /** Milliseconds since the first of them came. */
  readonly waitMs: number;
}

/** Where records go. */
export interface Output {
  /**
   * Several batches come as one, and none of them is acknowledged before that is written; a pause does not wait for more.
   * The id of such a batch is that of the place it begins at: one that comes again may hold more or fewer records than
   * before, so that it may take the place of what was written under its id, and is no repeat to be dropped.
   */
  readonly gather?: Gathering;
  /** Makes sure that the other side is there. Called before the first batch of a run, until it does not fail. @throws EndError */
  open?(signal: AbortSignal): Promise<void>;
  /**
   * Writes a batch; resolves once it is safe there. The same batch may come again, with the same id and record ids.
   * What is thrown counts for all of it. @throws EndError
   */
  write(batch: Batch, signal: AbortSignal): Promise<WriteResult>;
  /** Lets go at the end of a run: a pause is one. The next begins with `open`. */
  close?(): Promise<void>;
}

/** Everything was written. */
export const WRITTEN: WriteResult = {};

/**
 * `retry`: may go better next time. `throttled`: the other side asked for less. `permanent`: will not go before a person
 * changes something; tried again seldom.
 */
export type FailureKind = 'retry' | 'throttled' | 'permanent';

/** An input or output can't do its work now. The message is shown to people: our own words, no secret in it. */
export class EndError extends Error {
  override readonly name = 'EndError';
  /** @param afterMs milliseconds the other side asked to wait */
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

/** What may be told of anything that was thrown. Text of unknown errors stays inside: it may repeat what was sent. */
export function failureOf(error: unknown): Failure {
  if (error instanceof EndError) {
    const { code, message, kind, afterMs } = error;
    return { code, message, kind, ...(afterMs !== undefined && { afterMs }) };
  }
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unexpected';
  const name = error instanceof Error ? error.name : 'an error';
  return { code: /^\w{1,40}$/.test(code) ? code : 'unexpected', message: `It failed with ${name}.`, kind: 'retry' };
}
