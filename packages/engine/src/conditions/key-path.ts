import { isRecord, type DataRecord, type JsonValue } from '../records/record.js';

/**
 * A place in a record, as conditions and transforms name it: keys with dots between them, numbers for places in a list
 * (`actor.ids.0`). A dot that belongs to a key is written `\.`.
 */
export type KeyPath = readonly string[];

/** The parts of a path; `undefined` when one of them is empty, or when there are more than 20. */
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

/** The value at a path, `undefined` where there is none. Only what the record itself has, nothing inherited. */
export function valueAt(record: DataRecord, path: KeyPath): JsonValue | undefined {
  let value: JsonValue | undefined = record;
  for (const key of path) {
    if (Array.isArray(value)) value = /^\d{1,9}$/.test(key) ? value[Number(key)] : undefined;
    else if (isRecord(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}
