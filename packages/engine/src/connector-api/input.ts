import type { NewLogEntry } from './log-entry.js';
import type { DataRecord, JsonValue } from './record.js';
import type { Suspension } from './suspension.js';

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
   * @param isRequested whether a person asked for this read, or for a retry: an input with a schedule
   *   of its own then reads although it is not due, and refused credentials may be sent again
   * @throws {ConnectorError}
   */
  pages(cursor: JsonValue | undefined, signal: AbortSignal, isRequested?: boolean): AsyncIterable<Page>;
  close?(): Promise<void>;
}

export interface AppendOptions {
  /**
   * Identifies these records within the source, if the source has such an id: duplicates are
   * dropped.
   */
  readonly position?: string;
  /**
   * Milliseconds to wait for space, or for the end of a suspension. Default 0: returns `full`,
   * `no_space` or `suspended` immediately.
   */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * `stored`: all records are on disk and may be acknowledged to the sender, except those at the
 * indexes in `tooLarge`, which went to the dead letters. `full`: an output is too slow; `no_space`:
 * the disk has too little free space; `suspended`: the pipeline is suspended. The sender should then
 * retry all records later, although some may already be stored.
 */
export type Appended =
  | { stored: true; tooLarge: readonly number[] }
  | { stored: false; reason: 'full' | 'no_space' | 'closed' }
  | { stored: false; reason: 'suspended'; suspension: Suspension };

/** Records that were not stored. */
export type NotStored = Extract<Appended, { stored: false }>;

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
   * Of several processes with this pipeline, only the one that runs it may receive: the input connects
   * to a source that would send the same records to each. Unset for an input that senders connect to.
   */
  readonly isExclusive?: true;
  /**
   * Starts receiving. Records are accepted while the pipeline is paused, but not while it is
   * suspended.
   * @throws {ConnectorError}
   */
  start?(sink: Sink): Promise<void>;
  close?(): Promise<void>;
}

export type Input = PageInput | PushInput;
