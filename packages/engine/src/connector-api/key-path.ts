import { isRecord, type DataRecord, type JsonValue } from './record.js';

/**
 * Path to a value in a record, as written in conditions and transforms: keys separated by dots,
 * numbers for array indexes (`actor.ids.0`). A dot within a key is written `\.`.
 */
export type KeyPath = readonly string[];

/** Parses a path into its keys. Returns `undefined` if a key is empty or there are more than 20. */
export function parseKeyPath(text: string): KeyPath | undefined {
  const parts = [''];
  for (let at = 0; at < text.length; at += 1) {
    const escaped = text[at] === '\\' && at + 1 < text.length;
    if (escaped) at += 1;
    if (text[at] === '.' && !escaped) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${text[at] ?? ''}`);
  }
  return parts.includes('') || parts.length > 20 ? undefined : parts;
}

/** Returns the value at a path, or `undefined` if there is none. Reads own properties only. */
export function valueAt(record: DataRecord, path: KeyPath): JsonValue | undefined {
  let value: JsonValue | undefined = record;
  for (const key of path) {
    if (Array.isArray(value)) value = /^\d{1,9}$/.test(key) ? value[Number(key)] : undefined;
    else if (isRecord(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}
