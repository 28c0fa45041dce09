import type { DataRecord, JsonValue } from '../connector-api/record.js';

/** The types of JSON values. */
export type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array';

/** How often a field had a type. Times are milliseconds since the epoch. */
export interface TypeState {
  count: number;
  firstSeen: number;
  lastSeen: number;
}

/** What is known about one field. */
export interface FieldState {
  types: Partial<Record<JsonType, TypeState>>;
  /** Records that contained the field. */
  records: number;
  /** Number of the last record that contained it, counted from the first one observed. */
  lastRecord: number;
}

/** The observed fields by path: `user.name`, and `groups[]` for the items of a list. */
export type Fields = Readonly<Record<string, FieldState>>;

/** Receives what a record has that no record before it had. */
export interface SchemaChanges {
  /** The field is not known yet. */
  added(path: string): void;
  /** The field is known, but not with this type. */
  typed(path: string, type: JsonType): void;
}

// Bounds for what a source can make us keep, and for the time that one record takes.
/** Maximum number of fields. */
export const MAX_FIELDS = 1_000;
const MAX_DEPTH = 8;
const MAX_PATH = 500;
/** Values of one record, and items of one list, that are looked at. */
const MAX_VALUES = 2_000;
const MAX_ITEMS = 100;

// A field is missing once so many records in a row lack it, if it was in a tenth of those before.
const MISSING_AFTER = 1_000;
const MISSING_SHARE = 0.1;
/** Minimum number of records that had a field before it can be missing. */
const MISSING_MIN = 10;

/** Learns which fields records have, and of which types. Keeps no values. */
export class RecordSchema {
  readonly #fields: Map<string, FieldState>;
  #records: number;
  #isFull = false;

  constructor(fields: Fields = {}, records = 0) {
    this.#fields = new Map(Object.entries(fields).map(([path, field]) => [path, structuredClone(field)]));
    this.#records = records;
  }

  /** Records observed. */
  get records(): number {
    return this.#records;
  }

  /** Whether fields were left out because there are too many. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Returns a copy of the fields. */
  fields(): Fields {
    return Object.fromEntries(Array.from(this.#fields, ([path, field]) => [path, structuredClone(field)]));
  }

  /** Returns a copy of one field. */
  field(path: string): FieldState | undefined {
    const field = this.#fields.get(path);
    return field && structuredClone(field);
  }

  /** @param now milliseconds since the epoch */
  observe(record: DataRecord, now: number, changes: SchemaChanges): void {
    this.#records += 1;
    let left = MAX_VALUES;
    const visit = (path: string, value: JsonValue | undefined, depth: number): void => {
      left -= 1;
      if (left < 0 || value === undefined || !this.#add(path, typeOf(value), now, changes)) return;
      if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return;
      if (Array.isArray(value)) for (const item of value.slice(0, MAX_ITEMS)) visit(`${path}[]`, item, depth + 1);
      else for (const [name, inner] of Object.entries(value)) visit(`${path}.${name}`, inner, depth + 1);
    };
    for (const [name, value] of Object.entries(record)) visit(name, value, 1);
  }

  /** Forgets the fields that records no longer have, and returns them. */
  forgetMissing(): ReadonlyMap<string, FieldState> {
    const missing = new Map<string, FieldState>();
    for (const [path, field] of this.#fields) {
      const isLate = this.#records - field.lastRecord >= MISSING_AFTER;
      const wasUsual = field.records >= Math.max(MISSING_MIN, field.lastRecord * MISSING_SHARE);
      if (isLate && wasUsual) missing.set(path, field);
    }
    for (const path of missing.keys()) this.#fields.delete(path);
    return missing;
  }

  /** Returns `false` if the field can't be kept. */
  #add(path: string, type: JsonType, now: number, changes: SchemaChanges): boolean {
    let field = this.#fields.get(path);
    if (!field) {
      if (path.length > MAX_PATH || this.#fields.size >= MAX_FIELDS) {
        this.#isFull = true;
        return false;
      }
      field = { types: {}, records: 0, lastRecord: 0 };
      this.#fields.set(path, field);
      changes.added(path);
    }
    if (field.lastRecord !== this.#records) {
      field.records += 1;
      field.lastRecord = this.#records;
    }
    const known = field.types[type];
    if (known) {
      known.count += 1;
      known.lastSeen = now;
      return true;
    }
    if (Object.keys(field.types).length > 0) changes.typed(path, type);
    field.types[type] = { count: 1, firstSeen: now, lastSeen: now };
    return true;
  }
}

function typeOf(value: JsonValue): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}
