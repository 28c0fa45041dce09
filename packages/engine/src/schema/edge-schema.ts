import type { DataRecord } from '../connector-api/record.js';
import { RecordSchema, type FieldState, type Fields, type SchemaChanges } from './record-schema.js';

/**
 * `learning`: every field and type is added silently. `detecting`: each that is new is a change, and
 * so is a field that records no longer have.
 */
export type SchemaMode = 'learning' | 'detecting';

/** What happened to the schema of an edge. */
export type SchemaTag = 'field_added' | 'type_added' | 'field_removed' | 'learning_started' | 'graduated';

/** The schema of the records on an edge, as it is stored. Times are milliseconds since the epoch. */
export interface SchemaState {
  readonly mode: SchemaMode;
  readonly learningStart: number;
  readonly updatedAt: number;
  /** Records observed since then. */
  readonly records: number;
  /** Whether fields were left out because there are too many. */
  readonly truncated: boolean;
  readonly fields: Fields;
}

/** Changes of one edge within a minute. */
export interface SchemaEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly tags: readonly SchemaTag[];
  /** The fields that were added, changed or removed; at most 100. */
  readonly fields: Fields;
  /** Number of these fields, also of those that are left out. */
  readonly count: number;
}

/** What is to be stored. */
export interface SchemaUpdate {
  readonly state: SchemaState;
  readonly event?: SchemaEvent;
}

/** Learning ends by itself after this time, in milliseconds. */
export const LEARNING_MS = 24 * 3_600_000;
/** Minimum time between two events, in milliseconds: a hostile source must not fill the database. */
const EVENT_MS = 60_000;
/** Counts alone are stored once in this time, in milliseconds. */
const COUNTS_MS = 60_000;
const MAX_EVENT_FIELDS = 100;
/** Records of an edge that are observed in one second. */
const PER_SECOND = 1_000;
/** Missing fields are looked for once in so many records. */
const MISSING_EVERY = 500;

/** Observes the records that pass one edge. */
export class EdgeSchema {
  #mode: SchemaMode = 'learning';
  #schema = new RecordSchema();
  #learningStart: number;
  #updatedAt: number;
  #lastEventAt = Number.NEGATIVE_INFINITY;
  #storedAt = Number.NEGATIVE_INFINITY;
  #isDirty = true;
  readonly #tags = new Set<SchemaTag>();
  readonly #changed = new Map<string, FieldState>();
  #changedAt: number | undefined;
  #second = { start: 0, count: 0 };

  /** @param stored absent: learning starts at `now`, in milliseconds since the epoch */
  constructor(now: number, stored?: SchemaState) {
    this.#learningStart = stored?.learningStart ?? now;
    this.#updatedAt = stored?.updatedAt ?? now;
    if (!stored) return;
    this.#mode = stored.mode;
    this.#schema = new RecordSchema(stored.fields, stored.records);
    this.#isDirty = false;
  }

  /** Observes records, up to 1,000 a second. */
  observe(records: readonly DataRecord[], now: number): void {
    if (now - this.#second.start >= 1_000 || now < this.#second.start) this.#second = { start: now, count: 0 };
    const observed = records.slice(0, PER_SECOND - this.#second.count);
    this.#second.count += observed.length;
    if (this.#mode === 'learning' && now - this.#learningStart >= LEARNING_MS && this.#schema.records > 0)
      this.graduate(now);
    const isDetecting = this.#mode === 'detecting';
    const changes: SchemaChanges = isDetecting
      ? {
          added: (path) => this.#note('field_added', path, now),
          typed: (path) => this.#note('type_added', path, now),
        }
      : IGNORED;
    for (const record of observed) {
      this.#schema.observe(record, now, changes);
      if (isDetecting && this.#schema.records % MISSING_EVERY === 0)
        for (const [path, field] of this.#schema.forgetMissing()) this.#note('field_removed', path, now, field);
    }
    if (observed.length > 0) this.#touch(now);
  }

  /** Ends the learning. */
  graduate(now: number): void {
    if (this.#mode === 'detecting') return;
    this.#mode = 'detecting';
    // What went missing while it learned is not a change.
    this.#schema.forgetMissing();
    this.#note('graduated', undefined, now);
    this.#touch(now);
  }

  /** Forgets everything and learns again. */
  reset(now: number): void {
    this.#schema = new RecordSchema();
    this.#mode = 'learning';
    this.#learningStart = now;
    this.#changed.clear();
    this.#tags.clear();
    this.#note('learning_started', undefined, now);
    this.#touch(now);
  }

  get state(): SchemaState {
    return {
      mode: this.#mode,
      learningStart: this.#learningStart,
      updatedAt: this.#updatedAt,
      records: this.#schema.records,
      truncated: this.#schema.isFull,
      fields: this.#schema.fields(),
    };
  }

  /**
   * Returns what is to be stored, or `undefined`. What could not be stored must be put back.
   * @param isLast whether the edge is not observed after this
   */
  take(now: number, isLast = false): SchemaUpdate | undefined {
    const event = this.#takeEvent(now, isLast);
    const isDue = isLast || now - this.#storedAt >= COUNTS_MS || now < this.#storedAt;
    if (!event && !(this.#isDirty && isDue)) return undefined;
    this.#isDirty = false;
    this.#storedAt = now;
    return { state: this.state, ...(event && { event }) };
  }

  /** Takes back what could not be stored. */
  putBack({ event }: SchemaUpdate): void {
    this.#isDirty = true;
    this.#storedAt = Number.NEGATIVE_INFINITY;
    if (!event) return;
    this.#lastEventAt = Number.NEGATIVE_INFINITY;
    this.#changedAt = event.at;
    for (const tag of event.tags) this.#tags.add(tag);
    for (const [path, field] of Object.entries(event.fields))
      if (!this.#changed.has(path)) this.#changed.set(path, field);
  }

  #takeEvent(now: number, isLast: boolean): SchemaEvent | undefined {
    const isSoon = now >= this.#lastEventAt && now - this.#lastEventAt < EVENT_MS;
    if (this.#changedAt === undefined || (isSoon && !isLast)) return undefined;
    const fields = [...this.#changed]
      .slice(0, MAX_EVENT_FIELDS)
      .map(([path, field]): [string, FieldState] => [path, this.#schema.field(path) ?? field]);
    const event: SchemaEvent = {
      at: this.#changedAt,
      tags: [...this.#tags],
      fields: Object.fromEntries(fields),
      count: this.#changed.size,
    };
    this.#lastEventAt = now;
    this.#changedAt = undefined;
    this.#tags.clear();
    this.#changed.clear();
    return event;
  }

  #note(tag: SchemaTag, path: string | undefined, now: number, field?: FieldState): void {
    this.#tags.add(tag);
    this.#changedAt ??= now;
    if (path !== undefined) this.#changed.set(path, field ?? { types: {}, records: 0, lastRecord: 0 });
  }

  #touch(now: number): void {
    this.#updatedAt = now;
    this.#isDirty = true;
  }
}

const IGNORED: SchemaChanges = { added: () => undefined, typed: () => undefined };
