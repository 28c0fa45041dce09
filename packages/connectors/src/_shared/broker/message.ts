import { isRecord, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { parseExact } from '../exact-json.js';

/**
 * Converts the payload of a message to a record: the fields of its JSON object, otherwise `message`
 * with its text (bytes that are not UTF-8 as base64, with `message_encoding`).
 */
export function toFields(payload: Uint8Array | null): DataRecord {
  if (payload === null) return { message: null };
  const written = decode(payload);
  if (written === undefined) return { message: Buffer.from(payload).toString('base64'), message_encoding: 'base64' };
  try {
    const parsed = parseExact(written);
    if (isRecord(parsed)) return parsed;
  } catch {
    // Not JSON: treat it as text.
  }
  return { message: written };
}

/**
 * Adds metadata to a record. If the record already has a field of that name, the metadata field is
 * prefixed with `_`. An empty name adds nothing.
 */
export function withMetadata(record: DataRecord, metadata: readonly (readonly [string, JsonValue])[]): DataRecord {
  const named = metadata.filter(([name]) => name !== '');
  return {
    ...record,
    ...Object.fromEntries(named.map(([name, value]) => [Object.hasOwn(record, name) ? `_${name}` : name, value])),
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns text as it is, and bytes that are not UTF-8 as base64. */
export function toText(value: Buffer | string | undefined): string {
  if (!Buffer.isBuffer(value)) return value ?? '';
  return decode(value) ?? value.toString('base64');
}
