import { getAt } from '@connector-frame/catalog/validate';
import {
  type DataRecord,
  isRecord,
  type JsonValue,
  parseKeyPath,
  valueAt,
} from '@connector-frame/engine/connector-api';
import { severityOf } from './severity.js';

/** Values for the placeholders of `packages/catalog/src/delivery.ts`. */
export interface Scope {
  settings: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  now: number;
  /** ID of the records in a request. */
  batch?: string;
  /** What the records of a request have in common. */
  group?: string;
  /** The record, in templates of a record. */
  record?: RecordScope;
}

export interface RecordScope {
  /** Its JSON. */
  line: string;
  /** Parses it on first use. */
  value(): DataRecord;
  id: string;
}

/** JSON text that is inserted as it is, to keep numbers of a record exactly. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Returns the value of a placeholder, or `undefined` if there is none. */
export function valueOf(whole: string, scope: Scope): unknown {
  const [, name = whole, length] = /^(.*)~(\d+)$/.exec(whole) ?? [];
  if (length !== undefined) return cut(textOf(valueOf(name, scope)), Number(length));
  const { settings, record, batch, now } = scope;
  if (name.startsWith('/')) return filled(getAt({ settings }, name));
  if (name.startsWith('joined:')) return joined(getAt({ settings }, name.slice('joined:'.length)));
  if (name.startsWith('pairs:')) return pairs(getAt({ settings }, name.slice('pairs:'.length)));
  if (name.startsWith('others:')) return others(settings, name.slice('others:'.length));
  if (name === 'batch') return batch;
  if (name === 'group') return scope.group;
  const time = /^now(?::(\w+))?$/.exec(name);
  if (time) return formatNow(now, time[1] ?? 'rfc3339');
  if (!record) return undefined;
  if (name === 'id') return record.id;
  if (name === 'record') return new RawJson(record.line);
  if (name === 'record:text') return record.line;
  // Some destinations join records without anything in between.
  if (name === 'record:base64_line') return Buffer.from(`${record.line}\n`).toString('base64');
  if (name === 'record:base64') return Buffer.from(record.line).toString('base64');
  if (name.startsWith('picked:')) return picked(getAt({ settings }, name.slice('picked:'.length)), record);
  if (name.startsWith('record/')) return getAt(record.value(), name.slice('record'.length));
  if (name.startsWith('rendered:')) return render(getAt({ settings }, name.slice('rendered:'.length)), record);
  if (name.startsWith('severity@')) return severityOf(valueBySetting(settings, name.slice('severity@'.length), record));
  return name.startsWith('record@') ? valueBySetting(settings, name.slice('record@'.length), record) : undefined;
}

/** Returns the value of a record at the path that a setting holds. */
function valueBySetting(settings: Scope['settings'], pointer: string, record: RecordScope): JsonValue | undefined {
  const path = getAt({ settings }, pointer);
  const keys = typeof path === 'string' && path.trim() !== '' ? parseKeyPath(path.trim()) : undefined;
  return keys && valueAt(record.value(), keys);
}

/** Returns a value as text, or `undefined` if it is empty. An object becomes JSON. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (value instanceof RawJson) return value.text;
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}

/** Settings that a user left empty count as absent. */
function filled(value: unknown): unknown {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
  if (Array.isArray(value)) return value.length === 0 ? undefined : value;
  return isRecord(value) && Object.keys(value).length === 0 ? undefined : value;
}

/** Shortens a text without cutting a surrogate pair in two. */
function cut(text: string | undefined, length: number): string | undefined {
  if (text === undefined || text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns a map as a list of `{ key, value }`. */
function pairs(value: unknown): unknown {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return entries.length === 0 ? undefined : entries.map(([key, text]) => ({ key, value: text }));
}

/** Returns the other entries of the map that the pointer leads into. */
function others(settings: Scope['settings'], pointer: string): unknown {
  const end = pointer.lastIndexOf('/');
  const map: unknown = getAt({ settings }, pointer.slice(0, end));
  if (!isRecord(map)) return undefined;
  const entries = Object.entries(map).filter(([key]) => key !== pointer.slice(end + 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Returns the values of a record at the paths in a list, as an object. */
function picked(paths: unknown, record: RecordScope): unknown {
  const entries = (Array.isArray(paths) ? paths : []).flatMap((path: unknown): [string, unknown][] => {
    const keys = typeof path === 'string' ? parseKeyPath(path) : undefined;
    const value = keys && valueAt(record.value(), keys);
    return value === undefined || typeof path !== 'string' ? [] : [[path, value]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Joins a list of texts, or of rows: `team=security,env=prod`. */
function joined(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.flatMap((item: unknown) =>
    isRecord(item) ? Object.values(item).map(textOf).join('=') : (textOf(item) ?? []),
  );
  return texts.length === 0 ? undefined : texts.join();
}

/** Fills in `{{ path.to.value }}` in a text, or in each text of a map. */
function render(template: unknown, record: RecordScope): unknown {
  if (isRecord(template)) {
    const entries = Object.entries(template).map(([key, each]) => [key, render(each, record)] as const);
    const kept = entries.filter(([, text]) => text !== undefined && text !== '');
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
  if (typeof template !== 'string' || template.trim() === '') return undefined;
  return template
    .split(/\{\{([^{}]*)\}\}/)
    .map((part, index) => {
      if (index % 2 === 0) return part;
      const path = parseKeyPath(part.trim());
      const value: JsonValue | undefined = path && valueAt(record.value(), path);
      return textOf(value) ?? '';
    })
    .join('');
}

function formatNow(ms: number, form: string): string | number {
  if (form === 'seconds') return Math.floor(ms / 1_000);
  if (form === 'milliseconds') return Math.floor(ms);
  // Beyond 2^53: a string.
  if (form === 'nanoseconds') return `${Math.floor(ms)}000000`;
  const text = new Date(ms).toISOString();
  return form === 'rfc3339_seconds' ? text.replace(/\.\d+Z$/, 'Z') : text;
}
